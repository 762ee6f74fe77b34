"""Images in other sizes, in the layouts of neural networks."""
from .. import utils
from ..layout import axes_of

__all__ = ["upsampling", "upsampling3d"]


def _upsampled(data, scales, layout, method, align_corners, output_shape):
    from ..image import resize

    names = [letter for letter, _ in axes_of(layout)]
    sizes = output_shape or [utils.simplify((data.shape[names.index(letter)] * scale).astype("int32"))
                             if isinstance(scale, float) else data.shape[names.index(letter)] * scale
                             for letter, scale in zip([x for x in names if x in "DHW"], scales)]
    mode = "align_corners" if align_corners else "asymmetric" if method == "nearest_neighbor" else "half_pixel"
    method = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}.get(method, method)
    return resize(data, sizes, layout, method, mode, "floor" if method == "nearest_neighbor" else "")


def upsampling(data, scale_h, scale_w, layout="NCHW", method="nearest_neighbor", align_corners=False, output_shape=None):
    """Images that are larger by factors."""
    return _upsampled(data, [scale_h, scale_w], layout, method, align_corners, output_shape)


def upsampling3d(data, scale_d, scale_h, scale_w, layout="NCDHW", method="nearest_neighbor",
                 coordinate_transformation_mode="half_pixel", output_shape=None):
    """Volumes that are larger by factors."""
    return _upsampled(data, [scale_d, scale_h, scale_w], layout, method, coordinate_transformation_mode == "align_corners",
                      output_shape)
