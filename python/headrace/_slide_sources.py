"""The slides that a call names: files, folders of them, images of stores."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Union

import numpy as np

from . import _core
from ._core import NotFoundError, StorageError, UsageError
from ._image import Image, Mask
from ._plain import path_text
from ._tile_grid import SlideLevels
from .store import Cohort
from .store import open as open_store

Source = Union[str, "os.PathLike[str]", Cohort, Image, Iterable[Any]]

slide_endings = tuple(_core.slide_endings())
"""What a folder is searched for. Pictures (PNG, JPEG) are read where they are named, since folders hold overviews and labels."""


class SlideSource:
    """One slide that can be opened. Errors of its methods: those of reading."""

    name: str
    """What its results are named by."""
    label: str
    """What messages call it."""
    bytes: int
    """Size of all of its files together; of a store's image that of its source."""
    is_file: bool
    """Whether its levels are those of a slide file."""

    @abstractmethod
    def open(self) -> _core.Slide: ...

    @abstractmethod
    def tissue(self, slide: _core.Slide, mpp: float | None, threads: int, cancel: _core.CancelRequest) -> Mask: ...

    def levels(self, slide: _core.Slide, mpp: float | None) -> SlideLevels:
        """mpp: of slides that do not state theirs. Errors: UsageError (it is not known)."""
        stated = (slide.mpp_y, slide.mpp_x)
        own = stated if stated[0] and stated[1] else (mpp, mpp)
        if not own[0] or not own[1]:
            raise UsageError(f"{self.label}: does not state the size of its pixels; give slide_mpp=, micrometres a pixel of level 0")
        sizes = [(level[1], level[0]) for level in slide.levels]
        return SlideLevels(self.label, sizes, [level[2] for level in slide.levels], (own[0], own[1]))


class _SlideFile(SlideSource):
    def __init__(self, path: str, name: str = "", parts: Iterable[str] = ()) -> None:
        """parts: its further files, but those that its format keeps beside it."""
        self.label, self.name, self.is_file = path, name or Path(path).stem, True
        self._parts = list(parts)

    @cached_property
    def bytes(self) -> int:  # type: ignore[override]
        try:
            return sum(os.path.getsize(path) for path in (self.label, *self._parts, *_core.files_beside(self.label)))
        except OSError as error:  # a link to nowhere, as one slide among others
            raise NotFoundError(f"{self.label}: can't be opened: {error.strerror}") from error

    def open(self) -> _core.Slide:
        return _core.open_slide(self.label)

    def tissue(self, slide: _core.Slide, mpp: float | None, threads: int, cancel: _core.CancelRequest) -> Mask:
        own = None if slide.mpp_y and slide.mpp_x else mpp
        mask, downsample = _core.slide_tissue(slide, own, threads, cancel)
        return Mask(mask.view(np.bool_), downsample)


class _StoreImage(SlideSource):
    def __init__(self, image: Image) -> None:
        self._image = image
        self.label, self.name, self.bytes, self.is_file = f"{image._store.path}::{image.id}", image.id, image.source_bytes, False

    def open(self) -> _core.Slide:
        store = self._image._store
        return _core.open_store_slide(store.path, self._image.id, store.dataset_hash)

    def tissue(self, slide: _core.Slide, mpp: float | None, threads: int, cancel: _core.CancelRequest) -> Mask:
        return self._image.tissue_mask()


def find_slides(source: Source) -> list[SlideSource]:
    """The slides of files, folders (searched with those below), stores, "STORE::IMAGE", cohorts, images, or a list of these.

    In the order in which they are given, files before stores and DICOM after other files; those of a folder and of a store by name.
    Files of one DICOM slide are one; its label and overview files are left out.
    Errors: NotFoundError (nothing is there), UsageError (a folder without slides, a store of volumes, equal names).
    """
    files: list[str] = []
    found: list[SlideSource] = []
    for one in _listed(source):
        if isinstance(one, (Cohort, Image)):
            found += _stored(one)
            continue
        try:
            path = path_text(one)
        except TypeError:
            raise UsageError(f"{one!r} is neither a path, a headrace.Cohort nor a headrace.Image") from None
        store, separator, image = path.rpartition("::")
        if separator and os.path.isdir(store):
            found += _stored(open_store(store)[image])
        elif os.path.isdir(path) and os.path.exists(os.path.join(path, "manifest.json")):
            found += _stored(open_store(path))
        elif os.path.isdir(path):
            files += _below(path)
        elif os.path.exists(path):
            files.append(path)
        else:
            raise NotFoundError(f"{path}: there is no such file or folder")
    found = [*_file_sources(files), *found]
    if not found:
        raise UsageError("no slides are given: expected files, folders of slides, or a store")
    _check_names(found)
    return found


def _listed(source: Source) -> list[Any]:
    if isinstance(source, (str, bytes, os.PathLike, Cohort, Image)):
        return [source]
    try:
        return list(source)
    except TypeError:
        raise UsageError(f"{source!r}: expected slides: a path, a headrace.Cohort, a headrace.Image, or a list of them") from None


def _stored(given: Cohort | Image) -> list[SlideSource]:
    if given.kind != "slide":
        path = given.path if isinstance(given, Cohort) else given._store.path
        raise UsageError(f"{path}: is a store of volumes; features are made of slides")
    return [_StoreImage(image) for image in (given.images if isinstance(given, Cohort) else [given])]


def _not_searched(error: OSError) -> None:
    raise StorageError(f"{error.filename}: this folder can't be searched for slides: {error.strerror}") from error


def _below(folder: str) -> list[str]:
    paths = []
    for here, folders, names in os.walk(folder, onerror=_not_searched):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths += [path_text(os.path.join(here, name)) for name in names if name.lower().endswith(slide_endings) and name[0] != "."]
    if not paths:
        raise UsageError(f"{folder}: no slides in this folder (files ending in {', '.join(slide_endings)})")
    return sorted(paths)


def _file_sources(files: list[str]) -> list[SlideSource]:
    files = list(dict.fromkeys(files))
    dicom = [path for path in files if path.lower().endswith(".dcm")]
    found: list[SlideSource] = [_SlideFile(path) for path in files if path not in dicom]
    return found + [_SlideFile(path, name, parts) for name, path, parts in _core.joined_slides(dicom)]


def _check_names(slides: list[SlideSource]) -> None:
    by_name: dict[str, SlideSource] = {}
    for slide in slides:
        other = by_name.setdefault(slide.name, slide)
        if other is not slide:
            raise UsageError(
                f"{slide.label} and {other.label} have one name, '{slide.name}', and a file of features is named after its slide: "
                "rename one, or make their features in two folders"
            )
