"""Succeeds; ends the program that runs it in its run number N: interrupt.py COUNTS N FILE."""
import os
import signal
import sys


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
        return f.read().strip()


def parent_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("PPid:"))


with open(sys.argv[1], "a+", encoding="utf-8") as counts:
    counts.write(".")
    counts.seek(0)
    if len(counts.read()) == int(sys.argv[2]):
        # A shell that runs one command may become the command. SIGINT may be ignored in tests, so this is SIGTERM.
        parent = os.getppid()
        if name_of(parent) == "sh":
            parent = parent_of(parent)
        os.kill(parent, signal.SIGTERM)
