"""tifffile, scikit-image and zarr-python on all threads: bands of 512 rows with one row of halo on each side."""
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tifffile
import zarr
from skimage.color import rgb2gray
from skimage.filters import sobel

PACKAGES = ("tifffile", "imagecodecs", "scikit-image", "scipy", "zarr")
NOTE = "bands on threads, written as they are done; nothing synced to the disk"


def process(context, out):
    rgb = tifffile.imread(context.slide, key=0, maxworkers=context.threads)
    height = len(rgb)
    group = zarr.create_group(str(out), zarr_format=3)
    edges = group.create_array("0", shape=rgb.shape[:2], dtype=np.float32, chunks=(512, 512), compressors=None)

    def band(y):
        top, bottom = max(0, y - 1), min(height, y + 513)
        grey = rgb2gray(rgb[top:bottom]).astype(np.float32)
        edges[y:y + 512] = sobel(grey)[y - top:y - top + 512]

    with ThreadPoolExecutor(context.threads) as pool:
        list(pool.map(band, range(0, height, 512)))
