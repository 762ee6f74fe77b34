"""The calls whose legalized PrimFuncs legalized_values.py compares with the kernels of the operators.

TABLE maps the name of a family to rows (dtypes, call, {operand: (dimensions[, dtype])}): the text of a call and the types of
its operands, by default of each of the dtypes. Dimensions that are letters are symbolic; the static variant replaces them by
numbers. `{dtype}` in a call is the dtype.

Every operator that LegalizeOps knows is in the table, except those of WITHOUT_VALUES.
"""
FLOATS = ("float32", "float16", "float64", "bfloat16")
NARROW = ("e4m3_float8", "e5m2_float8")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS = FLOATS + INTS
ALL = NUMBERS + ("bool",)
SIZES = {"n": 3, "m": 4, "k": 2}

# Operators of legalizations.def without values to compare, by their names there.
WITHOUT_VALUES = {
    **dict.fromkeys(["CclAllgather", "CclAllreduce", "CclBroadcastFromWorker0", "CclScatterFromWorker0"],
                    "they become calls of a library that several workers share"),
    # Operators of TVM 0.19 and newer.
    **dict.fromkeys(["Bucketize", "Eye", "EyeLike", "GatherElements", "GatherNd",
                     "HammingWindow", "ImageAffineGrid", "ImageResize3d", 
                     "IndexTensor", "Median", "Meshgrid", "NnBatchFlatten", "NnConv3dTranspose",
                     "NnInstanceNorm", "NnPixelShuffle", "NnPrelu", "NnSelu", "NnSoftplus", "OneHot", "Outer",
                     "ReverseSequence", "Size", "SliceScatter", "Stack", "Trunc", "VisionAllClassNonMaxSuppression", 
                     "VisionNonMaxSuppression", "VisionRoiAlign", "VisionRoiPool"],
                    "test/unit/transform/legalized_values_test.cpp compares samples of them"),
    "DistRedistributeReplicaToShard": "it depends on the worker",
    "ShapeToTensor": "its operand is a shape, and rows have tensors",
    "NnDropout": "it stays, and has random values",
    **dict.fromkeys(["InspectTensorByteOffset", "InspectTensorDtypeBits", "InspectTensorDtypeCode", "InspectTensorDtypeLanes",
                     "InspectTensorElemOffset", "InspectTensorNdim", "InspectTensorShapeI", "InspectTensorStrideI"],
                    "their functions take the descriptor of a tensor, which is not a value of ir-run"),
}


def rows(dtypes, calls, operands):
    return [(dtypes, call, operands) for call in calls]


def named(names, call, dtypes, operands):
    return [(dtypes, call.replace("{op}", op), operands) for op in names.split()]


UNARY = named("acos acosh asin asinh atan atanh cos cosh erf exp log rsqrt sigmoid sin sinh sqrt tan tanh", "R.{op}(x)", FLOATS,
              {"x": ("n", 4)})
UNARY += named("abs ceil floor negative round sign square isnan isinf isfinite", "R.{op}(x)", NUMBERS, {"x": ("n", 4)})
UNARY += named("exp sigmoid negative abs", "R.{op}(x)", NARROW, {"x": ("n", 4)})
UNARY += named("abs exp negative isnan", "R.{op}(x)", ("float32",), {"x": ()})
UNARY += named("abs exp negative isnan", "R.{op}(x)", ("float32",), {"x": ("n", 0)})
UNARY += rows(NUMBERS, ["R.clip(x, R.prim_value(1), R.prim_value(2))"], {"x": ("n",)})
UNARY += rows(FLOATS + ("int8", "uint64", "bool"), ["R.clip(x, R.prim_value(-1), R.prim_value(2))"], {"x": ("n",)})
UNARY += rows(FLOATS + ("bool",), ["R.clip(x, R.prim_value(T.float32(-0.5)), R.prim_value(T.float32(0.25)))"], {"x": ("n", 4)})
UNARY += rows(INTS, ["R.bitwise_not(x)"], {"x": ("n",)})
UNARY += rows(("bool",), ["R.logical_not(x)"], {"x": ("n",)})
UNARY += named("relu gelu gelu_tanh silu leakyrelu", "R.nn.{op}(x)", FLOATS, {"x": ("n", 4)})
UNARY += rows(FLOATS, ["R.nn.leakyrelu(x, 0.0)", "R.nn.leakyrelu(x, 1.5)", "R.nn.leakyrelu(x, -0.5)"], {"x": ("n", 4)})
UNARY += named("no_grad", "R.grad.{op}(x)", ("float32", "int32"), {"x": ("n", 4)})
UNARY += named("start_checkpoint end_checkpoint", "R.grad.{op}(x)", ("float32", "int32"), {"x": ("n", 4)})

