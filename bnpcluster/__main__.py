"""`python -m bnpcluster` is the command line."""

import sys

from bnpcluster.cli import main

sys.exit(main())
