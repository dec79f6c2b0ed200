# One file for every image of strad:
#   docker build --build-arg SERVICE=auth .     also relay, apphost
#   docker build --target keys .                `strad keys`, which makes the services' secrets
#   docker build --target demo .                local OpenID provider and demo MCP servers
# To pin the base image: --build-arg PYTHON_IMAGE=python:3.13-slim@sha256:…

ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS base
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PATH=/opt/strad/bin:$PATH
# /run/strad/keys is where a volume with secrets is mounted. A new volume takes over the owner of the
# folder that it covers, which is why the folder is made in every image.
RUN groupadd --gid 10001 strad \
 && useradd --uid 10001 --gid strad --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin strad \
 && install -d -o strad -g strad -m 0700 /run/strad/keys
WORKDIR /app

# ---- third-party packages, each by its hash; one layer for each lock ----
FROM base AS packages
ARG SERVICE=auth
COPY requirements/${SERVICE}.lock /tmp/requirements.lock
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m venv --without-pip /opt/strad \
 && pip --python /opt/strad install --disable-pip-version-check --require-hashes -r /tmp/requirements.lock

FROM base AS code
COPY shared/ shared/

# ---- the operators' command ----
FROM code AS keys
COPY --from=packages /opt/strad /opt/strad
COPY cli/ cli/
COPY deploy/redis.acl deploy/redis.acl
# one folder for each service, each to be covered by a volume of its own
RUN install -d -o strad -g strad -m 0700 /keys/auth /keys/relay /keys/apphost /keys/auditor \
 && install -d -o strad -g strad -m 0755 /keys /keys/redis
USER strad
# Redis runs as a user of its own and must read its list of users, which holds digests of long random
# passwords; every other file stays readable by its service alone.
CMD ["sh", "-c", "python -m cli keys /keys && chmod 0644 /keys/redis/users.acl"]

# ---- what only a demo needs ----
FROM code AS demo
COPY --from=packages /opt/strad /opt/strad
COPY demo/ demo/
USER strad
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --start-interval=500ms --retries=3 \
  CMD ["python", "-c", "import os, socket; socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 2)"]

# ---- a service; the last stage, so the one that is built unless another is named ----
FROM code AS service
ARG SERVICE=auth
COPY --from=packages /opt/strad /opt/strad
COPY services/__init__.py services/__init__.py
COPY services/${SERVICE}/ services/${SERVICE}/
ENV SERVICE=${SERVICE}
USER strad
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --start-interval=500ms --retries=3 \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:9090/readyz', timeout=2)"]
# exec: the service itself is process 1 of its container and gets SIGTERM
CMD ["sh", "-c", "exec python -m services.$SERVICE"]