ARITHMETIC = "add subtract multiply maximum minimum"
COMPARISONS = "equal not_equal less less_equal greater greater_equal"
BINARY = named(f"{ARITHMETIC} {COMPARISONS}", "R.{op}(x, y)", NUMBERS, {"x": ("n", 1, 4), "y": ("m", 1)})
BINARY += named("add subtract multiply divide maximum less", "R.{op}(x, y)", NARROW, {"x": ("n", 4), "y": (4,)})
BINARY += named("divide floor_divide", "R.{op}(x, y)", NUMBERS, {"x": ("n", 4), "y": (4,)})
BINARY += named("atan2 floor_mod log_add_exp mod", "R.{op}(x, y)", FLOATS, {"x": ("n", 4), "y": (4,)})
BINARY += named("floor_mod mod", "R.{op}(x, R.const(3, \"{dtype}\"))", INTS, {"x": ("n", 4)})
BINARY += named("power", "R.{op}(x, y)", FLOATS, {"x": ("n", 4), "y": (4,)})
BINARY += named("add divide less", "R.{op}(x, y)", ("float32", "int64"), {"x": (), "y": ("n", 4)})
BINARY += named("add divide less", "R.{op}(x, y)", ("float32",), {"x": (), "y": ()})
BINARY += named("add divide less", "R.{op}(x, y)", ("float32",), {"x": ("n", 0), "y": (1, 1)})
BINARY += named("add divide floor_divide power less", "R.{op}(x, R.const(2.5, \"{dtype}\"))", FLOATS, {"x": ("n", 4)})
BINARY += named("subtract divide maximum", "R.{op}(R.const(2.5, \"{dtype}\"), x)", FLOATS, {"x": ("n", 4)})
BINARY += named("bitwise_and bitwise_or bitwise_xor", "R.{op}(x, y)", INTS, {"x": ("n", 4), "y": (4,)})
BINARY += named("left_shift right_shift", "R.{op}(x, y)", INTS, {"x": ("n", 4), "y": (4,)})
BINARY += named("logical_and logical_or logical_xor", "R.{op}(x, y)", ("bool",), {"x": ("n", 4), "y": (4,)})
BINARY += rows(ALL, ["R.where(c, x, y)"], {"c": ((4, 1), "bool"), "x": ("n", 4, 2), "y": (1,)})
BINARY += rows(NUMBERS, ["R.ewise_fma(x, y, z)"], {"x": ("n", 4), "y": ("n", 4), "z": ("n", 4)})

CREATE = rows(ALL, ["R.full(R.shape([2, 3]), v)", "R.full(R.shape([]), v)", "R.full(R.shape([2, 0]), v, dtype=\"float32\")"],
              {"v": ()})
CREATE += rows(NUMBERS, ["R.full(R.shape([n, 2]), R.const(1, \"int32\"), dtype=\"{dtype}\")", "R.ones_like(x)", "R.zeros_like(x)",
                         "R.full_like(x, R.const(3, \"int32\"))", "R.ones(R.shape([2, n]), dtype=\"{dtype}\")",
                         "R.zeros(R.shape([n, 0]), dtype=\"{dtype}\")"], {"x": ("n", 4)})
CREATE += rows(("float32",), ["R.ones_like(x, dtype=\"int8\")", "R.zeros_like(x, dtype=\"bool\")",
                              "R.full_like(x, R.const(3, \"int32\"), dtype=\"float16\")"], {"x": ("n", 4)})
CREATE += [row for op in ("tril", "triu") for row in
           rows(NUMBERS, [f"R.{op}(x, 1)", f"R.{op}(x, -1)"], {"x": ("n", 4, "m")})
           + rows(("float32",), [f"R.{op}(x)", f"R.{op}(x, 7)", f"R.{op}(x, -7)"], {"x": (2, "n", 3)})]
CREATE += rows(("int64", "float32", "int32"),
               ["R.arange(1, 10, 2, dtype=\"{dtype}\")", "R.arange(0, n, 2, dtype=\"{dtype}\")",
                "R.arange(7, 0, -3, dtype=\"{dtype}\")", "R.arange(n, dtype=\"{dtype}\")"], {"x": ("n",)})
CREATE += rows(("float32",), ["R.arange(T.float32(0.5), T.float32(2.0), T.float32(0.25), dtype=\"float32\")"], {"x": ("n",)})

DATATYPE = [row for to in ALL for row in rows(ALL, [f"R.astype(x, \"{to}\")"], {"x": ("n", 2)})]
DATATYPE += rows(FLOATS, [f"R.astype(x, \"{to}\")" for to in NARROW], {"x": ("n", 4)})
DATATYPE += rows(NARROW, [f"R.astype(x, \"{to}\")" for to in FLOATS], {"x": ("n", 4)})
DATATYPE += [row for out in ("int8", "uint8", *NARROW) for row in
             rows(FLOATS[:2], [f"R.quantize(x, s, z, axis={axis}, out_dtype=\"{out}\")" for axis in (1, -1)],
                  {"x": ("n", 4), "s": ((4,), "float32"), "z": ((4,), "int8")})]
DATATYPE += rows(("float32",), ["R.quantize(x, s, z, axis=0, out_dtype=\"int8\")"],
                 {"x": ("n", 4), "s": ((), "float32"), "z": ((), "int8")})
DATATYPE += [row for out in ("float32", "float16") for row in
             rows(("int8", "uint8", "int32"), [f"R.dequantize(x, s, z, axis={axis}, out_dtype=\"{out}\")" for axis in (1, -1)],
                  {"x": ("n", 4), "s": ((4,), "float32"), "z": ((4,), "int8")})]
DATATYPE += rows(("int8",), ["R.dequantize(x, s, z, axis=0)"], {"x": ("n", 4), "s": ((), "float32"), "z": ((), "int8")})

