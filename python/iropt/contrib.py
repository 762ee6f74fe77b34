"""Small helpers that programs take from tvm.contrib.utils."""
import os
import tempfile


class TempDirectory:
    """A folder that exists as long as the object does."""

    def __init__(self, custom_path=None):
        self._folder = None
        if custom_path is not None:
            os.makedirs(custom_path)
            self.path = custom_path
        else:
            self._folder = tempfile.TemporaryDirectory()
            self.path = self._folder.name

    def remove(self):
        """Removes the folder, unless its path was given."""
        if self._folder is not None:
            self._folder.cleanup()

    def relpath(self, name):
        """The path of a file in the folder."""
        return os.path.join(self.path, name)

    __truediv__ = relpath

    def listdir(self):
        """The names in the folder."""
        return os.listdir(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def tempdir(custom_path=None):
    """A new folder for temporary files: `path`, `relpath(name)`, `listdir()`."""
    return TempDirectory(custom_path)
