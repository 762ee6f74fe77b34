"""Sessions that run modules elsewhere: only that of this process exists."""
import os
import shutil

from . import contrib, executable, packed, runtime


class LocalSession:
    """A session of this process, with a folder of its own for files that are uploaded."""

    def __init__(self):
        self._folder = contrib.tempdir()

    def upload(self, data, target=None):
        """Copies a file, or writes bytes under the name `target`, into the folder of the session."""
        if isinstance(data, (bytes, bytearray)):
            if not target:
                raise ValueError("target must present when file is a bytearray")
            with open(self._folder.relpath(target), "wb") as file:
                file.write(data)
        else:
            shutil.copyfile(data, self._folder.relpath(target or os.path.basename(data)))

    def download(self, path):
        """The bytes of a file of the session."""
        with open(self._folder.relpath(path), "rb") as file:
            return bytearray(file.read())

    def remove(self, path):
        """Removes a file of the session."""
        os.remove(self._folder.relpath(path))

    def load_module(self, path):
        """The module that export_library has written to an uploaded file."""
        return executable.load_module(self._folder.relpath(path))

    def get_function(self, name):
        """The registered function of a name."""
        return packed.get_global_func(name)

    def device(self, dev_type, dev_id=0):
        """A device of this process."""
        return runtime.device(dev_type, dev_id)

    def cpu(self, dev_id=0):
        """The host."""
        return runtime.device("cpu", dev_id)


def _needs(name):
    def connect(*args, **kwargs):
        del args, kwargs
        raise NotImplementedError(f"rpc.{name} is not a part of iropt: modules run in this process, with rpc.LocalSession()")

    connect.__name__ = connect.__qualname__ = name
    return connect


connect, connect_tracker = _needs("connect"), _needs("connect_tracker")
