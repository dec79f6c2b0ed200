FROM debian:trixie-slim
# Like the public image: user and group redis are 999, data in /data, protected mode off by default.
RUN groupadd -r -g 999 redis \
 && useradd -r -g redis -u 999 -d /data -s /usr/sbin/nologin redis \
 && apt-get update \
 && apt-get install -y --no-install-recommends redis-server \
 && rm -rf /var/lib/apt/lists/* /etc/redis \
 && install -d -o redis -g redis /data \
 && ln -s /usr/bin/redis-server /usr/bin/redis-cli /usr/local/bin/
COPY --chmod=755 redis-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
VOLUME /data
WORKDIR /data
EXPOSE 6379
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["redis-server"]
