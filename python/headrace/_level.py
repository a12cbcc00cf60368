"""One array of a store, indexed like a NumPy array; only what is asked for is read."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ._core import UsageError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from ._core import StoredArray

_FAR = 1 << 40  # as in the C++ part: beyond any array


def whole_numbers(values: Sequence[SupportsIndex], count: int, name: str) -> list[int]:
    """`count` whole numbers within the range of the C++ part. Errors: UsageError."""
    try:
        numbers = [operator.index(value) for value in values]
    except TypeError:
        numbers = []
    if len(numbers) != count or any(abs(number) > _FAR for number in numbers):
        raise UsageError(f"{name} {values!r}: expected {count} whole numbers, one for each axis")
    return numbers


def _bounds(key: Any, length: int, axis: int) -> tuple[int, int, bool]:
    """First index, number of indices, and whether the axis stays, as NumPy takes one part of a key."""
    if isinstance(key, slice):
        if key.step is not None and operator.index(key.step) != 1:
            raise UsageError(f"axis {axis}: a step of {key.step}; only steps of 1 are read. Read the part, then index it")
        start, stop, _ = key.indices(length)
        return start, max(stop - start, 0), True
    number: Any = None if isinstance(key, (bool, np.bool_)) else key  # a bool is a mask to NumPy
    try:
        index = operator.index(number)
    except TypeError:
        given = type(key).__name__
        raise UsageError(f"axis {axis}: {given} is neither a whole number nor a slice. Read a region, then index it") from None
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {length}")
    return index % length, 1, False


def region_of(key: Any, shape: tuple[int, ...]) -> tuple[list[int], list[int], tuple[int, ...]]:
    """The region that a key names, as (origin, size), and the shape of what indexing gives."""
    parts = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    missing = len(shape) - (len(parts) - len(dots))
    if missing < 0:
        raise IndexError(f"too many indices: the array has {len(shape)} axes, but {len(parts) - len(dots)} were indexed")
    at = dots[0] if dots else len(parts)
    parts[at : at + len(dots)] = [slice(None)] * missing
    bounds = [_bounds(part, length, axis) for axis, (part, length) in enumerate(zip(parts, shape))]
    return [b[0] for b in bounds], [b[1] for b in bounds], tuple(b[1] for b in bounds if b[2])


class Level:
    """One level of an image's pyramid, or of its labels: an array on disk.

    Slides are (y, x, c) uint8, c being red, green, blue; volumes (z, y, x) int16; labels uint8 of the
    same axes without c. ``level[100:200, :50]`` reads these pixels and no others, as a new NumPy array:
    whole numbers, slices and ``...`` as in NumPy, steps of 1 only. ``np.asarray(level)`` reads all of
    it. Safe from any thread; Python's lock is released meanwhile, and reads of 4 MiB or more use all cores.

    Errors: UsageError (a step, a list or a mask as index), IndexError (as in NumPy), CorruptError (a
    damaged chunk), NotFoundError and StorageError. A chunk whose file is missing reads as the fill
    value, as in every Zarr array; ``headrace verify`` finds it.
    """

    def __init__(
        self,
        array: StoredArray,
        *,
        name: str,
        reopen: tuple[Any, ...],
        colour_axis: bool,
        downsample: tuple[float, ...],
        mpp: tuple[float, float] | None = None,
        spacing: tuple[float, float, float] | None = None,
        unit: str = "",
        per_unit: int = 1,
    ) -> None:
        self._array = array
        self._name = name
        self._reopen = reopen
        self._colour_axis = colour_axis
        self.downsample = downsample
        """Pixels of level 0 that one pixel spans, (y, x) or (z, y, x): powers of 2. A position of level 0, divided
        by it, lies here."""
        self.mpp = mpp
        """Micrometres a pixel (y, x) of a slide; None where it is not known."""
        self.spacing = spacing
        """Millimetres a voxel (z, y, x) of a volume."""
        self.unit = unit
        """Of a volume's values: "HU" or "SUV"; else ""."""
        self.per_unit = per_unit
        """Stored steps that make 1 of the unit: 1 for HU, 100 for SUV."""
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.chunks: tuple[int, ...] = tuple(array.chunks)
        """What is decoded as one."""
        self.dtype: np.dtype[Any] = np.dtype(array.dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def read(self, origin: Sequence[SupportsIndex], size: Sequence[SupportsIndex]) -> NDArray[Any]:
        """Reads a region that may lie outside, wholly or partly.

        origin, size: of slides (y, x) and (height, width), all colours; of volumes (z, y, x). In pixels of this
        level; origin may be negative. What lies outside is filled: slides white, CT -1024 HU, PET 0, labels of
        slides 255 (ignore), labels of volumes 0. Errors: UsageError (not so many whole numbers, a negative size),
        OutOfMemoryError, and those of reading.
        """
        axes = self.ndim - 1 if self._colour_axis else self.ndim
        first = whole_numbers(origin, axes, f"{self._name}: origin")
        extent = whole_numbers(size, axes, f"{self._name}: size")
        if self._colour_axis:
            first.append(0)
            extent.append(self.shape[-1])
        return self._read(first, extent)

    def _read(self, origin: list[int], size: list[int]) -> NDArray[Any]:
        return self._array.read(origin, size)

    def __getitem__(self, key: Any) -> NDArray[Any]:
        origin, size, shape = region_of(key, self.shape)
        pixels = self._read(origin, size).reshape(shape)
        whole = isinstance(key, tuple) and any(part is Ellipsis for part in key)  # NumPy then gives an array in any case
        return pixels if shape or whole else pixels[()]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(f"{self._name} is on disk: an array of it is always a copy. Leave out copy=False")
        pixels = self[...]
        return pixels if dtype is None else pixels.astype(dtype, copy=False)

    def __len__(self) -> int:
        return self.shape[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return self._reopen

    def __repr__(self) -> str:
        return f"<headrace.Level {self._name}: shape {self.shape}, {self.dtype}>"
