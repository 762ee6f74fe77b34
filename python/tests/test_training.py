"""Losses, optimizers and trainers of relax.training, and the networks of relax.testing."""
import iropt
import numpy
import pytest
from iropt import relax
from iropt.relax.testing import nn
from iropt.relax.testing.vm import check_saved_func
from iropt.relax.training import AppendLoss, SetupTrainer, Trainer
from iropt.relax.training.loss import CategoricalCrossEntropyLoss, CrossEntropyLoss, L1Loss, MSELoss
from iropt.relax.training.optimizer import SGD, Adam, MomentumSGD
from iropt.script import ir as I
from iropt.script import relax as R


@I.ir_module
class Backbone:
    I.module_attrs({"param_num": 1, "state_num": 0})

    @R.function
    def backbone(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 2), "float32")):
        with R.dataflow():
            y = R.matmul(x, w)
            R.output(y)
        return y


def run(func, *args):
    name = func.attrs["global_symbol"]
    return relax.VirtualMachine(relax.build(iropt.IRModule({name: func})))[name](*args)


def numbers(*shape):
    return numpy.linspace(-1, 1, int(numpy.prod(shape)), dtype="float32").reshape(shape)


def test_losses_compute():
    x, y = numbers(3, 4), numbers(3, 4)[::-1].copy()
    tensor = relax.TensorStructInfo((3, 4), "float32")
    assert numpy.allclose(run(L1Loss("sum")(tensor, tensor), x, y).numpy(), numpy.abs(x - y).sum(), rtol=1e-5)
    assert numpy.allclose(run(MSELoss()(tensor, tensor), x, y).numpy(), ((x - y) ** 2).mean(), rtol=1e-5)
    logits = x - numpy.log(numpy.exp(x).sum(axis=1, keepdims=True))
    classes = numpy.array([1, 0, 3])
    entropy = CrossEntropyLoss("sum")(tensor, relax.TensorStructInfo((3,), "int64"))
    assert numpy.allclose(run(entropy, x, classes).numpy(), -logits[range(3), classes].sum(), rtol=1e-5)
    ones = relax.TensorStructInfo((3, 4), "int64")
    categorical = CategoricalCrossEntropyLoss("sum")(tensor, ones)
    assert numpy.allclose(run(categorical, x, numpy.eye(4, dtype="int64")[classes]).numpy(),
                          -logits[range(3), classes].sum(), rtol=1e-5)
    with pytest.raises(ValueError):
        L1Loss("product")


def adam(param, gradients, lr, betas, eps):
    mean = square = 0
    for step, gradient in enumerate(gradients, 1):
        mean = betas[0] * mean + (1 - betas[0]) * gradient
        square = betas[1] * square + (1 - betas[1]) * gradient**2
        param = param - lr * (mean / (1 - betas[0]**step)) / (numpy.sqrt(square / (1 - betas[1]**step)) + eps)
    return param


def momentum(param, gradients, lr, keep):
    velocity = 0
    for gradient in gradients:
        velocity = keep * velocity + gradient
        param = param - lr * velocity
    return param


@pytest.mark.parametrize("optimizer, expected", [
    (SGD(0.1), lambda p, gs: p - 0.1 * sum(gs)),
    (MomentumSGD(0.1, 0.9), lambda p, gs: momentum(p, gs, 0.1, 0.9)),
    (Adam(0.1), lambda p, gs: adam(p, gs, 0.1, (0.9, 0.999), 1e-8)),
])
def test_optimizers_step(optimizer, expected):
    func = optimizer.init(relax.Var("p", relax.TensorStructInfo((2, 2), "float32"))).get_function()
    params, state, gradients = (numbers(2, 2),), tuple(optimizer.state), [numbers(2, 2) + i for i in range(3)]
    for gradient in gradients:
        params, state = run(func, tuple(params), (gradient,), tuple(state))
    assert int(state[0].numpy()) == 3
    assert numpy.allclose(params[0].numpy(), expected(numbers(2, 2), gradients), rtol=1e-4)


def test_optimizers_refuse_what_they_cannot_train():
    with pytest.raises(ValueError, match="floating point"):
        SGD(0.1).init(relax.Var("p", relax.TensorStructInfo((2,), "int64")))
    with pytest.raises(RuntimeError, match="Please call init"):
        SGD(0.1).get_function()


def test_loss_that_does_not_fit_is_refused():
    tensor = relax.TensorStructInfo((2, 2), "float32")
    with pytest.raises(iropt.Error, match="takes 2 results of the backbone, which has 1"):
        AppendLoss("backbone", L1Loss()(tensor, tensor), 2)(Backbone)
    with pytest.raises(iropt.Error, match="rank 0"):
        AppendLoss("backbone", L1Loss("none")(tensor, tensor))(Backbone)


