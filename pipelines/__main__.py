"""`python -P -m pipelines COMMAND`: the console script for interpreters that are named by path."""

import sys

from pipelines.cli import main

if __name__ == "__main__":
    sys.exit(main())
