"""A number of threads, as every call takes it."""

from __future__ import annotations

from operator import index as whole_number

from ._core import UsageError


def thread_count(threads: int) -> int:
    """0 (one for each core) to 1024."""
    if not 0 <= whole_number(threads) <= 1024:
        raise UsageError(f"threads: expected 0 (one for each core) to 1024, found {threads}")
    return whole_number(threads)
