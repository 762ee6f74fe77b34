#!/usr/bin/env python3
"""Prints a module with a function for each row of a table of operator calls, dtype and kind of shapes, to be legalized and
compared with the kernels of the operators:

  legalized_values.py elementwise | ir-opt -passes=LegalizeOps -check-semantics - -o /dev/null

  legalized_values.py FAMILY [FAMILY...]

A row is the text of a call and the types of its operands: dimensions, by default of the dtype that the table gives.
Dimensions that are letters are symbolic; the static variant replaces them by numbers.
"""
import re
import sys

FLOATS = ("float32", "float16", "float64")
NUMBERS = ("float32", "float16", "int32", "int64", "int8")
SIZES = {"n": 3, "m": 4, "k": 2}

# family: [(dtypes, call, {operand: (dimensions[, dtype])})]
TABLE = {
    "unary": [(FLOATS, f"R.{op}(x)", {"x": ("n", 4)})
              for op in ("acos acosh asin asinh atan atanh ceil cos cosh erf exp floor log negative round rsqrt sigmoid sign sin sinh "
                         "sqrt square tan tanh abs isnan isinf isfinite").split()]
    + [(NUMBERS, f"R.{op}(x)", {"x": ("n", 4)}) for op in ("abs", "negative", "sign", "square", "floor", "ceil", "round")]
    + [(NUMBERS, "R.clip(x, R.prim_value(-1), R.prim_value(2))", {"x": ("n",)}),
       (("int32", "uint8"), "R.bitwise_not(x)", {"x": ("n",)}),
       (("bool",), "R.logical_not(x)", {"x": ("n",)})]
    + [(FLOATS, f"R.nn.{op}(x)", {"x": ("n", 4)}) for op in ("relu", "gelu", "gelu_tanh", "silu", "leakyrelu")],
    "binary": [(NUMBERS, f"R.{op}(x, y)", {"x": ("n", 1, 4), "y": ("m", 1)})
               for op in "add subtract multiply maximum minimum equal not_equal less less_equal greater greater_equal".split()]
    + [(FLOATS, f"R.{op}(x, y)", {"x": ("n", 4), "y": (4,)}) for op in ("divide", "power", "floor_divide")]
    + [(("float32",), f"R.{op}(x, R.const(2.5, \"float32\"))", {"x": ("n", 4)}) for op in ("add", "divide", "floor_divide", "less")]
    + [(("float32",), "R.subtract(R.const(2.5, \"float32\"), x)", {"x": ("n", 4)})]
    + [(("int32", "uint8"), f"R.{op}(x, y)", {"x": ("n", 4), "y": (4,)}) for op in ("bitwise_and", "bitwise_or", "bitwise_xor")]
    + [(("bool",), f"R.{op}(x, y)", {"x": ("n", 4), "y": (4,)}) for op in ("logical_and", "logical_or", "logical_xor")]
    + [(NUMBERS, "R.where(c, x, y)", {"c": ((4, 1), "bool"), "x": ("n", 4, 2), "y": (1,)}),
       (NUMBERS, "R.ewise_fma(x, y, z)", {"x": ("n", 4), "y": ("n", 4), "z": ("n", 4)})],
    "create": [(NUMBERS, "R.full(R.shape([2, 3]), v)", {"v": ()}),
               (NUMBERS, "R.full_like(x, R.const(3, \"int32\"))", {"x": ("n", 4)}),
               (NUMBERS, "R.ones_like(x)", {"x": ("n", 4)}),
               (NUMBERS, "R.zeros_like(x)", {"x": ("n", 4)}),
               (NUMBERS, "R.tril(x, 1)", {"x": ("n", 4, "m")}),
               (NUMBERS, "R.triu(x, -1)", {"x": ("n", 4, "m")}),
               (("int64", "float32"), "R.arange(1, 10, 2, dtype=\"{dtype}\")", {"x": ("n",)}),
               (("int64", "float32"), "R.arange(0, n, 2, dtype=\"{dtype}\")", {"x": ("n",)}),
               (NUMBERS, "R.astype(x, \"float32\")", {"x": ("n", 4)}),
               (("float32",), "R.astype(x, \"int8\")", {"x": ("n", 4)}),
               (("float32",), "R.quantize(x, s, z, axis=1, out_dtype=\"int8\")",
                {"x": ("n", 4), "s": ((4,), "float32"), "z": ((4,), "int8")}),
               (("int8",), "R.dequantize(x, s, z, axis=-1, out_dtype=\"float32\")",
                {"x": ("n", 4), "s": ((4,), "float32"), "z": ((4,), "int8")})],
    "manipulate": [(NUMBERS, call, {"x": ("n", 4, "m")}) for call in (
        "R.permute_dims(x)", "R.permute_dims(x, axes=[1, -1, 0])", "R.flatten(x)", "R.flip(x, axis=1)",
        "R.repeat(x, repeats=2, axis=-1)", "R.repeat(x, repeats=2)", "R.tile(x, repeats=[2, 1, 3])", "R.tile(x, repeats=[2])",
        "R.expand_dims(x, axis=[0, -1])", "R.split(x, indices_or_sections=2, axis=1)",
        "R.split(x, indices_or_sections=[1, 3], axis=1)", "R.reshape(x, R.shape([4, n, m]))", "R.reshape(x, R.shape([n * 4, m]))",
        "R.broadcast_to(x, R.shape([2, n, 4, m]))")]
    + [(NUMBERS, "R.concat((x, y), axis=1)", {"x": ("n", 4), "y": ("n", "m")}),
       (NUMBERS, "R.squeeze(x)", {"x": (1, "n", 1)}),
       (NUMBERS, "R.squeeze(x, axis=[-1])", {"x": (1, "n", 1)}),
       (("float32", "int32"), "R.collapse_sum_to(x, R.shape([n, 1]))", {"x": (2, "n", 4)}),
       (("float32", "int32"), "R.collapse_sum_like(x, y)", {"x": (2, "n", 4), "y": (4,)})]
    + [(("float32",), f"R.scatter_elements(x, i, u, axis=1, reduction=\"{how}\")",
        {"x": ("n", 4), "i": (("n", 2), "int64"), "u": ("n", 2)}) for how in ("update", "add", "mul", "min", "max")]
    + [(("float32",), f"R.scatter_nd(x, i, u, reduction=\"{how}\")", {"x": ("n", 4), "i": ((2, 1), "int64"), "u": (2, 4)})
       for how in ("update", "add", "mul", "min", "max")],
    "index": [(NUMBERS, "R.take(x, i, axis=1)", {"x": ("n", 4, "m"), "i": ((2, 3), "int64")}),
              (("float32",), "R.take(x, i, axis=-1)", {"x": ("n", 4), "i": ((3,), "int32")}),
              (("float32",), "R.take(x, i)", {"x": (7,), "i": ((3,), "int64")}),
              (("float32",), "R.strided_slice(x, axes=[0, 2], begin=[1, 0], end=[4, 3], strides=[2, 1])", {"x": (5, "n", 6)}),
              (("float32",), "R.strided_slice(x, axes=[1], begin=[3], end=[0], strides=[-1])", {"x": (2, 5)}),
              (("float32",), "R.grad.take_backward(g, x, i, axis=1)", {"g": (2, 3, "m"), "x": (2, 4, "m"), "i": ((3,), "int64")})],
    "statistical": [(FLOATS, f"R.{op}(x, axis=[1, -1])", {"x": ("n", 4, "m")})
                    for op in ("sum", "max", "min", "mean", "variance", "std", "prod")]
    + [(("float32", "int32", "int8"), f"R.{op}(x, axis=[0], keepdims=True)", {"x": ("n", 4)}) for op in ("sum", "max", "min", "prod")]
    + [(("float32",), f"R.{op}(x)", {"x": ("n", 4)}) for op in ("sum", "mean", "max")]
    + [(("float32", "int32"), f"R.{op}(x, axis=1)", {"x": ("n", 4, "m")}) for op in ("argmax", "argmin")]
    + [(("float32",), f"R.{op}(x, keepdims=True)", {"x": ("n", 4)}) for op in ("argmax", "argmin")],
    "linear_algebra": [(("float32", "float16", "int32"), "R.matmul(x, y)", operands) for operands in (
        {"x": ("n", 4), "y": (4, "m")}, {"x": (4,), "y": (4, "m")}, {"x": ("n", 4), "y": (4,)}, {"x": (4,), "y": (4,)},
        {"x": ("k", 1, "n", 4), "y": (3, 4, "m")})]
    + [(("float16",), "R.matmul(x, y, out_dtype=\"float32\")", {"x": ("n", 4), "y": (4, "m")}),
       (("float32",), "R.einsum((x, y), subscripts=\"...ij,jk->...ik\")", {"x": (2, "n", 4), "y": (4, "m")}),
       (("float32",), "R.einsum((x,), subscripts=\"ij->j\")", {"x": ("n", 4)}),
       (("float32",), "R.einsum((x, y), subscripts=\"i,j->ij\")", {"x": ("n",), "y": ("m",)})],
    "convolution": [(("float32", "float16"), call, {"x": (2, 4, 9), "w": weight}) for call, weight in (
        ("R.nn.conv1d(x, w, strides=2, padding=1, dilation=2)", (6, 4, 3)),
        ("R.nn.conv1d(x, w, groups=2)", (6, 2, 3)),
        ("R.nn.conv1d_transpose(x, w, strides=2, output_padding=1)", (4, 6, 3)),
        ("R.nn.conv1d_transpose(x, w, strides=2, groups=2)", (4, 3, 3)))]
    + [(("float32",), call, {"x": ("n", 4, 8, 7), "w": weight}) for call, weight in (
        ("R.nn.conv2d(x, w, strides=[2, 1], padding=[1, 0, 2, 1], dilation=[1, 2])", (6, 4, 3, 2)),
        ("R.nn.conv2d(x, w, groups=4)", (8, 1, 3, 3)),
        ("R.nn.conv2d_transpose(x, w, strides=[2, 1], padding=1)", (4, 6, 3, 3)),
        ("R.nn.conv2d_transpose(x, w, groups=2)", (4, 3, 3, 3)))]
    + [(("float32",), "R.nn.conv2d(x, w, padding=1, data_layout=\"NHWC\", kernel_layout=\"HWIO\")",
        {"x": ("n", 6, 5, 4), "w": (3, 3, 4, 2)}),
       (("float32",), "R.nn.conv2d(x, w, data_layout=\"NHWC\", kernel_layout=\"OHWI\", groups=2)",
        {"x": ("n", 6, 5, 4), "w": (6, 3, 3, 2)}),
       (("float16",), "R.nn.conv2d(x, w, out_dtype=\"float32\")", {"x": (1, 4, 5, 5), "w": (2, 4, 3, 3)}),
       (("float32",), "R.nn.conv3d(x, w, padding=1, strides=2)", {"x": (1, 2, 5, 4, 6), "w": (3, 2, 3, 3, 3)})],
    "pooling": [(("float32", "float16"), f"R.nn.{op}_pool2d(x, pool_size=[3, 2], strides=[2, 1], padding=[1, 0, 1, 1], {more})",
                 {"x": ("n", 2, 7, 6)})
                for op in ("max", "avg") for more in ("ceil_mode=True", "dilation=[1, 2]", "count_include_pad=True",
                                                      "ceil_mode=True, count_include_pad=True")]
    + [(("float32",), f"R.nn.{op}_pool1d(x, pool_size=3, strides=2, padding=1)", {"x": ("n", 2, 9)}) for op in ("max", "avg")]
    + [(("float32",), f"R.nn.{op}_pool3d(x, pool_size=2, strides=2)", {"x": (1, 2, 4, 6, 5)}) for op in ("max", "avg")]
    + [(("float32",), "R.nn.max_pool2d(x, pool_size=2, layout=\"NHWC\")", {"x": ("n", 5, 4, 2)}),
       (("float32",), "R.nn.adaptive_avg_pool2d(x, output_size=[1, 1])", {"x": ("n", 2, 7, 6)}),
       (("float32",), "R.nn.adaptive_avg_pool2d(x, output_size=[3, 4])", {"x": ("n", 2, 7, 6)}),
       (("float32",), "R.nn.adaptive_avg_pool1d(x, output_size=[2])", {"x": ("n", 2, 8)}),
       (("float32",), "R.nn.adaptive_avg_pool3d(x, output_size=[2, 1, 3])", {"x": (1, 2, 4, 3, 6)})]
    + [(("float32",), f"R.grad.{op}_pool2d_backward(g, x, pool_size=[2, 2], strides=[2, 2])", {"g": (1, 2, 3, 4), "x": (1, 2, 6, 8)})
       for op in ("max", "avg")],
    "image": [(("float32",), f"R.image.resize2d(x, R.shape([7, 4]), {how})", {"x": ("n", 2, 5, 6)}) for how in (
        "method=\"linear\"", "method=\"nearest_neighbor\", rounding_method=\"round\"", "method=\"cubic\"",
        "method=\"cubic\", cubic_exclude=1", "method=\"linear\", coordinate_transformation_mode=\"align_corners\"",
        "method=\"nearest_neighbor\", rounding_method=\"\", coordinate_transformation_mode=\"asymmetric\"",
        "method=\"linear\", coordinate_transformation_mode=\"pytorch_half_pixel\"")],
    "nn": [(FLOATS[:2], call, {"x": ("n", 4, 6)}) for call in ("R.nn.softmax(x)", "R.nn.softmax(x, axis=1)", "R.nn.log_softmax(x, axis=-1)",
                                                              "R.nn.pad(x, [1, 0, 0, 2, 1, 1], R.const(1, \"float32\"))")]
    + [(FLOATS[:2], "R.nn.layer_norm(x, g, b, axes=[-2, -1])", {"x": ("n", 4, 6), "g": (4, 6), "b": (4, 6)}),
       (FLOATS[:2], "R.nn.group_norm(x, g, b, num_groups=2, channel_axis=1, axes=[2])", {"x": ("n", 4, 6), "g": (4,), "b": (4,)}),
       (FLOATS[:2], "R.nn.rms_norm(x, g, axes=[-1])", {"x": ("n", 4, 6), "g": (6,)}),
       (("float32",), "R.nn.batch_norm(x, g, b, m0, v0, axis=1)",
        {"x": ("n", 4, 6), "g": (4,), "b": (4,), "m0": (4,), "v0": (4,)}),
       (("float32",), "R.nn.cross_entropy_with_logits(x, y)", {"x": ("n", 4), "y": ("n", 4)}),
       (("float32",), "R.nn.nll_loss(x, t, w)", {"x": ("n", 4), "t": (("n",), "int64"), "w": (4,)}),
       (("float32",), "R.nn.nll_loss(x, t, reduction=\"sum\")", {"x": ("n", 4, 2), "t": (("n", 2), "int64")}),
       (("float32",), "R.grad.nll_loss_backward(o, x, t, w)", {"o": (), "x": ("n", 4), "t": (("n",), "int64"), "w": (4,)}),
       (("float32",), "R.nn.attention(q, k0, v)", {"q": (2, "n", 2, 4), "k0": (2, "m", 2, 4), "v": (2, "m", 2, 3)}),
       (("float32",), "R.nn.attention(q, k0, v, scale=0.5, causal_mask=\"TopLeft\")",
        {"q": (2, 3, 2, 4), "k0": (2, 3, 2, 4), "v": (2, 3, 2, 3)}),
       (("float32",), "R.nn.attention(q, k0, v, b)",
        {"q": (2, 3, 2, 4), "k0": (2, 4, 2, 4), "v": (2, 4, 2, 3), "b": (2, 2, 3, 4)})],
}


