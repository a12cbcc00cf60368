"""Values of Python as the library's texts have them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, Union

from ._core import UsageError, name_host_of


def path_text(path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]) -> str:
    """A path as text. Errors: UsageError (bytes that are no UTF-8, which the library does not open)."""
    text = os.fsdecode(path)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{text!r}: the file's name is not UTF-8; rename it, for example by convmv") from None
    if "://" in text:
        name_host_of(text)  # a URL that is given names its host
    return text


def plain(value: Any) -> Any:
    """What JSON does not know: paths, transforms, NumPy's numbers and arrays, iterables."""
    if hasattr(value, "to_config"):
        return value.to_config()
    if isinstance(value, os.PathLike):
        return path_text(value)
    if hasattr(value, "dataset_hash") and hasattr(value, "path"):
        raise UsageError(f"{value!r} is given: expected the store's path, {value.path!r}")
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        return list(value)
    raise UsageError(f"{value!r} is given: expected text, a number, True or False, a path, a list or a mapping")
