"""Instructions of traces, as objects and as the JSON of traces."""
import json

from ..._core import native

_PRIMITIVES = {row["name"]: row for row in native.primitive_table()}
_kinds = {}


class InstructionKind:
    """A kind of instruction, by its name: `InstructionKind.get("Split")`."""

    def __init__(self, name, is_pure):
        self.name, self._is_pure = name, is_pure

    @staticmethod
    def get(name):
        """The kind of a name, which is the same object each time."""
        name = {"GetSBlock": "GetBlock"}.get(name, name)
        if name not in _PRIMITIVES:
            raise KeyError(f"there is no primitive '{name}'")
        if name not in _kinds:
            _kinds[name] = InstructionKind(name, _PRIMITIVES[name]["is_pure"])
        return _kinds[name]

    @property
    def is_pure(self):
        """Whether it does not change the module."""
        return self._is_pure

    def same_as(self, other):
        return self is other

    def __repr__(self):
        return f"InstructionKind({self.name})"


class Instruction:
    """A primitive of a trace: its kind, its inputs, which may be results of earlier ones, its attributes and results."""

    def __init__(self, kind, inputs, attrs, outputs):
        self.kind, self.inputs, self.attrs, self.outputs = kind, list(inputs), list(attrs), list(outputs)
        self._place = None

    def same_as(self, other):
        return self is other

    # Of a trace that is asked for twice, the same instruction.
    def __eq__(self, other):
        return self is other or (isinstance(other, Instruction) and None is not self._place == other._place)

    def __hash__(self):
        return id(self) if self._place is None else hash(self._place)

    def __str__(self):
        """The statement of Python, in which variables have no names."""
        names = {id(item): f"x{i}" for i, item in enumerate(self.inputs + self.outputs) if is_variable(item)}
        text = native.Trace(json.dumps([[to_json(self, names)], []])).lines()[0]
        for name in names.values():
            text = text.replace(name, "_")
        return text

    __repr__ = __str__


def is_variable(item):
    """Returns whether an input stands for the result of an instruction."""
    from ..expr import Var

    return hasattr(item, "_name_") or isinstance(item, Var)


def _plain(value):
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return getattr(value, "value", value) if not isinstance(value, (bool, int, float, str, type(None))) else value


def to_json(inst, names):
    """The instruction as values of JSON, with the names of its variables. Texts among its inputs are in quotes."""

    def given(item):
        if is_variable(item):
            return names[id(item)]
        if isinstance(item, str):
            return f'"{item}"'
        return [given(part) for part in item] if isinstance(item, (list, tuple)) else _plain(item)

    return [inst.kind.name, [given(item) for item in inst.inputs], _plain(inst.attrs), [names[id(item)] for item in inst.outputs]]


def from_json(values, place, variables, classes):
    """The instruction of values of JSON at a place of a trace. `variables` has those of earlier ones by their names, and
    gets its own."""
    kind, inputs, attrs, outputs = values

    def taken(item):
        if isinstance(item, str):
            return variables[item] if item in variables else item[1:-1]
        return [taken(part) for part in item] if isinstance(item, list) else item

    inputs = [taken(item) for item in inputs]
    for name in outputs:
        variables[name] = classes[name[0]](name)
    made = Instruction(InstructionKind.get(kind), inputs, attrs, [variables[name] for name in outputs])
    made._place = (place, json.dumps(values))
    return made
