"""Small helpers of programs that extend the search."""


def derived_object(cls):
    """Marks a class of a program that extends one of the search; nothing has to be done for it."""
    return cls
