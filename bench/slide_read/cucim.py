import numpy as np

PACKAGES = ("cucim-cu13",)
NOTE = "CPU path, one read_region a patch, no cache"


def reader(context):
    from cucim import CuImage
    slide = CuImage(context.slide)
    return lambda y, x: np.asarray(slide.read_region((x, y), (512, 512), 0))
