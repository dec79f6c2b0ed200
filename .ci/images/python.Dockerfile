FROM debian:trixie-slim
# Like the public image: python, python3 and pip in /usr/local/bin, packages below
# /usr/local/lib/python3.13, nothing marked as externally managed. /usr/local is a virtual
# environment of Debian's Python.
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3.13 python3.13-venv \
 && rm -rf /var/lib/apt/lists/* \
 && python3.13 -m venv /usr/local
ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
CMD ["python3"]
