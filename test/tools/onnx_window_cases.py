"""Cases of onnx_rows.py for operators on images and signals: windows, sampling, and transforms."""
import numpy as np
from onnx_case import add, constant, f32, i64


def windows(x, kernel, strides=(1, 1), pads=(0, 0, 0, 0), fill=0.0):
    """The windows of the last two axes, each as an array: [..., row, column, kernel row, kernel column]."""
    padding = [(0, 0)] * (x.ndim - 2) + [(pads[0], pads[2]), (pads[1], pads[3])]
    view = np.lib.stride_tricks.sliding_window_view(np.pad(x, padding, constant_values=fill), kernel, axis=(-2, -1))
    return view[..., ::strides[0], ::strides[1], :, :]


def conv(x, w, **options):
    return np.einsum("ncyxij,ocij->noyx", windows(x, w.shape[2:], **options), w)


def pool_cases():
    x = f32(np.arange(32).reshape(1, 2, 4, 4) % 7)
    add("MaxPool", 17, [x], [windows(x, (2, 2), (2, 2)).max((-2, -1))], kernel_shape=[2, 2], strides=[2, 2])
    padded = windows(x, (2, 2), (2, 2), (1, 1, 1, 1))
    counts = windows(np.ones_like(x), (2, 2), (2, 2), (1, 1, 1, 1)).sum((-2, -1))
    add("AveragePool", 17, [x], [f32(padded.sum((-2, -1)) / counts)], kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 1, 1])
    add("GlobalAveragePool", 17, [x], [f32(x.mean((2, 3), keepdims=True))])
    add("GlobalMaxPool", 17, [x], [x.max((2, 3), keepdims=True)])
    values, places = f32([[[[5, 6], [7, 8]]]]), i64([[[[0, 3], [9, 15]]]])
    spread = np.zeros(16, "float32")
    spread[[0, 3, 9, 15]] = [5, 6, 7, 8]
    add("MaxUnpool", 17, [values, places], [spread.reshape(1, 1, 4, 4)], kernel_shape=[2, 2], strides=[2, 2])


def convolution_cases():
    random = np.random.default_rng(2)
    x, w = f32(random.normal(size=(1, 2, 5, 5))), f32(random.normal(size=(3, 2, 3, 3)))
    bias = f32([1, 2, 3])
    expected = conv(x, w, strides=(2, 2), pads=(1, 1, 1, 1)) + bias[:, None, None]
    add("Conv", 17, [x, constant(w), constant(bias)], [f32(expected)], strides=[2, 2], pads=[1, 1, 1, 1])
    grown = np.zeros((1, 3, 7, 7))
    weight = f32(random.normal(size=(2, 3, 3, 3)))
    for y in range(5):
        for column in range(5):
            grown[0, :, y:y + 3, column:column + 3] += np.einsum("c,coij->oij", x[0, :, y, column], weight)
    add("ConvTranspose", 17, [x, constant(weight)], [f32(grown)])
    a, b = np.arange(9, dtype="uint8").reshape(1, 1, 3, 3), np.array([[[[1, 2], [3, 4]]]], "uint8")
    product = conv(a.astype("int32") - 1, b.astype("int32") - 2)
    add("ConvInteger", 17, [a, constant(b), np.array(1, "uint8"), constant(np.array([2], "uint8"))], [product.astype("int32")])
    quantized = np.clip(np.round(product * (0.5 * 0.25 / 0.75)) + 5, 0, 255).astype("uint8")
    add("QLinearConv", 17, [a, f32(0.5), np.array(1, "uint8"), constant(b), f32(0.25), np.array(2, "uint8"), f32(0.75), np.array(5, "uint8")],
        [quantized])


def image_cases():
    x = f32(np.arange(8).reshape(1, 2, 2, 2))
    twice = x.repeat(2, 2).repeat(3, 3)
    scales = f32([1, 1, 2, 3])
    add("Upsample", 7, [x], [twice], mode="nearest", scales=[1.0, 1.0, 2.0, 3.0])
    add("Upsample", 9, [x, constant(scales)], [twice], mode="nearest")
    add("Resize", 17, [x, None, constant(scales)], [twice], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    blocks = f32(np.arange(16).reshape(1, 4, 2, 2))
    joined = blocks.reshape(1, 2, 2, 1, 2, 2).transpose(0, 3, 4, 1, 5, 2).reshape(1, 1, 4, 4)
    add("DepthToSpace", 17, [blocks], [joined], blocksize=2)
    add("SpaceToDepth", 17, [joined], [blocks], blocksize=2)
    # The grid of the centers of the pixels, mirrored.
    ys, xs = np.meshgrid([-0.5, 0.5], [0.5, -0.5], indexing="ij")
    add("GridSample", 17, [x, f32(np.stack([xs, ys], -1))[None]], [x[..., ::-1]])
    ramp = f32(np.arange(16).reshape(1, 1, 4, 4))
    # A region of 2 by 2 pixels, with a sample in the middle of each.
    add("RoiAlign", 16, [ramp, f32([[1, 1, 3, 3]]), i64([0])], [f32([[[[5, 6], [9, 10]]]])], output_height=2, output_width=2, sampling_ratio=1)


def signal_cases():
    x = f32([1, 2, 0, -1, 3, 0.5])
    for op, weights in (("HannWindow", (0.5, 0.5, 0)), ("HammingWindow", (25 / 46, 21 / 46, 0)), ("BlackmanWindow", (0.42, 0.5, 0.08))):
        angles = 2 * np.pi * np.arange(8) / 8
        add(op, 17, [i64(8)], [f32(weights[0] - weights[1] * np.cos(angles) + weights[2] * np.cos(2 * angles))])

    def pairs(values):
        return f32(np.stack([values.real, values.imag], -1))

    add("DFT", 17, [x.reshape(1, 6, 1)], [pairs(np.fft.fft(x))[None]], axis=1)
    frames = np.stack([np.fft.rfft(x[:4]), np.fft.rfft(x[2:6])])
    add("STFT", 17, [x.reshape(1, 6, 1), constant(i64(2)), None, constant(i64(4))], [pairs(frames)[None]])
    add("MelWeightMatrix", 17, [i64(2), i64(16), i64(8000), f32(0), f32(4000)], [mel_weights(2, 16, 8000, 0, 4000)])


def mel_weights(bins, length, rate, low, high):
    """Triangles of height 1 at frequencies of equal steps of mel."""
    lowest, highest = (2595 * np.log10(1 + frequency / 700) for frequency in (low, high))
    mels = lowest + np.arange(bins + 2) * (highest - lowest) / (bins + 2)
    points = ((700 * (10 ** (mels / 2595) - 1)) * (length + 1) // rate).astype(int)
    weights = np.zeros((length // 2 + 1, bins), "float32")
    for i in range(bins):
        left, center, right = points[i:i + 3]
        for j in range(left, center + 1):
            weights[j, i] = 1 if center == left else (j - left) / (center - left)
        for j in range(center, right):
            weights[j, i] = (right - j) / (right - center)
    return weights


def make():
    pool_cases()
    convolution_cases()
    image_cases()
    signal_cases()
