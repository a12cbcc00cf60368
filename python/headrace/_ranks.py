"""Which of several training processes this is."""

from __future__ import annotations

import os
import sys
from typing import Any

from . import _core


def natural(name: str, value: Any) -> int:
    """A whole number from 0 on. Errors: UsageError."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < 0:
        raise _core.UsageError(f"{name} is {value!r}: expected a whole number from 0 on")
    return int(value)


def find_rank(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """(rank, processes): as given; else torch.distributed's where it is initialised, else of RANK and WORLD_SIZE, else (0, 1).

    Errors: UsageError (one without the other, or not whole numbers).
    """
    if rank is not None and world_size is not None:
        return natural("rank", rank), natural("world_size", world_size)
    if rank is not None or world_size is not None:
        raise _core.UsageError("rank and world_size go together: give both, or neither")
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    found = os.environ.get("RANK"), os.environ.get("WORLD_SIZE")
    if None in found:
        return 0, 1
    try:
        return int(found[0] or ""), int(found[1] or "")
    except ValueError:
        raise _core.UsageError(f"RANK is '{found[0]}' and WORLD_SIZE '{found[1]}': whole numbers are expected") from None
