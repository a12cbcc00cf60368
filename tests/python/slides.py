"""Slides that the tests of OpenSlide and read_regions read."""
import numpy as np
import tifffile
from driving import SAMPLES

SLIDES = sorted([*(SAMPLES / "slides").glob("*.*"), *(SAMPLES / "slides/derived").glob("*.*")])
NAMES = [path.name for path in SLIDES]
CMU = SAMPLES / "slides/CMU-1-Small-Region.svs"
PYRAMID = SAMPLES / "slides/derived/cmu-aperio-style-4level.svs"


def on_white(image):
    """A Pillow RGBA image as opaque RGB, by NumPy."""
    pixels = np.asarray(image).astype(np.uint16)
    assert set(np.unique(pixels[..., 3])) <= {0, 255}
    return np.where(pixels[..., 3:] == 255, pixels[..., :3], 255).astype(np.uint8)


def wide_pyramid(path):
    """A TIFF of JPEG tiles whose level 1 is wider than 4096 pixels and has an uneven downsample."""
    rng = np.random.default_rng(7)
    level0 = rng.integers(0, 255, (75, 2251, 3), np.uint8).repeat(4, 0).repeat(4, 1)[:299, :9001]
    with tifffile.TiffWriter(path) as tiff:
        for k, pixels in enumerate((level0, level0[0:298:2, 0:9000:2])):
            tiff.write(np.ascontiguousarray(pixels), subfiletype=1 if k else 0, photometric="rgb", compression="jpeg", tile=(128, 128))
    return path


def damage(source, path):
    """The CMU slide with the image data of one tile overwritten; gives the (x, y) of that tile's first pixel.

    Not one of the tiles that are compared when a slide is opened: the first, the middle one and the largest.
    """
    with tifffile.TiffFile(source) as tiff:
        page = tiff.pages[0]
        across = -(-page.imagewidth // page.tilewidth)
        tile = 3 * across + 2
        assert tile not in (len(page.dataoffsets) // 2, np.argmax(page.databytecounts))
        at, size = page.dataoffsets[tile], page.databytecounts[tile]
    raw = bytearray(source.read_bytes())
    raw[at:at + size] = bytes(size)
    path.write_bytes(raw)
    return tile % across * page.tilewidth, tile // across * page.tilelength
