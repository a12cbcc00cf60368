"""Patches that a caller lists, in any form: a file, a table, arrays by slide, or one by one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from ._core import UsageError
from ._patch_columns import FORMS, SIZES, Columns, names_of, of_arrays, of_table, one_size, whole_numbers
from ._patch_files import of_path
from ._plain import path_text

Patches = Union[str, "os.PathLike[str]", Mapping[str, Any], Iterable[Any]]


class PatchSpec(NamedTuple):
    """One patch of a slide, by its place."""

    image: str
    """Name of the slide, which is its file's without the ending; of a store, the image's id."""
    x: int
    """Of the patch's first pixel, on level 0 of the slide; may be negative."""
    y: int
    """As x."""
    level: int | None = None
    """The level of whose pixels width and height are; 0."""
    width: int | None = None
    """Of the patch, in pixels of `level`; None: it is not said here. All patches of a list have one size."""
    height: int | None = None
    """As width, and stated where width is."""


class PatchSize(NamedTuple):
    """What a list says of the size of all its patches."""

    width: int
    """In pixels of the level."""
    height: int
    level: int


@dataclass(frozen=True, eq=False)
class PatchList:
    """A list of patches, of at least one: columns in its order."""

    images: list[str]
    x: NDArray[np.int64]
    """Of each patch's first pixel, on level 0."""
    y: NDArray[np.int64]
    size: PatchSize | None
    """None: the list does not say it."""

    @property
    def level(self) -> int | None:
        return None if self.size is None else self.size.level

    @property
    def width(self) -> int | None:
        return None if self.size is None else self.size.width

    @property
    def height(self) -> int | None:
        return None if self.size is None else self.size.height

    @cached_property
    def places(self) -> dict[str, NDArray[np.int64]]:
        """(n, 2): x, y of each image's patches, in the list's order; images in the order of their first one."""
        numbers: dict[str, int] = {}
        of = np.fromiter((numbers.setdefault(name, len(numbers)) for name in self.images), np.int64, len(self.images))
        by_image = np.stack([self.x, self.y], 1)[np.argsort(of, kind="stable")]
        return dict(zip(numbers, np.split(by_image, np.cumsum(np.bincount(of))[:-1])))


def read_patch_list(given: Patches) -> PatchList:
    """Reads patches in any form: their order is kept, and so are those that are there twice.

    :param given: a CSV or Parquet file of the columns image, x, y and, where it has them, level, width, height (others are
        ignored); a table of pandas or pyarrow with these; a list of PatchSpec or tuples (image, x, y); a mapping of image to an
        (n, 2) array of x, y; an .h5 file or a folder of these, each with (n, 2) `coords` of the slide that it is named after.
    :raises headrace.Error: UsageError (no patch; missing columns, no whole numbers, several sizes), NotFoundError, MalformedError,
        StorageError, UnsupportedError (a package that reads the file is not installed).
    """
    label = _label_of(given)
    columns = _columns_of(given, label)
    names = names_of(columns.image, columns.where)
    if not names:
        raise UsageError(f"{label}: lists no patches")
    x, y = (whole_numbers(name, values, columns.where) for name, values in (("x", columns.x), ("y", columns.y)))
    return PatchList(names, x, y, _size(label, columns))


def _size(label: str, columns: Columns) -> PatchSize | None:
    level, width, height = (one_size(name, columns.sizes.get(name, ()), columns.where) for name in SIZES)
    if width is not None and height is not None:
        return PatchSize(width, height, level or 0)
    if width is not None or height is not None:
        stated, other = (f"width {width}", "height") if height is None else (f"height {height}", "width")
        raise UsageError(f"{label}: states the {stated} of its patches, and no {other}: expected both or none")
    return None


def _label_of(given: Any) -> str:
    return path_text(given) if isinstance(given, (str, bytes, os.PathLike)) else "patches"


def _columns_of(given: Any, label: str) -> Columns:
    if isinstance(given, (str, bytes, os.PathLike)):
        return of_path(label)
    if isinstance(given, Mapping):
        return of_arrays([(name, f"patches[{name!r}]", values) for name, values in given.items()])
    if hasattr(given, "column_names") or hasattr(given, "columns"):
        return of_table(given, label)
    return _of_specs([given] if isinstance(given, PatchSpec) else given)


def _of_specs(given: Any) -> Columns:
    if not isinstance(given, Iterable):
        raise UsageError(f"patches is {given!r}: expected {FORMS}")
    rows = []
    for number, one in enumerate(given):
        if not isinstance(one, (tuple, list)) or not 3 <= len(one) <= len(PatchSpec._fields):
            raise UsageError(f"patches[{number}] is {one!r}: expected a headrace.PatchSpec, or (image, x, y)")
        rows.append(PatchSpec(*one))
    image, x, y, *sizes = zip(*rows) if rows else [()] * len(PatchSpec._fields)
    return Columns(image, x, y, dict(zip(SIZES, sizes)), lambda row: f"patches[{row}]")
