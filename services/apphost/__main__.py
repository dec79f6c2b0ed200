"""`python -m services.apphost`, also `strad-apphost`."""

from services.apphost.app import load
from shared.web.serve import run


def main() -> None:
    """Serve until told to stop."""
    run(load)


if __name__ == "__main__":
    main()
