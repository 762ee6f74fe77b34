"""Models in Python: modules with parameters, like those of PyTorch, which are exported as modules of Relax.

A model is a class with `forward`, in which operators of `nn.op` are called; `export_tvm` makes the functions.
"""
import importlib
from typing import Union

from ....tir import PrimExpr
from . import op, spec  # noqa: F401
from .core import (Effect, Module, ModuleDict, ModuleList, Object, Parameter, ParameterDict, ParameterList,  # noqa: F401
                   Sequential, Tensor)
from .exporter import add_extern  # noqa: F401
from .extern import ExternModule, ObjectModule, SourceModule  # noqa: F401
from .modules import (GELU, Attention, Conv1D, Conv2D, Conv3D, ConvTranspose1D, Embedding, GroupNorm,  # noqa: F401
                      Identity, IOEffect, KVCache, LayerNorm, Linear, ReLU, RMSNorm, SiLU, TimestepEmbedding, Timesteps)
from .op import *  # noqa: F401,F403
from .subroutine import SubroutineMixin  # noqa: F401
from .visitor import Mutator  # noqa: F401

IntExpr = Union[int, PrimExpr]


def __getattr__(name):
    if name in ("llm", "torch"):
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
