"""Which patches of a slide are read: those of a grid or of a list, their level, and the window of it that makes one patch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._core import UsageError
from ._image import Mask
from ._patch_list import PatchList
from ._tissue import TissueShares

_SAME = 0.01  # pixel sizes that differ by less are taken as equal: scanners are not calibrated better
_MOST_ENLARGED = 2.0


class TileSettings(NamedTuple):
    """What decides which patches a slide has."""

    patch: int
    """Edge in pixels of the network's input."""
    mpp: float
    """Micrometres a pixel of that."""
    step: int | None
    """From one patch to the next, in the same pixels; None: they are listed."""
    tissue: float | None
    """The least share of tissue; None: every patch on the slide, or of the list."""


class SlideLevels(NamedTuple):
    """What a grid needs to know of a slide."""

    name: str
    sizes: list[tuple[int, int]]
    """(height, width) of each level."""
    stated: list[float]
    """Pixels of level 0 a pixel of each level, as the reader has them."""
    mpp: tuple[float, float]
    """Micrometres a pixel of level 0, (y, x)."""


@dataclass(frozen=True)
class TileGrid:
    """The patches of one slide."""

    coords: NDArray[np.int64]
    """(n, 2): x, y of the first pixel of each, on level 0; of a grid row after row."""
    level: int
    downsample: tuple[float, float]
    """Pixels of level 0 a pixel of a patch, (y, x)."""
    window: tuple[int, int]
    """(height, width) of what is read for a patch, in pixels of the level."""
    scale: tuple[float, float]
    """Pixels of the level a pixel of a patch, (y, x); (1, 1): the window is the patch."""
    places: NDArray[np.int64]
    """(n, 2): where each window begins, y, x on level 0, such that the reader begins at the right pixel of the level."""
    offsets: NDArray[np.float64]
    """(n, 2): where each patch begins in its window, y, x in pixels of the level."""

    @property
    def exact(self) -> bool:
        """Whether patches are pixels of the level, without resampling."""
        return self.scale == (1.0, 1.0)


class _View(NamedTuple):
    """The pixels of a slide that patches are made of."""

    level: int
    factor: float
    """Pixels of level 0 a pixel of the level."""
    scale: tuple[float, float]
    downsample: tuple[float, float]


def tile_grid(slide: SlideLevels, settings: TileSettings, tissue: Mask | None) -> TileGrid:
    """The patches of a slide; those whose tissue is at least `settings.tissue`.

    A patch begins at a whole pixel of level 0; patches lie `step` apart from the slide's first pixel on, and the last of
    a row or column may reach beyond it. Errors: UsageError (pixels so fine are not in the slide).
    """
    view = _view(slide, settings)
    step = settings.patch if settings.step is None else settings.step
    y, x = (_starts(slide.sizes[0][axis], step * view.downsample[axis]) for axis in (0, 1))
    coords = np.stack([np.tile(x, len(y)), np.repeat(y, len(x))], 1)
    if tissue is not None and settings.tissue is not None:
        height, width = settings.patch * view.downsample[0], settings.patch * view.downsample[1]
        shares = TissueShares(tissue).of(coords[:, 1].astype(np.float64), coords[:, 0].astype(np.float64), height, width)
        coords = coords[(shares >= settings.tissue - 1e-9) & (shares > 0)]
    return _grid(slide, settings, view, coords)


def listed_grid(slide: SlideLevels, settings: TileSettings, image: str, patches: PatchList) -> TileGrid:
    """The patches that are listed of this image, in the list's order.

    Errors: UsageError (pixels so fine are not in the slide; the list says another size; a patch lies wholly outside of the slide).
    """
    view = _view(slide, settings)
    _check_size(slide, settings, view, patches)
    coords = patches.places[image]
    height, width = slide.sizes[0]
    ends = coords + np.array([settings.patch * view.downsample[1], settings.patch * view.downsample[0]])
    outside = ((coords >= (width, height)) | (ends <= 0)).any(1)
    if outside.any():
        x, y = coords[int(np.argmax(outside))]
        raise UsageError(
            f"{slide.name}: the listed patch at x {x}, y {y} lies outside of the slide, which has {width} × {height} pixels; "
            "expected its first pixel on level 0"
        )
    return _grid(slide, settings, view, coords)


