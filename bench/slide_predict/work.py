"""A whole slide from its file to blended class probabilities and a class map on disk, two threads, by patches of 256×256 with an overlap of a
quarter wherever there is tissue, at the slide's own resolution. The network costs nothing: it gives the same probabilities of 6 classes for
every patch, so what is measured is everything around it. Each subject finds tissue by its own rule; an item is one of its patches, and
ITEMS of them are what the figures are scaled to.

A subject gives predict(context, out) → {"patches": n} and, where a program measures itself, its "cpu_s" and "wall_s".
"""
import shutil
import time

import numpy as np

PATCH, STRIDE, CLASSES, MPP = 256, 192, 6, 0.5
ITEMS = 10000
BYTES_PER_ITEM = PATCH * PATCH * 3
WITHIN = 0.6  # tissue and what of its edge is taken differ between subjects; a subject that left out most of it would be refused


def probabilities():
    """(classes, y, x) float32: waves some ten pixels long, so that a map has regions and compresses as that of a network does."""
    y, x = np.mgrid[:PATCH, :PATCH].astype(np.float64)
    logits = np.stack([3 * np.sin(0.03 * k * x + k) * np.sin(0.05 * k * y) for k in range(1, CLASSES + 1)])
    raised = np.exp(logits)
    return (raised / raised.sum(0)).astype(np.float32)


def prepare(subject, context):
    from measure import usage_s
    out = context.data / f"predicted-{subject.__name__}"

    def once():
        shutil.rmtree(out, ignore_errors=True)
        cpu, wall = usage_s(), time.perf_counter()
        own = subject.predict(context, out)
        cpu, wall = own.get("cpu_s", usage_s() - cpu), own.get("wall_s", time.perf_counter() - wall)
        scale = ITEMS / own["patches"]
        return {"cpu_s": cpu * scale, "wall_s": wall * scale, "patches": own["patches"]}

    patches = once()["patches"]
    expected = cells_with_tissue(context.slide)
    if abs(patches / expected - 1) > WITHIN:
        raise SystemExit(f"{patches} patches, expected {expected} within {WITHIN:.0%}")
    return once, f"{patches} patches; {expected} cells of {STRIDE} pixels have tissue"


def cells_with_tissue(slide):
    """Cells of STRIDE pixels in which on the coarsest level a pixel's darkest channel is below 225 of 255."""
    import tifffile
    with tifffile.TiffFile(slide) as tiff:
        dark = tiff.pages[-1].asarray().min(-1) < 225
        cell = STRIDE * dark.shape[1] // tiff.pages[0].shape[1]
    rows, columns = (size // cell for size in dark.shape)
    return int(dark[:rows * cell, :columns * cell].reshape(rows, cell, columns, cell).any((1, 3)).sum())
