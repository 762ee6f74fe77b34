"""The shared libraries that a wheel brings, loaded before the extension module that needs them."""
import ctypes
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libs")


def load():
    """Loads them all; one that needs another comes after it, in whatever order they are found."""
    if not os.path.isdir(FOLDER):
        return
    waiting = sorted(os.listdir(FOLDER))
    while waiting:
        failed = []
        for name in waiting:
            try:
                ctypes.CDLL(os.path.join(FOLDER, name))
            except OSError as error:
                failed.append((name, error))
        if len(failed) == len(waiting):
            raise ImportError(f"cannot load {failed[0][0]}: {failed[0][1]}")
        waiting = [name for name, _ in failed]
