"""Functions on tensors of tensor expressions, by the names of TVM's topi: `topi.add(A, B)`, `topi.nn.softmax(A)`.

In scripts, `R.emit_te(topi.add, x, y)` makes a PrimFunc of what the function computes.
"""
from . import image, nn, tag, utils  # noqa: F401
from .broadcast import *  # noqa: F401,F403
from .creation import *  # noqa: F401,F403
from .elementwise import *  # noqa: F401,F403
from .reduction import *  # noqa: F401,F403
from .transform import *  # noqa: F401,F403
from .indexing import *  # noqa: F401,F403
from .sort import *  # noqa: F401,F403
