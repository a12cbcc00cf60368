"""tifffile, scikit-image and zarr-python, the image whole: what one writes first. Grey is made band by band, since as one array rgb2gray
would take 10 GB of float64."""
import numpy as np
import tifffile
import zarr
from skimage.color import rgb2gray
from skimage.filters import sobel

PACKAGES = ("tifffile", "imagecodecs", "scikit-image", "scipy", "zarr")
NOTE = "sobel on one thread, as scikit-image is; nothing synced to the disk"


def process(context, out):
    rgb = tifffile.imread(context.slide, key=0, maxworkers=context.threads)
    grey = np.empty(rgb.shape[:2], np.float32)
    for y in range(0, len(rgb), 1024):
        grey[y:y + 1024] = rgb2gray(rgb[y:y + 1024])
    del rgb
    edges = sobel(grey)
    group = zarr.create_group(str(out), zarr_format=3)
    group.create_array("0", shape=edges.shape, dtype=edges.dtype, chunks=(512, 512), compressors=None)[:] = edges
