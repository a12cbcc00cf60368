"""Checks of numbers and choices that callers give, with one sentence each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from . import _core


def positive_whole(name: str, value: Any) -> int:
    """A whole number from 1 on. Errors: UsageError."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
        raise _core.UsageError(f"{name} is {value!r}: expected a whole number from 1 on")
    return int(value)


def positive_number(name: str, value: Any) -> float:
    """A finite number above 0. Errors: UsageError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise _core.UsageError(f"{name} is {value!r}: expected a number above 0")
    return float(value)


def share(name: str, value: Any) -> float:
    """A number of 0 to 1. Errors: UsageError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise _core.UsageError(f"{name} is {value!r}: expected a share, 0 to 1")
    return float(value)


def choice(name: str, value: Any, known: Sequence[str]) -> str:
    """One of these words. Errors: UsageError, with the nearest one."""
    if value in known:
        return str(value)
    nearest = _core.nearest_name(value, list(known)) if isinstance(value, str) else ""
    hint = f"; did you mean '{nearest}'?" if nearest else ""
    raise _core.UsageError(f"{name} is {value!r}: expected {' or '.join(repr(one) for one in known)}{hint}")


def three_numbers(name: str, value: Any, *, above_zero: bool = False) -> tuple[float, float, float]:
    """One number for each of red, green, blue. Errors: UsageError."""
    try:
        numbers = tuple(float(one) for one in value)
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)) or (above_zero and min(numbers) <= 0):
        kind = "numbers above 0" if above_zero else "numbers"
        raise _core.UsageError(f"{name} is {value!r}: expected three {kind}, for red, green and blue")
    return numbers[0], numbers[1], numbers[2]
