"""The numbers by which lowered shapes tell the runtime what to do."""
import enum


class MatchShapeCode(enum.IntEnum):
    """What a dimension that is matched does: it is compared with a number or a stored one, or stored, or nothing."""

    ASSERT_EQUAL_TO_IMM, STORE_TO_HEAP, NO_OP, ASSERT_EQUAL_TO_LOAD = range(4)


class MakeShapeCode(enum.IntEnum):
    """What a dimension that is made is: a number, or a stored one."""

    USE_IMM, LOAD_SHAPE = range(2)
