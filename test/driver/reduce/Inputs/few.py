"""Succeeds in the first N of its runs, which a file counts: few.py COUNTS N FILE."""
import sys

with open(sys.argv[1], "a+", encoding="utf-8") as counts:
    counts.write(".")
    counts.seek(0)
    sys.exit(0 if len(counts.read()) <= int(sys.argv[2]) else 1)
