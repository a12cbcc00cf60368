"""Columns of a list of patches, checked: the names of images, whole numbers, one size."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._core import UsageError

NEEDED = ("image", "x", "y")
SIZES = ("level", "width", "height")
FORMS = "a CSV or Parquet file, a folder of .h5 files, a table, {image: (n, 2) array of x and y}, or a list of headrace.PatchSpec"
_LARGEST = 2**52  # whole numbers of float64 are exact up to here
_DIGITS = re.compile(r"[+-]?[0-9]+")


class Columns(NamedTuple):
    """Of a table, before they are checked."""

    image: Iterable[Any]
    x: Any
    y: Any
    sizes: dict[str, Iterable[Any]]
    where: Callable[[int], str]
    """What messages call a row."""


def found_columns(label: str, titles: Iterable[Any]) -> dict[str, int]:
    """The position of each of our columns. Errors: UsageError (names those that are missing, and those there)."""
    titles = [str(title).strip() for title in titles]
    found: dict[str, int] = {}
    for position, title in enumerate(titles):
        found.setdefault(title.lower(), position)
    missing = [name for name in NEEDED if name not in found]
    if missing:
        there = ", ".join(titles) if any(titles) else "none"
        raise UsageError(f"{label}: has no column {' and no column '.join(map(repr, missing))}: expected image, x and y, there are {there}")
    return {name: found[name] for name in (*NEEDED, *SIZES) if name in found}


def of_table(table: Any, label: str) -> Columns:
    """Of pandas, pyarrow, and whatever has named columns. Errors: UsageError (columns are missing)."""
    titles = list(table.column_names if hasattr(table, "column_names") else table.columns)
    found = {name: table[titles[position]] for name, position in found_columns(label, titles).items()}
    sizes = {name: np.asarray(found[name]).tolist() for name in SIZES if name in found}
    image = np.asarray(found["image"]).tolist()
    return Columns(image, found["x"], found["y"], sizes, _rows_of(label))


def of_arrays(arrays: Iterable[tuple[Any, str, Any]]) -> Columns:
    """Of (image, what messages call it, (n, 2) values). Errors: UsageError (another shape; no whole numbers)."""
    images: list[str] = []
    parts = [np.zeros((0, 2), np.int64)]
    for image, label, values in arrays:
        pairs = _pairs(label, values)
        images += [name_of(image, label)] * len(pairs)
        where = _rows_of(label)
        parts.append(np.stack([whole_numbers("x", pairs[:, 0], where), whole_numbers("y", pairs[:, 1], where)], 1))
    together = np.concatenate(parts)
    return Columns(images, together[:, 0], together[:, 1], {}, _rows_of("patches"))


def _rows_of(label: str) -> Callable[[int], str]:
    return lambda row: f"{label}, row {row} (from 0)"


def _pairs(label: str, values: Any) -> NDArray[Any]:
    try:
        pairs = np.asarray(values)
    except ValueError:
        pairs = np.zeros(1)  # rows of several lengths
    if pairs.size == 0:
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise UsageError(f"{label}: has the shape {pairs.shape}: expected (n, 2), x and y of each patch")
    return pairs


def names_of(values: Iterable[Any], where: Callable[[int], str]) -> list[str]:
    """Errors: UsageError (none of a slide)."""
    known: dict[Any, str] = {}  # one object for equal names
    names = []
    for row, value in enumerate(values):
        name = known.get(value) if isinstance(value, str) else None
        if name is None:
            name = known[value] = name_of(value, where(row))
        names.append(name)
    return names


def name_of(value: Any, where: str) -> str:
    """Tables have names of digits as numbers. Errors: UsageError."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    if not isinstance(value, str) or not value:
        raise UsageError(f"{where}: image is {value!r}: expected the name of a slide")
    return value


def whole_numbers(name: str, values: Any, where: Callable[[int], str]) -> NDArray[np.int64]:
    """Errors: UsageError (others)."""
    try:
        numbers = np.asarray(values)
    except ValueError:
        numbers = np.zeros((0, 0))  # some are lists
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf":
        each = values if isinstance(values, (tuple, list)) or numbers.ndim != 1 else numbers.tolist()
        return np.array([whole(name, value, where(row)) for row, value in enumerate(each)], np.int64)
    if numbers.dtype.kind == "f":
        numbers = numbers.astype(np.float64, copy=False)
    wrong = ~((numbers >= -_LARGEST) & (numbers <= _LARGEST) & (numbers == np.floor(numbers)))
    if wrong.any():
        row = int(np.argmax(wrong))
        whole(name, numbers[row].item(), where(row))
    return np.ascontiguousarray(numbers, np.int64)


def whole(name: str, value: Any, where: str, least: int = -_LARGEST) -> int:
    """Also of a text. Tables have whole numbers as 3.0, where a column had gaps once. Errors: UsageError."""
    number: Any = value
    if isinstance(value, str):
        text = value.strip()
        try:
            number = int(text) if _DIGITS.fullmatch(text) else float(text) if "_" not in text else None
        except ValueError:
            number = None
    known = isinstance(number, Real) and not isinstance(number, bool)
    if known and least <= number <= _LARGEST and number == math.floor(number):
        return int(number)
    from_least = "" if least == -_LARGEST else f" from {least} on"
    raise UsageError(f"{where}: {name} is {value!r}: expected a whole number{from_least}")


def one_size(name: str, values: Iterable[Any], where: Callable[[int], str]) -> int | None:
    """What all rows have; None: nothing. Errors: UsageError (several sizes, or no whole numbers)."""
    first: int | None = None
    known: dict[Any, int | None] = {}  # there are few
    for row, value in enumerate(values):
        if isinstance(value, (str, Real)) and value in known:
            size = known[value]
        else:
            size = None if _is_gap(value) else whole(name, value, where(row), 0 if name == "level" else 1)
            known[value] = size
        if row == 0:
            first = size
        elif size != first:
            raise UsageError(f"{where(row)}: {name} is {size}, and {first} before: expected patches of one size")
    return first


def _is_gap(value: Any) -> bool:
    """Empty cells of files and of pandas."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    return bool(value != value) if isinstance(value, Real) else type(value).__name__ == "NAType"
