"""Optimizers: functions that make new parameters and a new state of parameters, gradients and a state."""
from decimal import Decimal

from ..block_builder import BlockBuilder
from ..expr import TensorStructInfo, Tuple, TupleGetItem, TupleStructInfo, Var, const
from ..op import add, divide, multiply, sqrt, subtract


def _zeros(param):
    import numpy

    from ...runtime import array

    return array(numpy.zeros([int(dim) for dim in param.struct_info.shape], str(param.struct_info.dtype)))


def _scalar(value, dtype):
    import numpy

    from ...runtime import array

    return array(numpy.array(value, str(dtype)))


def _rest(value):
    """1 - value without what binary fractions add to it."""
    return float(Decimal("1") - Decimal(str(value)))


class Optimizer:
    """An optimizer: `init` takes the parameters, and `get_function` gives the function that changes them.

    `state` is what the function keeps from one step to the next: its last argument, and the last field of its result.
    """

    def __init__(self, name):
        self.name = name
        self.param_list = self.state = self.dtype = None

    def init(self, params):
        """Takes variables that stand for the parameters, which are tensors of one floating point dtype. Returns itself."""
        self._set_params_and_dtype(params if isinstance(params, list) else [params])
        self.state = self._initial_state()
        return self

    def _initial_state(self):
        """The tensors of the state."""
        return None

    def _set_params_and_dtype(self, params):
        dtype, seen = None, set()
        for param in params:
            if not isinstance(param, Var):
                raise ValueError(f"Parameter {param} is not a Var")
            info = param.struct_info
            if not isinstance(info, TensorStructInfo):
                raise ValueError(f"Optimizers only support Tensor parameters, but parameter {param.name_hint} has "
                                 f"struct info {info}")
            if "float" not in info.dtype:
                raise ValueError("Optimizers only support Tensor parameters of floating point dtype, but dtype of "
                                 f"{param.name_hint} is {info.dtype}")
            if dtype not in (None, info.dtype):
                raise ValueError(f"All parameters should have the same dtype, but parameter {param.name_hint} has dtype "
                                 f"{info.dtype}, which differs from the previous dtype {dtype}")
            if param in seen:
                raise ValueError(f"Parameter {param.name_hint} appears more than once")
            dtype = info.dtype
            seen.add(param)
        self.param_list, self.dtype = params, str(dtype)

    def _check_init(self):
        if self.param_list is None or self.state is None or self.dtype is None:
            raise RuntimeError("Please call init() for the optimizer before calling get_function()")

    def get_function(self):
        """The function (parameters, gradients, state) -> (parameters, state) on tuples."""
        self._check_init()
        types = [param.struct_info for param in self.param_list]
        state_types = [TensorStructInfo(list(tensor.shape), tensor.dtype) for tensor in self.state]
        args = [Var("params", TupleStructInfo(types)), Var("gradients", TupleStructInfo(types)),
                Var("optim_states", TupleStructInfo(state_types))]
        builder = BlockBuilder()
        with builder.function(self.name, args):
            with builder.dataflow():
                steps = builder.emit(TupleGetItem(args[2], 0), "num_steps")
                steps = builder.emit(add(steps, const(1, "int64")), "num_steps_new")
                params, state = self._step(builder, *args)
                params = builder.emit_output(Tuple(params), "params_new")
                state = builder.emit_output(Tuple([steps, *state]), "optim_states_new")
            builder.emit_func_output((params, state))
        return builder.get()[self.name]

    def _step(self, builder, params, gradients, state):
        """The new parameters, and the new state after the number of steps."""
        raise NotImplementedError

    def _const(self, value):
        return const(value, self.dtype)

    def _parts(self, builder, params, gradients, *extra):
        """For each parameter its name, it, its gradient, and more that is given as (tuple, first index, suffix)."""
        for i, param in enumerate(self.param_list):
            name = param.name_hint
            value = builder.emit(TupleGetItem(params, i), name)
            gradient = builder.emit(TupleGetItem(gradients, i), name + "_grad")
            more = [builder.emit(TupleGetItem(values, first + i), name + suffix) for values, first, suffix in extra]
            if self.weight_decay:
                decay = multiply(self._const(self.weight_decay), value)
                gradient = builder.emit(add(decay, gradient), name + "_grad_new")
            yield name, value, gradient, *more


