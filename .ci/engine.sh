#!/usr/bin/env bash
# A working Docker engine with `docker compose` and `docker buildx`.
#   engine.sh up      use the engine that answers, else install one from Debian packages and start it
#   engine.sh down    stop the engine that `up` started (by its process id), and nothing else
#   engine.sh status  print the engine's version, or fail
# A machine whose engine already answers (a laptop, a hosted runner) is left exactly as it is.
set -euo pipefail

STATE=${ENGINE_STATE:-/var/tmp/strad-engine}
LOG=$STATE/dockerd.log
PIDFILE=$STATE/dockerd.pid
WAIT_S=${ENGINE_WAIT_S:-60}
OLDEST=25       # the first engine that knows healthcheck.start_interval

say() { printf 'engine: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

version() { timeout 10 docker version --format '{{.Server.Version}}' 2>/dev/null; }
plugins() { docker compose version >/dev/null 2>&1 && docker buildx version >/dev/null 2>&1; }
new_enough() { local major=${1%%.*}; [[ $major =~ ^[0-9]+$ ]] && (( major >= OLDEST )); }
installed() { dockerd --version 2>/dev/null | sed -nE 's/^Docker version ([0-9.]+).*/\1/p'; }
is_dockerd() { [[ ${1:-} =~ ^[0-9]+$ && $(cat "/proc/$1/comm" 2>/dev/null) == dockerd ]]; }

apt() {
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
    -qq -y --no-install-recommends "$@" >&2
}

# Debian 12's own engine is too old. Debian 13's asks for no newer libc than Debian 12 has, but
# Debian 13's runc and tini do: so five packages come from Debian 13, fetched through a private apt
# root made of the machine's own sources, and what they depend on comes from Debian 12.
fetch_from_debian_13() {
  local root=$STATE/apt list
  rm -rf "$root"
  mkdir -p "$root"/{debs,etc/apt/{sources.list.d,preferences.d},var/lib/dpkg} \
    "$root"/var/{lib/apt/lists,cache/apt/archives}/partial
  : > "$root/var/lib/dpkg/status"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/debian.{list,sources}; do
    [[ -s $list ]] || continue
    sed 's/bookworm/trixie/g' "$list" > "$root${list}"
  done
  local private=(-o "Dir::Etc=$root/etc/apt" -o "Dir::State=$root/var/lib/apt"
    -o "Dir::Cache=$root/var/cache/apt" -o "Dir::State::status=$root/var/lib/dpkg/status"
    -o APT::Sandbox::User=root)
  apt-get "${private[@]}" update -qq
  (cd "$root/debs" && apt-get "${private[@]}" download -qq "$@")
}

install() {
  [[ $(id -u) == 0 ]] || die "no engine answers, and only root can install one"
  command -v apt-get >/dev/null || die "no engine answers, and there is no apt-get to install one"
  local packages=(docker.io docker-cli docker-compose docker-buildx)
  apt-get update -qq
  if apt-cache show docker-buildx >/dev/null 2>&1; then
    apt install "${packages[@]}" ca-certificates iptables
  else
    fetch_from_debian_13 "${packages[@]}" containerd
    apt install "$STATE"/apt/debs/*.deb ca-certificates iptables
    rm -rf "$STATE/apt"
  fi
  plugins || die "docker compose or docker buildx is missing after the install"
}

start() {
  [[ $(id -u) == 0 ]] || die "only root can start dockerd"
  # a killed dockerd leaves its pid file behind, and the number may be another process's by now
  is_dockerd "$(cat /var/run/docker.pid 2>/dev/null)" || rm -f /var/run/docker.pid
  setsid nohup dockerd >"$LOG" 2>&1 </dev/null &
  local pid=$! tries
  echo "$pid" > "$PIDFILE"
  for ((tries = 0; tries < WAIT_S * 5; tries++)); do
    if version >/dev/null; then say "dockerd $(version) is ready, process $pid"; return; fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.2
  done
  tail -n 20 "$LOG" >&2
  down
  die "dockerd did not answer within $WAIT_S s; the lines above are the end of its log"
}

up() {
  mkdir -p "$STATE"
  local answering; answering=$(version || true)
  if [[ -n $answering ]]; then
    new_enough "$answering" || die "engine $answering answers, $OLDEST or newer is needed: stop it first"
    plugins || install
    say "engine $answering answers"
    return
  fi
  [[ -z ${DOCKER_HOST:-} ]] || die "DOCKER_HOST is set and nothing answers there"
  { new_enough "$(installed)" && plugins; } || install
  start
}

down() {
  local pid tries
  pid=$(cat "$PIDFILE" 2>/dev/null || true)
  rm -f "$PIDFILE"
  is_dockerd "$pid" || { say "nothing that this script started is running"; return 0; }
  kill -TERM "$pid"
  for ((tries = 0; tries < 150; tries++)); do
    is_dockerd "$pid" || { say "stopped process $pid"; return 0; }
    sleep 0.2
  done
  kill -KILL "$pid"
  say "killed process $pid"
}

case ${1:-} in
  up) up ;;
  down) down ;;
  status) version || die "no engine answers" ;;
  *) die "usage: engine.sh up|down|status" ;;
esac