MANIPULATE = rows(("float32", "int8"), [
    "R.permute_dims(x)", "R.permute_dims(x, axes=[1, -1, 0])", "R.flatten(x)", "R.flip(x, axis=1)", "R.flip(x, axis=-3)",
    "R.repeat(x, repeats=2, axis=-1)", "R.repeat(x, repeats=2)", "R.repeat(x, repeats=1, axis=0)", "R.tile(x, repeats=[2, 1, 3])",
    "R.tile(x, repeats=[2])", "R.tile(x, repeats=[2, 1, 1, 3])", "R.expand_dims(x, axis=[0, -1])", "R.expand_dims(x, axis=[])",
    "R.split(x, indices_or_sections=2, axis=1)", "R.split(x, indices_or_sections=[1, 3], axis=1)",
    "R.split(x, indices_or_sections=[0, 4], axis=-2)", "R.split(x, indices_or_sections=[3, 9], axis=1)",
    "R.split(x, indices_or_sections=[1, 2], axis=0)", "R.split(x, indices_or_sections=1, axis=1)",
    "R.reshape(x, R.shape([4, n, m]))", "R.reshape(x, R.shape([n * 4, m]))", "R.reshape(x, (-1, 2))", "R.reshape(x, (0, -1))",
    "R.broadcast_to(x, R.shape([2, n, 4, m]))", "R.concat((x, x), axis=-1)", "R.concat((x,), axis=0)"],
    {"x": ("n", 4, "m")})
MANIPULATE += rows(ALL, ["R.permute_dims(x)", "R.flip(x, axis=0)", "R.tile(x, repeats=[2])", "R.concat((x, y), axis=1)"],
                   {"x": ("n", 4), "y": ("n", "m")})
MANIPULATE += rows(("float32",), ["R.concat((x, y, z), axis=0)"], {"x": ("n", 4), "y": ("m", 4), "z": (0, 4)})
MANIPULATE += rows(("float32",), ["R.squeeze(x, axis=[-1])", "R.squeeze(x, axis=[0, 2])", "R.squeeze(x, axis=[])"], {"x": (1, "n", 1)})
MANIPULATE += rows(ALL, ["R.squeeze(x)"], {"x": (1, 3, 1)})
MANIPULATE += rows(("float32",), ["R.reshape(x, R.shape([1]))", "R.flatten(x)", "R.broadcast_to(x, R.shape([2, 3]))",
                                  "R.expand_dims(x, axis=[0])", "R.permute_dims(x)"], {"x": ()})
MANIPULATE += rows(("float32",), ["R.flatten(x)", "R.permute_dims(x)", "R.tile(x, repeats=[2, 1])", "R.flip(x, axis=1)",
                                  "R.reshape(x, R.shape([2, 0]))", "R.concat((x, x), axis=1)"], {"x": ("n", 0)})
MANIPULATE += rows(FLOATS + ("int32",), ["R.collapse_sum_to(x, R.shape([n, 1]))"], {"x": (2, "n", 4)})
MANIPULATE += rows(FLOATS + ("int32",), ["R.collapse_sum_like(x, y)"], {"x": (2, "n", 4), "y": (4,)})
MANIPULATE += rows(("float32",), ["R.collapse_sum_to(x, R.shape([]))", "R.collapse_sum_to(x, R.shape([n, 4]))"], {"x": ("n", 4)})
MANIPULATE += rows(("float32", "int8"), [
    "R.layout_transform(x, index_map=T.index_map(lambda i, j: (j, i)))",
    "R.layout_transform(x, index_map=T.index_map(lambda i, j: (i, j // 4, j % 4)))",
    "R.layout_transform(x, index_map=T.index_map(lambda i, j: (j // 4, i, j % 4)))"], {"x": (3, 8)})
MANIPULATE += rows(("float32",), ["R.layout_transform(x, index_map=T.index_map(lambda i: (i // 4, i % 4)), pad_value=2)",
                                  "R.layout_transform(x, index_map=T.index_map(lambda i: (i // 4, i % 4)))"], {"x": (14,)})

SCATTER = [row for how in ("update", "add", "mul", "min", "max", "mean") for row in
           rows(("float32", "int32"), [f"R.scatter_elements(x, i, u, axis={axis}, reduction=\"{how}\")" for axis in (1, -1)],
                {"x": ("n", 4), "i": (("n", 2), "int64"), "u": ("n", 2)})]
SCATTER += rows(FLOATS, ["R.scatter_elements(x, i, u)"], {"x": (4, "m"), "i": ((2, "m"), "int32"), "u": (2, "m")})
SCATTER += [row for how in ("update", "add", "mul", "min", "max") for row in
            rows(("float32", "int32"), [f"R.scatter_nd(x, i, u, reduction=\"{how}\")"],
                 {"x": ("n", 4), "i": ((2, 1), "int64"), "u": (2, 4)})]
SCATTER += rows(("float32",), ["R.scatter_nd(x, i, u)"], {"x": ("n", 4), "i": ((2, 3, 2), "int64"), "u": (2, 3)})

INDEX = rows(ALL, ["R.take(x, i, axis=1)"], {"x": ("n", 4, "m"), "i": ((2, 3), "int64")})
INDEX += rows(("float32",), ["R.take(x, i, axis=-1)"], {"x": ("n", 4), "i": ((3,), "int32")})
INDEX += rows(("float32",), ["R.take(x, i)"], {"x": (7,), "i": ((3,), "int64")})
INDEX += rows(("float32",), ["R.take(x, i, axis=0)"], {"x": (4, "n"), "i": ((), "int64")})
INDEX += rows(("float32",), ["R.take(x, i, axis=0)"], {"x": (4, "n"), "i": ((0,), "int64")})
INDEX += rows(("float32", "int8"), ["R.strided_slice(x, axes=[0, 2], begin=[1, 0], end=[4, 3], strides=[2, 1])",
                                    "R.strided_slice(x, axes=[-1], begin=[-3], end=[100])",
                                    "R.strided_slice(x, axes=[2], begin=[1], end=[5], assume_inbound=True)",
                                    "R.strided_slice(x, axes=[0], begin=[3], end=[3])"], {"x": (5, "n", 6)})
