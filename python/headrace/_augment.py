"""Batches of one's own arrays through the compiled transforms."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from operator import index as whole_number
from typing import Any, Union

import numpy as np

from . import _core
from ._array_kinds import Colours, Kind, Patients, Slides, Volumes
from ._batch_arrays import as_labels, as_numpy, checked_output, is_torch, to_torch
from ._core import UsageError
from ._image import Colour, Intensities
from ._threads import thread_count
from .transforms import Entry, from_config

Numbers = Union[float, Sequence[float]]


class Transforms:
    """A list of transforms, compiled for one kind of image: call it on batches.

    transforms   objects of `headrace.transforms`, or entries as in a run config
    size         of the output: (height, width) pixels or (depth, height, width) voxels; None: that of the images
    mpp          for slides: micrometres a pixel of the output; 1.0 where neither it nor spacing is given
    spacing      for volumes: millimetres a voxel of the output, one number or (z, y, x)
    channels     for volumes: names of the channels, as in ``ingest --channels`` ("ct", "pet" or "fdg=SUV"); None: one, in HU
    foreground   for volumes: `Intensities` under the labels of the training set, one for each channel, where a transform asks for
                 them (``normalize: {method: foreground}``); `headrace.estimate_intensities` makes them
    references   for slides: `Colour` by the names that ``stain_normalize: {reference: name}`` uses; "builtin" is always there
    cohort       for slides: the `Colour` to which scanner_color brings each image

    Errors: UsageError, as for a run config. Immutable, safe from any thread, can be pickled.
    """

    def __init__(
        self,
        transforms: Iterable[Entry],
        size: Sequence[int] | None = None,
        *,
        mpp: float | None = None,
        spacing: Numbers | None = None,
        channels: Sequence[str] | None = None,
        foreground: Intensities | Sequence[Intensities] | None = None,
        references: Mapping[str, Colour] | None = None,
        cohort: Colour | None = None,
    ) -> None:
        self._given: dict[str, Any] = {
            "transforms": from_config(transforms),
            "size": size,
            "mpp": mpp,
            "spacing": spacing,
            "channels": channels,
            "foreground": foreground,
            "references": references,
            "cohort": cohort,
        }
        entries = [entry.to_config() for entry in self._given["transforms"]]
        self._kind: Kind
        if spacing is None:
            _refuse(" for volumes, which need spacing=", channels=channels, foreground=foreground)
            self._kind = Slides(entries, 1.0 if mpp is None else mpp, references or {}, cohort)
        else:
            _refuse(" for slides, and spacing= is for volumes", mpp=mpp, references=references, cohort=cohort)
            self._kind = Volumes(entries, spacing, channels or (), foreground)
        self._size = None if size is None else self._kind.size_of(size, "size")
        self._lock, self._process = threading.Lock(), os.getpid()
        self._inherited: Any = None
        self._compiled = self._kind.compile(self._size or (1,) * self._kind.axes)
        self._compiled_size = self._size

    def __call__(
        self,
        images: Any,
        labels: Any = None,
        *,
        seed: int | None = None,
        index: int | None = None,
        epoch: int = 0,
        random: bool = True,
        colour: Colours = None,
        patient: Patients = None,
        centres: Any = None,
        image_mpp: Numbers | None = None,
        image_spacing: Numbers | None = None,
        out: Any = None,
        threads: int = 0,
    ) -> Any:
        """A batch through the list.

        images         slides: (n, h, w, 3) uint8; volumes: (n, d, h, w) or (n, channels, d, h, w) int16 in whole HU or hundredths
                       of SUV (other types where they hold just these). Or a list of such images, of any sizes. NumPy, Torch on
                       the CPU, or what has DLPack
        labels         as images without colours and channels, uint8; None in a list: all 255
        seed, epoch, index   sample i is drawn with (seed, epoch, index + i), whatever the batch or the threads, as `headrace.Loader`
                       draws this sample. The same numbers draw the same, so where something is random index or seed must be
                       given, another one for each call; the one that is not is 0
        random         False: without what is random (validation); stains, windows and normalisation stay
        colour         slides, for stain_normalize and scanner_color: `Colour` of the slide, or one for each image
        patient        volumes, for zscore and percentiles of the patient: `Intensities` of the body, or for each image one or those of
                       its channels
        centres        (n, 2) or (n, 3): where the sample's centre lies, in pixels; the middle of the first pixel is 0.5. None: the middle
        image_mpp, image_spacing   of the images, where it is not that of the output: they are resampled on the way
        out            memory for the result: float32, with labels a pair with uint8. None: a new array; of those that Python has
                       dropped, 256 MiB are kept for the next ones
        threads        0: as many as there are cores

        Returns (n, 3, H, W) or (n, channels, D, H, W) float32; with labels (that, (n, H, W) or (n, D, H, W) uint8). Torch tensors
        where images are. Outside of an image is white, air or no uptake, and labels are 255.

        Python's lock is released. Errors: UsageError, UnsupportedError (a tensor on a GPU), with the image's number.
        """
        if seed is None and index is None and random and any(entry.draws for entry in self._given["transforms"]):
            raise UsageError(
                "index: which sample of the training the first image is (step * batch, say) is not given, and the same index draws the same: "
                "give it, or seed= anew for each call, or random=False"
            )
        key = _key(seed or 0, epoch, index or 0)
        kind = self._kind
        kind.refuse(colour=colour, patient=patient, image_mpp=image_mpp, image_spacing=image_spacing)
        arrays = kind.images(images)
        count = len(arrays)
        samples = list(
            zip(
                arrays,
                _labels(labels, [kind.extent(one) for one in arrays]),
                _centres(centres, [kind.extent(one) for one in arrays]),
                [kind.spacing_of(image_mpp if image_spacing is None else image_spacing)] * count,
                kind.statistics(colour if patient is None else patient, count),
            )
        )
        size = self._size or _common_size([kind.extent(one) for one in arrays])
        result, label_result = self._memory(out, (count, kind.channel_count, *size), labels is not None)
        self._for_size(size).run(samples, key, bool(random), thread_count(threads), result, label_result)
        if out is not None:
            return out
        made = _as_given(images, (result,) if labels is None else (result, label_result))
        return made[0] if labels is None else made

    def describe(
        self, seed: int = 0, index: int = 0, *, epoch: int = 0, random: bool = True, colour: Colours = None, patient: Patients = None
    ) -> Any:
        """What a sample draws: a list with {name: {value: number}} for each entry, in order; of volumes with named channels
        {channel: such a list}.

        Needs size. Errors: UsageError.
        """
        if self._size is None:
            raise UsageError("describe: what is drawn depends on the size; make the Transforms with size=")
        self._kind.refuse(colour=colour, patient=patient)
        (statistics,) = self._kind.statistics(colour if patient is None else patient, 1)
        drawn = json.loads(self._for_size(self._size).describe(_key(seed, epoch, index), statistics, random))
        return self._kind.described(drawn)

    def to_config(self) -> list[dict[str, Any]]:
        """The list as a run records it: presets taken apart, all options with their values."""
        config: list[dict[str, Any]] = json.loads(self._compiled.config())
        return config

    @property
    def size(self) -> tuple[int, ...] | None:
        """Of the output; None: that of the images."""
        return self._size

    @staticmethod
    def _memory(out: Any, shape: tuple[int, ...], labelled: bool) -> tuple[Any, Any]:
        """Where images and labels are written to."""
        label_shape = (shape[0], *shape[2:])
        if out is None:
            return _core.lent_float32(shape), _core.lent_uint8(label_shape) if labelled else None
        if not labelled:
            return checked_output(out, "out", shape, np.float32), None
        if not isinstance(out, (list, tuple)) or len(out) != 2:
            raise UsageError("out: expected a pair with labels: (images, labels)")
        return checked_output(out[0], "out[0]", shape, np.float32), checked_output(out[1], "out[1]", label_shape, np.uint8)

    def _for_size(self, size: tuple[int, ...]) -> _core.SlideTransforms | _core.VolumeTransforms:
        """Compiled for this size; the last one is kept."""
        if self._process != os.getpid():  # forked: threads that are not here may hold the lock, and memory of what is compiled
            self._lock, self._process = threading.Lock(), os.getpid()
            self._inherited, self._compiled_size = self._compiled, None
        with self._lock:
            if self._compiled_size != size:
                self._compiled = self._kind.compile(size)
                self._compiled_size = size
            return self._compiled

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in self._given.items() if name != "transforms" and value is not None]
        return f"Transforms({', '.join([repr(self._given['transforms']), *given])})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._given,)


def _made(given: dict[str, Any]) -> Transforms:
    return Transforms(**given)


def augment(
    images: Any,
    labels: Any = None,
    transforms: Iterable[Entry] = (),
    *,
    size: Sequence[int] | None = None,
    mpp: float | None = None,
    spacing: Numbers | None = None,
    channels: Sequence[str] | None = None,
    foreground: Intensities | Sequence[Intensities] | None = None,
    references: Mapping[str, Colour] | None = None,
    cohort: Colour | None = None,
    seed: int | None = None,
    index: int | None = None,
    epoch: int = 0,
    random: bool = True,
    colour: Colours = None,
    patient: Patients = None,
    centres: Any = None,
    image_mpp: Numbers | None = None,
    image_spacing: Numbers | None = None,
    out: Any = None,
    threads: int = 0,
) -> Any:
    """A batch of arrays through a list of transforms: ``Transforms(transforms, …)(images, labels, …)``, which have the docs.

    Slides: ``augment(images, transforms=[...], mpp=0.5)``; volumes: ``augment(volumes, labels, [...], spacing=(1.5, 0.8, 0.8))``.
    """
    compiled = Transforms(
        transforms,
        size,
        mpp=mpp,
        spacing=spacing,
        channels=channels,
        foreground=foreground,
        references=references,
        cohort=cohort,
    )
    return compiled(
        images,
        labels,
        seed=seed,
        index=index,
        epoch=epoch,
        random=random,
        colour=colour,
        patient=patient,
        centres=centres,
        image_mpp=image_mpp,
        image_spacing=image_spacing,
        out=out,
        threads=threads,
    )


def _as_given(images: Any, made: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tensors of Torch where images are."""
    several = images if isinstance(images, (list, tuple)) else (images,)
    return tuple(map(to_torch, made)) if any(map(is_torch, several)) else made


