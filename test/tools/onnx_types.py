#!/usr/bin/env python3
"""Compares the types that ir-opt infers for nodes of ONNX with those of onnx.shape_inference and of recorded outputs.

    onnx_types.py --ir-opt=build/bin/ir-opt [--filter=TEXT] [--sample=N]

The models of libonnx-testdata are read in three forms, without the types that they state of their outputs: with the dimensions of their
inputs, with names for these dimensions, and without shapes of the inputs. In each form the outputs must have a type, whose dtype and
rank are those of the recorded outputs, and whose dimensions are as long; and what onnx.shape_inference knows ir-opt must know. The cases of
onnx_rows.py, of which some are of newer operators and of onnxruntime's, must have the types of their results. The exit code is 1 if one
differs. Needs the Python package onnx (Debian: python3-onnx); without it or the data, nothing is tested.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

import onnx_row_cases
import onnx_rows
from onnx_testdata import DATA, load

FORMS = ("given", "named", "unknown")
# Outputs that lack what onnx.shape_inference knows, and why.
KNOWN = {
    "test_cast_STRING_to_FLOAT": "tensors of strings have no shape",
    "test_castlike_STRING_to_FLOAT": "tensors of strings have no shape",
    "test_castlike_STRING_to_FLOAT_expanded": "tensors of strings have no shape",
    "test_loop11": "the result of a function has no variable of its body",
    "test_optional_get_element": "optional values have no type",
}
BINDING = re.compile(r"^\s*(\w+): (.*?) = ")
CAST = re.compile(r"^\s*(\w+)(?:: .*)? = R\.match_cast\(\w+(?:\[\d+\])?, (R\.Tensor\(.*\))\)$")
NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "FLOAT16", "bfloat16": "BFLOAT16", "bool": "BOOL"}


# Operators whose results have a shape that their inputs' elements decide.
DECIDED = {"BlackmanWindow", "Compress", "HammingWindow", "HannWindow", "Loop", "MelWeightMatrix", "NonMaxSuppression", "NonZero", "Range",
           "Scan", "StringNormalizer", "Unique", "com.microsoft.GroupQueryAttention"}
# What comes from sequences has a rank that only they know.
UNRANKED = {"SplitToSequence"}


class Type:
    """dims is None for an unknown rank; a dimension that is not a number is None."""

    def __init__(self, dtype, dims):
        self.dtype = dtype
        self.dims = dims

    def __str__(self):
        return f"{self.dtype}{'?' if self.dims is None else self.dims}"


def split(text):
    depth, begin, parts = 0, 0, []
    for i, letter in enumerate(text):
        depth += letter in "(["
        depth -= letter in ")]"
        if letter == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    return [part.strip() for part in [*parts, text[begin:]] if part.strip()]


def parse(text):
    """The type in TVMScript; None if it is not a tensor."""
    if not text.startswith("R.Tensor("):
        return None
    shape, dtype, dims = None, None, None
    for part in split(text[len("R.Tensor("):-1]):
        if part.startswith("dtype="):
            dtype = part[7:-1]
        elif part.startswith("ndim="):
            dims = [None] * int(part[5:])
        else:
            shape = part
    if shape is not None:
        dims = [int(dim) if re.fullmatch(r"\d+", dim) else None for dim in split(shape[1:-1])]
    return Type(dtype, dims)


def types_of(path):
    """The types of the outputs in the text of a module."""
    types, returned, result, inside = {}, [], "", False
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip()
            if line.lstrip().startswith("def main("):
                inside = True
                for name, text in re.findall(r"(\w+): (R\.Tensor\((?:\(.*?\))?[^()]*\))", line.split(") -> ")[0] + ")"):
                    types[name] = parse(text)
                result = line.rpartition(" -> ")[2].rstrip(":")
            elif inside and line.startswith("        return "):
                returned = line.strip()[len("return "):]
                break
            elif inside:
                cast = CAST.match(line)
                binding = BINDING.match(line)
                if cast:
                    types[cast.group(1)] = parse(cast.group(2))
                elif binding:
                    types[binding.group(1)] = parse(binding.group(2))
    if not result.startswith("R.Tuple("):
        return [types.get(returned) or parse(result)]
    return [types.get(name) or parse(text) for name, text in zip(split(returned[1:-1]), split(result[len("R.Tuple("):-1]))]


def form_of(model, form, onnx):
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    graph = changed.graph
    initializers = {tensor.name for tensor in graph.initializer}
    for value in graph.output:
        if value.type.HasField("tensor_type"):
            value.type.Clear()
    del graph.value_info[:]
    for value in graph.input:
        if value.name in initializers or not value.type.HasField("tensor_type"):
            continue
        if form == "unknown":
            value.type.tensor_type.ClearField("shape")
        for i, dim in enumerate(value.type.tensor_type.shape.dim if form == "named" else ()):
            dim.dim_param = f"{re.sub(r'[^A-Za-z]', '', value.name)}_{i}"
    return changed


def judged(model, onnx):
    """The types of the outputs by onnx.shape_inference."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model)
    except Exception:  # pylint: disable=broad-except
        return [None] * len(model.graph.output)
    types = []
    for value in inferred.graph.output:
        tensor = value.type.tensor_type
        if not value.type.HasField("tensor_type"):
            types.append(None)
            continue
        dims = None
        if tensor.HasField("shape"):
            dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
        types.append(Type(tensor.elem_type, dims))
    return types


