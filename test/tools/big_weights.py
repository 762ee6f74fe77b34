"""Compares a module that refers to 20 GB of weights with the same module that has the weights as parameters.

    big_weights.py --ir-opt PATH --folder FOLDER [--layers N] [--runs N] [--most-memory PERCENT] [--most-time PERCENT]

The weights are a sparse file, and its data do not have the recorded hashes, so that -O3 fails if it reads them. Prints
the processor time and the memory of both, the least of --runs runs each. Fails if the module that refers to weights
takes more percent of the memory or of the time of the other one than the flags allow.
"""
import argparse
import json
import os
import re
import struct
import sys

WIDTH, FACTOR = 8192, 4
HEADER = """from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
"""


def weights(layers):
    """The names and shapes of weights in a stack of blocks of two products, each with a bias and an activation."""
    for i in range(layers):
        yield f"blocks_{i}_up_weight", [WIDTH, FACTOR * WIDTH]
        yield f"blocks_{i}_up_bias", [FACTOR * WIDTH]
        yield f"blocks_{i}_down_weight", [FACTOR * WIDTH, WIDTH]
        yield f"blocks_{i}_down_bias", [WIDTH]


def write_module(path, layers, metadata):
    """Writes the module with weights as parameters, or as entries of the metadata section."""
    tensors = list(weights(layers))
    index = {name: i for i, (name, _) in enumerate(tensors)}

    def use(name):
        return f'metadata["relax.expr.Constant"][{index[name]}]' if metadata else name

    params = ['x: R.Tensor(("n", %d), "float16")' % WIDTH]
    if not metadata:
        params += [f'{name}: R.Tensor(({", ".join(map(str, shape))},), "float16")' for name, shape in tensors]
    with open(path, "w") as f:
        f.write((metadata or "") + HEADER)
        f.write(f"    def main({', '.join(params)}):\n        with R.dataflow():\n")
        value = "x"
        for i in range(layers):
            lines = [f"R.nn.rms_norm({value}, R.ones(R.shape([{WIDTH}]), \"float16\"), axes=[-1])"]
            for part in ("up", "down"):
                lines.append(f"R.matmul(v{i}_{len(lines) - 1}, {use(f'blocks_{i}_{part}_weight')})")
                lines.append(f"R.add(v{i}_{len(lines) - 1}, {use(f'blocks_{i}_{part}_bias')})")
                for op in ("R.nn.silu", "R.nn.relu", "R.negative", "R.abs", "R.tanh", "R.sigmoid"):
                    lines.append(f"{op}(v{i}_{len(lines) - 1})")
            lines.append(f"R.add(v{i}_{len(lines) - 1}, {value})")
            for k, line in enumerate(lines):
                f.write(f"            v{i}_{k} = {line}\n")
            value = f"v{i}_{len(lines) - 1}"
        f.write(f"            gv = R.negative({value})\n            R.output(gv)\n        return gv\n")


def write_weights(path, layers):
    header, offset = {}, 0
    for name, shape in weights(layers):
        size = 2
        for dim in shape:
            size *= dim
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    head = json.dumps(header).encode()
    head += b" " * (-(8 + len(head)) % 64)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head)
        f.truncate(8 + len(head) + offset)
    return offset


def metadata_section(layers):
    """The section as ir-opt prints it, with hashes that no data have."""
    nodes = [{"type_key": ""}, {"type_key": "Map", "keys": ["relax.expr.Constant"], "data": [2]}]
    tensors = list(weights(layers))
    first, types, tails = 3, {}, []
    nodes.append({"type_key": "Array", "data": [first + i for i in range(len(tensors))]})
    for number, (name, shape) in enumerate(tensors):
        if tuple(shape) not in types:
            at = first + len(tensors) + len(tails)
            types[tuple(shape)] = at
            ndim = str(len(shape))
            dims = [at + 6 + i for i in range(len(shape))]
            tails += [
                {"type_key": "relax.TensorStructInfo",
                 "attrs": {"dtype": "float16", "ndim": ndim, "shape": str(at + 1), "span": "0", "vdevice": "0"}},
                {"type_key": "relax.expr.ShapeExpr",
                 "attrs": {"_checked_type_": str(at + 4), "span": "0", "struct_info_": str(at + 3),
                           "values": str(at + 2)}},
                {"type_key": "Array", "data": dims},
                {"type_key": "relax.ShapeStructInfo", "attrs": {"ndim": ndim, "span": "0", "values": str(at + 2)}},
                {"type_key": "relax.ShapeType", "attrs": {"ndim": ndim, "span": "0"}},
                {"type_key": "relax.DynTensorType", "attrs": {"dtype": "float16", "ndim": ndim, "span": "0"}},
            ]
            tails += [{"type_key": "IntImm", "attrs": {"dtype": "int64", "span": "0", "value": str(dim)}}
                      for dim in shape]
        at = types[tuple(shape)]
        nodes.append({
            "type_key": "relax.expr.Constant",
            "attrs": {"_checked_type_": str(at + 5), "data": "0", "span": "0", "struct_info_": str(at),
                      "weights_file": "weights.safetensors", "weights_hash": f"xxh128:{number + 1:032x}",
                      "weights_name": name},
        })
    empty = "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQAAAAAAAAAAAAAAAAAAAAAA"
    graph = {"root": 1, "nodes": nodes + tails, "b64ndarrays": [empty], "attrs": {"tvm_version": "0.18.0"}}
    text = json.dumps(graph, indent=2).replace("\\", "\\\\").replace('"', '\\"')
    return f'metadata = tvm.ir.load_json("""{text}""")\n'


def measure(command):
    """Processor time in seconds and the most memory in bytes of a run that must succeed."""
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--layers", type=int, default=20)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--most-memory", type=float)
    parser.add_argument("--most-time", type=float)
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    path = {name: os.path.join(args.folder, name)
            for name in ("params.ir", "refers.ir", "weights.safetensors", "params.out.ir", "refers.out.ir")}
    size = write_weights(path["weights.safetensors"], args.layers)
    write_module(path["params.ir"], args.layers, None)
    write_module(path["refers.ir"], args.layers, metadata_section(args.layers))
    runs = {"params": [], "refers": []}
    for _ in range(args.runs):
        for name, results in runs.items():
            command = [args.ir_opt, "-O3", "-threads=1", path[f"{name}.ir"], "-o", path[f"{name}.out.ir"]]
            results.append(measure(command))
    print(f"{size / 1e9:.1f} GB of weights")
    with open(path["refers.out.ir"]) as f:
        names = re.findall(r'weights_name\\": \\"(\w+)', f.read())
    if sorted(names) != sorted(name for name, _ in weights(args.layers)):
        sys.exit("the output does not refer to all weights")
    for i, (what, unit, scale, most) in enumerate(
            [("time", "ms", 1e3, args.most_time), ("memory", "MB", 1e-6, args.most_memory)]):
        params, refers = (min(run[i] for run in runs[name]) for name in ("params", "refers"))
        print(f"{what}: {scale * refers:.1f} {unit}, with parameters {scale * params:.1f} {unit}: "
              f"{100 * refers / params:.0f} percent")
        if most is not None and refers > most / 100 * params:
            sys.exit(f"the {what} is above {most:g} percent")


if __name__ == "__main__":
    main()