def _refuse(why: str, **given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{name} is{why}")


def _key(seed: int, epoch: int, index: int) -> tuple[int, int, int]:
    numbers = (whole_number(seed), whole_number(epoch), whole_number(index))
    for name, number in zip(("seed", "epoch", "index"), numbers):
        if not 0 <= number < 2**64:
            raise UsageError(f"{name}: expected 0 to 2^64 - 1, found {number}")
    return numbers


def _labels(labels: Any, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """Label values of each image."""
    if labels is None:
        return [None] * len(shapes)
    given = list(labels) if isinstance(labels, (list, tuple)) else list(as_numpy(labels, "labels"))
    if len(given) != len(shapes):
        raise UsageError(f"labels: expected those of {len(shapes)} images, found {len(given)}")
    names = [f"labels[{i}]" for i in range(len(shapes))]
    return [
        None if one is None else as_labels(as_numpy(one, name), name, shape) for one, name, shape in zip(given, names, shapes)
    ]


def _centres(centres: Any, shapes: Sequence[tuple[int, ...]]) -> list[tuple[float, ...]]:
    if centres is None:
        return [tuple(size / 2 for size in shape) for shape in shapes]
    values = np.asarray(centres, np.float64)
    expected = (len(shapes), len(shapes[0]) if shapes else 0)
    if values.shape != expected:
        raise UsageError(f"centres: expected {expected}, found {values.shape}")
    return [tuple(one) for one in values.tolist()]


def _common_size(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    if not shapes:
        raise UsageError("images: an empty batch has no size of its own; give size=")
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise UsageError(f"images[{i}] has {shape} pixels and images[0] {shapes[0]}: give the size of the output, size=")
    return shapes[0]
