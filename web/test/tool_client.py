#!/usr/bin/python3 -SE
"""A command of the package for npm, run by tool_server.mjs: the name of this file is that of the tool, and the socket of the
server is next to it."""
import base64
import json
import os
import socket
import stat
import sys

# A command that takes longer fails.
SECONDS = 300


def standard_input():
    """What a pipe or a file brings; nothing of a terminal."""
    mode = os.fstat(0).st_mode
    return sys.stdin.buffer.read() if stat.S_ISFIFO(mode) or stat.S_ISREG(mode) else b""


def main():
    folder, name = os.path.split(os.path.abspath(sys.argv[0]))
    request = {"name": name, "args": sys.argv[1:], "env": {**os.environ, "PWD": os.getcwd()},
               "stdin": base64.b64encode(standard_input()).decode()}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(os.path.join(folder, "socket"))
        connection.sendall(json.dumps(request).encode())
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    answer = json.loads(answer)
    for descriptor, part in answer["output"]:
        part = base64.b64decode(part)
        while part:
            part = part[os.write(descriptor, part):]
    return answer["code"]


if __name__ == "__main__":
    sys.exit(main())
