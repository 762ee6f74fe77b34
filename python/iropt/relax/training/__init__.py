"""Training: losses, optimizers, and what makes functions that train of a backbone."""
from . import loss, optimizer, utils  # noqa: F401
from .setup_trainer import SetupTrainer  # noqa: F401
from .trainer import Trainer  # noqa: F401
from .utils import AppendLoss  # noqa: F401
