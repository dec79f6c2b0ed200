"""The last resort, a small process of its own: when the supervisor is gone, so is everything else.

It holds the end of a pipe whose other end only the supervisor has. The kernel closes that end when
the supervisor dies, however it dies (`kill -9` as well); then this process ends its process group,
which all the others share, and removes the folder named on its command line.

Started as a script, with `-I -S`, so that it is up in milliseconds and imports nothing of ours.
"""

import os
import shutil
import signal
import sys
import time

GRACE_SECONDS = 3.0


def main(folder: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the group's end is not this one's
    os.write(1, b"on duty\n")
    os.close(1)
    while os.read(0, 1024):
        pass
    group = os.getpgrp()
    if os.fork():
        return
    os.setpgid(0, 0)  # out of the group, to see when the others have left it
    end_group(group)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def end_group(group: int) -> None:
    """TERM, and KILL for what is still there after the grace."""
    deadline = time.monotonic() + GRACE_SECONDS
    try:
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < deadline:
            time.sleep(0.05)
            os.killpg(group, 0)
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # nobody left (macOS says so with EPERM when only zombies are)


if __name__ == "__main__":
    main(sys.argv[1])
