"""Tags of tensors that are computed in a scope."""
import functools
import warnings


class TagScope:
    """The scope in which tensors get a tag: a context manager, and a decorator of functions."""

    _current = None

    def __init__(self, tag):
        self.tag = tag
        self.accessed = False

    @classmethod
    def get_current(cls):
        """The scope around, or None."""
        if cls._current is not None:
            cls._current.accessed = True
        return cls._current

    def __enter__(self):
        if TagScope._current is not None:
            raise ValueError("op_tag cannot be nested")
        TagScope._current = self
        return self

    def __exit__(self, kind, value, trace):
        if not self.accessed:
            warnings.warn(f"Tag '{self.tag}' declared via TagScope was not used.")
        TagScope._current = None

    def __call__(self, function):
        @functools.wraps(function)
        def tagged(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return tagged


def tag_scope(tag):
    """The scope in which tensors get a tag.

    Args:
        tag: the text.

    Returns: a context manager, which is also a decorator of functions.
    """
    return TagScope(tag)


def current_tag(tag):
    """The tag of a tensor that is made here with `tag`."""
    scope = TagScope.get_current()
    if scope is None:
        return tag
    if tag:
        raise ValueError("tag scopes cannot be nested")
    return scope.tag
