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


def norm_cases():
    x = f32(np.random.default_rng(3).standard_normal((2, 3, 5, 4)))

    def norms(view, p):
        return f32((np.abs(view) ** p).sum((-2, -1)) ** (1 / p))

    add("LpPool", 18, [x], [norms(windows(x, (2, 3), (2, 1), (1, 0, 0, 2)), 3)], kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 0, 2], p=3)
    # The last window of the rows has one row; windows are as many as fit, rounded up.
    up = windows(np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 0))), (2, 2), (2, 2))
    add("LpPool", 22, [x], [norms(up, 2)], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    spread = np.stack([np.stack([x[:, :, i:i + 3:2, j:j + 3:2] for j in range(2)], 2) for i in range(3)], 2)
    add("LpPool", 22, [x], [norms(spread, 2)], kernel_shape=[2, 2], dilations=[2, 2])
    add("LpPool", 17, [x], [norms(windows(x, (3, 2), (2, 2), (1, 0, 1, 0)), 2)], kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER")
    add("GlobalLpPool", 17, [x], [norms(x, 1)[..., None, None]], p=1)


def sampled(image, y, x):
    """Of [height, width] between its pixels; zero outside."""
    top, left = int(np.floor(y)), int(np.floor(x))
    total = 0.0
    for i in (top, top + 1):
        for j in (left, left + 1):
            if 0 <= i < image.shape[0] and 0 <= j < image.shape[1]:
                total += image[i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
    return total


def deformed(x, w, offset, mask, groups, sets, bias):
    y = np.zeros((x.shape[0], w.shape[0], *offset.shape[2:]))
    kernel = w.shape[2:]
    moves = offset.reshape(x.shape[0], sets, *kernel, 2, *offset.shape[2:])
    shares = mask.reshape(x.shape[0], sets, *kernel, *offset.shape[2:])
    for n, o, i, j in np.ndindex(*y.shape):
        for c, k, l in np.ndindex(*w.shape[1:]):
            channel = o // (w.shape[0] // groups) * w.shape[1] + c
            group = channel // (x.shape[1] // sets)
            dy, dx = moves[n, group, k, l, :, i, j]
            y[n, o, i, j] += w[o, c, k, l] * shares[n, group, k, l, i, j] * sampled(x[n, channel], 2 * i - 1 + k + dy, j + 2 * l + dx)
    return f32(y + bias[:, None, None])


def moved_cases():
    """Windows that are added up, moved, or parts of images."""
    random = np.random.default_rng(4)
    noise = lambda *shape: f32(random.standard_normal(shape))
    columns = noise(2, 3 * 4, 6)
    image = np.zeros((2, 3, 4, 5))
    places = [(i, j) for i in range(2) for j in range(3)]
    for at, (i, j) in enumerate(places):
        for k, l in np.ndindex(2, 2):
            row, column = 2 * i + k, j * 2 - 1 + l
            if 0 <= column < 5:
                image[:, :, row, column] += columns.reshape(2, 3, 2, 2, 6)[:, :, k, l, at]
    add("Col2Im", 18, [columns, constant(i64([4, 5])), constant(i64([2, 2]))], [f32(image)], strides=[2, 2], pads=[0, 1, 0, 0])
    line = noise(1, 2, 4)
    joined = np.zeros((1, 1, 5), "float32")
    for at in range(4):
        joined[0, 0, at:at + 2] += line[0, :, at]
    add("Col2Im", 18, [line, constant(i64([5])), constant(i64([2]))], [joined], in_onnxruntime=False)
    x, w, bias = noise(1, 4, 5, 6), noise(4, 2, 3, 2), noise(4)
    offset, mask = noise(1, 2 * 2 * 6, 3, 4), np.abs(noise(1, 2 * 6, 3, 4))
    form = {"pads": [1, 0, 1, 0], "strides": [2, 1], "dilations": [1, 2], "group": 2, "offset_group": 2}
    add("DeformConv", 19, [x, w, offset, bias, mask], [deformed(x, w, offset, mask, 2, 2, bias)], in_onnxruntime=False, **form)
    add("DeformConv", 22, [x, w, offset], [deformed(x, w, offset, np.ones_like(mask), 2, 2, np.zeros(4))], in_onnxruntime=False, **form)
    image = noise(2, 3, 6, 8)
    regions = f32([[1, 0, 0, 7, 5], [0, 2, 1, 5, 4], [0, 6, 4, 9, 9]])
    pooled = np.zeros((3, 3, 2, 2), "float32")
    for index, (batch, x1, y1, x2, y2) in enumerate(regions.astype(int)):
        height, width = (max(y2 - y1 + 1, 1) / 2, max(x2 - x1 + 1, 1) / 2)
        for i, j in np.ndindex(2, 2):
            rows = slice(int(np.floor(i * height)) + y1, min(int(np.ceil((i + 1) * height)) + y1, 6))
            cols = slice(int(np.floor(j * width)) + x1, min(int(np.ceil((j + 1) * width)) + x1, 8))
            part = image[batch, :, rows, cols]
            pooled[index, :, i, j] = part.max((1, 2)) if part.size else 0
    add("MaxRoiPool", 17, [image, regions], [pooled], pooled_shape=[2, 2], spatial_scale=1.0)
    table = noise(4, 5)
    add("CenterCropPad", 18, [table, constant(i64([3, 8]))], [np.pad(table[:3], ((0, 0), (1, 2)))])
    add("CenterCropPad", 18, [table.astype("int8"), constant(i64([2]))], [table.astype("int8")[:, 1:3]], axes=[-1])
    theta, boxes = noise(2, 2, 3), noise(1, 3, 4)
    for by_corners in (0, 1):

        def axis(size):
            return np.linspace(-1, 1, size) if by_corners else (2 * np.arange(size) + 1) / size - 1  # pylint: disable=cell-var-from-loop

        ys, xs = np.meshgrid(axis(3), axis(4), indexing="ij")
        grid = np.einsum("nij,hwj->nhwi", theta, np.stack([xs, ys, np.ones_like(xs)], -1))
        add("AffineGrid", 20, [theta, constant(i64([2, 3, 3, 4]))], [f32(grid)], align_corners=by_corners)
        zs, ys, xs = np.meshgrid(axis(2), axis(3), axis(4), indexing="ij")
        grid = np.einsum("nij,dhwj->ndhwi", boxes, np.stack([xs, ys, zs, np.ones_like(xs)], -1))
        add("AffineGrid", 20, [boxes, constant(i64([1, 3, 2, 3, 4]))], [f32(grid)], align_corners=by_corners)


def make():
    pool_cases()
    norm_cases()
    moved_cases()
    convolution_cases()
    image_cases()
    signal_cases()
