"""`python -m demo.hostile`: HOST, PORT, SELF_URL, ALLOWED_HOSTS."""

import os
import sys

from demo.hostile.server import create_app
from demo.serve import run

if __name__ == "__main__":
    sys.exit(run("demo hostile", os.environ, create_app))
