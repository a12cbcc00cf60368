"""A number of threads, as every call takes it."""

from __future__ import annotations

from ._core import UsageError


def thread_count(threads: int) -> int:
    """0 (one for each core) to 1024."""
    if isinstance(threads, bool) or not hasattr(threads, "__index__") or not 0 <= threads <= 1024:
        raise UsageError(f"threads: expected 0 (one for each core) to 1024, found {threads!r}")
    return int(threads)