INDEX += rows(("float32",), ["R.strided_slice(x, axes=[1], begin=[3], end=[0], strides=[-1])",
                             "R.strided_slice(x, axes=[1], begin=[-1], end=[-6], strides=[-2])",
                             "R.strided_slice(x, axes=[0, 1], begin=[-100, 4], end=[1, 0], strides=[1, -3])"], {"x": (2, 5)})
INDEX += rows(("float32",), ["R.strided_slice(x, axes=[0], begin=[1], end=[n])", "R.strided_slice(x, axes=[0], begin=[2], end=[9])",
                             "R.strided_slice(x, axes=[0], begin=[9], end=[2])", "R.strided_slice(x, axes=[0], begin=[-2], end=[n + 5])",
                             "R.strided_slice(x, axes=[0], begin=[n - 1], end=[0], strides=[-1])",
                             "R.strided_slice(x, axes=[0], begin=[-1], end=[-9223372036854775808], strides=[-2])",
                             "R.strided_slice(x, axes=[0], begin=[-5], end=[9223372036854775807])"], {"x": ("n", 4)})
INDEX += rows(("float32",), ["R.strided_slice(x, axes=[1], begin=[4], end=[2])", "R.strided_slice(x, axes=[1], begin=[1], end=[4], strides=[-1])"],
              {"x": ("n", 5)})
INDEX += rows(("float32",), [
    "R.dynamic_strided_slice(x, R.const([-2, -1], \"int64\"), R.const([9, -9], \"int64\"), R.const([1, -1], \"int64\"))",
    "R.dynamic_strided_slice(x, R.const([2, 3], \"int64\"), R.const([1, 9], \"int64\"), R.const([1, -2], \"int64\"))"], {"x": (3, 4)})
INDEX += rows(("float32", "int8"), [
    "R.dynamic_strided_slice(x, R.const([1, 0], \"int64\"), R.const([3, 4], \"int64\"), R.const([1, 2], \"int64\"))",
    "R.dynamic_strided_slice(x, R.const([2, 3], \"int64\"), R.const([0, 0], \"int64\"), R.const([-1, -2], \"int64\"))"], {"x": (3, 4)})
INDEX += rows(("float32",), ["R.grad.take_backward(g, x, i, axis=1)", "R.grad.take_backward(g, x, i, axis=-2)"],
              {"g": (2, 3, "m"), "x": (2, 4, "m"), "i": ((3,), "int64")})
INDEX += rows(("float32",), ["R.grad.take_backward(g, x, i)"], {"g": (3,), "x": (4,), "i": ((3,), "int64")})

REDUCTIONS = "sum max min mean variance std prod"
STATISTICAL = named(REDUCTIONS, "R.{op}(x, axis=[1, -1])", FLOATS, {"x": ("n", 4, "m")})
STATISTICAL += named(REDUCTIONS, "R.{op}(x, axis=[-2], keepdims=True)", ("float32",), {"x": ("n", 4)})
STATISTICAL += named(REDUCTIONS, "R.{op}(x)", ("float32",), {"x": ("n", 4)})
STATISTICAL += named(REDUCTIONS, "R.{op}(x, keepdims=True)", ("float32",), {"x": ("n", 4)})
STATISTICAL += named(REDUCTIONS, "R.{op}(x, axis=1)", ("float32",), {"x": ("n", 4, 1)})
STATISTICAL += named("sum prod", "R.{op}(x, axis=1)", ("float32", "int32"), {"x": ("n", 0)})
STATISTICAL += named("sum max min prod", "R.{op}(x, axis=[0], keepdims=True)", INTS, {"x": ("n", 4)})
STATISTICAL += named("sum prod max min", "R.{op}(x, axis=1)", ("bool",), {"x": ("n", 4)})
STATISTICAL += named("mean", "R.{op}(x, axis=1)", INTS, {"x": ("n", 300)})
STATISTICAL += named("variance std", "R.{op}(R.add(x, R.const(1024.0, \"float32\")), axis=[1])", ("float32",), {"x": ("n", 16)})
STATISTICAL += named("argmax argmin", "R.{op}(x, axis=1)", ALL, {"x": ("n", 4, "m")})
# All elements are the least or greatest of the dtype; infinities; NaN.
STATISTICAL += named("argmax argmin", "R.{op}(R.zeros_like(x), axis=1)", ALL, {"x": ("n", 4)})
STATISTICAL += named("argmax argmin", "R.{op}(R.bitwise_not(R.zeros_like(x)), axis=1)", INTS, {"x": ("n", 4)})
STATISTICAL += named("argmax argmin max min", "R.{op}(R.log(R.zeros_like(x)), axis=1)", ("float32", "float16"), {"x": ("n", 4)})
STATISTICAL += named("argmax argmin max min", "R.{op}(R.negative(R.log(R.zeros_like(x))), axis=1)", ("float32",), {"x": ("n", 4)})
STATISTICAL += named("argmax argmin", "R.{op}(R.sqrt(x), axis=1)", ("float32", "float16"), {"x": ("n", 8)})
STATISTICAL += named("argmax argmin", "R.{op}(x, axis=-1, keepdims=True)", ("float32", "int8"), {"x": ("n", 4)})
STATISTICAL += named("argmax argmin", "R.{op}(x)", ("float32",), {"x": ("n", 4)})
STATISTICAL += named("argmax argmin", "R.{op}(x, keepdims=True)", ("float32",), {"x": ("n", 4)})

