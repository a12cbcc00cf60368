"""One image of a store: its facts, levels, labels and tables."""

from __future__ import annotations

import copyreg
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import NotFoundError, UsageError
from ._level import Level


class Mask(NamedTuple):
    """Where an image has tissue, or a volume the body."""

    mask: NDArray[np.bool_]
    """(y, x), or (z, y, x) of level 0."""
    downsample: float
    """Pixels of level 0 along the edge of one pixel of the mask."""


class Lesion(NamedTuple):
    """One connected component of a class of a volume's labels."""

    class_name: str
    class_value: int
    voxels: int
    volume_mm3: float
    centre_lps: tuple[float, float, float]
    """(x, y, z) in millimetres of the patient: left, back, up."""
    origin: tuple[int, int, int]
    """First voxel (z, y, x) of its box, in level 0."""
    size: tuple[int, int, int]
    """Voxels (z, y, x) of its box."""


class Histogram(NamedTuple):
    """How often each stored value of a volume occurs; values that do not are left out."""

    stored: NDArray[np.int32]
    """Rising; divided by `Level.per_unit`, in HU or SUV."""
    body: NDArray[np.uint64]
    """Voxels in the body mask."""
    foreground: NDArray[np.uint64]
    """Voxels under a label above 0."""


class Intensities(NamedTuple):
    """Statistics of a channel in the body mask, as far as its series reaches, in HU or SUV."""

    voxels: int
    mean: float
    std: float
    """Population standard deviation."""
    low: float
    """Percentile 0.5."""
    high: float
    """Percentile 99.5."""


class Colour(NamedTuple):
    """Statistics of a slide's tissue. Optical density is -log10((v + 1) / 256) of a value v, 0 to 255."""

    pixels: int
    """Tissue pixels that were counted; 0: nothing is known."""
    od_mean: NDArray[np.float64]
    """(3,): mean optical density of red, green, blue."""
    od_std: NDArray[np.float64]
    """(3,): population standard deviation."""
    stain_od: NDArray[np.float64] | None
    """(3, 2): unit vectors of optical density, haematoxylin and eosin in the columns (Macenko); None: not known."""
    max_concentration: NDArray[np.float64] | None
    """(2,): 99th percentile of each stain's concentration."""


