"""Dtypes as values with fields."""
import enum
import re


class DataTypeCode(enum.IntEnum):
    """The kinds of dtypes."""

    INT, UINT, FLOAT, HANDLE, BFLOAT, E4M3Float, E5M2Float = 0, 1, 2, 3, 4, 6, 7
    # Newer versions have those of DLPack for short floats: E5M2Float of 0.18 has the number of one of them.
    BOOL, Float8E4M3, Float8E4M3B11FNUZ, Float8E4M3FN, Float8E4M3FNUZ = 6, 8, 9, 10, 11
    Float8E3M4, Float8E5M2, Float8E5M2FNUZ, Float8E8M0FNU = 7, 12, 13, 14
    Float6E2M3FN, Float6E3M2FN, Float4E2M1FN = 15, 16, 17


_KINDS = {"int": DataTypeCode.INT, "uint": DataTypeCode.UINT, "bool": DataTypeCode.UINT, "float": DataTypeCode.FLOAT,
          "handle": DataTypeCode.HANDLE, "bfloat": DataTypeCode.BFLOAT, "e4m3_float": DataTypeCode.E4M3Float,
          "e5m2_float": DataTypeCode.E5M2Float}
_SHORT = {f"{name[:6].lower()}_{name[6:].lower()}": code for name, code in DataTypeCode.__members__.items()
          if re.match(r"Float\d", name)}
_FORM = re.compile(r"(e4m3_float|e5m2_float|bfloat|float|uint|int|bool|handle)(\d*)(?:x(\d+|vscalex\d+))?")
_SHORT_FORM = re.compile(r"(float(\d)_\w+?)(?:x(\d+))?")
# Numbers have 32 bits unless a dtype says otherwise.
_DEFAULT_BITS = {"bool": 1, "handle": 64, "bfloat": 16}


class _Size(int):
    def __call__(self):
        return int(self)


class DataType(str):
    """A dtype by its name, such as "float16x4"; it is a text that has `bits`, `lanes` and `type_code`."""

    def __new__(cls, type_str):
        from ._core import native

        text = type_str if isinstance(type_str, str) else native.dtype_name(type_str)
        match = _FORM.fullmatch(text) or _SHORT_FORM.fullmatch(text)
        code = None if match is None else _KINDS.get(match[1], _SHORT.get(match[1]))
        if code is None:
            raise ValueError(f"Do not know how to handle type {text}")
        kind, bits, lanes = match.groups()
        self = super().__new__(cls, text)
        self.type_code = int(code)
        self.bits = int(bits) if bits else _DEFAULT_BITS.get(kind, 32)
        self.lanes = int(lanes) if lanes and lanes.isdigit() else 1 if not lanes else -int(lanes.removeprefix("vscalex"))
        return self

    @property
    def itemsize(self):
        """The number of bytes of an element: `dtype.itemsize`, and `dtype.itemsize()` of older versions."""
        if self.lanes < 0:
            raise ValueError(f"the number of elements of {self} is not known")
        return _Size((self.bits * self.lanes + 7) // 8)

    def with_lanes(self, lanes):
        """The dtype of a vector."""
        base = self.partition("x")[0]
        return DataType(base if lanes == 1 else f"{base}x{lanes}")
