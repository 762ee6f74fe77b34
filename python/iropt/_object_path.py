"""Paths from an object to a part of it, such as `<root>.body.seq[1]`."""


class ObjectPath:
    """The steps from a root to a part. Paths with the same steps are equal."""

    def __init__(self, parent, text):
        self.parent, self._text = parent, text

    @staticmethod
    def root(root_name=None):
        """The path of the object itself."""
        return RootPath(None, root_name or "<root>")

    def attr(self, attr_key):
        """The path of a field."""
        if attr_key is None:
            return UnknownAttributeAccessPath(self, ".<unknown attribute>")
        return AttributeAccessPath(self, f".{attr_key}", attr_key)

    def array_index(self, index):
        """The path of an element."""
        return ArrayIndexPath(self, f"[{int(index)}]", index)

    def missing_array_element(self, index):
        """The path of an element that only the other object has."""
        return MissingArrayElementPath(self, f"[<missing element #{int(index)}>]", index)

    def map_value(self, key):
        """The path of the value of a key."""
        return MapValuePath(self, f"[{_key(key)}]", key)

    def missing_map_entry(self):
        """The path of an entry that only the other object has."""
        return MissingMapEntryPath(self, "[<missing entry>]")

    # The names of the package tvm_ffi.
    array_item, array_item_missing, map_item = array_index, missing_array_element, map_value

    def map_item_missing(self, key):
        """The path of an entry that only the other object has."""
        return MissingMapEntryPath(self, f"[<missing entry {_key(key)}>]")

    def attr_missing(self, attr_key):
        """The path of a field that only the other object has."""
        return UnknownAttributeAccessPath(self, f".<missing {attr_key}>")

    def is_prefix_of(self, other):
        """Returns whether the steps of another path begin with those of this one."""
        return self._steps() == other._steps()[: len(self)]

    def _steps(self):
        return (*(() if self.parent is None else self.parent._steps()), self._text)

    def __len__(self):
        return len(self._steps())

    def __eq__(self, other):
        return isinstance(other, ObjectPath) and self._steps() == other._steps()

    def __hash__(self):
        return hash(self._steps())

    def __repr__(self):
        return "".join(self._steps())


AccessPath = ObjectPath


def _key(key):
    return f'"{key}"' if isinstance(key, str) else repr(key)


class RootPath(ObjectPath):
    """The object itself."""


class AttributeAccessPath(ObjectPath):
    """A field."""

    def __init__(self, parent, text, attr_key):
        super().__init__(parent, text)
        self.attr_key = attr_key


class UnknownAttributeAccessPath(ObjectPath):
    """A field whose name is not known."""


class ArrayIndexPath(ObjectPath):
    """An element."""

    def __init__(self, parent, text, index):
        super().__init__(parent, text)
        self.index = index


class MissingArrayElementPath(ArrayIndexPath):
    """An element that only the other object has."""


class MapValuePath(ObjectPath):
    """The value of a key."""

    def __init__(self, parent, text, key):
        super().__init__(parent, text)
        self.key = key


class MissingMapEntryPath(ObjectPath):
    """An entry that only the other object has."""
