"""Whether a training has a run folder."""

from __future__ import annotations

import os
from pathlib import Path


def is_trained(run: Path) -> bool:
    """By its locks in the kernel's list, so on this machine: to try a lock would keep a training away that starts just then."""
    # The folder's own, and the one that NFS has, too.
    places = [place for place in map(_place, (run, run / ".lock")) if place]
    with open("/proc/locks", encoding="ascii") as locks:
        return any(place in line and " WRITE " in line for line in locks for place in places)


def _place(path: Path) -> str:
    """As the kernel's list writes it; empty: there is no such file."""
    try:
        opened = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return ""
    try:
        return f" {_device(opened)}:{os.fstat(opened).st_ino} "
    finally:
        os.close(opened)


def _device(opened: int) -> str:
    """Of the file system, which stat does not give for a subvolume of btrfs."""
    with open(f"/proc/self/fdinfo/{opened}", encoding="ascii") as facts:
        mount = next(line.split()[1] for line in facts if line.startswith("mnt_id:"))
    device = os.fstat(opened).st_dev
    usual = f"{os.major(device)}:{os.minor(device)}"
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        major, minor = next((line.split()[2] for line in mounts if line.split()[0] == mount), usual).split(":")
    return f"{int(major):02x}:{int(minor):02x}"
