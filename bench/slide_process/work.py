"""Sobel of the luminance of slide20k.tif, 20480×20480 JPEG pixels, to Zarr v3 (float32, chunks of 512, uncompressed): the whole way from
file to file. Throughput is millions of pixels; an item is the image. A subject gives process(context, out)."""
import shutil

import numpy as np

ITEMS, EDGE, CHUNK = 1, 20480, 512
BYTES_PER_ITEM = EDGE * EDGE * 3


def check(context, out):
    import tifffile
    import zarr
    from skimage.color import rgb2gray
    from skimage.filters import sobel
    found = zarr.open_group(str(out), mode="r")["0"]
    if found.shape != (EDGE, EDGE) or found.dtype != np.float32 or found.chunks != (CHUNK, CHUNK):
        raise SystemExit(f"{found.shape} {found.dtype} in chunks of {found.chunks}")
    with tifffile.TiffFile(context.slide) as tiff:
        page = tiff.pages[0]
        for row, column in ((0, 0), (40, 31), (79, 79)):  # a tile that has a corner, or lies inside with its neighbours
            y, x = row * 256, column * 256
            parts = [[page.decode(*_tile(tiff, page, r, c), jpegtables=page.jpegtables)[0][0]
                      for c in range(max(0, column - 1), min(80, column + 2))] for r in range(max(0, row - 1), min(80, row + 2))]
            block = np.concatenate([np.concatenate(p, axis=1) for p in parts])
            expected = sobel(rgb2gray(block))
            top, left = (256 if row else 0), (256 if column else 0)
            got = found[y:y + 256, x:x + 256]
            if np.abs(got - expected[top:top + 256, left:left + 256]).max() > 1e-6:
                raise SystemExit(f"tile {row},{column} differs from scikit-image")
    return "within 1e-6 of skimage.filters.sobel of float64"


def _tile(tiff, page, row, column):
    index = row * 80 + column
    tiff.filehandle.seek(page.dataoffsets[index])
    return tiff.filehandle.read(page.databytecounts[index]), index


def prepare(subject, context):
    out = context.data / f"processed-{subject.__name__}.zarr"

    def once():
        shutil.rmtree(out, ignore_errors=True)
        return subject.process(context, out)

    once()
    checked = check(context, out)
    return once, checked
