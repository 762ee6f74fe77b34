"""The pass that makes the functions of a trainer of a backbone."""
from ...ir.transform import module_pass
from ..analysis import well_formed
from ..expr import Tuple
from ..transform import DecomposeOpsForInference, DecomposeOpsForTraining, Gradient, LegalizeOps
from .utils import AppendLoss

BACKBONE, LOSS, ADJOINT, OPTIMIZER = "backbone", "backbone_loss", "backbone_loss_adjoint", "optimizer"


@module_pass(opt_level=0, name="SetupTrainer")
class SetupTrainer:
    """Adds to a module with a function `backbone` those that train it: `backbone_loss`, `backbone_loss_adjoint` with the
    gradients of its parameters, and `optimizer`.

    The parameters of the backbone are inputs, trained parameters, and states, whose new values are its last results. The
    attributes `param_num` and `state_num` of the module say how many these are. The result has the attributes `input_num`
    and `optim_state`, the state that the optimizer begins with.

    loss, optimizer: those that it trains with. loss_args: the types of the parameters of the loss.
    legalize: whether the operators become loops.
    """

    BACKBONE_FUNC, BACKBONE_LOSS_FUNC, ADJOINT_FUNC, OPTIMIZER_FUNC = BACKBONE, LOSS, ADJOINT, OPTIMIZER
    PARAM_NUM_ATTR_KEY, STATE_NUM_ATTR_KEY = "param_num", "state_num"

    def __init__(self, loss, optimizer, loss_args, legalize=True):
        self._loss, self._optimizer, self._loss_args, self._legalize = loss, optimizer, loss_args, legalize

    def _counts(self, mod):
        """The numbers of parameters and states of a backbone that fits."""
        if not well_formed(mod):
            raise ValueError("SetupTrainer: The backbone module is not well formed.")
        if BACKBONE not in [name.name_hint for name in mod.get_global_vars()]:
            raise ValueError(f"SetupTrainer: The backbone module does not contain a function named {BACKBONE}")
        attrs = mod.attrs or {}
        for key in (self.PARAM_NUM_ATTR_KEY, self.STATE_NUM_ATTR_KEY):
            if key not in attrs:
                raise ValueError(f"SetupTrainer: The backbone module should has an integer attribute named {key}")
        param_num, state_num = (int(attrs[key]) for key in (self.PARAM_NUM_ATTR_KEY, self.STATE_NUM_ATTR_KEY))
        func = mod[BACKBONE]
        if len(func.params) < param_num + state_num:
            raise ValueError("SetupTrainer: The number of parameters of the predict function should be no less than the "
                             "number of parameters and states")
        result = func.body.body
        if state_num > 0 and (not isinstance(result, Tuple) or len(result) <= state_num):
            raise ValueError("SetupTrainer: When model state exists, the predict function should return a tuple of length "
                             "more than the number of states")
        return param_num, state_num

    def transform_module(self, mod, ctx):
        del ctx
        param_num, state_num = self._counts(mod)
        mod = AppendLoss(BACKBONE, self._loss(*self._loss_args), self._loss.num_backbone_outputs, LOSS)(mod)
        mod = DecomposeOpsForTraining(LOSS)(DecomposeOpsForInference(BACKBONE)(mod))
        input_num = len(mod[BACKBONE].params) - param_num - state_num
        params = list(mod[LOSS].params[input_num:input_num + param_num])
        mod = Gradient(LOSS, require_grads=params, target_index=0)(mod)
        self._optimizer.init(params)
        mod[OPTIMIZER] = self._optimizer.get_function().with_attr("global_symbol", OPTIMIZER)
        mod = mod.with_attrs({"input_num": input_num, "optim_state": self._optimizer.state})
        return LegalizeOps()(mod) if self._legalize else mod
