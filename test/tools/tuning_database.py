"""Writes a tuning database as versions of TVM do: tuning_database.py FOLDER --form=0.18|0.22|0.27 [--block NAME] RECORD...

The workload is a function of one block, B[i] = A[i] * 2 for 128 elements. A RECORD is the JSON of [trace, seconds],
or @FILE with it; {"index": N, "record": ...} states another workload. With --odd, a workload comes first that has
something ir-opt does not read.
"""

import argparse
import base64
import json
import pathlib
import struct


class Old:
    """The graphs of TVM 0.21 and older: all fields are strings, and node 0 is null."""

    def __init__(self):
        self.nodes = [{"type_key": ""}]

    def add(self, **node):
        self.nodes.append(node)
        return len(self.nodes) - 1

    def null(self):
        return 0

    def text(self, text):
        return self.add(type_key="runtime.String", **({"repr_str": text} if text else {}))

    def array(self, *items):
        return self.add(type_key="Array", **({"data": list(items)} if items else {}))

    def map(self, *pairs):
        return self.add(type_key="Map", **({"data": [item for pair in pairs for item in pair]} if pairs else {}))

    def named(self, **entries):
        return self.add(type_key="Map", keys=list(entries), data=list(entries.values()))

    def object(self, kind, /, **fields):
        names = {"Var": "tir.Var", "Range": "Range", "IntImm": "IntImm", "FloatImm": "FloatImm", "PrimType": "PrimType"}
        bare = {"PointerType", "TupleType", "DictAttrs", "IRModule", "GlobalVar"}
        name = names.get(kind, kind if kind in bare else "tir." + kind)
        return self.add(type_key=name, attrs={key: str(value) for key, value in fields.items()})

    def number(self, dtype, value):
        return self.object("IntImm" if dtype[0] in "ib" else "FloatImm", dtype=dtype, span=0, value=value)

    def var(self, name, dtype, pointer=None):
        kind = self.object("PrimType", dtype=pointer or dtype)
        if pointer:
            kind = self.object("PointerType", element_type=kind, storage_scope=self.text("global"))
        return self.object("Var", dtype=dtype, name=self.text(name), span=0, type_annotation=kind)

    def buffer(self, name, shape):
        zero = self.number("int32", 0)
        data = self.var(name, "handle", "float32")
        return self.object("Buffer", axis_separators=self.array(), buffer_type=1, data=data, data_alignment=64,
                           dtype="float32", elem_offset=zero, name=self.text(name), offset_factor=1, shape=shape,
                           span=0, strides=self.array())

    def typed(self, dtype):
        return {"dtype": dtype}

    def func(self, buffers, body, attrs):
        params = [self.var("a", "handle"), self.var("b", "handle")]
        empty = self.object("TupleType", fields=self.array(), span=0)
        return self.object("PrimFunc", attrs=attrs, body=body, buffer_map=self.map(*zip(params, buffers)),
                           params=self.array(*params), ret_type=empty, span=0)

    prefix = "tir."
    block = "Block"

    def finish(self, root):
        return {"root": root, "nodes": self.nodes, "b64ndarrays": [], "attrs": {"tvm_version": "0.18.0"}}


class New(Old):
    """The graphs of newer versions: fields are numbers, and null is a node."""

    def __init__(self):
        super().__init__()
        self.nodes = [{"type": "None"}]

    def text(self, text):
        return self.add(type="ffi.String", data=text)

    def array(self, *items):
        return self.add(type="ffi.Array", data=list(items))

    def map(self, *pairs):
        return self.add(type="ffi.Map", data=[item for pair in pairs for item in pair])

    def named(self, **entries):
        return self.map(*[(self.text(key), value) for key, value in entries.items()])

    space = "tir."
    base = {"PrimType", "PointerType", "TupleType", "DictAttrs", "IRModule", "GlobalVar", "Range", "IntImm", "FloatImm"}

    def object(self, kind, /, **fields):
        name = ("ir." if kind in self.base else self.space) + kind
        return self.add(type=name, data=fields)


