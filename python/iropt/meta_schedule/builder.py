"""Builders: they make files of candidates, which a runner loads."""
import os
import tempfile

from .. import packed
from ..target import Target


class BuilderInput:
    """A module to be built for a target, with parameters that are bound to it, or None."""

    def __init__(self, mod, target, params=None):
        self.mod, self.target, self.params = mod, Target(target), params


class BuilderResult:
    """The path of what was built, or the message of an error: one of them is None."""

    def __init__(self, artifact_path, error_msg):
        self.artifact_path, self.error_msg = artifact_path, error_msg


class Builder:
    """What builds candidates. A program's own extends PyBuilder."""

    def build(self, build_inputs):
        """The results of a list of BuilderInput, in order."""
        raise NotImplementedError

    @staticmethod
    def create(kind="local", *args, **kwargs):
        """The builder of a kind, "local"."""
        return create(kind, *args, **kwargs)


class PyBuilder(Builder):
    """A builder of a program."""


def function_of(function, default):
    """A function that a program gives, perhaps by the name under which it is registered."""
    if function is None:
        return default
    return packed.get_global_func(function) if isinstance(function, str) else function


def _build(mod, target, params):
    from ..executable import build
    from ..relax.transform import BindParams

    return build(BindParams("main", params)(mod) if params else mod, target=target)


# What the names of the folders begin with that a LocalBuilder makes.
FOLDER = "iropt-candidate-"


def _export(module):
    path = os.path.join(tempfile.mkdtemp(prefix=FOLDER), "tvm_tmp_mod.tar")
    module.export_library(path)
    return path


class LocalBuilder(PyBuilder):
    """Builds in this process.

    f_build: makes a module of a module, a target and parameters; f_export: writes it and returns the path. Both may be names of
        registered functions.
    max_workers, timeout_sec: have no effect
    """

    def __init__(self, *, max_workers=None, timeout_sec=30.0, f_build=None, f_export=None, initializer=None):
        self.max_workers, self.timeout_sec = max_workers or os.cpu_count(), timeout_sec
        self.f_build, self.f_export, self.initializer = f_build, f_export, initializer

    def build(self, build_inputs):
        if self.initializer:
            self.initializer()
        return [self._result(item) for item in build_inputs]

    def _result(self, item):
        try:
            made = function_of(self.f_build, _build)(item.mod, item.target, item.params)
            return BuilderResult(function_of(self.f_export, _export)(made), None)
        except Exception as error:  # a program's function may raise anything
            return BuilderResult(None, f"LocalBuilder: An exception occurred\n{error}")


def create(kind="local", *args, **kwargs):
    """The builder of a kind, "local"."""
    if kind != "local":
        raise ValueError(f"Unknown Builder: {kind}")
    return LocalBuilder(*args, **kwargs)
