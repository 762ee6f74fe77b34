"""What the ways into Relax have in common."""
from ...ir import IRModule


def detach_params(mod):
    """Takes the weights out of a module that keeps them as attributes of its functions.

    Returns the module without them, and the weights: a list of tensors for each function that had the attribute "params".
    """
    functions, params = {}, {}
    for name, func in mod.functions_items() if hasattr(mod, "functions_items") else mod.items():
        attrs = dict(func.attrs.items()) if func.attrs is not None else {}
        if "params" in attrs:
            params[name.name_hint] = list(attrs["params"])
            func = func.without_attr("params")
        functions[name] = func
    return IRModule(functions), params
