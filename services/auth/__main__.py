"""`python -m services.auth`, also `strad-auth`."""

from services.auth.app import load
from shared.web.serve import run


def main() -> None:
    """Serve until told to stop."""
    run(load)


if __name__ == "__main__":
    main()
