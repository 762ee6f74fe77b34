"""The registry of workloads that programs for TVM's older tuner fill; the tuner itself does not exist here."""
WORKLOADS = {}


def register_workload(func_name, f=None, override=False):
    """Notes a function that makes tensors under a name, or its own name; also a decorator."""
    if callable(func_name):
        f, func_name = func_name, func_name.__name__

    def register(function):
        if func_name in WORKLOADS and not override:
            raise RuntimeError(f"{func_name} has been registered already")
        WORKLOADS[func_name] = function
        return function

    return register if f is None else register(f)
