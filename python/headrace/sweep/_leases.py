"""Cores and GPUs for trials: each is lent to one trial of this machine at a time, whichever sweep asks.

A lease is a lock on a file for each core and GPU, in a folder that all sweeps of the machine share. The trial's process inherits the locks, so they
are free when it has ended, also where the sweep was killed before it. The files are never written to, and may be of another user.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import subprocess
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import _core
from ._cpu_quota import quota_cores


def shared_folder() -> Path:
    """Where the locks are: HEADRACE_LEASES, else /tmp/headrace-leases. Not XDG_RUNTIME_DIR, which each user has one of."""
    folder = Path(os.environ.get("HEADRACE_LEASES") or "/tmp/headrace-leases")
    try:
        folder.mkdir(parents=True)
        folder.chmod(0o1777)  # other users' sweeps make files in it, and none removes another's
    except FileExistsError:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            raise _core.UsageError(f"{folder} is no folder: expected the locks that the sweeps of this machine share. Name another by "
                                   "HEADRACE_LEASES.") from None
    return folder


def _opened(path: Path) -> int:
    """Open for locking only; the file is made where it is not there."""
    for _ in range(3):
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
            os.fchmod(descriptor, 0o644)  # whatever the umask: other users open it, too
            return descriptor
    raise _core.StorageError(f"{path} can't be opened.")


def locked(path: Path) -> int | None:
    """A descriptor that holds the lock of this file; None while another holds it."""
    descriptor = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """One process at a time takes leases, so that no two hold half of what each needs."""
    descriptor = _opened(folder / "turn.lock")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@dataclass
class Lease:
    """Some cores, and GPUs by their CUDA_VISIBLE_DEVICES names. Who has the descriptors holds them."""

    cores: list[int]
    gpus: list[str]
    descriptors: list[int]

    def close(self) -> None:
        """This process's part; a process that inherited the lease keeps it."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = []


def _take(folder: Path, kind: str, names: Iterable[str], count: int, held: list[int]) -> list[str] | None:
    taken: list[str] = []
    for name in names:
        if len(taken) == count:
            break
        descriptor = locked(folder / f"{kind}-{name}.lock")
        if descriptor is not None:
            held.append(descriptor)
            taken.append(name)
    return taken if len(taken) == count else None


def lease(cores: Iterable[int], count: int, gpus: Iterable[str] = (), gpu_count: int = 0) -> Lease | None:
    """`count` of these cores and `gpu_count` of these GPUs, if so many are free, else None and nothing is held."""
    folder = shared_folder()
    held: list[int] = []
    try:
        with _turn(folder):
            own = _take(folder, "core", map(str, cores), count, held)
            cards = _take(folder, "gpu", gpus, gpu_count, held) if own is not None else None
        if own is not None and cards is not None:
            given, held = held, []
            return Lease([int(core) for core in own], cards, given)
        return None
    finally:
        for descriptor in held:
            os.close(descriptor)


def usable_cores() -> list[int]:
    """Cores that this process may run on, no more than a container's quota lets it keep busy. Where those are a part, they begin at a place that
    follows from the host's name, since containers of one machine do not see each other's locks."""
    cores = sorted(os.sched_getaffinity(0))
    count = min(len(cores), quota_cores() or len(cores))
    begin = zlib.crc32(os.uname().nodename.encode()) % len(cores) if count < len(cores) else 0
    return sorted((cores[begin:] + cores[:begin])[:count])


def usable_gpus() -> list[str]:
    """The GPUs of this process by UUID: those of CUDA_VISIBLE_DEVICES, else all; empty without NVIDIA's driver."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode != 0:
        return []
    by_index = dict(line.split(", ", 1) for line in done.stdout.splitlines() if ", " in line)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return list(by_index.values())
    found: list[str] = []
    for name in map(str.strip, visible.split(",")):
        known = by_index.get(name) or next((uuid for uuid in by_index.values() if name.startswith("GPU-") and uuid.startswith(name)), None)
        if known is None and not name.startswith("MIG-"):
            break  # CUDA, too, sees none from the first wrong name on: -1 hides all
        found.append(known or name)
    return found
