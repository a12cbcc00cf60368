"""A program for openslide-python with one line changed: overview and Deep Zoom tiles.  python drop_in_openslide.py [SLIDE OUT]"""
import random
import sys
from pathlib import Path

import headrace.openslide as openslide  # was: import openslide
from openslide.deepzoom import DeepZoomGenerator

# A slide of any format, or an image of a store, "cohort.zarr::IMAGE"; and the folder that is written.
SLIDE, OUT = sys.argv[1:3] if len(sys.argv) > 2 else ("samples/slides/CMU-1-Small-Region.svs", "deepzoom")
OUT = Path(OUT)

slide = openslide.open_slide(SLIDE)
mpp = slide.properties.get(openslide.PROPERTY_NAME_MPP_X, "unknown")
print(f"{slide.dimensions[0]} × {slide.dimensions[1]} pixels in {slide.level_count} levels, µm a pixel: {mpp}")
OUT.mkdir(parents=True, exist_ok=True)
slide.get_thumbnail((512, 512)).save(OUT / "thumbnail.png")

zoom = DeepZoomGenerator(slide, tile_size=254, overlap=1, limit_bounds=True)
for level, (columns, rows) in enumerate(zoom.level_tiles):
    folder = OUT / "slide_files" / str(level)
    folder.mkdir(parents=True, exist_ok=True)
    for column, row in ((column, row) for row in range(rows) for column in range(columns)):
        zoom.get_tile(level, (column, row)).save(folder / f"{column}_{row}.jpeg", quality=90)
(OUT / "slide.dzi").write_text(zoom.get_dzi("jpeg"))
print(f"{zoom.tile_count} tiles of {zoom.level_count} zoom levels in {OUT}")

# More than openslide-python has: many patches at once, decoded on all cores, in one array.
draw = random.Random(7)
corners = [tuple(draw.randrange(max(edge - 255, 1)) for edge in slide.dimensions) for _ in range(64)]
patches = slide.read_regions([(corner, 0, (256, 256)) for corner in corners])  # (64, 256, 256, 3) uint8
coloured = (patches.max(axis=3) - patches.min(axis=3) > 20).mean(axis=(1, 2))
print(f"{len(patches)} patches of 256 × 256, {(coloured > 0.5).sum()} of them mostly tissue; most of it at {corners[coloured.argmax()]}")
