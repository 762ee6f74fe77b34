"""Compares the nodes and the size of ONNX models with those of what ir-opt -O3 makes of them.

A result may not have more nodes than the model, nor than onnxruntime leaves at its level basic, and its file may not be bigger
by more than 1 % and 1 kB; what onnxruntime makes bigger than that is not compared. Nodes in graphs of nodes count, and those of
the function that a node calls, but constants do not. Needs Python's onnx."""

import os

import onnx


def nodes_in(path, counts=lambda node, users: True):
    """The number of nodes, and of those in their graphs and functions, without constants."""
    model = onnx.load(path, load_external_data=False)
    functions = {(function.domain, function.name): function for function in model.functions}

    def count(graph):
        inner = (a.g for node in graph.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH)
        users = {name: node for node in graph.node for name in node.input}
        called = [functions[key] for node in graph.node if (key := (node.domain, node.op_type)) in functions]
        own = sum(node.op_type != "Constant" and counts(node, users) for node in graph.node)
        return own - len(called) + sum(map(count, [*inner, *called]))

    return count(model.graph)


def is_not_pooled(node, users):
    """No Pad before MaxPool, which onnxruntime takes in even where that changes values."""
    user = users.get(node.output[0])
    return node.op_type != "Pad" or user is None or user.op_type != "MaxPool"


def is_bigger(path, model):
    return os.path.getsize(path) > 1.01 * os.path.getsize(model) + 1024


def nodes_of_onnxruntime(judge, models):
    """What its level basic leaves of each; None where it refuses the model or makes it bigger, or is not there."""
    if not judge.args.node_modules:
        return [None] * len(models)
    written = [os.path.join(judge.folder, f"basic_{i}.onnx") for i in range(len(models))]
    jobs = [{"model": model, "write": path, "level": "basic"} for model, path in zip(models, written)]
    answers = judge.run_onnxruntime(jobs)
    return [nodes_in(path) if answer["status"] == "same" and not is_bigger(path, model) else None
            for path, model, answer in zip(written, models, answers)]


def growth(judge, pairs):
    """What is worse in the result of each pair of a model and a result: reasons by model."""
    reasons = {}
    for (model, result), basic in zip(pairs, nodes_of_onnxruntime(judge, [model for model, _ in pairs])):
        before, after = nodes_in(model), nodes_in(result)
        if after > before:
            reasons[model] = f"{after} nodes instead of {before}"
        elif basic is not None and nodes_in(result, is_not_pooled) > basic:
            reasons[model] = f"{after} nodes of {before}, and {basic} after onnxruntime"
        elif is_bigger(result, model):
            reasons[model] = f"{os.path.getsize(result)} bytes instead of {os.path.getsize(model)}"
    return reasons
