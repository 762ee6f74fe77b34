"""Tags by which passes know what a tensor is computed of."""
ELEMWISE = "elemwise"
BROADCAST = "broadcast"
INJECTIVE = "injective"
COMM_REDUCE = "comm_reduce"
COMM_REDUCE_IDX = "comm_reduce_idx"


def is_broadcast(tag):
    """Returns whether each element of the result needs one element of each operand, or a repeated one."""
    return tag in (ELEMWISE, BROADCAST) or tag.startswith((ELEMWISE, BROADCAST))


def is_injective(tag):
    """Returns whether each element of the result needs one element of each operand."""
    return is_broadcast(tag) or tag == INJECTIVE or tag.startswith(INJECTIVE)
