#!/usr/bin/env python3
"""Compares compiled loops of random quantized operators with the interpreter, for processors with and without dots of bytes.

    onnx_integers.py --ir-run PATH [--count 20] [--seed 1] [--keep DIR]

Each model has some products, convolutions and elementwise operators on integers of 8 bits, of random shapes (rows and channels that
vectors do not divide, lengths that are not multiples of 4, groups, paddings, unknown numbers of rows), with zero points of tensors, rows,
columns and filters, scales of rows, columns and filters, ranges of the least floats, and the least and greatest integers. Their results
must be the same, bit by bit, and what must be computed by operators of Relax must not remain a call. Needs Python's onnx."""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TARGETS = ["llvm", "llvm -mattr=+avx2", "llvm -mattr=+avx2,+avxvnni", "llvm -mattr=+avx512f,+avx512bw",
           "llvm -mattr=+avx512f,+avx512bw,+avx512vnni"]
MICROSOFT = "com.microsoft"
TYPES = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "float32": TensorProto.FLOAT}


class Model:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], {}, []
        self.symbols = {}

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def number(self, low, high):
        return int(self.random.integers(low, high + 1))

    def byte_type(self):
        return self.pick(np.uint8, np.int8)

    def integers(self, shape, dtype):
        info = np.iinfo(dtype)
        if self.number(0, 4) == 0:
            return self.random.choice([info.min, info.max], shape).astype(dtype)
        return self.random.integers(info.min, info.max + 1, shape).astype(dtype)

    def constant(self, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.weights)}"))
        return self.weights[-1].name

    def operand(self, shape, dtype, names=None):
        name = f"x{len(self.inputs)}"
        data = self.integers(shape, dtype) if np.issubdtype(dtype, np.integer) else self.random.standard_normal(shape).astype(dtype)
        self.inputs[name] = data
        self.symbols[name] = names or list(shape)
        return name

    def zero(self, dtype, count):
        """A zero point of the tensor, or of each row, column or filter; often what needs no correction."""
        info = np.iinfo(dtype)
        if count and self.number(0, 2) == 0:
            return self.constant(self.random.integers(info.min, info.max + 1, count).astype(dtype))
        value = self.pick(0, 128 if dtype == np.uint8 else 0, self.number(info.min, info.max))
        return self.constant(np.asarray(value, dtype))

    def scale(self, count=None, size=1.0):
        shape = count if count and self.number(0, 1) else ()
        return self.constant((size * self.random.uniform(0.5, 1.5, shape)).astype(np.float32))

    def add(self, kind, inputs, domain="", outputs=1, **attributes):
        names = [f"y{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        self.outputs += names
        return names

    # ---- Products

    def matrices(self, square=False):
        """With `square`, of as many rows as columns, which no shape tells apart."""
        m, k, n = self.number(1, 40), self.number(1, 70), self.number(1, 70)
        if self.number(0, 3) == 0:
            m, k, n = 16 * self.number(1, 4), 64 * self.number(1, 8), 16 * self.number(1, 10)
        m = n if square else m
        a_type, b_type = self.byte_type(), self.byte_type()
        shape = [*self.pick([], [1], [self.number(2, 3)]), m, k]
        names = [*shape[:-2], "rows", k] if self.number(0, 4) == 0 and "rows" not in sum(map(list, self.symbols.values()), []) else None
        a = self.operand(shape, a_type, names)
        b = self.constant(self.integers([k, n], b_type)) if self.number(0, 4) else self.operand([k, n], b_type)
        return a, a_type, b, b_type, k, n, None if names else m

    def matmul_integer(self):
        a, a_type, b, b_type, _, n, m = self.matrices()
        # Other runtimes take zero points of rows only as vectors of their number.
        zeros = self.pick([], [self.zero(a_type, m)], [self.zero(a_type, m), self.zero(b_type, n)], ["", self.zero(b_type, n)])
        self.add("MatMulInteger", [a, b, *zeros])

    def qlinear_matmul(self):
        a, a_type, b, b_type, k, n, m = self.matrices(square=self.number(0, 2) == 0)
        y_type = a_type
        # Other runtimes take only scales and zero points of all rows.
        rows = self.pick(None, m)
        scales = [self.scale(rows, 0.02), self.scale(n, 0.02), self.scale(rows, 0.02 * np.sqrt(k))]
        self.add("QLinearMatMul", [a, scales[0], self.zero(a_type, rows), b, scales[1], self.zero(b_type, n), scales[2],
                                   self.zero(y_type, rows)])

    def dynamic_quantize(self):
        x = self.operand([self.number(1, 9), self.number(1, 40)], np.float32)
        if self.number(0, 2) == 0:
            self.inputs[x] *= np.float32(self.pick(5e-45, 2e-44, 1e-42, 1e-38))  # the scale may be 0
        else:
            self.inputs[x] *= self.pick(0, 1, 100)
            self.inputs[x] += np.float32(self.pick(0, 0.5, -200))
        self.add("DynamicQuantizeLinear", [x], outputs=3)

    # ---- Convolutions

    def images(self):
        kind = self.pick("plain", "groups", "depthwise")
        groups = self.number(2, 4) if kind == "groups" else 1
        per_group = self.number(1, 6) if kind != "plain" else self.number(1, 40)
        channels = groups * per_group
        filters = groups * self.number(1, 20)
        if kind == "depthwise":
            groups = channels = self.number(1, 40)
            per_group, filters = 1, channels * self.number(1, 2)
        kernel = [self.number(1, 3), self.number(1, 3)]
        size = [self.number(3, 12), self.number(3, 12)]
        attributes = {"group": groups, "strides": [self.number(1, 2) for _ in range(2)]}
        if self.number(0, 3) == 0:
            attributes["dilations"] = [1, self.number(1, 2)]
            size[1] += 2
        padding = self.pick("none", "pads", "SAME_UPPER", "SAME_LOWER", "VALID")
        if padding == "pads":
            attributes["pads"] = [self.number(0, 2) for _ in range(4)]
        elif padding != "none":
            attributes["auto_pad"] = padding
        x_type, w_type = self.byte_type(), self.byte_type()
        x = self.operand([self.number(1, 2), channels, *size], x_type)
        w = self.constant(self.integers([filters, per_group, *kernel], w_type))
        return x, x_type, w, w_type, filters, attributes, per_group * kernel[0] * kernel[1]

    def conv_integer(self):
        x, x_type, w, w_type, _, attributes, _ = self.images()
        x_zero = self.zero(x_type, None)
        if self.number(0, 1):
            x_zero = self.operand([], x_type)  # known in the run only
        self.add("ConvInteger", [x, w, x_zero, *self.pick([], [self.zero(w_type, None)])], **attributes)

    def qlinear_conv(self):
        x, x_type, w, w_type, filters, attributes, terms = self.images()
        inputs = [x, self.scale(size=0.02), self.zero(x_type, None), w, self.scale(filters, 0.02), self.zero(w_type, filters),
                  self.scale(size=0.02 * np.sqrt(terms)), self.zero(x_type, None)]
        bias = [self.constant(self.random.integers(-20000, 20000, filters).astype(np.int32))] if self.number(0, 1) else []
        self.add("QLinearConv", inputs + bias, **attributes)

    # ---- Elements

    def qlinear_binary(self):
        dtype = self.byte_type()
        shape = [2, self.number(1, 9), self.number(1, 40)]
        other = self.pick(shape, shape[1:], [1, 1, shape[2]])
        inputs = []
        for dims in (shape, other):
            inputs += [self.operand(dims, dtype), self.scale(size=0.02), self.zero(dtype, None)]
        self.add(self.pick("QLinearAdd", "QLinearMul"), inputs + [self.scale(size=0.05), self.zero(dtype, None)], MICROSOFT)

    def qlinear_concat(self):
        dtype = self.byte_type()
        inputs = [self.scale(size=0.03), self.zero(dtype, None)]
        for _ in range(self.number(1, 3)):
            inputs += [self.operand([2, self.number(1, 20), 5], dtype), self.scale(size=0.02), self.zero(dtype, None)]
        self.add("QLinearConcat", inputs, MICROSOFT, axis=1)

    def qlinear_pool(self):
        dtype = self.byte_type()
        x = self.operand([2, self.number(1, 40), self.number(1, 9), self.number(1, 9)], dtype)
        self.add("QLinearGlobalAveragePool", [x, self.scale(size=0.02), self.zero(dtype, None), self.scale(size=0.02),
                                              self.zero(dtype, None)], MICROSOFT)

    def write(self, path):
        makers = [self.matmul_integer, self.qlinear_matmul, self.dynamic_quantize, self.conv_integer, self.qlinear_conv,
                  self.qlinear_binary, self.qlinear_concat, self.qlinear_pool]
        for _ in range(5):
            makers[self.number(0, len(makers) - 1)]()
        values = [helper.make_tensor_value_info(name, TYPES[data.dtype.name], self.symbols[name])
                  for name, data in self.inputs.items()]
        results = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in self.outputs]
        graph = helper.make_graph(self.nodes, "integers", values, results, self.weights)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        with open(path, "wb") as file:
            file.write(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
        np.savez(path[:-5] + ".npz", **self.inputs)


def check(seed, options, folder):
    path = os.path.join(options.keep or folder, f"integers{seed}.onnx")
    Model(seed).write(path)
    inputs, expected = path[:-5] + ".npz", path[:-5] + "_results.npz"

    def run(*flags):
        done = subprocess.run([options.ir_run, f"-inputs={inputs}", *flags, path], capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    code, text = run(f"-output={expected}")
    if code != 0:
        print(f"seed {seed}: the interpreter fails\n{text}")
        return False
    for target in TARGETS:
        code, text = run("-O3", "-loops=compile", f"-target={target}", f"-check={expected}", "-atol=0", "-rtol=0", "-time")
        if code != 0 or "onnx." in text:
            print(f"seed {seed}, target '{target}'\n{text}")
            return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder for the models")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = [seed for seed in range(options.seed, options.seed + options.count) if not check(seed, options, folder)]
    print(f"{options.count} models, {len(wrong)} of them wrong: {wrong}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