def operand_type(spec, default, static):
    dims, dtype = spec if len(spec) == 2 and isinstance(spec[0], tuple) else (spec, default)
    dims = [SIZES[d] if static and d in SIZES else d for d in dims]
    text = ", ".join(f'"{d}"' if isinstance(d, str) else str(d) for d in dims)
    return f'R.Tensor(({text}{"," if len(dims) == 1 else ""}), "{dtype}")', {d for d in dims if isinstance(d, str)}


def functions(rows):
    number = 0
    for dtypes, call, operands in rows:
        symbolic = any(isinstance(d, str) for spec in operands.values() for d in str(spec).replace("'", " ").split() if d in SIZES)
        for dtype in dtypes:
            for static in (False, True) if symbolic else (True,):
                params, variables = [], set()
                for name, spec in operands.items():
                    text, used = operand_type(spec, dtype, static)
                    params.append(f"{name}: {text}")
                    variables |= used
                body = call.replace("{dtype}", dtype)
                if static:
                    body = re.sub(r"\b([nmk])\b", lambda m: str(SIZES[m.group(1)]), body)
                lines = [f"@R.function", f"def f{number}({', '.join(params)}):"]
                lines += [f"    {v} = T.int64()" for v in sorted(variables)]
                yield "\n".join(lines + [f"    y0 = {body}", "    return y0"])
                number += 1


def main():
    rows = [row for family in sys.argv[1:] for row in TABLE[family]]
    print("@I.ir_module\nclass Module:")
    for text in functions(rows):
        print("\n".join("    " + line for line in text.splitlines()) + "\n")


if __name__ == "__main__":
    main()
