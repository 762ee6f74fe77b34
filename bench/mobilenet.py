"""MobileNetV2 as ONNX files, with random weights: of floats, or of quantized operators with made-up ranges."""
import numpy as np
from onnx import TensorProto, helper

from onnx_graph import Graph

# The expansion, the channels, the repetitions and the first stride of the blocks.
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
SMALL_BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 40, 1, 2)]
LAST, CLASSES = 1280, 1000


class Floats:
    """Layers of float32."""

    def __init__(self):
        self.g = Graph()
        self.image = "image"

    def conv(self, x, inputs, outputs, kernel, stride, groups, bounded):
        g, terms = self.g, inputs // groups * kernel * kernel
        random = np.random.default_rng(len(g.initializers))
        weight = g.constant((random.standard_normal((outputs, inputs // groups, kernel, kernel)) * (2 / terms) ** 0.5).astype(np.float32))
        bias = g.constant((0.1 * random.standard_normal(outputs)).astype(np.float32))
        y = g.add("Conv", [x, weight, bias], group=groups, strides=[stride] * 2, pads=[kernel // 2] * 4, kernel_shape=[kernel] * 2)
        return g.add("Clip", [y, g.constant(np.float32(0)), g.constant(np.float32(6))]) if bounded else y

    def sum(self, x, y):
        return self.g.add("Add", [x, y])

    def classify(self, x, channels):
        x = self.g.add("Flatten", [self.g.add("GlobalAveragePool", [x])])
        return self.g.add("MatMul", [x, self.g.weight([channels, CLASSES])])


class Bytes:
    """Layers of QLinearConv and others on uint8, with weights of int8. A value is its name, its scale and its zero point."""

    def __init__(self):
        self.g = Graph()
        self.random = np.random.default_rng(3)
        self.image = self.quantized("QuantizeLinear", ["image"], self.parameters(0.02, 114))

    def parameters(self, scale, zero, dtype=np.uint8):
        return [self.g.constant(np.asarray(scale, np.float32)), self.g.constant(np.asarray(zero, dtype))]

    def quantized(self, kind, inputs, parameters, **attributes):
        return [self.g.add(kind, [*inputs, *parameters], **attributes), *parameters]

    def microsoft(self, kind, inputs, parameters):
        return self.quantized(kind, inputs, parameters, domain="com.microsoft")

    def integers(self, shape):
        return self.g.constant(self.random.integers(-64, 64, shape).astype(np.int8))

    def conv(self, x, inputs, outputs, kernel, stride, groups, bounded):
        scales = 0.02 * (2 / (inputs // groups * kernel * kernel)) ** 0.5 * (1 + np.arange(outputs) / outputs)
        weight = [self.integers((outputs, inputs // groups, kernel, kernel)), *self.parameters(scales, np.zeros(outputs), np.int8)]
        after = self.parameters(6 / 255, 0) if bounded else self.parameters(0.04, 120)
        bias = self.g.constant(self.random.integers(-2000, 2000, outputs).astype(np.int32))
        y = self.g.add("QLinearConv", [*x, *weight, *after, bias], group=groups, strides=[stride] * 2, pads=[kernel // 2] * 4,
                       kernel_shape=[kernel] * 2)
        return [y, *after]

    def sum(self, x, y):
        return self.microsoft("QLinearAdd", [*x, *y], self.parameters(0.05, 118))

    def classify(self, x, channels):
        x = self.microsoft("QLinearGlobalAveragePool", x, self.parameters(0.02, 0))
        x[0] = self.g.add("Reshape", [x[0], self.g.constant(np.array([1, channels]))])
        weight = [self.integers([channels, CLASSES]), *self.parameters(0.01, 0, np.int8)]
        return self.g.add("DequantizeLinear", self.quantized("QLinearMatMul", [*x, *weight], self.parameters(0.05, 128)))


def mobilenet(path, layers, blocks, pixels):
    """`layers`: Floats or Bytes."""
    m = layers()
    x, inputs = m.conv(m.image, 3, 32, 3, 2, 1, True), 32
    for expansion, outputs, repetitions, first in blocks:
        for i in range(repetitions):
            stride, wide, y = first if i == 0 else 1, inputs * expansion, x
            if expansion > 1:
                y = m.conv(y, inputs, wide, 1, 1, 1, True)
            y = m.conv(y, wide, wide, 3, stride, wide, True)
            y = m.conv(y, wide, outputs, 1, 1, 1, False)
            x, inputs = m.sum(x, y) if stride == 1 and inputs == outputs else y, outputs
    scores = m.classify(m.conv(x, inputs, LAST, 1, 1, 1, True), LAST)
    m.g.save(path, [("image", TensorProto.FLOAT, [1, 3, pixels, pixels])], [scores],
             [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
