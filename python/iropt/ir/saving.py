"""Modules, functions, nodes and lists of them as text, and back."""
import base64
import json

from .. import _core
from .._core import Array, Node, native
from .module import IRModule


def save_json(value):
    """A module, a node, or a list or a dictionary of such as a text that load_json reads."""
    if isinstance(value, IRModule):
        return json.dumps({"iropt": "module", "tvmscript": value.script()})
    writer = _Writer()
    root = writer.write(value)
    return json.dumps({"iropt": "nodes", "nodes": writer.nodes, "root": root})


def load_json(text):
    """Reads a text that save_json has written, or the metadata that TVM prints with a module: lists of constants by their keys."""
    data = json.loads(text)
    if not isinstance(data, dict) or "iropt" not in data:
        return _metadata(text, data)
    if data["iropt"] != "nodes":
        module = IRModule.from_source(data["tvmscript"], verify=False)
        return module if data["iropt"] == "module" else module.values()[0]
    return _Reader(data["nodes"]).read(data["root"])


def _lists_of_metadata(data):
    """How many objects each list of the metadata has, by key. A graph of nodes whose root is a map; see metadata.h."""
    nodes = data["nodes"]
    root = nodes[data["root_index"] if "root_index" in data else data["root"]]
    if root.get("type") == "ffi.Map":
        places = iter(root["data"])
        pairs = [(nodes[key]["data"], nodes[value]) for key, value in zip(places, places)]
    elif root.get("type_key") == "Map":
        pairs = [(key, nodes[value]) for key, value in zip(root["keys"], root["data"])]
    else:
        raise KeyError("the root is not a map")
    return {key: len(node["data"]) for key, node in pairs}


def _metadata(text, data):
    try:
        lists = _lists_of_metadata(data)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError("the text was written neither by save_json of this package nor as metadata of a module") from error
    # The library reads metadata where a module refers to it: one function returns one constant.
    quoted = json.dumps(text, ensure_ascii=False)[1:-1]
    read = {}
    for key, count in lists.items():
        lines = [f'metadata = tvm.ir.load_json("""{quoted}""")', "@I.ir_module", "class Module:"]
        for index in range(count):
            lines += ["    @R.function", f"    def entry{index}() -> R.Object:", f'        return metadata[{json.dumps(key)}][{index}]']
        functions = {name.name_hint: func for name, func in IRModule.from_source("\n".join(lines), verify=False).items()}
        read[key] = Array(functions[f"entry{index}"].body.body for index in range(count))
    return read


_LISTS = ("dims", "values", "params", "known", "opaque")


class _Writer:
    """Writes every node once, those that it uses before it."""

    def __init__(self):
        self.nodes, self._places = [], {}

    def write(self, value):
        """The value as one of JSON: objects have their kind under "is"."""
        if isinstance(value, Node):
            return {"is": "node", "at": self._node(value)}
        if isinstance(value, native.NDArray):
            return {"is": "tensor", "dtype": value.dtype, "shape": list(value.shape),
                    "bytes": base64.b64encode(value._bytes()).decode()}
        if isinstance(value, (list, tuple)):
            return [self.write(item) for item in value]
        if isinstance(value, dict):
            return {"is": "dictionary", "items": [[self.write(key), self.write(item)] for key, item in value.items()]}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise TypeError(f"a value of type {type(value).__name__} can't be saved")

    def _node(self, node):
        key = native.node_id(node)
        if key not in self._places:
            written = self._written(node)
            self._places[key] = len(self.nodes)
            self.nodes.append(written)
        return self._places[key]

    def _written(self, node):
        from . import Attrs, BaseFunc, DictAttrs

        name = next(name for name, row in _core.KINDS.items() if row[0] == type(node)._kind_)
        if isinstance(node, BaseFunc) and name in ("Function", "PrimFunc"):
            return {"function": node.script()}
        if isinstance(node, Attrs):
            raise NotImplementedError(f"the attributes {node.type_key} can't be saved alone: save the function")
        if isinstance(node, DictAttrs):
            keys, values = native.dict_items(node)
            return {"dictionary": [[key, self.write(value)] for key, value in zip(keys, values)]}
        fields = {}
        # Types of unknown shape, or with unknown parameters, have none of these.
        unknown = _LISTS if not getattr(node, "known", True) or getattr(node, "opaque", False) else ()
        for field in type(node)._fields_:
            value = getattr(node, field)
            if value is not None and field not in unknown:
                fields[field] = self.write(value)
        return {"kind": name, "fields": fields}


class _Reader:
    def __init__(self, nodes):
        self._made = []
        for node in nodes:
            self._made.append(self._node(node))

    def _node(self, node):
        if "function" in node:
            return IRModule.from_source(node["function"], verify=False).values()[0]
        if "dictionary" in node:
            return _core.make("DictAttr", values={key: self.read(value) for key, value in node["dictionary"]})
        return _core.make(node["kind"], **{name: self.read(value) for name, value in node["fields"].items()})

    def read(self, value):
        """The value that was written."""
        if isinstance(value, list):
            return Array(self.read(item) for item in value)
        if not isinstance(value, dict):
            return value
        if value["is"] == "node":
            return self._made[value["at"]]
        if value["is"] == "tensor":
            return native.NDArray._from_bytes(value["dtype"], value["shape"], base64.b64decode(value["bytes"]))
        return {self.read(key): self.read(item) for key, item in value["items"]}
