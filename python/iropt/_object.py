"""The base of the classes of nodes."""
from ._core import Node, native


class Object(Node):
    """The base class of all nodes."""

    __slots__ = ()

    def same_as(self, other):
        """Returns whether both are the same node."""
        return isinstance(other, Node) and native.node_id(self) == native.node_id(other)

    @property
    def span(self):
        """The place in the source: (name, line, column, last line, last column), or None."""
        return native.place(self)

    def script(self, **options):
        """The node as text, with the values of all constants unless show_meta=False is given.

        With verbose_expr=True, the text of an expression begins with the declarations of its variables and buffers.
        """
        from . import _text

        text = _text.script(self, **printing(options))
        return _text.declared(self, text) if options.get("verbose_expr") else text

    def show(self, *_, **options):
        """Prints the node; the values of constants only with show_meta=True."""
        from . import _text

        _text.show(self.script(**printing({"show_meta": False, **options})))

    def astext(self, **_):
        return self.script()

    def __str__(self):
        return self.script(show_meta=False)

    __repr__ = __str__

    def _script_(self):
        """The text of the node in a script that captures it."""
        from . import _text

        return _text.captured(self)

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self


class Part(Object):
    """A part of a graph. Its text as a script has declarations of what it does not define; `str` has not."""

    __slots__ = ()

    def script(self, **options):
        """The part as text, after the declarations of the variables that it uses and does not define."""
        from . import _fragments

        return _fragments.script(self, **printing(options))

    def __str__(self):
        from . import _text

        return _text.script(self, show_meta=False)

    __repr__ = __str__


def printing(options):
    """The options of printing among others."""
    known = ("version", "show_meta", "show_all_types", "inline_constants", "hash_constants", "elide_larger_than")
    return {key: value for key, value in options.items() if key in known}
