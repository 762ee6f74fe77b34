"""The build backend of pyproject.toml: that of setuptools, which also asks for the tools of the build that are missing here."""
import shutil

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403: the other functions of a backend


def get_requires_for_build_wheel(config_settings=None):
    """What is to be installed for the build, with programs that the package index has, too."""
    tools = []
    if not shutil.which("cmake"):
        tools.append("cmake>=3.22")
    if not shutil.which("ninja") and not shutil.which("make"):
        tools.append("ninja")
    return build_meta.get_requires_for_build_wheel(config_settings) + tools
