"""Arithmetic of scalars for tir_reference.py: integers that wrap at the width of their dtype, and floats that are rounded to theirs
after each operation."""
import ctypes
import math
import operator
import struct
import sys


class Unsupported(Exception):
    """The text needs something that is not known here."""


def is_float(dtype):
    return dtype.startswith(("float", "bfloat"))


def bits(dtype):
    return 1 if dtype == "bool" else int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz"))


def wrap(value, dtype):
    """The integer in the range of the dtype."""
    width = bits(dtype)
    value &= (1 << width) - 1
    return value - (1 << width) if dtype.startswith("int") and value >> (width - 1) else value


def round_to_half(value):
    try:
        return struct.unpack("e", struct.pack("e", float(value)))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


# An operation on doubles that is rounded to a narrower format is rounded correctly: a double has more than twice its digits.
ROUND = {"float64": float, "float32": lambda value: ctypes.c_float(value).value, "float16": round_to_half}
LARGEST = {"float64": sys.float_info.max, "float32": (2 - 2.0 ** -23) * 2.0 ** 127, "float16": 65504.0}


def convert(value, dtype):
    if dtype == "bool":
        return bool(value)
    return ROUND[dtype](value) if is_float(dtype) else wrap(int(value), dtype)


def common_dtype(a, b):
    """The dtype of an operation of two, as TVM's operators convert their operands."""
    if a == b:
        return a
    if is_float(a) != is_float(b):
        return a if is_float(a) else b
    if bits(a) != bits(b):
        return a if bits(a) > bits(b) else b
    if {a[:3], b[:3]} == {"int", "uin"}:
        return a if a.startswith("uint") else b
    raise Unsupported(f"an operation of {a} and {b}")


def truncated_div(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def divided(a, b):
    if b != 0:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)


def floor_divided(a, b):
    quotient = divided(a, b)
    return float(math.floor(quotient)) if math.isfinite(quotient) else quotient


def of_finite(function, otherwise=lambda value: value):
    """The function, where it is too large for a float infinity, and for other values than finite ones another function."""
    def compute(value):
        if not math.isfinite(value):
            return otherwise(value)
        try:
            return float(function(value))
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan
    return compute


def sigmoid(value):
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0


ARITHMETIC = {"Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "FloorDiv": operator.floordiv, "Mod": operator.mod}
COMPARISONS = {"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq,
               "NotEq": operator.ne}
# Functions of T of two operands that are converted to one dtype: of integers, of floats (None if there is none).
BINARY = {
    "Add": (operator.add, operator.add), "Sub": (operator.sub, operator.sub), "Mul": (operator.mul, operator.mul),
    "floordiv": (operator.floordiv, floor_divided), "floormod": (operator.mod, None),
    "FloorDiv": (operator.floordiv, floor_divided), "FloorMod": (operator.mod, None),
    "truncdiv": (truncated_div, None), "Div": (truncated_div, divided),
    "truncmod": (lambda a, b: a - truncated_div(a, b) * b, None),
    "bitwise_and": (operator.and_, None), "bitwise_or": (operator.or_, None), "bitwise_xor": (operator.xor, None),
    "shift_left": (lambda a, b: a << b, None), "shift_right": (lambda a, b: a >> b, None),
    # NaN if an operand is NaN, the second operand of equal ones.
    "max": (max, lambda a, b: a if a > b or a != a else b), "min": (min, lambda a, b: a if a < b or a != a else b),
}
COMPARED = {"LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge, "EQ": operator.eq, "NE": operator.ne}
UNARY = {"fabs": abs, "abs": abs, "tanh": math.tanh, "floor": of_finite(math.floor), "ceil": of_finite(math.ceil),
         "trunc": of_finite(math.trunc), "exp": of_finite(math.exp, lambda value: 0.0 if value < 0 else value),
         "sqrt": of_finite(math.sqrt, lambda value: value if value > 0 else math.nan),
         "sigmoid": of_finite(sigmoid, lambda value: math.nan if value != value else float(value > 0))}
