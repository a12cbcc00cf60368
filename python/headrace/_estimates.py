"""Statistics that some transforms need, of arrays in memory."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _core
from ._batch_arrays import as_labels, as_numpy, as_pixels, as_stored
from ._core import UsageError
from ._image import Colour, Intensities


def estimate_colour(image: Any, mask: Any = None) -> Colour:
    """Stains (Macenko) and optical density of an RGB image, as ingest estimates them from a slide's tissue.

    image: (h, w, 3) uint8; mask: (h, w), true where there is tissue, None: everywhere. Glass does not count in either case. Take the
    whole slide at about 1 µm a pixel, or many of its patches in one array: one patch has too few nuclei, or none, and then there are
    no stains (`stain_od` is None; that takes 1,000 stained pixels in two colours).

    Python's lock is released. Errors: UsageError.
    """
    pixels = np.ascontiguousarray(as_pixels(as_numpy(image, "image"), "image"))
    chosen = None if mask is None else np.ascontiguousarray(as_labels(as_numpy(mask, "mask"), "mask", pixels.shape[:2]))
    found = json.loads(_core.estimate_colour(pixels, chosen))
    stain = found["stain"]
    return Colour(
        found["pixels"],
        np.array(found["od_mean"], np.float64),
        np.array(found["od_std"], np.float64),
        None if stain is None else np.array(stain["he"], np.float64).reshape(3, 2),
        None if stain is None else np.array(stain["max_concentration"], np.float64),
    )


def estimate_intensities(volumes: Any, masks: Any = None, unit: str = "HU") -> Intensities:
    """Exact statistics of the voxels of one volume, or of all in a list, in the unit.

    volumes: (d, h, w) int16 in whole HU or hundredths of SUV, or a list; masks: the same shapes, true where voxels count, None:
    everywhere. For a patient give the body's mask, for the foreground of a training set all its volumes with ``labels > 0``.

    Python's lock is released. Errors: UsageError (also where no voxel counts).
    """
    several = isinstance(volumes, (list, tuple))
    all_volumes = list(volumes) if several else [volumes]
    all_masks = [None] * len(all_volumes) if masks is None else list(masks) if several else [masks]
    if len(all_masks) != len(all_volumes):
        raise UsageError(f"masks: expected those of {len(all_volumes)} volumes, found {len(all_masks)}")
    counts = _core.IntensityCounts(unit)
    for i, (volume, mask) in enumerate(zip(all_volumes, all_masks)):
        name = f"volumes[{i}]"
        array = as_numpy(volume, name)
        if array.ndim != 3:
            raise UsageError(f"{name}: expected (depth, height, width), found {array.shape}")
        stored = np.ascontiguousarray(as_stored(array, name)[0])
        where = f"masks[{i}]"
        chosen = None if mask is None else np.ascontiguousarray(as_labels(as_numpy(mask, where), where, stored.shape))
        counts.add(stored, chosen)
    found = json.loads(counts.summary())
    if not found["voxels"]:
        raise UsageError("masks: no voxel counts; they are all false")
    return Intensities(found["voxels"], found["mean"], found["std"], found["low"], found["high"])