class Newest(New):
    """Those of 0.27: expressions have types, and buffers are variables."""

    space = "tirx."
    prefix = "tirx."
    block = "SBlock"
    base = New.base | {"Var"}

    def number(self, dtype, value):
        return self.object("IntImm" if dtype[0] in "ib" else "FloatImm", span=0, value=value, **self.typed(dtype))

    def typed(self, dtype):
        return {"ty": self.object("PrimType", span=0, dtype=dtype)}

    def var(self, name, dtype, pointer=None):
        return self.object("Var", span=0, name=self.text(name), **self.typed(dtype))

    def buffer(self, name, shape):
        kind = self.object("BufferType", span=0, dtype=self.object("PrimType", span=0, dtype="float32"),
                           storage_scope=self.text("global"), shape=shape, strides=self.array(),
                           elem_offset=self.number("int32", 0), data_alignment=64, offset_factor=1, layout=0,
                           allocated_addr=self.array())
        return self.object("Var", span=0, name=self.text(name), ty=kind)

    def func(self, buffers, body, attrs):
        empty = self.object("TupleType", fields=self.array(), span=0)
        return self.object("PrimFunc", span=0, ty=0, attrs=attrs, params=self.array(*buffers), ret_type=empty,
                           body=body)


def finish_new(graph, root, version):
    return {"root_index": root, "nodes": graph.nodes, "metadata": {"tvm_version": version}}


FORMS = {"0.18": Old, "0.22": New, "0.27": Newest}


def module_of(form, block_name, odd):
    g = FORMS[form]()
    extent = g.number("int32", 128)
    zero = g.number("int32", 0)
    true = g.number("bool", 1 if form == "0.18" else True)
    read, write = g.buffer("A", g.array(extent)), g.buffer("B", g.array(extent))
    axis, loop_var = g.var("vi", "int32"), g.var("i", "int32")
    domain = g.object("Range", extent=extent, min=zero, span=0)
    iter_var = g.object("IterVar", dom=domain, var=axis, iter_type=0, thread_tag=g.text(""), span=0)
    one = g.object("Range", extent=g.number("int32", 1), min=axis, span=0)
    regions = [g.array(g.object("BufferRegion", buffer=b, region=g.array(one))) for b in (read, write)]
    indices = g.array(axis)
    load = g.object("BufferLoad", buffer=read, indices=indices, predicate=0, span=0, **g.typed("float32"))
    product = g.object("Mul", a=load, b=g.number("float32", 2.0), span=0, **g.typed("float32"))
    store = g.object("ProducerStore" if odd else "BufferStore", buffer=write, value=product, indices=indices,
                     predicate=0, span=0)
    none, nothing = g.array(), g.map()

    def block(name, iters, reads, writes, body):
        return g.object(g.block, iter_vars=iters, reads=reads, writes=writes, name_hint=g.text(name), body=body, init=0,
                        alloc_buffers=none, match_buffers=none, annotations=nothing, span=0)

    inner = g.object(g.block + "Realize", iter_values=g.array(loop_var), predicate=true,
                     block=block(block_name, g.array(iter_var), *regions, store), span=0)
    loop = g.object("For", loop_var=loop_var, min=zero, extent=extent, kind=0, thread_binding=0, annotations=nothing,
                    body=inner, span=0, **({} if form == "0.18" else {"step": 0}))
    root = g.object(g.block + "Realize", iter_values=none, predicate=true, block=block("root", none, none, none, loop),
                    span=0)
    attrs = {"global_symbol": g.text("main"), g.prefix + "noalias": true}
    if form == "0.27":
        attrs["s_tir"] = true
    func = g.func((read, write), root, g.object("DictAttrs", __dict__=g.named(**attrs)))
    name = g.object("GlobalVar", name_hint=g.text("main"), span=0)
    module = g.object("IRModule", functions=g.map((name, func)), attrs=0)
    return g.finish(module) if form == "0.18" else finish_new(g, module, form + ".0")


def encode(module):
    text = json.dumps(module).encode()
    return base64.b64encode(struct.pack("<Q", len(text)) + text).decode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--form", choices=FORMS, default="0.18")
    parser.add_argument("--block", default="B")
    parser.add_argument("--odd", action="store_true")
    parser.add_argument("records", nargs="*")
    args = parser.parse_intermixed_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    modules = [module_of(args.form, args.block, odd) for odd in ([True, False] if args.odd else [False])]
    workloads = [json.dumps([str(i), encode(module)]) for i, module in enumerate(modules)]
    (args.folder / "database_workload.json").write_text("".join(line + "\n" for line in workloads))
    lines = []
    for text in args.records:
        record = json.loads(pathlib.Path(text[1:]).read_text() if text.startswith("@") else text)
        index = len(modules) - 1
        if isinstance(record, dict):
            index, record = record["index"], record["record"]
        trace, seconds = record
        lines.append(json.dumps([index, [trace, seconds, {"kind": "llvm"}, [["TENSOR", "float32", [128]]] * 2]]))
    (args.folder / "database_tuning_record.json").write_text("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()
