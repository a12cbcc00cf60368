"""What differs between slides and volumes on their way through the transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index as whole_number
from typing import Any, Protocol, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._batch_arrays import as_pixels, as_stored, samples_of
from ._core import UsageError
from ._image import Colour, Intensities
from ._transform_keys import OPERATIONS
from .transforms import list_json

Colours = Union[Colour, Sequence[Colour], None]
Patient = Union[Intensities, Sequence[Union[Intensities, None]]]
Patients = Union[Intensities, Sequence[Patient], None]


class Kind(Protocol):
    """Slides or volumes."""

    axes: int
    channel_count: int

    def size_of(self, value: Any, name: str) -> tuple[int, ...]: ...
    def compile(self, size: tuple[int, ...]) -> Any: ...
    def refuse(self, **given: object) -> None: ...
    def images(self, value: Any) -> list[Any]: ...
    def extent(self, image: NDArray[Any]) -> tuple[int, ...]: ...
    def spacing_of(self, value: Any) -> tuple[float, ...]: ...
    def statistics(self, value: Any, count: int) -> list[Any]: ...
    def described(self, drawn: list[Any]) -> Any: ...


class Slides:
    """Images of red, green and blue."""

    axes = 2
    channel_count = 3

    def __init__(
        self, entries: Sequence[Mapping[str, Any]], mpp: float, references: Mapping[str, Colour], cohort: Colour | None
    ) -> None:
        self._json = list_json(entries)
        self._mpp = _number(mpp, "mpp")
        self._cohort = cohort
        self._references = {name: self._colour_of(colour) for name, colour in references.items()}
        self._names = {name for entry in entries for name in entry}
        _check_names(entries, "slides", "volumes", "these Transforms are for slides; give spacing= for volumes")
        if "scanner_color" in self._names and cohort is None:
            raise UsageError("scanner_color needs the colour that it leads to: cohort=headrace.Colour")

    def size_of(self, value: Any, name: str) -> tuple[int, ...]:
        return _sizes(value, self.axes, f"{name}: expected (height, width)")

    def compile(self, size: tuple[int, ...]) -> _core.SlideTransforms:
        return _core.SlideTransforms(self._json, size, self._mpp, self._references)

    def refuse(self, **given: object) -> None:
        for name in ("patient", "image_spacing"):
            if given.get(name) is not None:
                raise UsageError(f"{name} is for volumes, and these Transforms are for slides: make them with spacing=")

    def images(self, value: Any) -> list[Any]:
        arrays = samples_of(value, "images", "height, width, 3", (3,))
        return [as_pixels(one, f"images[{i}]") for i, one in enumerate(arrays)]

    def extent(self, image: NDArray[Any]) -> tuple[int, ...]:
        return image.shape[:2]

    def spacing_of(self, value: Any) -> tuple[float, ...]:
        return _numbers(self._mpp if value is None else value, self.axes, "image_mpp")

    def statistics(self, value: Any, count: int) -> list[Any]:
        if value is None:
            for name in ("stain_normalize", "scanner_color"):
                if name in self._names:
                    raise UsageError(
                        f"{name} needs the colour of each image's slide: colour=image.colour of a store, or "
                        "headrace.estimate_colour(pixels), better of the whole slide than of one patch"
                    )
            return [_core.ImageColour()] * count
        if isinstance(value, Colour):
            return [self._colour_of(value)] * count
        return [self._colour_of(one) for one in _each(value, count, "colour", Colour)]

    def described(self, drawn: list[Any]) -> Any:
        return drawn

    def _colour_of(self, colour: Colour) -> _core.ImageColour:
        made = _core.ImageColour()
        if colour.stain_od is not None and colour.max_concentration is not None:
            made.set_stain(np.ravel(colour.stain_od).tolist(), np.ravel(colour.max_concentration).tolist())
        if self._cohort is not None and colour.pixels and self._cohort.pixels:
            both = (colour.od_mean, colour.od_std, self._cohort.od_mean, self._cohort.od_std)
            made.set_scanner(*(np.ravel(one).tolist() for one in both))
        return made


class Volumes:
    """Volumes of one or several channels."""

    axes = 3

    def __init__(
        self,
        entries: Sequence[Mapping[str, Any]],
        spacing: Any,
        channels: Sequence[str],
        foreground: Intensities | Sequence[Intensities] | None,
    ) -> None:
        if isinstance(channels, str):
            raise UsageError(f"channels: expected a list of names, found '{channels}'")
        self._json = list_json(entries)
        _check_names(entries, "volumes", "slides", "these Transforms are for volumes; leave spacing= out for slides")
        self._spacing = _numbers(spacing, self.axes, "spacing")
        self._channels = list(channels)
        self._foreground = [] if foreground is None else _by_channel(foreground, max(len(self._channels), 1), "foreground")
        self.channel_count = max(len(self._channels), 1)

    def size_of(self, value: Any, name: str) -> tuple[int, ...]:
        return _sizes(value, self.axes, f"{name}: expected (depth, height, width)")

    def compile(self, size: tuple[int, ...]) -> _core.VolumeTransforms:
        return _core.VolumeTransforms(self._json, size, self._spacing, self._channels, self._foreground)

    def refuse(self, **given: object) -> None:
        for name in ("colour", "image_mpp"):
            if given.get(name) is not None:
                raise UsageError(f"{name} is for slides, and these Transforms are for volumes: make them with mpp=")

    def images(self, value: Any) -> list[Any]:
        axes = (3, 4) if self.channel_count == 1 else (4,)
        shape = "depth, height, width" if self.channel_count == 1 else "channels, depth, height, width"
        arrays = samples_of(value, "images", shape, axes)
        volumes = [as_stored(one, f"images[{i}]") for i, one in enumerate(arrays)]
        for i, one in enumerate(volumes):
            if len(one) != self.channel_count:
                raise UsageError(f"images[{i}]: expected {self.channel_count} channels, found {len(one)}; channels= names them")
        return volumes

    def extent(self, image: NDArray[Any]) -> tuple[int, ...]:
        return image.shape[1:]

    def spacing_of(self, value: Any) -> tuple[float, ...]:
        return _numbers(self._spacing if value is None else value, self.axes, "image_spacing")

    def statistics(self, value: Any, count: int) -> list[Any]:
        if value is None:
            return [[]] * count
        if isinstance(value, Intensities):
            return [_by_channel(value, self.channel_count, "patient")] * count
        if isinstance(value, (list, tuple)) and len(value) == self.channel_count and all(one is None or isinstance(one, Intensities) for one in value):
            if self.channel_count > 1 or count != 1:  # image.body: those of the channels, for all images
                return [_by_channel(value, self.channel_count, "patient")] * count
        given = _each(value, count, "patient", (Intensities, tuple, list))
        return [_by_channel(one, self.channel_count, f"patient[{i}]") for i, one in enumerate(given)]

    def described(self, drawn: list[Any]) -> Any:
        names = [name.partition("=")[0] for name in self._channels]
        return dict(zip(names, drawn)) if names else drawn[0]


def _check_names(entries: Sequence[Mapping[str, Any]], kind: str, other: str, why: str) -> None:
    """Refuses transforms of the other kind of image alone."""
    known = {**OPERATIONS[kind], **({"preset": []} if kind == "volumes" else {})}
    for name in (name for entry in entries for name in entry):
        if name not in known:
            raise UsageError(f"{name} is for {other} alone, and {why}")


_UNKNOWN = Intensities(0, 0.0, 0.0, 0.0, 0.0)


def _by_channel(value: Any, count: int, name: str) -> list[tuple[int, float, float, float, float]]:
    given = [value] if isinstance(value, Intensities) else list(value)
    if len(given) != count or not all(one is None or isinstance(one, Intensities) for one in given):
        raise UsageError(f"{name}: expected headrace.Intensities of {count} channels, found {len(given)} values of {_types(given)}")
    return [tuple(_UNKNOWN if one is None else one) for one in given]


def _types(values: Sequence[Any]) -> str:
    return ", ".join(sorted({type(one).__name__ for one in values})) or "no kind"


def _each(value: Any, count: int, name: str, kind: Any) -> list[Any]:
    """One of these for each image."""
    given = list(value) if isinstance(value, (list, tuple)) else []
    if len(given) != count or not all(isinstance(one, kind) for one in given):
        raise UsageError(f"{name}: expected one for all {count} images or a list with one for each, found {len(given)} values of {_types(given)}")
    return given


def _sizes(value: Any, axes: int, expected: str) -> tuple[int, ...]:
    try:
        sizes = tuple(whole_number(one) for one in value)
    except TypeError:
        sizes = ()
    if len(sizes) != axes or any(not 0 < one < 2**31 for one in sizes):
        raise UsageError(f"{expected} in whole numbers above 0, found {value!r}")
    return sizes


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: expected a number, found {value!r}") from None


def _numbers(value: Any, axes: int, name: str) -> tuple[float, ...]:
    """One number for all axes, or one for each."""
    try:
        numbers = tuple(map(float, value)) if isinstance(value, (list, tuple, np.ndarray)) else (float(value),) * axes
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) != axes:
        raise UsageError(f"{name}: expected a number, or one for each of {axes} axes, found {value!r}")
    return numbers
