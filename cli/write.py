"""Files of secrets: whole or not at all, and never readable by more than before."""

import os
from pathlib import Path


def write(path: Path, text: str, like: Path | None = None) -> None:
    """Put a text into a file.

    A file that is there keeps its owner and rights. A new one gets those of `like`, or is its
    maker's alone. The name appears only when the content is whole and on disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    model = path if path.exists() else like
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    try:
        _fill(temporary, text, model)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    # before anything that follows: a key that seals must not be lost with the power
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _fill(path: Path, text: str, model: Path | None) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        if model is not None:
            status = model.stat()
            if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(descriptor, status.st_uid, status.st_gid)
            os.fchmod(descriptor, status.st_mode & 0o777)
        file.flush()
        os.fsync(descriptor)
