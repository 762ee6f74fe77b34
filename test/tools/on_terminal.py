"""Runs a command on a terminal and prints its output with "<CR>" and "<ESC>" for these characters, then its exit code.

    on_terminal.py COMMAND...
"""
import os
import pty
import sys


def main():
    pieces = []

    def read(fd):
        data = os.read(fd, 1024)
        pieces.append(data)
        return data

    os.environ["TERM"] = "xterm"
    saved = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # pty.spawn copies the output there
    status = pty.spawn(sys.argv[1:], read, lambda fd: b"")
    os.dup2(saved, 1)
    text = b"".join(pieces).decode(errors="replace").replace("\r\n", "\n")
    print(text.replace("\r", "<CR>").replace("\x1b", "<ESC>"))
    print("code", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
