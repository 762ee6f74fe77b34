"""Modules."""
from .._core import Array, native
from .._object import printing
from .base import BaseFunc, GlobalVar


def _structural_equal(lhs, rhs):
    from .structure import structural_equal

    return structural_equal(lhs, rhs)


class _Functions(dict):
    """Functions by their variables, as a map of TVM: items is a list, and next takes the first of the values."""

    def items(self):
        return list(super().items())

    def values(self):
        return iter(super().values())

    def keys(self):
        return iter(super().keys())



class IRModule:
    """A module: functions by their names, attributes, and global infos such as virtual devices.

    It is a mapping of GlobalVars to functions, which also takes texts as names.
    """

    __slots__ = ("_module", "__dict__")

    def __init__(self, functions=None, type_definitions=None, attrs=None, global_infos=None, *, _module=None):
        del type_definitions
        self._module = native.Module() if _module is None else _module
        for name, func in (functions or {}).items():
            self[name] = func
        if attrs:
            self._module.attrs = attrs
        for name, infos in (global_infos or {}).items():
            self._module.set_global_info(name, list(infos))

    # ---- Reading and writing
    @staticmethod
    def from_source(text, name="<text>", verify=True, first_line=1, format="tvmscript"):
        """Reads the text of a module, in TVMScript or another format with text, such as relay."""
        return IRModule(_module=native.from_source(text, str(name), first_line, format, verify))

    @staticmethod
    def from_file(path, format="", verify=True):
        """Reads a file of any format that the library knows."""
        return IRModule(_module=native.from_file(str(path), format, verify))

    @staticmethod
    def from_expr(expr, functions=None, type_defs=None):
        """A module of one function, and more if they are given."""
        del type_defs
        from .. import relax

        if isinstance(expr, IRModule):
            return expr
        module = IRModule(functions)
        if not isinstance(expr, BaseFunc):
            expr = relax.Function(relax.analysis.free_vars(expr), expr)
        symbol = expr.attrs.get("global_symbol") if expr.attrs is not None else None
        module[symbol or "main"] = expr
        return module

    def script(self, **options):
        """The text of the module in TVMScript, with the values of all constants unless show_meta=False is given."""
        return self._module.text(printing(options))

    def show(self, *_, style=None, black_format=None, **options):
        """Prints the module, with colours on a terminal; the values of constants only with show_meta=True."""
        from .. import _text

        _text.show(self.script(**{"show_meta": False, **options}))

    def write(self, path, format=""):
        """Writes a file in the format of its extension."""
        self._module.write(str(path), format)

    def astext(self, **_):
        return self.script()

    def __str__(self):
        return self.script(show_meta=False)

    __repr__ = __str__

    def _repr_html_(self):
        from .. import _text

        return _text.html(str(self))

    # ---- A mapping
    @property
    def functions(self):
        return _Functions(self._module.entries())

    functions_ = functions

    def functions_items(self):
        return self._module.entries()

    def items(self):
        return self._module.entries()

    def keys(self):
        return [name for name, _ in self._module.entries()]

    def values(self):
        return [func for _, func in self._module.entries()]

    def get_global_vars(self):
        return Array(self.keys())

    def get_global_var(self, name):
        """The name of a function, which knows its type."""
        func = self._module.find(name)
        if func is None:
            raise ValueError(f"the module has no function '{name}'")
        return GlobalVar(name).of(func)

    def __getitem__(self, name):
        func = self._module.find(name)
        if func is None:
            raise ValueError(f"the module has no function '{getattr(name, 'name', name)}'")
        return func

    def __setitem__(self, name, func):
        self._module.set(name, func)

    def __delitem__(self, name):
        self._module.remove(name)

    def __contains__(self, name):
        return self._module.find(name) is not None

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self._module)

    def __eq__(self, other):
        return self is other or (isinstance(other, IRModule) and _structural_equal(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        func = self._module.find(name)
        if func is None:
            raise AttributeError(f"the module has no function or attribute '{name}'")
        return GlobalVar(name).of(func)

    def same_as(self, other):
        return self is other or (isinstance(other, IRModule) and self.items() == other.items())

    def update(self, other):
        for name, func in (other.items() if isinstance(other, IRModule) else other.items()):
            self[name] = func

    def update_func(self, name, func):
        self[name] = func

    def update_global_info(self, name, infos):
        self._module.set_global_info(name, list(infos))

    def replace_global_vars(self, replacements):
        """The module with other names for functions, {name or GlobalVar: name or GlobalVar}, also where they are called.

        The attribute global_symbol of a function that is visible outside changes with its name.
        """
        names = {getattr(old, "name", old): getattr(new, "name", new) for old, new in replacements.items()}
        for old, new in names.items():
            if old not in self:
                raise ValueError(f"the module has no function '{old}' to rename")
            if list(names.values()).count(new) > 1 or (new in self and new not in names):
                raise ValueError(f"the module has two functions '{new}' then")
        if not names:
            return self
        made = IRModule(_module=self._module.renamed(names))
        for old, new in names.items():
            func = made[new]
            symbol = func.attrs.get("global_symbol") if func.attrs is not None else None
            if symbol == old:
                made[new] = func.with_attr("global_symbol", new)
        return made

    def copy(self):
        return IRModule(_module=self._module.copy())

    clone = copy
    __copy__ = copy

    def __deepcopy__(self, _):
        return self.copy()

    def __reduce__(self):
        from .saving import load_json, save_json

        return load_json, (save_json(self),)

    # ---- Attributes and global infos
    @property
    def attrs(self):
        attrs = self._module.attrs
        return attrs if len(attrs) else None

    @property
    def global_infos(self):
        return self._module.global_infos()

    def get_attr(self, key):
        return self._module.attrs.get(key)

    def with_attr(self, key, value):
        module = self.copy()
        module._module.attrs = {**dict(self._module.attrs.items()), key: value}
        return module

    def with_attrs(self, attrs):
        module = self.copy()
        module._module.attrs = {**dict(self._module.attrs.items()), **dict(attrs.items())}
        return module

    def without_attr(self, key):
        module = self.copy()
        module._module.attrs = {name: value for name, value in self._module.attrs.items() if name != key}
        return module