LINEAR_ALGEBRA = [row for operands in (
    {"x": ("n", 4), "y": (4, "m")}, {"x": (4,), "y": (4, "m")}, {"x": ("n", 4), "y": (4,)}, {"x": (4,), "y": (4,)},
    {"x": ("k", 1, "n", 4), "y": (3, 4, "m")}, {"x": ("n", 4), "y": ("k", 4, "m")}, {"x": ("n", 1), "y": (1, "m")})
    for row in rows(("float32", "float16", "float64", "bfloat16", "int32", "int8"), ["R.matmul(x, y)"], operands)]
LINEAR_ALGEBRA += rows(("float16",), ["R.matmul(x, y, out_dtype=\"float32\")"], {"x": ("n", 4), "y": (4, "m")})
LINEAR_ALGEBRA += rows(("int8",), ["R.matmul(x, y, out_dtype=\"int32\")"], {"x": ("n", 4), "y": (4, "m")})
LINEAR_ALGEBRA += rows(("float32",), ["R.matmul(x, y)"], {"x": ("n", 0), "y": (0, "m")})
LINEAR_ALGEBRA += rows(("float32", "float16"), ["R.einsum((x, y), subscripts=\"...ij,jk->...ik\")"], {"x": (2, "n", 4), "y": (4, "m")})
LINEAR_ALGEBRA += rows(("float32", "int32"), ["R.einsum((x,), subscripts=\"ij->j\")", "R.einsum((x,), subscripts=\"ij->ji\")",
                                              "R.einsum((x,), subscripts=\"ij->\")"], {"x": ("n", 4)})
LINEAR_ALGEBRA += rows(("float32",), ["R.einsum((x,), subscripts=\"ii->i\")", "R.einsum((x,), subscripts=\"ii\")"], {"x": (4, 4)})
LINEAR_ALGEBRA += rows(("float32",), ["R.einsum((x, y), subscripts=\"i,j->ij\")"], {"x": ("n",), "y": ("m",)})
LINEAR_ALGEBRA += rows(("float32",), ["R.einsum((x, y, z), subscripts=\"ij,jk,kl->il\")"],
                       {"x": ("n", 4), "y": (4, "m"), "z": ("m", 2)})

FLOAT_PAIR = ("float32", "float16")
CONVOLUTION = [(FLOAT_PAIR + ("int8",), call, {"x": (2, 4, 9), "w": weight}) for call, weight in (
    ("R.nn.conv1d(x, w, strides=2, padding=1, dilation=2)", (6, 4, 3)),
    ("R.nn.conv1d(x, w, padding=[2, 0])", (6, 4, 1)),
    ("R.nn.conv1d(x, w, groups=2)", (6, 2, 3)),
    ("R.nn.conv1d_transpose(x, w, strides=2, output_padding=1)", (4, 6, 3)),
    ("R.nn.conv1d_transpose(x, w, strides=3, padding=[1, 0])", (4, 6, 3)),
    ("R.nn.conv1d_transpose(x, w, strides=2, padding=[1, 2], dilation=2, output_padding=1)", (4, 6, 3)),
    ("R.nn.conv1d_transpose(x, w, strides=2, groups=2)", (4, 3, 3)))]
CONVOLUTION += rows(("float32",), ["R.nn.conv1d(x, w, data_layout=\"NWC\", kernel_layout=\"WIO\")"], {"x": ("n", 9, 4), "w": (3, 4, 6)})
CONVOLUTION += [(FLOAT_PAIR, call, {"x": ("n", 4, 8, 7), "w": weight}) for call, weight in (
    ("R.nn.conv2d(x, w, strides=[2, 1], padding=[1, 0, 2, 1], dilation=[1, 2])", (6, 4, 3, 2)),
    ("R.nn.conv2d(x, w, groups=4)", (8, 1, 3, 3)),
    ("R.nn.conv2d(x, w, groups=2, padding=1, strides=3)", (4, 2, 3, 3)),
    ("R.nn.conv2d(x, w)", (5, 4, 8, 7)),
    ("R.nn.conv2d_transpose(x, w, strides=[2, 1], padding=1)", (4, 6, 3, 3)),
    ("R.nn.conv2d_transpose(x, w, strides=[2, 3], padding=[1, 0, 0, 1], output_padding=[1, 2])", (4, 6, 3, 2)),
    ("R.nn.conv2d_transpose(x, w, dilation=[2, 3], strides=[1, 2], padding=1, groups=2)", (4, 3, 3, 2)),
    ("R.nn.conv2d_transpose(x, w, groups=2)", (4, 3, 3, 3)))]
CONVOLUTION += rows(("float32",), ["R.nn.conv2d(x, w, padding=1)"], {"x": (2, 3, "n", "m"), "w": (4, 3, 3, 3)})
CONVOLUTION += rows(FLOAT_PAIR, ["R.nn.conv2d(x, w, padding=1, data_layout=\"NHWC\", kernel_layout=\"HWIO\")"],
                    {"x": ("n", 6, 5, 4), "w": (3, 3, 4, 2)})
CONVOLUTION += rows(("float32",), ["R.nn.conv2d(x, w, data_layout=\"NHWC\", kernel_layout=\"OHWI\", groups=2)"],
                    {"x": ("n", 6, 5, 4), "w": (6, 3, 3, 2)})
