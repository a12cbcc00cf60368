import numpy as np

PACKAGES = ("scipy",)
NOTE = "ndimage.zoom, order 1, grid mode"


def resampler(volume):
    from scipy import ndimage
    factors = [n / m for n, m in zip((334, 274, 274), volume.shape)]
    return lambda: ndimage.zoom(volume, factors, order=1, output=np.float32, mode="nearest", grid_mode=True)
