"""Data sets of made images."""
import numpy as np


class FashionMNIST(list):
    """Eight images of noise, with labels."""

    def __init__(self, root, train=True, download=False, transform=None):
        del root, train, download, transform
        random = np.random.RandomState(0)
        super().__init__((random.rand(1, 28, 28).astype("float32"), int(random.randint(10))) for _ in range(8))
