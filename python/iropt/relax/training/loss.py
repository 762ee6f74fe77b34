"""Losses: functions of predictions and targets that give a number."""
from .. import op
from ..block_builder import BlockBuilder
from ..expr import StructInfo, Var


def _param(value, name):
    """A new variable of a type, or like another variable."""
    if isinstance(value, StructInfo):
        return Var(name, value)
    if not isinstance(value, Var):
        raise TypeError(f"expected a variable or a type for '{name}', not {type(value).__name__}")
    return Var(value.name_hint, value.struct_info)


class Loss:
    """A loss. Calling it with types or variables gives the function.

    loss_name: the name of the function. num_backbone_outputs: how many results of the backbone are its first parameters.
    reduction: what joins the losses of a batch, "mean", "sum" or "none".
    """

    _valid_reductions = ["mean", "sum", "none"]

    def __init__(self, loss_name, num_backbone_outputs, reduction="mean"):
        if reduction not in self._valid_reductions:
            raise ValueError("Reduction can only be one of these values: ", self._valid_reductions)
        self._loss_name, self._reduction, self._num_backbone_outputs = loss_name, reduction, num_backbone_outputs

    @property
    def num_backbone_outputs(self):
        return self._num_backbone_outputs

    def _with_reduction(self, expr):
        return expr if self._reduction == "none" else getattr(op, self._reduction)(expr)

    def _build(self, params, compute):
        """The function of what `compute` makes of a builder in a dataflow block."""
        builder = BlockBuilder()
        with builder.function(self._loss_name, params):
            with builder.dataflow():
                result = builder.emit_output(compute(builder))
            builder.emit_func_output(result)
        return builder.get()[self._loss_name]


class L1Loss(Loss):
    """The absolute difference."""

    def __init__(self, reduction="mean"):
        super().__init__("l1_loss", 1, reduction)

    def __call__(self, predictions, targets):
        params = [_param(predictions, "predictions"), _param(targets, "targets")]
        return self._build(params, lambda bb: self._with_reduction(bb.emit(op.abs(bb.emit(op.subtract(*params))))))


class MSELoss(Loss):
    """The square of the difference."""

    def __init__(self, reduction="mean"):
        super().__init__("mse_loss", 1, reduction)

    def __call__(self, predictions, targets):
        params = [_param(predictions, "predictions"), _param(targets, "targets")]

        def compute(builder):
            difference = builder.emit(op.subtract(*params))
            return self._with_reduction(builder.emit(op.multiply(difference, difference)))

        return self._build(params, compute)


class CrossEntropyLoss(Loss):
    """The cross entropy of predictions and the numbers of classes.

    ignore_index: a class that does not count.
    """

    def __init__(self, reduction="mean", ignore_index=-100):
        super().__init__("cross_entropy_loss", 1, reduction)
        self.ignore_index = ignore_index

    def __call__(self, predictions, targets, weights=None):
        params = [_param(predictions, "predictions"), _param(targets, "targets")]
        params += [] if weights is None else [_param(weights, "weights")]

        def compute(builder):
            logits = builder.emit(op.nn.log_softmax(params[0]))
            return op.nn.nll_loss(logits, *params[1:], reduction=self._reduction, ignore_index=self.ignore_index)

        return self._build(params, compute)


class CategoricalCrossEntropyLoss(Loss):
    """The cross entropy of predictions and classes that are given as vectors with a single one.

    ignore_index: a class that does not count; none if it is negative.
    """

    def __init__(self, reduction="mean", ignore_index=-100):
        super().__init__("categorical_cross_entropy_loss", 1, reduction)
        self.ignore_index = ignore_index

    def __call__(self, predictions, targets, weights=None):
        if "int" not in targets.dtype:
            raise TypeError(f"Dtype of targets expected to be int/uint. However, the dtype of targets is {targets.dtype}")
        params = [_param(predictions, "predictions"), _param(targets, "targets")]
        params += [] if weights is None else [_param(weights, "weights")]

        def compute(builder):
            logits = builder.emit(op.nn.log_softmax(params[0]))
            if self.ignore_index >= 0:
                classes = op.reshape(op.argmax(params[1], axis=1), (params[1].struct_info.shape[0],))
                return op.nn.nll_loss(logits, builder.emit(classes), *params[2:], reduction=self._reduction,
                                      ignore_index=self.ignore_index)
            value = builder.emit(-logits * op.astype(params[1], "float32"))
            return self._with_reduction(value if weights is None else builder.emit(value * params[2]))

        return self._build(params, compute)
