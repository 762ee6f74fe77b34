"""A stand-in for IPython, which shows texts."""
from . import display  # noqa: F401
