"""Dtypes as values with fields."""
import enum
import re


class DataTypeCode(enum.IntEnum):
    """The kinds of dtypes."""

    INT, UINT, FLOAT, HANDLE, BFLOAT, E4M3Float, E5M2Float = 0, 1, 2, 3, 4, 6, 7


_KINDS = {"int": DataTypeCode.INT, "uint": DataTypeCode.UINT, "bool": DataTypeCode.UINT, "float": DataTypeCode.FLOAT,
          "handle": DataTypeCode.HANDLE, "bfloat": DataTypeCode.BFLOAT, "e4m3_float": DataTypeCode.E4M3Float,
          "e5m2_float": DataTypeCode.E5M2Float}
_FORM = re.compile(r"(e4m3_float|e5m2_float|bfloat|float|uint|int|bool|handle)(\d*)(?:x(\d+|vscalex\d+))?")
# Numbers have 32 bits unless a dtype says otherwise.
_DEFAULT_BITS = {"bool": 1, "handle": 64}


class DataType(str):
    """A dtype by its name, such as "float16x4"; it is a text that has `bits`, `lanes` and `type_code`."""

    def __new__(cls, type_str):
        from ._core import native

        text = type_str if isinstance(type_str, str) else native.dtype_name(type_str)
        match = _FORM.fullmatch(text)
        if match is None:
            raise ValueError(f"Do not know how to handle type {text}")
        kind, bits, lanes = match.groups()
        self = super().__new__(cls, text)
        self.type_code = int(_KINDS[kind])
        self.bits = int(bits) if bits else _DEFAULT_BITS.get(kind, 32)
        self.lanes = int(lanes) if lanes and lanes.isdigit() else 1 if not lanes else -int(lanes.removeprefix("vscalex"))
        return self

    def itemsize(self):
        """The number of bytes of an element."""
        return (self.bits * max(self.lanes, 1) + 7) // 8

    def with_lanes(self, lanes):
        """The dtype of a vector."""
        base = self.partition("x")[0]
        return DataType(base if lanes == 1 else f"{base}x{lanes}")
