"""Inputs for runs of functions that are tuned."""


def generate_input_data(input_shape, input_dtype, *, low=None, high=None):
    """A random array: floats of a normal distribution, or numbers from `low` to below `high`."""
    import numpy

    if str(input_dtype).startswith("float"):
        if low is None and high is None:
            return numpy.random.randn(*input_shape).astype(input_dtype)
        return numpy.random.uniform(low or 0, 1 if high is None else high, input_shape).astype(input_dtype)
    bounds = {"int8": (-128, 127), "uint8": (0, 255), "bool": (0, 2)}.get(str(input_dtype), (0, 10000))
    return numpy.random.randint(bounds[0] if low is None else low, bounds[1] if high is None else high,
                                input_shape).astype(input_dtype)
