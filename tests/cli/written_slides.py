"""Tiled TIFFs as scanners and converters write them, written here: tiles with a tag of our choice, and pyramids."""
import imagecodecs
import numpy as np
import tifffile


def tiles_of(pixels, edge, encode):
    """Encoded tiles, row by row, those at the edges filled up."""
    height, width = pixels.shape[:2]
    padded = np.pad(pixels, ((0, -height % edge), (0, -width % edge), (0, 0)), mode="edge")
    for y in range(0, height, edge):
        for x in range(0, width, edge):
            yield encode(np.ascontiguousarray(padded[y:y + edge, x:x + edge]))


def ycbcr(rgb):
    r, g, b = np.moveaxis(rgb.astype(float), -1, 0)
    planes = [0.299 * r + 0.587 * g + 0.114 * b, 128 - 0.168736 * r - 0.331264 * g + 0.5 * b, 128 + 0.5 * r - 0.418688 * g - 0.081312 * b]
    return np.clip(np.rint(np.stack(planes, -1)), 0, 255).astype(np.uint8)


def lossless(tile):
    return imagecodecs.jpeg2k_encode(tile, level=0, reversible=True, mct=False, codecformat="j2k")


def write_jpeg2000(path, pixels, compression, photometric, encode=lossless, edge=256, description=None, levels=()):
    """Tiles with a tag of our choice: tifffile takes encoded tiles as they are."""
    with tifffile.TiffWriter(path) as tiff:
        for number, level in enumerate([pixels, *levels]):
            tiff.write(tiles_of(level, edge, encode), shape=level.shape, dtype=np.uint8, tile=(edge, edge), photometric=photometric,
                       compression=compression, subfiletype=1 if number else 0, description=description if not number else None, metadata=None,
                       resolution=(20000, 20000), resolutionunit="CENTIMETER")
    return path


def averaged(pixels):
    """Averages of 2×2 pixels: (sum + 2) >> 2, at an odd edge of the two that exist, in its corner the pixel itself."""
    even = np.pad(pixels, ((0, pixels.shape[0] % 2), (0, pixels.shape[1] % 2), (0, 0)), mode="edge").astype(np.uint16)
    return ((even[0::2, 0::2] + even[1::2, 0::2] + even[0::2, 1::2] + even[1::2, 1::2] + 2) >> 2).astype(np.uint8)


def write_pyramid(path, pixels, downsamples, mpp=0.5, edge=256, photometric="ycbcr"):
    """JPEG tiles of levels at these downsamples, powers of two, as Aperio rounds them: down."""
    with tifffile.TiffWriter(path) as tiff:
        level, at = pixels, 1
        for number, downsample in enumerate(downsamples):
            while at < downsample:
                level, at = averaged(level[:level.shape[0] // 2 * 2, :level.shape[1] // 2 * 2]), 2 * at
            tiff.write(level, tile=(edge, edge), photometric=photometric, compression="jpeg", compressionargs={"level": 85}, metadata=None,
                       subfiletype=1 if number else 0, resolution=(1e4 / mpp, 1e4 / mpp), resolutionunit="CENTIMETER")
    return path
