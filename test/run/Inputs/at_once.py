"""Runs a command several times at once, and prints the exit codes: at_once.py COUNT COMMAND..."""
import subprocess
import sys

count, command = int(sys.argv[1]), sys.argv[2:]
runs = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(count)]
print("exit codes:", *[run.wait() for run in runs])
