"""Whether a training has a run folder."""

from __future__ import annotations

import os
from pathlib import Path


def is_trained(run: Path) -> bool:
    """By its lock in the kernel's list, so on this machine: to try the lock would keep a training away that starts just then."""
    folder = os.open(run, os.O_RDONLY | os.O_DIRECTORY)
    try:
        place = f" {_device(folder)}:{os.fstat(folder).st_ino} "
    finally:
        os.close(folder)
    with open("/proc/locks", encoding="ascii") as locks:
        return any(place in line and " WRITE " in line for line in locks)


def _device(folder: int) -> str:
    """As the kernel's list writes it: of the file system, which stat does not give for a subvolume of btrfs."""
    with open(f"/proc/self/fdinfo/{folder}", encoding="ascii") as facts:
        mount = next(line.split()[1] for line in facts if line.startswith("mnt_id:"))
    device = os.fstat(folder).st_dev
    usual = f"{os.major(device)}:{os.minor(device)}"
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        major, minor = next((line.split()[2] for line in mounts if line.split()[0] == mount), usual).split(":")
    return f"{int(major):02x}:{int(minor):02x}"
