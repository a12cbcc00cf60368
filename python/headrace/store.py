"""Stores: their images, by C++.

>>> import headrace
>>> cohort = headrace.open("cohort.zarr")  # doctest: +SKIP
>>> cohort["case-17"].level(0)[4096:4608, 8192:8704]  # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex, overload

from . import _core
from ._core import NotFoundError
from ._image import Colour, Histogram, Image, Intensities, Labels, Lesion, Mask
from ._level import Level
from ._plain import path_text

__all__ = ["Cohort", "Colour", "Histogram", "Image", "Images", "Intensities", "Labels", "Lesion", "Level", "Mask", "open"]


def open(path: str | os.PathLike[str], version: str = "") -> Cohort:
    """Opens a store that ``headrace ingest`` wrote.

    version: a dataset hash of the store, or the beginning of one; "" is the current version. An open cohort does
    not change when the store gets new versions. Errors: NotFoundError (no store), MalformedError,
    UnsupportedError (its format), CorruptError (its ingest did not finish), UsageError (no such version).
    """
    text = path_text(path)
    try:
        return Cohort(_core.open_store(text, version))
    except NotFoundError as error:
        if text.lower().endswith(tuple(_core.slide_endings())):
            raise NotFoundError(f"{error}; a slide is opened by headrace.OpenSlide") from None
        raise


class Images(Sequence[Image]):
    """The images of a cohort, sorted by id: a sequence that also finds an image by its id."""

    def __init__(self, store: _core.Store) -> None:
        self._store = store
        self._all = tuple(Image(store, number) for number in range(len(store)))

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Image]:
        return iter(self._all)

    @overload
    def __getitem__(self, key: str | SupportsIndex) -> Image: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Image, ...]: ...
    def __getitem__(self, key: str | SupportsIndex | slice) -> Image | tuple[Image, ...]:
        """By id or position. Errors: NotFoundError, with the nearest id; IndexError."""
        if isinstance(key, str):
            return self._all[self._store.find(key)]
        return self._all[key]

    def __contains__(self, item: object) -> bool:
        """Whether an image, or one of this id, is among them."""
        return self.get(item) is not None if isinstance(item, str) else item in self._all

    def get(self, image: str) -> Image | None:
        """The image of this id, or None."""
        try:
            return self[image]
        except NotFoundError:
            return None

    def keys(self) -> tuple[str, ...]:
        """All ids."""
        return tuple(image.id for image in self._all)

    def values(self) -> tuple[Image, ...]:
        return self._all

    def items(self) -> tuple[tuple[str, Image], ...]:
        return tuple((image.id, image) for image in self._all)

    def __repr__(self) -> str:
        return f"<headrace.Images: {len(self)}>"


class Cohort:
    """An open store. Safe from any thread; can be pickled, by path and version."""

    def __init__(self, store: _core.Store) -> None:
        self._store = store
        self.path: str = store.path
        self.kind: str = store.kind
        """"slide" or "volume"."""
        self.classes: tuple[str, ...] = tuple(store.classes)
        """Names by label value."""
        self.class_sets: dict[str, tuple[str, ...]] = {
            name: tuple(self.classes[value] for value in values) for name, values in store.class_sets
        }
        """Labels that stand for several classes of which one is true; their values follow those of the classes."""
        self.channels: tuple[str, ...] = tuple(store.channels)
        """Names of the volumes' channels; () where there is one without a name."""
        self.dataset_hash: str = store.dataset_hash
        """SHA-256 of this version, hexadecimal."""
        self.images = Images(store)
        """All images, sorted by id."""

    def __len__(self) -> int:
        return len(self.images)

    def __iter__(self) -> Iterator[Image]:
        return iter(self.images)

    def __contains__(self, item: object) -> bool:
        return item in self.images

    @overload
    def __getitem__(self, key: str | SupportsIndex) -> Image: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Image, ...]: ...
    def __getitem__(self, key: str | SupportsIndex | slice) -> Image | tuple[Image, ...]:
        return self.images[key]

    def __reduce__(self) -> tuple[Any, ...]:
        return Cohort, (self._store,)

    def __repr__(self) -> str:
        return f"<headrace.Cohort {self.path}: {len(self)} images, kind {self.kind}, {self.dataset_hash[:12]}>"

    def _repr_html_(self) -> str:
        from ._store_html import cohort_html

        return cohort_html(self)
