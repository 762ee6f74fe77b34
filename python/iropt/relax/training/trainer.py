"""Training with the functions that SetupTrainer has made."""
from ..._core import Error
from .setup_trainer import ADJOINT, BACKBONE, LOSS, OPTIMIZER


def _listed(values):
    return values if isinstance(values, list) else [values]


class Trainer:
    """Keeps the parameters, the states and the state of the optimizer, and calls the functions of a virtual machine.

    train_mod: the result of SetupTrainer. vm: the machine that has it built. zero_init_param_state: whether parameters and
    states begin as zeros.
    """

    BACKBONE_FUNC, BACKBONE_LOSS_FUNC, ADJOINT_FUNC, OPTIMIZER_FUNC = BACKBONE, LOSS, ADJOINT, OPTIMIZER

    def __init__(self, train_mod, vm, device, zero_init_param_state=True):
        self.vm, self.device, self.mod = vm, device, train_mod.without_attr("optim_state")
        self._optim_state = [tensor.copyto(device) for tensor in train_mod.attrs["optim_state"]]
        self._input_num, param_num, state_num = (int(train_mod.attrs[key]) for key in ("input_num", "param_num", "state_num"))
        variables = list(train_mod[ADJOINT].params)[self._input_num:self._input_num + param_num + state_num]
        self._param_vars, self._state_vars = variables[:param_num], variables[param_num:]
        self._params, self._states = [None] * param_num, [None] * state_num
        if zero_init_param_state:
            self.zero_init_params()
            self.zero_init_states()

    def _tensor(self, value):
        from ...runtime import array

        return array(value, self.device)

    def _zeros(self, variables):
        import numpy

        return [self._tensor(numpy.zeros(*self._shape_and_dtype(variable))) for variable in variables]

    @staticmethod
    def _shape_and_dtype(variable):
        return [int(dim) for dim in variable.struct_info.shape], str(variable.struct_info.dtype)

    def xaiver_uniform_init_params(self):
        """Random parameters, evenly between the bounds of Glorot and Bengio for their shapes."""
        import numpy

        self._params = []
        for variable in self._param_vars:
            shape, dtype = self._shape_and_dtype(variable)
            bound = numpy.sqrt(6.0 / numpy.sum(shape))
            self._params.append(self._tensor((bound * numpy.random.uniform(-1.0, 1.0, shape)).astype(dtype)))

    def zero_init_params(self):
        self._params = self._zeros(self._param_vars)

    def zero_init_states(self):
        self._states = self._zeros(self._state_vars)

    def _load(self, current, variables, values, what):
        if isinstance(values, dict):
            places = {variable.name_hint: i for i, variable in enumerate(variables)}
            for name, value in values.items():
                if name not in places:
                    raise ValueError(f"{what} {name} is not found in the model")
                current[places[name]] = self._tensor(value)
            return current
        if not isinstance(values, list):
            raise ValueError(f"expected a list or a dictionary of values, not {type(values).__name__}")
        if len(values) != len(variables):
            raise ValueError(f"{len(values)} values were given for {len(variables)} of the model")
        return [self._tensor(value) for value in values]

    def load_params(self, params):
        """Sets the parameters: all of them, or some by their names."""
        self._params = self._load(self._params, self._param_vars, params, "Parameter")

    def load_states(self, states):
        """Sets the states: all of them, or some by their names."""
        self._states = self._load(self._states, self._state_vars, states, "State")

    def export_params(self):
        """The parameters by their names."""
        return {variable.name_hint: value for variable, value in zip(self._param_vars, self._params)}

    def export_states(self):
        """The states by their names."""
        return {variable.name_hint: value for variable, value in zip(self._state_vars, self._states)}

    def _arguments(self, inputs, targets=()):
        for what, values in (("parameter", self._params), ("model state", self._states)):
            if None in [value if value is None else True for value in values]:
                raise Error(f"a {what} has no value: expected one before training or inference")
        if len(inputs) != self._input_num:
            raise ValueError("The length of the input does not match the backbone")
        return [*map(self._tensor, inputs), *self._params, *self._states, *map(self._tensor, targets)]

    def predict(self, *input_instances):
        """The results of the backbone without the states."""
        result = self.vm[BACKBONE](*self._arguments(input_instances))
        if self._states:
            result = result[:-len(self._states)]
            result = result[0] if len(result) == 1 else result
        return result

    def update(self, input_instances, targets):
        """Makes one step: changes the parameters and the states, and returns the loss."""
        result, gradients = self.vm[ADJOINT](*self._arguments(_listed(input_instances), _listed(targets)))
        if self._states:
            result, self._states = result[0], list(result[1:])
        params, self._optim_state = self.vm[OPTIMIZER](tuple(self._params), gradients, tuple(self._optim_state))
        self._params = list(params)
        return result

    def profile_adjoint(self, input_instances, targets):
        """How long the computation of the gradients takes, as text."""
        return self.vm.profile(ADJOINT, *self._arguments(_listed(input_instances), _listed(targets)))
