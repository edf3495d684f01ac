"""`python -m exactbnc`: the command line."""

import sys
from importlib import import_module

if __name__ == "__main__":
    sys.exit(import_module("exactbnc.cli").main())