def _view(slide: SlideLevels, settings: TileSettings) -> _View:
    wanted = settings.mpp / slide.mpp[0], settings.mpp / slide.mpp[1]
    factors = [_whole_factor(slide, k) for k in range(len(slide.sizes))]
    level, scale = _level_for(slide, factors, wanted, settings.mpp)
    return _View(level, factors[level], scale, (scale[0] * factors[level], scale[1] * factors[level]))


def _grid(slide: SlideLevels, settings: TileSettings, view: _View, coords: NDArray[np.int64]) -> TileGrid:
    window, first, offsets = _windows(coords[:, ::-1] / view.factor, settings.patch, view.scale)
    places = np.rint(first * slide.stated[view.level]).astype(np.int64)
    return TileGrid(coords, view.level, view.downsample, window, view.scale, places, offsets)


def _check_size(slide: SlideLevels, settings: TileSettings, view: _View, patches: PatchList) -> None:
    """Whether the size that a list states is that of the patches that are read. Errors: UsageError."""
    if patches.size is None:
        return
    width, height, level = patches.size
    if level >= len(slide.sizes):
        raise UsageError(f"{slide.name}: the listed patches are of level {level}, and the slide has levels 0 to {len(slide.sizes) - 1}")
    factor = _whole_factor(slide, level)
    if all(_same(size * factor, settings.patch * own) for size, own in zip((width, height), view.downsample[::-1])):
        return
    across, down = width * factor * slide.mpp[1], height * factor * slide.mpp[0]
    advice = f"give patch={width} and mpp={slide.mpp[1] * factor:.4g}" if _same(across, down) else "give square ones"
    raise UsageError(
        f"{slide.name}: the listed patches have {width} × {height} pixels of level {level}, which are {across:.4g} × {down:.4g} µm, and "
        f"those of patch={settings.patch} and mpp={settings.mpp:g} are {settings.patch * settings.mpp:.4g} µm wide; {advice}, or a list "
        "without level, width and height"
    )


def _same(one: float, other: float) -> bool:
    return abs(one / other - 1) <= _SAME + 1e-9


def _whole_factor(slide: SlideLevels, level: int) -> float:
    """A level's downsample. One that is whole but for the rounding of the level's size is whole: 2220 / 1109 is 2."""
    stated = slide.stated[level]
    whole = round(stated)
    fits = all(size in (full // whole, -(-full // whole)) for size, full in zip(slide.sizes[level], slide.sizes[0]))
    return float(whole) if fits else stated


def _level_for(
    slide: SlideLevels, factors: list[float], wanted: tuple[float, float], mpp: float
) -> tuple[int, tuple[float, float]]:
    """The level that has the wanted pixels, else the coarsest finer one, else level 0; and the scale from it."""
    scales = [(wanted[0] / factor, wanted[1] / factor) for factor in factors]
    for level, scale in enumerate(scales):
        if max(abs(one - 1) for one in scale) <= _SAME:
            return level, (1.0, 1.0)
    finer = [level for level, scale in enumerate(scales) if min(scale) >= 1]
    level = max(finer, key=lambda one: factors[one], default=0)
    if min(scales[level]) < 1 / (_MOST_ENLARGED * (1 + _SAME)):
        own = max(slide.mpp)
        raise UsageError(
            f"{slide.name}: its finest pixels are {own:.4g} µm wide and mpp={mpp:g} asks for finer ones than half of that; "
            f"give mpp={own:.4g} or more"
        )
    return level, scales[level]


def _starts(size: int, step: float) -> NDArray[np.int64]:
    """Where patches begin along an axis."""
    count = max(1, math.ceil(size / step))
    starts = np.rint(np.arange(count + 1) * step).astype(np.int64)
    inside: NDArray[np.int64] = starts[starts < size]
    return inside


def _windows(
    at: NDArray[np.float64], patch: int, scale: tuple[float, float]
) -> tuple[tuple[int, int], NDArray[np.float64], NDArray[np.float64]]:
    """For patches that begin at these pixels of a level (n, 2): the window's size, its first pixels, the patch's place in it."""
    if scale == (1.0, 1.0):
        return (patch, patch), np.rint(at), np.zeros_like(at)
    # Below 1 the pixel before the patch and the one after it are interpolated with.
    margin = np.array([1 if one < 1 else 0 for one in scale])
    first = np.floor(at) - margin
    height, width = (math.ceil(patch * one) + 1 + 2 * int(edge) for one, edge in zip(scale, margin))
    return (height, width), first, np.ascontiguousarray(at - first)