class SGD(Optimizer):
    """Gradient descent: param - lr * (grad + weight_decay * param)."""

    def __init__(self, lr, weight_decay=0):
        super().__init__("SGD")
        self.lr, self.weight_decay = float(lr), float(weight_decay)

    def _initial_state(self):
        return (_scalar(0, "int64"),)

    def _step(self, builder, params, gradients, state):
        new = []
        for name, value, gradient in self._parts(builder, params, gradients):
            new.append(builder.emit(subtract(value, multiply(self._const(self.lr), gradient)), name + "_new"))
        return new, []


class MomentumSGD(Optimizer):
    """Gradient descent with momentum: velocity = momentum * velocity + (1 - dampening) * grad, param - lr * velocity.

    nesterov: whether a step goes along grad + momentum * velocity.
    """

    def __init__(self, lr, momentum, dampening=0, weight_decay=0, nesterov=False):
        super().__init__("MomentumSGD")
        self.lr, self.momentum, self.nesterov = float(lr), float(momentum), nesterov
        self.weight_decay, self.dampening = float(weight_decay), float(dampening)

    def _initial_state(self):
        return (_scalar(0, "int64"), *map(_zeros, self.param_list))

    def _step(self, builder, params, gradients, state):
        new, velocities = [], []
        for name, value, gradient, old in self._parts(builder, params, gradients, (state, 1, "_v")):
            damped = multiply(self._const(_rest(self.dampening)), gradient) if self.dampening else gradient
            velocity = builder.emit(add(multiply(self._const(self.momentum), old), damped), name + "_v_new")
            step = velocity
            if self.nesterov:
                step = builder.emit(add(gradient, multiply(self._const(self.momentum), velocity)), name + "_g_nest")
            new.append(builder.emit(subtract(value, multiply(self._const(self.lr), step)), name + "_new"))
            velocities.append(velocity)
        return new, velocities


class Adam(Optimizer):
    """Adam: steps by the means of the gradient and of its square, which are corrected for their zero beginning.

    betas: what the means keep in a step. eps: added to the root of the mean of squares.
    The state is the number of steps, the products of betas so far, the means, and the means of squares.
    """

    def __init__(self, lr, betas=(0.9, 0.999), eps=1e-08, weight_decay=0):
        super().__init__("Adam")
        self.lr, self.eps, self.weight_decay = float(lr), float(eps), float(weight_decay)
        self.beta1, self.beta2 = float(betas[0]), float(betas[1])

    def _initial_state(self):
        return (_scalar(0, "int64"), _scalar(1, self.dtype), _scalar(1, self.dtype), *map(_zeros, self.param_list),
                *map(_zeros, self.param_list))

    def _step(self, builder, params, gradients, state):
        products = [builder.emit(multiply(TupleGetItem(state, i), self._const(beta)), f"beta{i}_prod")
                    for i, beta in ((1, self.beta1), (2, self.beta2))]
        new, means, squares = [], [], []
        count = len(self.param_list)
        means_and_squares = ((state, 3, "_m"), (state, 3 + count, "_v"))
        for name, value, gradient, mean, square in self._parts(builder, params, gradients, *means_and_squares):
            mean = self._mean(self.beta1, mean, gradient)
            means.append(builder.emit(mean, name + "_m_new"))
            square = self._mean(self.beta2, square, multiply(gradient, gradient))
            squares.append(builder.emit(square, name + "_v_new"))
            mean, square = (
                builder.emit(divide(average, subtract(self._const(1), product)), name + suffix)
                for average, product, suffix in ((means[-1], products[0], "_m_hat"), (squares[-1], products[1], "_v_hat")))
            step = divide(mean, add(sqrt(square), self._const(self.eps)))
            new.append(builder.emit(subtract(value, multiply(self._const(self.lr), step)), name + "_new"))
        return new, [*products, *means, *squares]

    def _mean(self, beta, old, value):
        return add(multiply(self._const(beta), old), multiply(self._const(_rest(beta)), value))
