"""Weights as integers, and layers on integers, on random models."""
import pytest

import iropt
from iropt import relax, tir
from iropt.script import relax as R

np = pytest.importorskip("numpy")

INPUTS, WIDTH, OUTPUTS = 48, 64, 16


def f32(array):
    return np.asarray(array, "float32")


@pytest.fixture
def random():
    return np.random.default_rng(1)


@pytest.fixture
def model(random):
    """Two matmuls, the first one with a bias and an activation."""
    bb = relax.BlockBuilder()
    x = relax.Var("x", R.Tensor((tir.Var("n", "int64"), INPUTS), "float32"))
    weights = [relax.const(f32(random.standard_normal(shape) / np.sqrt(shape[0]))) for shape in ((INPUTS, WIDTH), (WIDTH, OUTPUTS))]
    with bb.function("main", [x]):
        with bb.dataflow():
            h = bb.emit(relax.op.matmul(x, weights[0]))
            h = bb.emit(relax.op.add(h, relax.const(f32(random.standard_normal(WIDTH)))))
            h = bb.emit(relax.op.nn.relu(h))
            y = bb.emit_output(relax.op.matmul(h, weights[1]))
        bb.emit_func_output(y)
    return bb.get()


@pytest.fixture
def data(random):
    """Makes rows with few independent columns, as those of real models."""
    mix = random.standard_normal((8, INPUTS))
    return lambda rows: f32(random.standard_normal((rows, 8)) @ mix / 3 + 0.1 * random.standard_normal((rows, INPUTS)))


def error(model, changed, x):
    expected = np.asarray(iropt.run(model, "main", x))
    return np.linalg.norm(np.asarray(iropt.run(changed, "main", x)) - expected) / np.linalg.norm(expected)


FORMS = [{"form": "matmul_nbits"}, {"form": "matmul_nbits", "symmetric": False}, {"form": "dequantize"},
         {"form": "dequantize", "block_size": 0}]


@pytest.mark.parametrize("options", FORMS)
def test_weights_rounded_on_samples_are_better(model, data, tmp_path, options):
    paths = [str(tmp_path / f"{i}.npz") for i in range(3)]
    for path in paths:
        np.savez(path, x=data(60))
    x = data(20)
    nearest = error(model, relax.transform.QuantizeWeights(min_elements=1, **options)(model), x)
    samples = error(model, relax.transform.QuantizeWeights(min_elements=1, method="gptq", inputs=paths, **options)(model), x)
    assert 0.02 < nearest < 0.3
    assert samples < 0.7 * nearest


@pytest.mark.parametrize("options", [*FORMS, {"form": "dynamic"}])
def test_eight_bits(model, data, options):
    options = options if options["form"] == "dynamic" else {"bits": 8, **options}
    changed = relax.transform.QuantizeWeights(min_elements=1, **options)(model)
    assert 0 < error(model, changed, data(20)) < 0.02


@pytest.mark.parametrize("method", ["minmax", "percentile", "mse", "entropy"])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_layers_on_integers(model, data, tmp_path, method, dtype):
    samples = data(200)
    np.savez(tmp_path / "x.npz", x=samples)
    quantize = relax.transform.QuantizeStatic(inputs=[str(tmp_path / "x.npz")], calibrate_method=method, activation_type=dtype, max_error=0.05)
    changed = quantize(model)
    text = changed.script()
    assert text.count("R.quantize(") == 2 and text.count("R.dequantize(") == 5 and "R.nn.relu" not in text
    assert 0 < error(model, changed, samples) <= 0.05
