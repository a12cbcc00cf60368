"""How many cores a container or a batch job may keep busy, where a quota says fewer than its processes may run on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


def quota_cores(cgroups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int | None:
    """The smallest quota of this process's control groups in whole cores, at least 1; None without one. Of version 2 (cpu.max) and 1
    (cpu.cfs_quota_us)."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return None
    found: list[float] = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            found += [quota / period for folder in _upwards(cgroups, path) for quota, period in _numbers(folder / "cpu.max")]
        elif "cpu" in controllers.split(","):
            for folder in _upwards(cgroups / controllers, path):
                limits = [*_numbers(folder / "cpu.cfs_quota_us"), *_numbers(folder / "cpu.cfs_period_us")]
                found += [limits[0][0] / limits[1][0]] if len(limits) == 2 and limits[0][0] > 0 else []
    return max(1, int(min(found))) if found else None


def _upwards(root: Path, path: str) -> Iterator[Path]:
    """The group's folder and those above it. In a container, whose own group may be its root, the path may be one of the host."""
    folder = root / path.lstrip("/")
    yield from (one for one in (folder, *folder.parents) if one == root or root in one.parents)


def _numbers(file: Path) -> list[tuple[float, ...]]:
    """The line of numbers in a file; none where it is not there, or says `max`."""
    with contextlib.suppress(OSError, ValueError):
        return [tuple(float(word) for word in file.read_text().split())]
    return []
