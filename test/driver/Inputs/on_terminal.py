"""Runs a command whose standard input is a terminal, types a module and Ctrl-D, and prints what the command says."""
import os
import pty
import subprocess
import sys

MODULE = b"@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    return x\n"

controller, terminal = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
os.write(controller, MODULE + b"\x04")
output, _ = process.communicate(timeout=60)
print(f"{output.decode()}code {process.returncode}")
