"""Quantizes the weights of a big decoder and measures the memory.

    big_onnx.py --ir-opt PATH --folder FOLDER [--layers N] [--form FORM] [--most-memory MB]

The weights of the model are a sparse file of zeros, 0.8 GB for a layer: 34 layers are 28 GB. The result has 1 byte for 6.4 of them. Fails
if the run takes more memory than --most-memory, if the files have another size than the formats say, or if something is left
when there is too little space for the result, or too little address space for the model. Needs no module onnx."""
import argparse
import os
import resource
import shutil
import subprocess
import sys

WIDTH, INNER = 4096, 11008
# Of a layer: the names, the shapes, and the value that each is multiplied with.
MATMULS = [("q", WIDTH, WIDTH, "x"), ("k", WIDTH, WIDTH, "x"), ("v", WIDTH, WIDTH, "x"), ("o", WIDTH, WIDTH, "a"),
           ("gate", WIDTH, INNER, "r"), ("up", WIDTH, INNER, "r"), ("down", INNER, WIDTH, "h")]
FLOAT, EXTERNAL = 1, 1
BLOCK = 32


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def node(op, inputs, output):
    return message(1, b"".join(message(1, name) for name in inputs) + message(2, output) + message(3, output) + message(4, op))


def value_info(name, dims):
    shape = b"".join(message(1, message(2, dim) if isinstance(dim, str) else number(1, dim)) for dim in dims)
    return message(1, name) + message(2, message(1, number(1, FLOAT) + message(2, shape)))


def layer(i, x):
    """The nodes of a layer on the value x, and its result."""
    name = lambda part: f"layers.{i}.{part}"  # noqa: E731
    values = {"x": x, "a": name("a"), "r": name("r"), "h": name("h")}
    matmul = {part: node("MatMul", [values[data], name(part) + ".weight"], name(part)) for part, _, _, data in MATMULS}
    nodes = [matmul["q"], matmul["k"], matmul["v"], node("Mul", [name("q"), name("k")], name("qk")),
             node("Softmax", [name("qk")], name("s")), node("Mul", [name("s"), name("v")], name("a")), matmul["o"],
             node("Add", [x, name("o")], name("r")), matmul["gate"], matmul["up"], node("Sigmoid", [name("gate")], name("g")),
             node("Mul", [name("g"), name("up")], name("h")), matmul["down"], node("Add", [name("r"), name("down")], name("y"))]
    return b"".join(nodes), name("y")


def write_model(path, layers):
    """Writes the model and its weights, and returns the number of weights."""
    data = os.path.basename(path) + ".data"
    nodes, tensors, size, x = b"", b"", 0, "x"
    for i in range(layers):
        more, x = layer(i, x)
        nodes += more
        for part, rows, columns, _ in MATMULS:
            length = 4 * rows * columns
            entries = (("location", data), ("offset", str(size)), ("length", str(length)))
            external = b"".join(message(13, message(1, key) + message(2, text)) for key, text in entries)
            tensors += message(5, message(1, varint(rows) + varint(columns)) + number(2, FLOAT) +
                               message(8, f"layers.{i}.{part}.weight") + external + number(14, EXTERNAL))
            size += length
    graph = nodes + message(2, "decoder") + tensors + message(11, value_info("x", ["n", WIDTH])) + message(12, value_info(x, ["n", WIDTH]))
    with open(path, "wb") as f:
        f.write(number(1, 8) + message(7, graph) + message(8, message(1, "") + number(2, 17)))
    with open(path + ".data", "wb") as f:
        f.truncate(size)
    return size // 4


def run(command, limit=None):
    """The exit code, the most memory in bytes, and the output for errors."""
    def set_limit():
        if limit:
            resource.setrlimit(*limit)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=set_limit)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss * 1024, errors


def check_failure(what, command, folder, limit, text):
    code, _, errors = run(command, limit)
    left = sorted(set(os.listdir(folder)) - {"big.onnx", "big.onnx.data"})
    if code == 0 or left or text not in errors:
        sys.exit(f"with {what}: exit code {code}, files {left}, {errors}")
    print(f"with {what}: {errors.splitlines()[0]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--form", default="matmul_nbits")
    parser.add_argument("--most-memory", type=float, default=500)
    args = parser.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    os.makedirs(args.folder)
    model, result = os.path.join(args.folder, "big.onnx"), os.path.join(args.folder, "small.onnx")
    weights = write_model(model, args.layers)
    command = [args.ir_opt, f"-passes=QuantizeWeights<form={args.form}>", "-quiet", model, "-external-data=small.data", "-o", result]
    check_failure("files of at most 20 MB", command, args.folder, (resource.RLIMIT_FSIZE, (20 << 20, 20 << 20)), "cannot write temporary data")
    check_failure("little address space", command, args.folder, (resource.RLIMIT_AS, (700 << 20, 700 << 20)), "memory")
    code, memory, errors = run(command)
    if code != 0:
        sys.exit(errors)
    size = os.path.getsize(os.path.join(args.folder, "small.data"))
    expected = weights // 2 + 4 * weights // BLOCK
    print(f"{4 * weights / 1e9:.1f} GB of weights, {size / 1e9:.2f} GB as integers: {memory / 1e6:.0f} MB of memory")
    # Tensors begin at multiples of 64 bytes.
    if not expected <= size <= expected + 64 * 14 * args.layers:
        sys.exit(f"the file has {size} bytes instead of {expected}")
    if memory > args.most_memory * 1e6:
        sys.exit(f"the memory is above {args.most_memory:g} MB")


if __name__ == "__main__":
    main()