def recorded(folder, model, onnx):
    """For each output an array, or None."""
    arrays = []
    for i in range(len(model.graph.output)):
        tensor = onnx.TensorProto()
        try:
            with open(os.path.join(folder, "test_data_set_0", f"output_{i}.pb"), "rb") as file:
                tensor.ParseFromString(file.read())
        except Exception:  # pylint: disable=broad-except
            tensor = None
        value = model.graph.output[i].type
        if tensor is not None and value.HasField("tensor_type"):
            tensor.data_type = value.tensor_type.elem_type  # bfloat16 is recorded as uint16
        arrays.append(tensor if value.HasField("tensor_type") else None)
    return arrays


def number_of(dtype, onnx):
    return onnx.TensorProto.DataType.Value(NAMES.get(dtype, (dtype or "undefined").upper()))


NO_NUMBERS = (8, 14, 15)


def differ(ours, judge, tensor, form, onnx):
    """What is wrong with the type; None if nothing is."""
    if tensor is None or not tensor.data_type or tensor.data_type in NO_NUMBERS:
        return None
    if ours is None or ours.dtype is None:
        return "has no type"
    if number_of(ours.dtype, onnx) != tensor.data_type:
        return f"is {ours.dtype}, but {onnx.TensorProto.DataType.Name(tensor.data_type)} is recorded"
    if ours.dims is None:
        return "has no rank" if judge is not None and judge.dims is not None else None
    if len(ours.dims) != len(tensor.dims):
        return f"has rank {len(ours.dims)}, but {list(tensor.dims)} is recorded"
    for i, (dim, length) in enumerate(zip(ours.dims, tensor.dims)):
        if dim is not None and dim != length and form == "given":
            return f"has shape {ours.dims}, but {list(tensor.dims)} is recorded"
        if dim is None and judge is not None and judge.dims is not None and i < len(judge.dims) and judge.dims[i] == length:
            return f"has shape {ours.dims}, but {judge.dims} can be known"
    return None


def make(chosen, form, folder, onnx):
    models = {}
    for path in chosen:
        model = onnx.load(path)
        name = os.path.basename(os.path.dirname(path))
        models[name] = (os.path.dirname(path), model, form_of(model, form, onnx))
        onnx.save(models[name][2], os.path.join(folder, f"{name}.onnx"))
    return models


def check(models, form, folder, onnx):
    for name, (data, model, changed) in sorted(models.items()):
        path = os.path.join(folder, "out", f"{name}.onnx")
        if not os.path.exists(path):
            yield f"{form} {name}: is not read"
            continue
        for i, (ours, judge, tensor) in enumerate(zip(types_of(path), judged(changed, onnx), recorded(data, model, onnx))):
            wrong = differ(ours, judge, tensor, form, onnx)
            if wrong and name not in KNOWN:
                yield f"{form} {name} {i}: {wrong}"


def check_cases(ir_opt, text):
    cases = [case for case in onnx_row_cases.cases() if text in case.full_name]
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "out"))
        for i, case in enumerate(cases):
            with open(os.path.join(folder, f"{i}.onnx"), "wb") as file:
                file.write(onnx_rows.encode(case))
        command = [ir_opt, *(f"{folder}/{i}.onnx" for i in range(len(cases))), "-emit=tvmscript", "-o", f"{folder}/out/"]
        subprocess.run(command, check=False, capture_output=True, timeout=600)
        for i, case in enumerate(cases):
            path = os.path.join(folder, "out", f"{i}.onnx")
            expected = [array for array in case.expected if array is not None]
            types = types_of(path) if os.path.exists(path) else [None] * len(expected)
            for ours, array in zip(types, expected):
                name = f"{case.full_name} of version {case.opset}"
                if ours is None or ours.dtype != array.dtype.name:
                    yield f"{name}: is {ours}, expected {array.dtype.name}"
                elif ours.dims is None and case.full_name in UNRANKED:
                    continue
                elif ours.dims is None or len(ours.dims) != array.ndim:
                    yield f"{name}: is {ours}, expected rank {array.ndim}"
                elif any(dim != size and (dim is not None or case.full_name not in DECIDED) for dim, size in zip(ours.dims, array.shape)):
                    yield f"{name}: is {ours}, expected {array.shape}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--sample", type=int, default=1, help="only each N-th model")
    args = parser.parse_args()
    try:
        _, onnx, _ = load()
        import onnx.shape_inference
    except ImportError:
        print("SKIP: the package onnx is missing")
        return 0
    paths = [path for path in sorted(glob.glob(f"{DATA}/node/*/model.onnx")) if args.filter in path][::args.sample]
    failures = 0
    for form in FORMS:
        with tempfile.TemporaryDirectory() as folder:
            models = make(paths, form, folder, onnx)
            os.mkdir(os.path.join(folder, "out"))
            command = [args.ir_opt, *sorted(glob.glob(f"{folder}/*.onnx")), "-emit=tvmscript", "-o", f"{folder}/out/"]
            subprocess.run(command, check=False, capture_output=True, timeout=600)
            for line in check(models, form, folder, onnx):
                print(line)
                failures += 1
    for line in check_cases(args.ir_opt, args.filter):
        print(line)
        failures += 1
    print(f"{len(paths)} models in {len(FORMS)} forms: {failures} types differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
