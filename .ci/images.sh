#!/usr/bin/env bash
# The public base images that the Dockerfile and docker-compose.yml name.
#   images.sh up      have each of them: as it is, pulled, or else as a stand-in
#   images.sh down    remove the stand-ins, so that the next build pulls the public images
# A stand-in is built from Debian packages and carries the public name, for a machine that reaches no
# container registry: the Dockerfile and the compose file are used unchanged.
set -euo pipefail

RECIPES=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/images
SUITE=trixie
BASE=debian:$SUITE-slim
IMAGES=(python:3.13-slim redis:8 caddy:2)     # in this order: caddy is made with python
LABEL=strad.standin

say() { printf 'images: %s\n' "$*" >&2; }
label() { docker image inspect -f "{{index .Config.Labels \"$LABEL\"}}" "$1" 2>/dev/null; }
standin() { [[ -n $(label "$1") ]]; }

# changes with a recipe and with the certificates that this machine trusts on top of Debian's
revision() {
  { cat "$RECIPES"/* "${BASH_SOURCE[0]}"; cat /usr/local/share/ca-certificates/*.crt 2>/dev/null || true; } |
    sha256sum | cut -c1-16
}

public() {
  local image
  for image in "${IMAGES[@]}"; do
    if docker image inspect "$image" >/dev/null 2>&1; then ! standin "$image" || return 1
    else timeout 300 docker pull -q "$image" >/dev/null 2>&1 || return 1; fi
  done
}

current() {
  local image
  for image in "$BASE" "${IMAGES[@]}"; do [[ $(label "$image") == "$1" ]] || return 1; done
}

mirror() { # the machine's own Debian mirror
  cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | awk '
    /^URIs:/ { print $2; exit }
    /^deb /  { for (i = 2; i <= NF; i++) if ($i ~ /^(https?|mirror|file):/) { print $i; exit } }'
}

build() {
  local revision=$1 context image recipe
  if ! command -v mmdebstrap >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
      install -qq -y --no-install-recommends mmdebstrap >&2
  fi
  say "no registry can be reached: $BASE as a stand-in"
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,netbase,tzdata "$SUITE" - \
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $SUITE main" |
    docker import - strad-rootfs >/dev/null
  context=$(mktemp -d)
  cp "$RECIPES"/* "$context"
  mkdir "$context/ca"
  cp /usr/local/share/ca-certificates/*.crt "$context/ca/" 2>/dev/null || true
  for image in "$BASE" "${IMAGES[@]}"; do
    recipe=${image%%:*}
    say "$image as a stand-in"
    docker build -q --label "$LABEL=$revision" -t "$image" -f "$context/$recipe.Dockerfile" "$context" >/dev/null
  done
  docker rmi -f strad-rootfs >/dev/null
  rm -rf "$context"
}

up() {
  local revision; revision=$(revision)
  if current "$revision"; then say "stand-ins are present"
  elif public; then say "public images are present"
  else build "$revision"; fi
}

down() {
  local image
  for image in "${IMAGES[@]}" "$BASE"; do
    if standin "$image"; then docker rmi -f "$image" >/dev/null; say "removed $image"; fi
  done
}

case ${1:-} in
  up) up ;;
  down) down ;;
  *) say "usage: images.sh up|down"; exit 2 ;;
esac