CONVOLUTION += rows(("float16",), ["R.nn.conv2d(x, w, out_dtype=\"float32\")"], {"x": (1, 4, 5, 5), "w": (2, 4, 3, 3)})
CONVOLUTION += rows(("int8", "uint8"), ["R.nn.conv2d(x, w, out_dtype=\"int32\")"], {"x": (1, 4, 5, 5), "w": (2, 4, 3, 3)})
CONVOLUTION += rows(("float32",), ["R.nn.conv3d(x, w, padding=1, strides=2)", "R.nn.conv3d(x, w, dilation=[1, 1, 2])",
                                   "R.nn.conv3d(x, w, padding=[0, 1, 2, 2, 1, 0])"], {"x": ("n", 2, 5, 4, 6), "w": (3, 2, 3, 3, 3)})
CONVOLUTION += rows(("float32",), ["R.nn.conv3d(x, w, groups=2)"], {"x": (1, 2, 5, 4, 6), "w": (4, 1, 3, 3, 3)})
CONVOLUTION += rows(("float32",), ["R.nn.conv3d(x, w, data_layout=\"NDHWC\", kernel_layout=\"DHWIO\")"],
                    {"x": (1, 5, 4, 6, 2), "w": (3, 3, 3, 2, 4)})

POOLING = [row for op in ("max", "avg") for more in ("ceil_mode=True", "dilation=[1, 2]", "count_include_pad=True",
                                                     "ceil_mode=True, count_include_pad=True") for row in
           rows(FLOAT_PAIR, [f"R.nn.{op}_pool2d(x, pool_size=[3, 2], strides=[2, 1], padding=[1, 0, 1, 1], {more})"],
                {"x": ("n", 2, 7, 6)})]
POOLING += [row for op in ("max", "avg") for row in
            rows(("float32",), [f"R.nn.{op}_pool1d(x, pool_size=3, strides=2, padding=1)",
                                f"R.nn.{op}_pool1d(x, pool_size=3, strides=2, padding=[0, 2], ceil_mode=True)",
                                f"R.nn.{op}_pool1d(x, pool_size=2, dilation=3)"], {"x": ("n", 2, 9)})
            + rows(("float32",), [f"R.nn.{op}_pool1d(x, pool_size=3, layout=\"NWC\")"], {"x": ("n", 9, 2)})
            + rows(("float32",), [f"R.nn.{op}_pool2d(x, pool_size=2, layout=\"NHWC\")"], {"x": ("n", 5, 4, 2)})
            + rows(("float32",), [f"R.nn.{op}_pool2d(x, pool_size=2, strides=2, padding=1)"], {"x": (1, 2, "n", "m")})
            + rows(("float32",), [f"R.nn.{op}_pool3d(x, pool_size=2, strides=2)",
                                  f"R.nn.{op}_pool3d(x, pool_size=[2, 1, 3], strides=2, padding=[0, 0, 1, 1, 0, 1], ceil_mode=True)"],
                   {"x": ("n", 2, 4, 6, 5)})
            + rows(("float32",), [f"R.nn.{op}_pool3d(x, pool_size=2, layout=\"NDHWC\")"], {"x": (1, 4, 6, 5, 2)})]
POOLING += rows(("int8", "int32"), ["R.nn.max_pool2d(x, pool_size=2)"], {"x": ("n", 2, 5, 4)})
POOLING += rows(INTS, ["R.nn.avg_pool2d(x, pool_size=[16, 16])", "R.nn.avg_pool2d(x, pool_size=3, strides=2, padding=1, count_include_pad=True)",
                       "R.nn.adaptive_avg_pool2d(x, output_size=[1, 1])", "R.nn.adaptive_avg_pool2d(x, output_size=[3, 5])"],
                {"x": ("n", 1, 16, 16)})
# Windows that start in the padding behind the image are left out.
POOLING += [row for op in ("max", "avg") for row in
            rows(("float32",), [f"R.nn.{op}_pool1d(x, pool_size=2, strides=3, padding=1, ceil_mode=True, count_include_pad=True)"],
                 {"x": (1, 2, "m")})
            + rows(("float32",), [f"R.nn.{op}_pool2d(x, pool_size=2, strides=3, padding=1, ceil_mode=True)"], {"x": (1, 2, "m", "n")})
            + rows(("float32",), [f"R.nn.{op}_pool3d(x, pool_size=2, strides=3, padding=1, ceil_mode=True)"], {"x": (1, 1, 4, "n", "m")})]
POOLING += rows(("float32",), [f"R.grad.avg_pool2d_backward(g, x, pool_size=[3, 3], strides=[2, 2], ceil_mode=True, {more})" for more in (
    "count_include_pad=True", "count_include_pad=False")], {"g": (1, 2, 3, 3), "x": (1, 2, 6, 6)})
POOLING += rows(("float32",), ["R.nn.max_pool1d(R.log(R.zeros_like(x)), pool_size=2, padding=1)"], {"x": (1, 2, "n")})
POOLING += rows(FLOAT_PAIR, [f"R.nn.adaptive_avg_pool2d(x, output_size={size})" for size in ("[1, 1]", "[3, 4]", "[7, 6]", "[9, 8]")]
                + ["R.nn.adaptive_avg_pool2d(x)"], {"x": ("n", 2, 7, 6)})
POOLING += rows(("float32",), ["R.nn.adaptive_avg_pool2d(x, output_size=[3, 2], layout=\"NHWC\")"], {"x": ("n", 7, 6, 2)})
POOLING += rows(("float32",), ["R.nn.adaptive_avg_pool1d(x, output_size=[2])", "R.nn.adaptive_avg_pool1d(x, output_size=[3])"],
                {"x": ("n", 2, 8)})