def test_trainer_learns():
    tensor = relax.TensorStructInfo((2, 2), "float32")
    module = SetupTrainer(MSELoss("sum"), SGD(0.1), [tensor, tensor])(Backbone)
    trainer = Trainer(module, relax.VirtualMachine(relax.build(module)), iropt.runtime.cpu())
    x, wanted = numbers(2, 3), numbers(2, 2)
    losses = [float(trainer.update(x, wanted).numpy()) for _ in range(40)]
    assert losses[0] > 0.5 and losses[-1] < 1e-2 * losses[0]
    assert numpy.allclose(trainer.predict(x).numpy(), wanted, atol=0.1)
    trainer.load_params({"w": numpy.ones((3, 2), "float32")})
    assert (trainer.export_params()["w"].numpy() == 1).all()


def test_networks_of_layers():
    builder = relax.BlockBuilder()
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
    with builder.function("main"):
        data = nn.Placeholder((2, 4), name="data")
        output = model(data)
        builder.emit_func_output(output, [data, *model.parameters()])
    module = builder.get()
    assert [param.name_hint for param in module["main"].params] == ["data", "linear_weight", "linear_bias"]
    assert [tensor.shape for tensor in nn.init_params(module)] == [(4, 3), (3,)]
    x, w, b = numbers(2, 4), numbers(4, 3), numbers(3)
    machine = relax.VirtualMachine(relax.build(module))
    assert numpy.allclose(check_saved_func(machine, "main", x, w, b).numpy(), numpy.maximum(x @ w + b, 0), rtol=1e-5)


def test_tree_of_an_expression():
    x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
    text = relax.testing.dump_ast(relax.op.add(x, x), include_struct_info_annotations=False)
    assert text == ('Call(\n    op=Op(name="relax.add"),\n    args=[\n        Var(name_hint="x"),\n'
                    '        Var(name_hint="x")\n    ]\n)')
    full = relax.testing.dump_ast(x, include_type_annotations=True)
    assert "struct_info=TensorStructInfo(" in full and "checked_type_=DynTensorType(" in full


def test_errors_have_the_types_of_python():
    x = relax.Var("x", relax.TensorStructInfo((2,), "float32"))
    y = relax.Var("y", relax.TensorStructInfo((2,), "int32"))
    for wrong in (lambda: relax.op.add(x), lambda: relax.op.abs(x, x), lambda: relax.BlockBuilder().normalize(relax.op.add(x, y))):
        with pytest.raises(TypeError) as caught:
            wrong()
        assert isinstance(caught.value, iropt.Error) and caught.value.diagnostics

    @R.function(pure=False)
    def main(x: R.Tensor((), "int32")):
        _ = R.assert_op(R.const(False, "bool"), [x], format="it is {}")
        return x

    with pytest.raises(AssertionError, match="it is 7") as caught:
        run(main, numpy.array(7, "int32"))
    assert isinstance(caught.value, iropt.Error)


def test_gradients_of_functions_on_tensors():
    from iropt import te
    from iropt.relax.training.utils import register_te_gradient, te_gradients

    def product(x, y, k):
        return te.compute(x.shape, lambda i: x[i] * y[i] * k, "product")

    @register_te_gradient("test_product_grad")
    def product_grad(adjoint, x, y, k):
        return [te.compute(x.shape, lambda i: adjoint[i] * other[i] * k) for other in (y, x)]

    def gradients(calls):
        x, y = (relax.Var(name, relax.TensorStructInfo((3,), "float32")) for name in "xy")
        builder = relax.BlockBuilder()
        with builder.function("main", [x, y]):
            with builder.dataflow():
                value = x
                for k in calls:
                    value = builder.emit(builder.call_te_with_grad(product, value, y, k=k, te_grad_name="test_product_grad",
                                                                   te_grad_kwargs={"k": k}))
                loss = builder.emit_output(relax.op.sum(value))
            builder.emit_func_output(loss)
        return relax.transform.Gradient("main")(builder.get())

    x, y = numbers(3), numbers(3)
    try:
        _, (of_x, of_y) = iropt.run(gradients([2.0]), "main_adjoint", x, y)
        numpy.testing.assert_allclose(of_x, 2 * y, rtol=1e-5)
        numpy.testing.assert_allclose(of_y, 2 * x, rtol=1e-5)
        # Two calls with other numbers have functions of their own.
        _, (of_x, of_y) = iropt.run(gradients([2.0, 3.0]), "main_adjoint", x, y)
        numpy.testing.assert_allclose(of_x, 6 * y * y, rtol=1e-5)
        numpy.testing.assert_allclose(of_y, 12 * x * y, rtol=1e-5)
    finally:
        del te_gradients["test_product_grad"]
    with pytest.raises(iropt.Error, match="no PrimFunc 'test_product_grad'"):
        gradients([2.0])
