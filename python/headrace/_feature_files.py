"""The folder that features are written to: one file or Zarr group a slide, each complete or absent, and what they were made with."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import importlib
import json
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from . import _zarr_group
from ._core import StorageError, UnsupportedError, UsageError

Layout = Literal["h5", "zarr"]
LAYOUTS: tuple[str, ...] = get_args(Layout)
_STAMP = "headrace-features.json"


class SlideFacts(NamedTuple):
    """What else features of one slide depend on, beside the settings of all."""

    source_bytes: int
    patches_sha256: str | None
    """Of the places that are listed of it; None: they are those of the grid."""

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if value is not None}


def places_sha256(places: NDArray[np.int64]) -> str:
    """Of patches' places (n, 2) in order, as text: `x,y` and a line feed of each."""
    return hashlib.sha256("".join(f"{x},{y}\n" for x, y in places.tolist()).encode()).hexdigest()


class FeatureFolder:
    """Files of features. Several processes may fill one folder, each with slides of its own."""

    def __init__(self, path: str, layout: str, stamp: Mapping[str, Any]) -> None:
        """Makes the folder, or checks that what is there was made with the same settings. They are noted with the first file.

        Errors: UnsupportedError (h5py is not installed), UsageError (other settings; names them), StorageError.
        """
        self.path, self._layout, self._stamp = path, layout, {**stamp, "layout": layout}
        if layout == "h5":
            _h5py()
        try:
            os.makedirs(path, exist_ok=True)
            if os.path.exists(os.path.join(path, _STAMP)):
                self._check_stamp()
        except OSError as error:
            raise _storage(path, error) from error

    def _check_stamp(self) -> None:
        """Notes the settings where there are none, and compares."""
        path = os.path.join(self.path, _STAMP)
        if not os.path.exists(path):
            _make_first(path, json.dumps(self._stamp, indent=1) + "\n")
        try:
            with open(path, encoding="utf-8") as file:
                there = json.load(file)
        except ValueError:
            there = None
        if not isinstance(there, dict):
            raise UsageError(f"{path}: is not what a call of features wrote; choose another folder")
        wrong = [key for key in self._stamp if there.get(key) != self._stamp[key]]
        if wrong:
            said = "; ".join(f"{key} {there.get(key)!r}, this call {self._stamp[key]!r}" for key in wrong)
            raise UsageError(f"{self.path}: its features were made with {said}. Choose another folder, or the same settings")

    def file_of(self, name: str) -> str:
        """Where the features of the slide of this name are, or will be."""
        return os.path.join(self.path, f"{name}.{self._layout}")

    def finished(self, name: str, slide: SlideFacts) -> bool:
        """Whether its features are there.

        Errors: UsageError (something else is; the slide was another one, or its list), StorageError (it can't be read).
        """
        path = self.file_of(name)
        if not os.path.lexists(path):
            return False
        try:
            facts = _h5_facts(path) if self._layout == "h5" else _zarr_group.attributes(path).get("headrace")
        except (OSError, ValueError) as error:
            raise StorageError(f"{path}: can't be read ({error}); remove it, and the same call makes it anew") from error
        if not isinstance(facts, dict) or any(facts.get(key) != value for key, value in self._stamp.items()):
            raise UsageError(f"{path}: was not made by features with these settings; remove it, or choose another folder")
        if facts.get("source_bytes") != slide.source_bytes:
            raise UsageError(
                f"{path}: was made of a slide of {facts.get('source_bytes')} bytes, and that of this name now has {slide.source_bytes}; "
                "remove the file, and the same call makes it anew"
            )
        if facts.get("patches_sha256") != slide.patches_sha256:
            raise UsageError(
                f"{path}: was made of other patches than are listed of this slide now; remove the file, and the same call makes it anew, "
                "or choose another folder"
            )
        return True

    def write(
        self, name: str, features: NDArray[np.float32], coords: NDArray[np.int64], slide: SlideFacts, attributes: Mapping[str, Any]
    ) -> None:
        """Writes features (n, d) and coords (n, 2), x and y on level 0, with these attributes of coords.

        Errors: StorageError (the disk is full, …), UsageError (another process writes the same).
        """
        path = self.file_of(name)
        part = os.path.join(self.path, f".{name}.{self._layout}.part")
        facts = {**self._stamp, **slide.as_dict()}
        try:
            self._check_stamp()
            with _alone(part, self._layout == "zarr"):
                if self._layout == "h5":
                    _write_h5(part, name, features, coords, attributes, facts)
                else:
                    _zarr_group.write(part, {"features": (features, {"name": name}), "coords": (coords, attributes)}, {"headrace": facts})
                os.rename(part, path)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                raise UsageError(f"{path}: another process has made it meanwhile; give each process slides of its own") from error
            raise _storage(path, error) from error


def _make_first(path: str, text: str) -> None:
    """Makes a file whole, unless another process or thread does so first. Errors: OSError."""
    own = f"{path}.{os.getpid()}-{threading.get_ident()}.part"
    try:
        with open(own, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            os.link(own, path)
        except FileExistsError:
            pass
        except OSError:
            os.rename(own, path)  # a file system without links
    finally:
        with suppress(FileNotFoundError):
            os.unlink(own)


def _storage(path: str, error: OSError) -> StorageError:
    reason = "disk full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or error
    return StorageError(f"{path}: can't be written: {reason}")


@contextmanager
def _alone(part: str, folder: bool) -> Iterator[None]:
    """An empty file or folder that no other process writes to meanwhile. It is gone afterwards, unless it was renamed."""
    if folder:
        os.makedirs(part, exist_ok=True)
    handle = os.open(part, os.O_RDONLY if folder else os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{part}: another process writes it; give each process slides of its own") from None
        except OSError:
            pass  # a file system without locks
        try:
            if folder:
                _empty(part)
            yield
        except BaseException:
            if folder:
                _empty(part)
                os.rmdir(part)
            else:
                os.unlink(part)
            raise
    finally:
        os.close(handle)


def _empty(folder: str) -> None:
    """Removes what an interrupted call left in it."""
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def _h5py() -> Any:
    try:
        return importlib.import_module("h5py")
    except ImportError:
        raise UnsupportedError("HDF5 is written by h5py, which is not installed: pip install h5py, or use layout='zarr'") from None


def _h5_facts(path: str) -> Any:
    with _h5py().File(path, "r") as file:
        return json.loads(file.attrs.get("headrace", "null")) if {"features", "coords"} <= set(file) else None


def _write_h5(
    path: str,
    name: str,
    features: NDArray[np.float32],
    coords: NDArray[np.int64],
    attributes: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> None:
    try:
        with _h5py().File(path, "w", locking=False) as file:  # the lock is `_alone`'s
            file.create_dataset("features", data=features).attrs["name"] = name
            file.create_dataset("coords", data=coords).attrs.update(attributes)
            file.attrs["headrace"] = json.dumps(facts)
    except (OSError, RuntimeError) as error:  # the number of the system's error stands in the text alone
        number = re.search(r"errno = (\d+)", str(error))
        raise (OSError(int(number[1]), os.strerror(int(number[1]))) if number else OSError(str(error))) from error
    with open(path, "rb") as written:
        os.fsync(written.fileno())
