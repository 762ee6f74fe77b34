"""A stand-in for torchvision with made data."""
from . import datasets, models, transforms  # noqa: F401