class Image:
    """One slide or volume of a store.

    Facts are in memory; pixels, masks and tables are read when they are asked for. Safe from any thread. Can be
    pickled, by the store's path and version.
    """

    def __init__(self, store: _core.Store, number: int) -> None:
        self._store = store
        self._number = number
        self._record = store.record(number)

    @property
    def id(self) -> str:
        return self._record.id

    @property
    def kind(self) -> str:
        """"slide" or "volume"."""
        return self._store.kind

    @property
    def case(self) -> str:
        """The case (patient) that it belongs to; all images of a case are in one split."""
        return self._record.case

    @property
    def cohort(self) -> str:
        return self._record.cohort

    @property
    def scanner(self) -> str:
        return self._record.scanner

    @property
    def split(self) -> str:
        """"train", "val" or "test"."""
        return self._record.split

    @property
    def codec(self) -> str:
        """How its pixels are packed."""
        return self._record.codec

    @property
    def source_bytes(self) -> int:
        """Size of the file or files that it came from."""
        return self._record.source_bytes

    @property
    def primary(self) -> int | None:
        """Gleason pattern of the table, 0 to 5, or None."""
        return self._record.primary

    @property
    def secondary(self) -> int | None:
        """Gleason pattern of the table, 0 to 5, or None."""
        return self._record.secondary

    @property
    def grade_group(self) -> int | None:
        """ISUP grade group of the table, 0 to 5, or None."""
        return self._record.grade_group

    @property
    def negative(self) -> bool:
        """Whether the table states that it holds no class above 0."""
        return self._record.negative

    @property
    def phase(self) -> str:
        """Contrast phase of a volume: native, arterial, portal-venous, delayed or unknown; "" of a slide."""
        return self._record.phase

    @property
    def label_names(self) -> tuple[str, ...]:
        """The label sets in which it has a label image, for example ("annotation",)."""
        return tuple(self._record.labels)

    @property
    def shape(self) -> tuple[int, ...]:
        """Pixels of level 0: (y, x) of a slide, (z, y, x) of a volume."""
        return tuple(self._record.levels[0][0])

    @property
    def mpp(self) -> tuple[float, float] | None:
        """Micrometres a pixel (y, x) of a slide's level 0; None where it is not known, and of volumes."""
        return self._spacings(0)[0]

    @property
    def spacing(self) -> tuple[float, float, float] | None:
        """Millimetres a voxel (z, y, x) of a volume's level 0; None of slides."""
        return self._spacings(0)[1]

    @property
    def affine(self) -> NDArray[np.float64] | None:
        """(4, 4) of a volume: from a voxel's index (x, y, z) of level 0, 0 being the first one's centre, to LPS
        millimetres. x grows to the patient's left, y to the back, z up. None of slides."""
        values = self._record.affine
        return None if values is None else np.array(values, np.float64).reshape(4, 4)

    @property
    def colour(self) -> Colour:
        """Statistics of a slide's tissue. Errors: UsageError (a volume)."""
        if self._record.is_volume:
            raise UsageError(f"image '{self.id}' is a volume; `body` has its statistics")
        pixels, mean, std = self._record.density
        stain, most = self._record.stain or (None, None)
        return Colour(
            pixels,
            np.array(mean, np.float64),
            np.array(std, np.float64),
            None if stain is None else np.array(stain, np.float64).reshape(3, 2),
            None if most is None else np.array(most, np.float64),
        )

    @property
    def body(self) -> tuple[Intensities | None, ...]:
        """Statistics of a volume's body, for each channel; None of a channel that it lacks. Errors: UsageError (a slide)."""
        if not self._record.is_volume:
            raise UsageError(f"image '{self.id}' is a slide; `colour` has its statistics")
        return tuple(None if one is None else Intensities(*one) for one in self._record.body)

    @property
    def levels(self) -> tuple[Level, ...]:
        """All levels, the largest first; of the first channel."""
        return tuple(self.level(number) for number in range(len(self._record.levels)))

    def level(self, level: SupportsIndex, channel: str | SupportsIndex = 0) -> Level:
        """A level of its pyramid, 0 the largest. channel: of a volume, by number or name.

        Errors: UsageError (no such level or channel), NotFoundError (the volume lacks the channel).
        """
        number = self._level_number(level)
        index = self._channel_number(channel)
        array = self._store.level(self._number, number, index)
        mpp, spacing = self._spacings(number)
        unit, per_unit, _ = self._store.unit(index) if self._record.is_volume else ("", 1, None)
        return Level(
            array,
            name=f"{self.id}, level {number}",
            reopen=(Image.level, (self, number, index)),
            colour_axis=not self._record.is_volume,
            downsample=tuple(self._record.levels[number][1]),
            mpp=mpp,
            spacing=spacing,
            unit=unit,
            per_unit=per_unit,
        )

    def labels(self, name: str = "annotation") -> Labels:
        """Its label image of a label set. Errors: NotFoundError (it has none of this name)."""
        if name not in self._record.labels:
            known = ", ".join(self._record.labels) or "none"
            raise NotFoundError(f"{self._store.path}: image '{self.id}' has no labels '{name}'; it has: {known}")
        return Labels(self, name)

    def read(
        self,
        level: SupportsIndex,
        origin: Sequence[SupportsIndex],
        size: Sequence[SupportsIndex],
        channel: str | SupportsIndex = 0,
    ) -> NDArray[Any]:
        """A region of a level, which may lie outside: `Level.read`."""
        return self.level(level, channel).read(origin, size)

    def tissue_mask(self) -> Mask:
        """A slide's tissue, (y, x). Errors: UsageError (a volume), those of reading."""
        if self._record.is_volume:
            raise UsageError(f"image '{self.id}' is a volume; it has a body mask: body_mask()")
        array, downsample = self._store.tissue_mask(self._number)
        return Mask(_all_of(array), downsample)

    def body_mask(self) -> Mask:
        """A volume's body, (z, y, x) of level 0. Errors: UsageError (a slide), those of reading."""
        if not self._record.is_volume:
            raise UsageError(f"image '{self.id}' is a slide; it has a tissue mask: tissue_mask()")
        return Mask(_all_of(self._store.body_mask(self._number)), 1.0)

    def lesions(self, labels: str = "annotation") -> list[Lesion]:
        """The connected components of a volume's lesion classes; none without such labels. Errors: UsageError (a slide)."""
        names = [*self._store.classes, *(name for name, _ in self._store.class_sets)]
        return [Lesion(names[row[0]], *row) for row in self._store.lesions(self._number, labels)]

    def histogram(self, labels: str = "annotation", channel: str | SupportsIndex = 0) -> Histogram:
        """The values of a volume; without labels of this name no foreground. Errors: UsageError (a slide, the channel)."""
        return Histogram(*self._store.histogram(self._number, labels, self._channel_number(channel)))

    def _level_number(self, level: SupportsIndex) -> int:
        count = len(self._record.levels)
        number = operator.index(level)
        if not 0 <= number < count:
            raise UsageError(f"level {number}: image '{self.id}' has levels 0 to {count - 1}")
        return number

    def _channel_number(self, channel: str | SupportsIndex) -> int:
        names = self._store.channels
        if isinstance(channel, str):
            number = names.index(channel) if channel in names else -1
        else:
            number = operator.index(channel)
        if not 0 <= number < max(len(names), 1):
            known = f"the channels {', '.join(names)}" if names else "one channel, which has no name"
            raise UsageError(f"channel {channel!r}: images of {self._store.path} have {known}")
        if names and self._record.body[number] is None:
            raise NotFoundError(f"{self._store.path}: image '{self.id}' lacks the channel {names[number]}")
        return number

    def _spacings(self, level: int) -> tuple[tuple[float, float] | None, tuple[float, float, float] | None]:
        """Micrometres a pixel of a slide, millimetres a voxel of a volume."""
        spacing = self._record.levels[level][2]
        if self._record.is_volume:
            return None, (spacing[0], spacing[1], spacing[2])
        return (spacing[0], spacing[1]) if spacing[0] > 0 else None, None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Image) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, str, str]:
        return self._store.path, self._store.dataset_hash, self.id

    def __reduce__(self) -> tuple[Any, ...]:
        return Image, (self._store, self._number)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.shape))
        return f"<headrace.Image {self.id}: {shape}, {len(self._record.levels)} levels, split {self.split}>"

    def _repr_html_(self) -> str:
        from ._store_html import image_html

        return image_html(self)


