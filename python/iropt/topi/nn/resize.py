"""Images in other sizes, in the layouts of neural networks."""
import struct

from ... import tir
from .. import utils
from ..layout import axes_of

__all__ = ["upsampling", "upsampling3d"]


def _upsampled(data, scales, layout, method, mode, output_shape):
    from ..image import resize

    places = [index for index, (letter, _) in enumerate(axes_of(layout)) if letter in "DHW"]
    if output_shape:
        sizes = [output_shape[place] for place in places]
    else:
        sizes = [_scaled(data.shape[place], scale) for place, scale in zip(places, scales)]
    method = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}.get(method, method)
    return resize(data, sizes, layout, method, mode)


def _scaled(dim, scale):
    """The size of an axis that is `scale` times as long, rounded."""
    if isinstance(scale, float) and isinstance(dim, (int, tir.IntImm)):
        # Scales are float32, and halves are rounded to even numbers.
        return round(struct.unpack("f", struct.pack("f", int(dim) * scale))[0])
    if isinstance(scale, (float, tir.FloatImm)):
        return utils.simplify(tir.round(tir.convert(dim).astype("float32") * scale).astype("int32"))
    return utils.simplify(dim * scale)


def upsampling(data, scale_h, scale_w, layout="NCHW", method="nearest_neighbor", align_corners=False, output_shape=None):
    """Images that are larger by factors.

    output_shape: the shape of the result, if it is not that of the factors.
    """
    return _upsampled(data, [scale_h, scale_w], layout, method, "align_corners" if align_corners else "asymmetric", output_shape)


def upsampling3d(data, scale_d, scale_h, scale_w, layout="NCDHW", method="nearest_neighbor",
                 coordinate_transformation_mode="half_pixel", output_shape=None):
    """Volumes that are larger by factors; see upsampling."""
    return _upsampled(data, [scale_d, scale_h, scale_w], layout, method, coordinate_transformation_mode, output_shape)