POOLING += rows(("float32",), ["R.nn.adaptive_avg_pool3d(x, output_size=[2, 1, 3])", "R.nn.adaptive_avg_pool3d(x, output_size=[3, 2, 4])"],
                {"x": ("n", 2, 4, 3, 6)})
POOLING += [row for op in ("max", "avg") for row in
            rows(FLOAT_PAIR, [f"R.grad.{op}_pool2d_backward(g, x, pool_size=[2, 2], strides=[2, 2])"],
                 {"g": (1, 2, 3, 4), "x": (1, 2, 6, 8)})
            + rows(("float32",), [f"R.grad.{op}_pool2d_backward(g, x, pool_size=[3, 2], strides=[2, 1], padding=[1, 0, 1, 1])"],
                   {"g": (1, 2, 3, 6), "x": (1, 2, 6, 6)})]
POOLING += rows(("float32",), [
    "R.grad.avg_pool2d_backward(g, x, pool_size=[3, 2], strides=[2, 1], padding=[1, 0, 1, 1], count_include_pad=True)"],
    {"g": (1, 2, 3, 6), "x": (1, 2, 6, 6)})

# Indices are often equal.
INDEX += rows(("float32", "int32"), ["R.index_put(x, (i,), v)", "R.index_put(x, (i,), v, accumulate=True)"],
              {"x": (4,), "i": ((7,), "int64"), "v": (7,)})

METHODS = ("method=\"linear\"", "method=\"nearest_neighbor\", rounding_method=\"round\"", "method=\"nearest_neighbor\"",
           "method=\"nearest_neighbor\", rounding_method=\"floor\"", "method=\"nearest_neighbor\", rounding_method=\"ceil\"",
           "method=\"cubic\"", "method=\"cubic\", cubic_exclude=1", "method=\"cubic\", cubic_alpha=-0.75")
IMAGE = rows(("float32",), [f"R.image.resize2d(x, R.shape([7, 4]), {how}{mode})" for how in METHODS for mode in (
    "", ", coordinate_transformation_mode=\"align_corners\"", ", coordinate_transformation_mode=\"asymmetric\"",
    ", coordinate_transformation_mode=\"pytorch_half_pixel\"")], {"x": ("n", 2, 5, 6)})
IMAGE += rows(FLOAT_PAIR, [f"R.image.resize2d(x, R.shape([3, 9]), {how}, layout=\"NHWC\")" for how in METHODS[:2]], {"x": ("n", 5, 6, 2)})
# Interpolated integers are truncated from floats, whose last bit depends on fused multiplications.
IMAGE += rows(("int8", "uint8"), [f"R.image.resize2d(x, R.shape([3, 9]), {METHODS[1]}, layout=\"NHWC\")"], {"x": ("n", 5, 6, 2)})
IMAGE += rows(("float32",), ["R.image.resize2d(x, R.shape([1, 1]), method=\"linear\")",
                             "R.image.resize2d(x, R.shape([n, m]), method=\"linear\")",
                             "R.image.resize2d(x, R.shape([8, 3]), method=\"linear\", out_dtype=\"float16\")"], {"x": (1, 2, "n", "m")})
IMAGE += rows(("float32",), ["R.image.resize2d(x, R.shape([7, 4]), method=\"linear\", roi=[0.0, 0.25, 1.0, 1.5],"
                             " coordinate_transformation_mode=\"tf_crop_and_resize\", extrapolation_value=0.5)"], {"x": (1, 2, 5, 6)})

IMAGE += rows(("float32", "float64"), [f"R.image.grid_sample(x, g, padding_mode=\"{padding}\"{mode})" for padding in ("zeros", "border") for mode in (
    "", ", align_corners=True", ", method=\"nearest\"")], {"x": (2, 3, 4, 5), "g": (2, 2, 3, 2)})

IMAGE += rows(("float32",), ["R.vision.get_valid_counts(x, score_threshold=0.5)"], {"x": (2, 5, 6)})
IMAGE += rows(("float32",), ["R.vision.multibox_transform_loc(c, l, a)"], {"c": (1, 3, 5), "l": (1, 20), "a": (1, 5, 4)})

NORMALIZED = {"x": ("n", 4, 6), "g": (4, 6), "b": (4, 6)}
NN = rows(FLOATS, ["R.nn.softmax(x)", "R.nn.softmax(x, axis=1)", "R.nn.softmax(x, axis=-3)", "R.nn.log_softmax(x, axis=-1)",
                   "R.nn.log_softmax(x, axis=0)"], {"x": ("n", 4, 6)})
NN += rows(FLOATS + ("int32",), ["R.nn.pad(x, [1, 0, 0, 2, 1, 1], R.const(1, \"{dtype}\"))", "R.nn.pad(x, [0, 0, 0, 0, 3, 0])"],
           {"x": ("n", 4, 6)})
NN += rows(FLOAT_PAIR, ["R.nn.layer_norm(x, g, b, axes=[-2, -1])", "R.nn.layer_norm(x, g, b, axes=[1, 2], epsilon=0.5)",
                        "R.nn.layer_norm(x, g, b, axes=[-2, -1], center=False)", "R.nn.layer_norm(x, g, b, axes=[-2, -1], scale=False)"],
           NORMALIZED)
NN += rows(FLOAT_PAIR, ["R.nn.group_norm(x, g, b, num_groups=2, channel_axis=1, axes=[2])",
                        "R.nn.group_norm(x, g, b, num_groups=4, channel_axis=-2, axes=[-1], epsilon=0.5)",
                        "R.nn.group_norm(x, g, b, num_groups=1, channel_axis=1, axes=[2], center=False)",
                        "R.nn.group_norm(x, g, b, num_groups=2, channel_axis=1, axes=[])"],
           {"x": ("n", 4, 6), "g": (4,), "b": (4,)})
