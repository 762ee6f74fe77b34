"""Names that differ from each other."""


class UniqueNameSupply:
    """Hands out names, each once. The prefix, if there is one, comes before each, with an underscore."""

    def __init__(self, prefix=""):
        self._prefix, self._counts = prefix, {}

    def _full(self, name, add_prefix):
        full = f"{self._prefix}_{name}" if self._prefix and add_prefix else name
        return full.replace(".", "_")

    def fresh_name(self, name, add_prefix=True, add_underscore=True):
        """The name, or the name with the first number that makes it new."""
        full = self._full(name, add_prefix)
        found = full
        while found in self._counts:
            self._counts[full] += 1
            found = f"{full}{'_' if add_underscore else ''}{self._counts[full]}"
        self._counts[found] = 0
        return found

    def reserve_name(self, name, add_prefix=True):
        """Takes a name, so that it is not handed out; returns it."""
        full = self._full(name, add_prefix)
        self._counts.setdefault(full, 0)
        return full

    def contains_name(self, name, add_prefix=True):
        """Returns whether a name is taken."""
        return self._full(name, add_prefix) in self._counts


NameSupply = UniqueNameSupply
