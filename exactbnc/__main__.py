"""`python -m exactbnc`: the command line."""

import sys

from exactbnc.cli import main

if __name__ == "__main__":
    sys.exit(main())
