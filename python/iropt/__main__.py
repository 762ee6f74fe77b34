"""`python3 -m iropt` is `ir-opt`."""
import sys

from .opt import main

sys.exit(main())
