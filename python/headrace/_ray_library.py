"""Ray, which is imported here alone, and whether this process is connected to it."""

from __future__ import annotations

from typing import Any

from ._core import UsageError

try:
    import ray as _ray  # type: ignore[import-not-found,unused-ignore]
    import ray.exceptions as _exceptions  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    raise ImportError("headrace.ray needs Ray, which is not installed: pip install 'headrace[ray]'") from None

# Whose own types are incomplete, and not there where it is not installed.
ray: Any = _ray
exceptions: Any = _exceptions


def check_connected() -> None:
    """Errors: UsageError where this process has not called `ray.init`.

    Ray would start a cluster on this machine by itself, with its dashboard and its usage statistics.
    """
    if not ray.is_initialized():
        raise UsageError("Ray is not connected: call ray.init(address='auto') in a cluster, or ray.init(include_dashboard=False) on one machine")
