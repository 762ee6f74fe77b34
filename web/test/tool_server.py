"""The commands of the package for npm as programs that start fast: one process of Node, tool_server.mjs, runs them.

  with ToolServer(folder):
      subprocess.run([os.path.join(folder, "ir-opt"), ...])
"""
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build-wasm")


class ToolServer:
    """The programs ir-opt and ir-run in a folder of their own, and the process that runs them, several at a time."""

    def __init__(self, folder, jobs=os.cpu_count()):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for name in ("ir-opt", "ir-run"):
            program = shutil.copy(os.path.join(HERE, "tool_client.py"), os.path.join(folder, name))
            os.chmod(program, 0o755)
        package = os.path.join(BUILD, "npm", "package")
        self.command = ["node", os.path.join(HERE, "tool_server.mjs"), os.path.join(folder, "socket"), package, str(jobs)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b"ready\n":
            raise SystemExit("the server of the tools does not start")

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
