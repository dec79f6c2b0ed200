"""`python -m services.relay`, also `strad-relay`."""

from services.relay.app import load
from shared.web import serve


def main() -> None:
    """Serve until SIGTERM."""
    serve.run(load)


if __name__ == "__main__":
    main()
