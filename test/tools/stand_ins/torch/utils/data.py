"""Loading of data."""
import numpy as np

from .. import Tensor


class DataLoader:
    """Batches of a data set of (image, label)."""

    def __init__(self, dataset, batch_size=1, shuffle=False):
        del shuffle
        self.dataset, self.batch_size = dataset, batch_size

    def __iter__(self):
        for begin in range(0, len(self.dataset), self.batch_size):
            rows = self.dataset[begin:begin + self.batch_size]
            yield Tensor(np.stack([image for image, _ in rows])), Tensor(np.array([label for _, label in rows]))

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)
