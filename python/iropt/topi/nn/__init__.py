"""Functions of neural networks."""
from .activation import *  # noqa: F401,F403
from .convolution import *  # noqa: F401,F403
from .matmul import *  # noqa: F401,F403
from .norm import *  # noqa: F401,F403
from .padding import *  # noqa: F401,F403
from .pooling import *  # noqa: F401,F403
from .resize import *  # noqa: F401,F403
from . import utils  # noqa: F401
