FROM strad-rootfs
# A certificate authority that this machine trusts on top of Debian's (a company's, a proxy's) is
# trusted in the image too; without it `pip install` in a build fails on such a machine.
COPY ca/ /usr/local/share/ca-certificates/
RUN update-ca-certificates >/dev/null
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    REQUESTS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt
CMD ["bash"]
