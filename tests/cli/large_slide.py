"""Slides larger than a machine's memory, written in seconds: blocks of a real slide here and there on glass, each distinct tile encoded
once. A pyramid of tiled JPEG (BigTIFF), 0.5 µm a pixel."""
import random

import imagecodecs
import numpy as np
import tifffile
from driving import SAMPLES

TILE, BLOCK, LEVELS = 256, 2048, 4
SOURCE = SAMPLES / "slides/CMU-1-Small-Region.svs"


def encoded(pixels):
    return imagecodecs.jpeg_encode(pixels, level=85, colorspace="rgb", outcolorspace="ycbcr", subsampling=(2, 2))


def tiles_of(block):
    """The tiles of a block on each level: [level][row][column]."""
    out = []
    for _ in range(LEVELS):
        count = len(block) // TILE
        out.append([[encoded(np.ascontiguousarray(block[y * TILE:(y + 1) * TILE, x * TILE:(x + 1) * TILE])) for x in range(count)]
                    for y in range(count)])
        block = block.reshape(len(block) // 2, 2, len(block) // 2, 2, 3).mean((1, 3)).round().astype(np.uint8)
    return out


def write_large_slide(path, blocks_yx, tissue, seed=1):
    """A slide of so many blocks of 2048 pixels; `tissue`: which part of them is tissue, the same in each row of blocks whatever the height."""
    pixels = tifffile.imread(SOURCE, key=0)[:BLOCK, :BLOCK]
    glass = tiles_of(np.full((BLOCK, BLOCK, 3), 243, np.uint8))
    kinds = [tiles_of(np.ascontiguousarray(turned)) for turned in (pixels, pixels[::-1], pixels[:, ::-1], pixels.transpose(1, 0, 2))]
    rng = random.Random(seed)
    chosen = [[rng.choice(kinds) if rng.random() < tissue else glass for _ in range(blocks_yx[1])] for _ in range(blocks_yx[0])]

    def level_tiles(level):
        edge = BLOCK // TILE >> level
        for row in chosen:
            for y in range(edge):
                for block in row:
                    yield from block[level][y]

    with tifffile.TiffWriter(path, bigtiff=True) as tiff:
        for level in range(LEVELS):
            shape = (blocks_yx[0] * BLOCK >> level, blocks_yx[1] * BLOCK >> level, 3)
            tiff.write(level_tiles(level), shape=shape, dtype=np.uint8, tile=(TILE, TILE), photometric="ycbcr", compression="jpeg",
                       subsampling=(2, 2), subfiletype=1 if level else 0, resolution=(20000 / 2**level,) * 2,
                       resolutionunit="CENTIMETER", metadata=None)
    return path