# Data with a large mean.
NN += rows(("float32",), ["R.nn.layer_norm(R.add(x, R.const(512.0, \"float32\")), g, b, axes=[-1])"], {"x": ("n", 16), "g": (16,), "b": (16,)})
NN += rows(("float32",), ["R.nn.group_norm(R.add(x, R.const(512.0, \"float32\")), g, b, num_groups=2, channel_axis=1, axes=[2])"],
           {"x": ("n", 4, 8), "g": (4,), "b": (4,)})
NN += rows(FLOAT_PAIR, ["R.nn.rms_norm(x, g, axes=[-1])", "R.nn.rms_norm(x, g, axes=[2], epsilon=0.5)"],
           {"x": ("n", 4, 6), "g": (6,)})
NN += rows(FLOAT_PAIR, ["R.nn.rms_norm(x, g, axes=[-2, -1])"], {"x": ("n", 4, 6), "g": (4, 6)})
NN += rows(FLOAT_PAIR, ["R.nn.layer_norm(x, g, b, axes=[-1])"], {"x": (6,), "g": (6,), "b": (6,)})
NN += rows(FLOAT_PAIR, ["R.nn.layer_norm(x, g, b, axes=[0, 1])"], {"x": ("n", 4), "g": ("n", 4), "b": ("n", 4)})
NN += rows(FLOAT_PAIR, ["R.nn.rms_norm(x, g, axes=[0])"], {"x": (6,), "g": (6,)})
NN += rows(("float32",), [f"R.nn.batch_norm(x, g, b, m0, v0, {more})" for more in (
    "axis=1", "axis=-2", "axis=1, center=False", "axis=1, scale=False", "axis=1, epsilon=0.5, momentum=0.25",
    "axis=1, training=False", "axis=1, training=False, scale=False")],
           {"x": ("n", 4, 6), "g": (4,), "b": (4,), "m0": (4,), "v0": (4,)})
NN += rows(FLOAT_PAIR, ["R.nn.cross_entropy_with_logits(x, y)"], {"x": ("n", 4), "y": ("n", 4)})
NN += rows(("float32",), ["R.nn.cross_entropy_with_logits(x, y)"], {"x": (4,), "y": (4,)})
NN += [row for how in ("mean", "sum", "none") for row in
       rows(("float32",), [f"R.nn.nll_loss(x, t, w, reduction=\"{how}\")", f"R.nn.nll_loss(x, t, reduction=\"{how}\")",
                           f"R.nn.nll_loss(x, t, w, reduction=\"{how}\", ignore_index=1)"],
            {"x": ("n", 4), "t": (("n",), "int64"), "w": (4,)})
       + rows(("float32",), [f"R.nn.nll_loss(x, t, reduction=\"{how}\")"], {"x": ("n", 4, 2), "t": (("n", 2), "int64")})]
NN += rows(("float32",), ["R.nn.nll_loss(x, t)"], {"x": (4,), "t": ((), "int64")})
NN += [row for how in ("mean", "sum") for row in
       rows(("float32",), [f"R.grad.nll_loss_backward(o, x, t, w, reduction=\"{how}\")",
                           f"R.grad.nll_loss_backward(o, x, t, reduction=\"{how}\", ignore_index=2)"],
            {"o": (), "x": ("n", 4), "t": (("n",), "int64"), "w": (4,)})]
NN += rows(("float32",), ["R.grad.nll_loss_backward(o, x, t, w, reduction=\"none\")"],
           {"o": ("n", 2), "x": ("n", 4, 2), "t": (("n", 2), "int64"), "w": (4,)})
NN += rows(FLOAT_PAIR, ["R.nn.attention(q, k0, v)"], {"q": (2, "n", 2, 4), "k0": (2, "m", 2, 4), "v": (2, "m", 2, 3)})
NN += rows(FLOAT_PAIR, ["R.nn.attention(q, k0, v, scale=0.5, causal_mask=\"TopLeft\")",
                          "R.nn.attention(q, k0, v, causal_mask=\"BottomRight\")"],
           {"q": (2, "n", 2, 4), "k0": (2, "n", 2, 4), "v": (2, "n", 2, 3)})
NN += rows(("float32",), ["R.nn.attention(q, k0, v, causal_mask=\"TopLeft\")", "R.nn.attention(q, k0, v, causal_mask=\"BottomRight\")"],
           {"q": (2, 3, 2, 4), "k0": (2, 5, 2, 4), "v": (2, 5, 2, 3)})
NN += [row for shape in ((2, 2, "n", 4), (1, 2, "n", 4), (2, 1, 1, 4)) for row in
       rows(FLOAT_PAIR, ["R.nn.attention(q, k0, v, b)"], {"q": (2, "n", 2, 4), "k0": (2, 4, 2, 4), "v": (2, 4, 2, 3), "b": shape})]

TABLE = {
    "unary": UNARY,
    "binary": BINARY,
    "create": CREATE,
    "datatype": DATATYPE,
    "manipulate": MANIPULATE,
    "scatter": SCATTER,
    "index": INDEX,
    "statistical": STATISTICAL,
    "linear_algebra": LINEAR_ALGEBRA,
    "convolution": CONVOLUTION,
    "pooling": POOLING,
    "image": IMAGE,
    "nn": NN,
}
