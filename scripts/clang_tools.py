"""Functions that the checks by clang-format and clang-tidy share."""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VERSION = "14"
FOLDERS = ("bench", "examples", "include", "lib", "test", "tools")


def find_tool(name):
    """The tool in the version that the repository is checked with; ends the script with 77, "skipped", without it."""
    for candidate in (f"{name}-{VERSION}", name):
        path = shutil.which(candidate)
        if not path:
            continue
        text = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        if re.search(rf"version {VERSION}\.", text):
            return path
    print(f"skipped: no {name} {VERSION}; scripts/setup.sh installs it")
    sys.exit(77)


def sources(root, endings, folders=FOLDERS):
    """The paths of the C++ files in these folders, relative to the root."""
    for folder in folders:
        for base, dirs, names in os.walk(os.path.join(root, folder)):
            dirs[:] = sorted(d for d in dirs if not d.startswith("build"))
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(base, name), root)
