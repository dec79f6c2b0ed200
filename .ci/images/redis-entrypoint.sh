#!/bin/sh
# What the public image's entry point does, as far as strad can tell: bare options start the server,
# protected mode is off unless asked for, and root is given up.
set -e
case "$1" in
  -* | *.conf) set -- redis-server "$@" ;;
esac
if [ "$1" = redis-server ]; then
  case " $* " in
    *" --protected-mode "*) ;;
    *) set -- "$@" --protected-mode no ;;
  esac
  if [ "$(id -u)" = 0 ]; then
    find . ! -user redis -exec chown redis '{}' +
    exec setpriv --reuid=redis --regid=redis --clear-groups -- "$@"
  fi
fi
exec "$@"