class Labels:
    """The label image of one label set: values of `Cohort.classes`, then of class sets, 255 ignore."""

    def __init__(self, image: Image, name: str) -> None:
        self.image = image
        self.name = name

    @property
    def levels(self) -> tuple[Level, ...]:
        """All levels, those of the image."""
        return tuple(self.level(number) for number in range(len(self.image._record.levels)))

    def level(self, level: SupportsIndex) -> Level:
        """A level of the labels, uint8 (y, x) or (z, y, x). Errors: UsageError (no such level)."""
        image = self.image
        number = image._level_number(level)
        mpp, spacing = image._spacings(number)
        return Level(
            image._store.labels(image._number, self.name, number),
            name=f"{image.id}, labels {self.name}, level {number}",
            reopen=(Labels.level, (self, number)),
            colour_axis=False,
            downsample=tuple(image._record.levels[number][1]),
            mpp=mpp,
            spacing=spacing,
        )

    def read(self, level: SupportsIndex, origin: Sequence[SupportsIndex], size: Sequence[SupportsIndex]) -> NDArray[Any]:
        """A region of a level, which may lie outside: `Level.read`."""
        return self.level(level).read(origin, size)

    def __repr__(self) -> str:
        return f"<headrace.Labels {self.name} of {self.image.id}>"


def _all_of(array: _core.StoredArray) -> NDArray[np.bool_]:
    """All of a mask, made true and false in place."""
    stored: NDArray[np.uint8] = array.read([0] * len(array.shape), array.shape)
    mask = stored.view(np.bool_)
    np.not_equal(stored, 0, out=mask)
    return mask


def _opened(path: str, version: str) -> _core.Store:
    return _core.open_store(path, version)


# Objects that share a store share it again where they are unpickled together.
copyreg.pickle(_core.Store, lambda store: (_opened, (store.path, store.dataset_hash)))
