"""What slides of both kinds share: the interface of openslide-python, its exceptions, and small checks."""

from __future__ import annotations

import ctypes
import operator
import os
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from ._core import Error, NotFoundError, UnsupportedError, UsageError

if TYPE_CHECKING:
    from PIL import Image, ImageCms

Filename: TypeAlias = "str | bytes | os.PathLike[Any]"
Pair: TypeAlias = "tuple[int, int]"
_T = TypeVar("_T")

if TYPE_CHECKING:

    class _TheirError(Exception): ...

    class _TheirUnsupportedFormatError(_TheirError): ...

else:
    try:
        from openslide import AbstractSlide as _TheirSlide
        from openslide import OpenSlideError as _TheirError
        from openslide import OpenSlideUnsupportedFormatError as _TheirUnsupportedFormatError
    except (ImportError, OSError):  # not installed, or without its library
        _TheirSlide = None

        class _TheirError(Exception):
            """Stands in for openslide.OpenSlideError."""

        class _TheirUnsupportedFormatError(_TheirError):
            """Stands in for openslide.OpenSlideUnsupportedFormatError."""


class OpenSlideError(Error, _TheirError):
    """A slide cannot be opened or read; also openslide.OpenSlideError where openslide-python is installed."""


class OpenSlideUnsupportedFormatError(OpenSlideError, _TheirUnsupportedFormatError):
    """The file is not there or not a slide; also openslide.OpenSlideUnsupportedFormatError."""


class _MissingSlideError(OpenSlideUnsupportedFormatError, NotFoundError):
    """The file is not there."""


class _ArgumentError(UsageError, ctypes.ArgumentError):
    """An argument of a wrong type, or a closed slide: openslide-python raises ctypes.ArgumentError."""


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise UnsupportedError(
            "this returns an image of Pillow, which is not installed: pip install pillow, or use read() and "
            "read_regions(), which return arrays"
        ) from None
    return Image


def _whole(value: Any, what: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise _ArgumentError(f"{what} must be whole numbers, {value!r} was given") from None
    if abs(number) > 1 << 62:
        raise _ArgumentError(f"{what} must be between -2^62 and 2^62, {number} was given")
    return number


def _pair(value: Any, what: str) -> Pair:
    try:
        first, second = value
    except (TypeError, ValueError):
        raise _ArgumentError(f"{what} must be two whole numbers, {value!r} was given") from None
    return _whole(first, what), _whole(second, what)


def _text(number: float) -> str:
    """As OpenSlide writes numbers."""
    return f"{number:.17g}"


class AbstractSlide(metaclass=ABCMeta):
    """What OpenSlide and ImageSlide have in common; a virtual subclass of openslide.AbstractSlide where that is installed."""

    _profile: bytes | None = None

    def __enter__(self: _T) -> _T:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        self.close()
        return False

    @classmethod
    @abstractmethod
    def detect_format(cls, filename: Filename) -> str | None:
        """The name of the file's format, or None where this class does not read it."""

    @abstractmethod
    def close(self) -> None:
        """Closes it; afterwards all but this fails."""

    @property
    @abstractmethod
    def level_count(self) -> int:
        """How many levels there are."""

    @property
    @abstractmethod
    def level_dimensions(self) -> tuple[Pair, ...]:
        """(width, height) of each level in pixels."""

    @property
    def dimensions(self) -> Pair:
        """(width, height) of level 0."""
        return self.level_dimensions[0]

    @property
    @abstractmethod
    def level_downsamples(self) -> tuple[float, ...]:
        """Level-0 pixels a pixel, for each level."""

    @property
    @abstractmethod
    def properties(self) -> Mapping[str, str]:
        """Facts by name, as text."""

    @property
    @abstractmethod
    def associated_images(self) -> Mapping[str, Image.Image]:
        """Images beside the slide, by name."""

    @property
    def color_profile(self) -> ImageCms.ImageCmsProfile | None:
        """The ICC profile of the pixels, which are not converted by it; None where there is none. Needs Pillow."""
        if self._profile is None:
            return None
        from io import BytesIO

        _pillow()
        from PIL import ImageCms

        return ImageCms.getOpenProfile(BytesIO(self._profile))

    @abstractmethod
    def get_best_level_for_downsample(self, downsample: float) -> int:
        """The coarsest level that is at least as fine as this."""

    @abstractmethod
    def read_region(self, location: Pair, level: int, size: Pair) -> Image.Image:
        """A region as an RGBA image; location is (x, y) on level 0."""

    def set_cache(self, cache: OpenSlideCache) -> None:
        """Taken, without effect."""
        if not hasattr(cache, "_openslide_cache"):
            raise TypeError(f"an OpenSlideCache is expected, {cache!r} was given")

    def get_thumbnail(self, size: Pair) -> Image.Image:
        """An RGB image of the whole slide of at most this (width, height), on the slide's background colour."""
        pillow = _pillow()
        downsample = max(whole / wanted for whole, wanted in zip(self.dimensions, size, strict=True))
        level = self.get_best_level_for_downsample(downsample)
        region = self.read_region((0, 0), level, self.level_dimensions[level])
        background = "#" + self.properties.get("openslide.background-color", "ffffff")
        thumbnail: Image.Image = pillow.new("RGB", region.size, background)
        thumbnail.paste(region, None, region)
        thumbnail.thumbnail(size, pillow.Resampling.LANCZOS)
        return self._with_profile(thumbnail)

    def _with_profile(self, image: Image.Image) -> Image.Image:
        if self._profile is not None:
            image.info["icc_profile"] = self._profile
        return image


if not TYPE_CHECKING and _TheirSlide is not None:
    _TheirSlide.register(AbstractSlide)


class OpenSlideCache:
    """Taken by set_cache, without effect: a slide keeps 32 MiB of decoded tiles of its own.

    capacity: bytes.
    """

    def __init__(self, capacity: int) -> None:
        if not isinstance(capacity, int) or capacity < 0:
            raise _ArgumentError(f"a number of bytes is expected, {capacity!r} was given")
        self._openslide_cache = capacity

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._openslide_cache!r})"
