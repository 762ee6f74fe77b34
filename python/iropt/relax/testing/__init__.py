"""Tools for tests of graphs: small networks, a printer of trees, and packed functions."""
from .ast_printer import dump_ast  # noqa: F401
from .nn import *  # noqa: F401,F403
