"""Slides with the interface of openslide-python, and many patches at once.

>>> import headrace
>>> slide = headrace.OpenSlide("case-17.svs")                          # doctest: +SKIP
>>> slide.read_region((4096, 8192), 0, (512, 512))                     # doctest: +SKIP
>>> slide.read_regions([((4096, 8192), 0, (512, 512)), ...])           # doctest: +SKIP

Slides may lie on servers and in file systems of fsspec, too (docs/python.md, "Slides").
Locations and sizes are (x, y) and (width, height), as in openslide-python; arrays are (y, x, c). Pillow is needed
only by what returns its images. Where openslide-python is installed, the exceptions are also its own.
"""
from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._batch_arrays import checked_output
from ._core import Error, NotFoundError, OutOfMemoryError, StorageError, UnsupportedError, UsageError
from ._image_slide import ImageSlide
from ._slide_files import PythonFile, SlideSource, StorageOptions, is_remote, source_of, store_and_image
from ._slide_interface import (
    _T,
    AbstractSlide,
    OpenSlideCache,
    OpenSlideError,
    OpenSlideUnsupportedFormatError,
    Pair,
    _ArgumentError,
    _MissingSlideError,
    _pair,
    _pillow,
    _text,
    _whole,
)
from ._threads import thread_count

if TYPE_CHECKING:
    from PIL import Image

__all__ = [
    "AbstractSlide",
    "ImageSlide",
    "OpenSlide",
    "OpenSlideCache",
    "OpenSlideError",
    "OpenSlideUnsupportedFormatError",
    "open_slide",
    "read_regions",
]

Spec: TypeAlias = "tuple[Pair, int, Pair]"


class _SlideMap(Mapping[str, _T]):
    """A mapping that reads through the slide, so that it fails where the slide is closed."""

    def __init__(self, slide: OpenSlide) -> None:
        self._slide = slide

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {dict(self)!r}>"

    def __len__(self) -> int:
        return len(self._names())

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    @abstractmethod
    def _names(self) -> tuple[str, ...]: ...


class _PropertyMap(_SlideMap[str]):
    def _names(self) -> tuple[str, ...]:
        return tuple(self._slide._facts())

    def __contains__(self, name: object) -> bool:
        return self._own(name) in self._slide._facts()

    def __getitem__(self, name: str) -> str:
        facts = self._slide._facts()
        return facts[name if name in facts else self._own(name)]

    @staticmethod
    def _own(name: Any) -> Any:
        """tiffslide's names are found, too."""
        return "openslide." + name.removeprefix("tiffslide.") if isinstance(name, str) and name.startswith("tiffslide.") else name


class _AssociatedImageMap(_SlideMap["Image.Image"]):
    def _names(self) -> tuple[str, ...]:
        private = self._slide._asked()
        return () if private is None else tuple(private.images)

    def __getitem__(self, name: str) -> Image.Image:
        private = self._slide._asked()
        if private is None or name not in private.images:
            raise KeyError(name)
        width, height, pixels, profile = self._slide._latched(lambda: private.read(name))
        image: Image.Image = _pillow().frombytes("RGBA", (width, height), pixels)
        if profile:
            image.info["icc_profile"] = self._slide._profile if profile == self._slide._profile else profile
        return image


class OpenSlide(AbstractSlide):
    """A slide file, or an image of a store, with the interface of openslide.OpenSlide.

    filename: a slide file, or "STORE::IMAGE" for an image of a store that ``headrace ingest`` wrote; a path, or a URL
    of http, https or s3. Also a binary file object, a file of fsspec, or a URL of a scheme that fsspec knows: these
    are read by Python, unless they are files of this machine.
    private: also hands out what may name a patient: every property of the file (free text, dates, identifiers) and
    its associated images (label, macro, thumbnail). Without it `properties` has an allow-list of numbers
    (docs/python.md, "Slides"), and `associated_images` is empty. Of files of this machine alone.
    storage_options: for fsspec, which then opens the URL.

    read_region gives OpenSlide's pixels; read and read_regions give stored pixels as arrays, faster. Safe from any
    thread, also one object from several. Can be pickled (it is opened again) and used after a fork, unless Python
    reads the file and can't do that.

    Errors: OpenSlideUnsupportedFormatError (no file, or not a slide), OpenSlideError (damaged), NotFoundError and
    UsageError (a store or image that is not there). After read_region has met damage, all of openslide's interface
    raises that error again, as openslide-python does, unless a server or a file of Python's failed; read and
    read_regions go on.
    """

    _pictures = False  # whether it takes PNG and JPEG files instead of slides

    def __init__(self, filename: SlideSource, *, private: bool = False, storage_options: StorageOptions = None) -> None:
        self._filename = filename
        self._storage_options = storage_options
        self._private_wanted = private
        self._error: OpenSlideError | None = None
        source = _source(filename, storage_options)
        self._path, self._is_local = _name_of(source), isinstance(source, str) and not is_remote(source)
        self._reader: _core.Slide | None = _open_reader(source, self._pictures)
        self._private: _core.PrivateFacts | None = self._open_private(source)
        self._properties: dict[str, str] | None = None
        self._profile = self._reader.icc_profile or None
        levels = self._reader.levels
        self._level_dimensions = tuple((level[0], level[1]) for level in levels)
        self._level_downsamples = tuple(level[2] for level in levels)

    def __repr__(self) -> str:
        is_path = isinstance(self._filename, (str, bytes, os.PathLike)) and self._is_local
        return f"{type(self).__name__}({self._filename if is_path else self._path!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        self._open()
        return _reopened, (type(self), self._filename, self._private_wanted, self._storage_options)

    @classmethod
    def detect_format(cls, filename: SlideSource, *, storage_options: StorageOptions = None) -> str | None:
        """The vendor as OpenSlide names it; "tiff" for one that only libtiff reads, "headrace" for "STORE::IMAGE"."""
        try:
            return _format_of(_source(filename, storage_options))
        except _MissingSlideError:
            return None

    def close(self) -> None:
        """Closes it. Errors: ctypes.ArgumentError where it is closed already."""
        self._open()
        self._reader = self._private = None

    @property
    def level_count(self) -> int:
        """How many levels there are."""
        return len(self.level_dimensions)

    @property
    def level_dimensions(self) -> tuple[Pair, ...]:
        """(width, height) of each level in pixels."""
        self._sound()
        return self._level_dimensions

    @property
    def level_downsamples(self) -> tuple[float, ...]:
        """Level-0 pixels a pixel, for each level."""
        self._sound()
        return self._level_downsamples

    @property
    def properties(self) -> Mapping[str, str]:
        """Facts by name, as text: an allow-list without private=True. "tiffslide.x" finds "openslide.x"."""
        return _PropertyMap(self)

    @property
    def associated_images(self) -> Mapping[str, Image.Image]:
        """Label, macro and thumbnail with private=True, else nothing. RGBA, not premultiplied. Needs Pillow."""
        return _AssociatedImageMap(self)

    def get_best_level_for_downsample(self, downsample: float) -> int:
        """The coarsest level that is at least as fine as this."""
        finer = [k for k, level in enumerate(self.level_downsamples) if level <= downsample]
        return max(finer, default=0)

    def read_region(self, location: Pair, level: int, size: Pair, *, as_array: bool = False) -> Image.Image:
        """A region as openslide-python gives it: a Pillow image, RGBA, not premultiplied, transparent outside.

        location: (x, y) of its first pixel on level 0; may be negative. Between two pixels of a level OpenSlide
        interpolates, and so does this. size: (width, height) in pixels of the level. A level that does not exist is
        transparent. as_array: what read() gives, for code that was written for tiffslide.
        Errors: OpenSlideError (damage; a negative size).
        """
        if as_array:
            return self.read(location, level, size)  # type: ignore[return-value]
        pillow = _pillow()
        (x, y), level, (width, height) = _pair(location, "location"), _whole(level, "level"), _pair(size, "size")
        reader = self._sound()
        if width < 0 or height < 0:
            raise OpenSlideError(f"{self._path}: negative width ({width}) or negative height ({height}) not allowed")
        if width == 0 or height == 0 or not 0 <= level < len(self._level_dimensions):
            return self._with_profile(pillow.new("RGBA", (width, height)))
        pixels = self._latched(lambda: reader.read_rgba(y, x, level, height, width))
        return self._with_profile(pillow.frombuffer("RGBA", (width, height), pixels, "raw", "RGBA", 0, 1))

    def read(self, location: Pair, level: int, size: Pair) -> NDArray[np.uint8]:
        """A region as an array (height, width, 3) uint8, RGB as stored, white outside; without Pillow.

        location: (x, y) on level 0, may be negative; between two pixels of a level the nearest is taken, without
        interpolation. Errors: UsageError, CorruptError, StorageError.
        """
        (x, y), (width, height) = _pair(location, "location"), _pair(size, "size")
        pixels: NDArray[np.uint8] = self._open().read_rgb(y, x, _whole(level, "level"), height, width)
        return pixels

    def read_regions(
        self, specs: Sequence[Spec], out: NDArray[np.uint8] | None = None, *, threads: int = 0
    ) -> NDArray[np.uint8]:
        """Many regions of one size at once, as an array (n, height, width, 3) uint8: the pixels of read().

        specs: (location, level, size) each, as for read(); levels may differ. out: an array of that shape to write
        into, C-contiguous, which is returned. threads: 0 for one on each core. Planned together: a JPEG tile under
        several regions is decoded once, and of each tile only what is needed; reads of a store are merged. The
        interpreter's lock is released. Errors: as read(); of several the first in the order of the file.
        """
        return read_regions([(self, *spec) for spec in specs], out, threads=threads)

    def _open_private(self, source: str | PythonFile) -> _core.PrivateFacts | None:
        if not self._private_wanted or (isinstance(source, str) and store_and_image(source)[1]):
            return None
        if not isinstance(source, str) or is_remote(source):
            raise UsageError(f"{self._path}: private=True is for files of this machine, which OpenSlide can open; copy the slide to a folder")
        return _opened(source, lambda: _core.open_private_facts(source))

    def _open(self) -> _core.Slide:
        if self._reader is None:
            raise _ArgumentError(f"{self._path}: the slide is closed")
        return self._reader

    def _sound(self) -> _core.Slide:
        """Open, and no read has failed."""
        reader = self._open()
        if self._error is not None:
            raise OpenSlideError(str(self._error)) from self._error
        return reader

    def _latched(self, read: Callable[[], _T]) -> _T:
        try:
            return read()
        except (OutOfMemoryError, UsageError):
            raise  # says nothing about the slide
        except Error as error:
            failure = OpenSlideError(str(error))
            if self._is_local or not isinstance(error, StorageError):  # a server may answer again
                self._error = failure
            raise failure from error

    def _asked(self) -> _core.PrivateFacts | None:
        self._sound()
        return self._private

    def _facts(self) -> dict[str, str]:
        reader, private = self._sound(), self._asked()
        if self._properties is None:
            self._properties = _allowed_properties(reader)
            if private is not None:
                self._properties |= {_decoded(name): _decoded(value) for name, value in private.properties}
        return self._properties


def _reopened(kind: type[OpenSlide], filename: SlideSource, private: bool, storage_options: StorageOptions) -> OpenSlide:
    return kind(filename, private=private, storage_options=storage_options)


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _name_of(source: str | PythonFile) -> str:
    return source if isinstance(source, str) else source.name


def _source(filename: SlideSource, storage_options: StorageOptions) -> str | PythonFile:
    try:
        return source_of(filename, storage_options)
    except NotFoundError as error:
        raise _MissingSlideError(str(error)) from error


def _format_of(source: str | PythonFile) -> str | None:
    if isinstance(source, str):
        return "headrace" if store_and_image(source)[1] else _core.slide_format(source)
    try:
        reader = _core.open_slide_file(*source)
    except Error:
        return None
    return None if reader.format in _PICTURES else reader.format


def _opened(source: str | PythonFile, open_it: Callable[[], _T]) -> _T:
    try:
        return open_it()
    except NotFoundError as error:
        raise _MissingSlideError(str(error)) from error
    except Error as error:
        if isinstance(source, str) and not is_remote(source):
            known = _core.slide_format(source) is not None
        else:  # without asking a server again
            known = isinstance(error, StorageError)
        raise (OpenSlideError if known else OpenSlideUnsupportedFormatError)(str(error)) from error


_PICTURES = ("png", "jpeg")


def _open_reader(source: str | PythonFile, pictures: bool) -> _core.Slide:
    """A slide; PNG and JPEG images are for ImageSlide, or, where they are asked for, all that is taken."""
    if not isinstance(source, str):
        file = source
        reader = _opened(source, lambda: _core.open_slide_file(*file))
    elif (place := store_and_image(source))[1]:
        return _core.open_store_slide(*place)
    else:
        path = source
        reader = _opened(source, lambda: _core.open_slide(path))
    if (reader.format in _PICTURES) == pictures:
        return reader
    name, kind = _name_of(source), reader.format
    if pictures:
        raise OpenSlideUnsupportedFormatError(f"{name}: is a slide ({kind}), not a PNG or JPEG image")
    raise OpenSlideUnsupportedFormatError(f"{name}: is a {kind.upper()} image, not a slide; open it with ImageSlide or open_slide")


def _allowed_properties(reader: _core.Slide) -> dict[str, str]:
    """Numbers and the vendor alone: nothing that could name a patient."""
    facts = {"openslide.vendor": reader.format, "openslide.level-count": str(len(reader.levels))}
    for k, (width, height, downsample, tile_width, tile_height) in enumerate(reader.levels):
        level = {"width": str(width), "height": str(height), "downsample": _text(downsample)}
        if tile_width > 0 and tile_height > 0:
            level |= {"tile-width": str(tile_width), "tile-height": str(tile_height)}
        facts |= {f"openslide.level[{k}].{name}": value for name, value in level.items()}
    known = {"mpp-x": reader.mpp_x, "mpp-y": reader.mpp_y, "objective-power": reader.objective_power}
    facts |= {f"openslide.{name}": _text(value) for name, value in known.items() if value is not None}
    if reader.bounds is not None:
        names = ("bounds-x", "bounds-y", "bounds-width", "bounds-height")
        facts |= {f"openslide.{name}": str(value) for name, value in zip(names, reader.bounds, strict=True)}
    if reader.background_colour:
        facts["openslide.background-color"] = reader.background_colour
    if reader.icc_profile:
        facts["openslide.icc-size"] = str(len(reader.icc_profile))
    if reader.format == "aperio":  # by these names much code asks for the power and the pixel size
        own = {"aperio.AppMag": "openslide.objective-power", "aperio.MPP": "openslide.mpp-x"}
        facts |= {name: facts[same] for name, same in own.items() if same in facts}
    return dict(sorted(facts.items()))


def open_slide(filename: SlideSource, *, storage_options: StorageOptions = None) -> OpenSlide | ImageSlide:
    """An OpenSlide, or an ImageSlide where the file is an image of this machine and not a slide."""
    try:
        return OpenSlide(filename, storage_options=storage_options)
    except OpenSlideUnsupportedFormatError as error:
        source = _source(filename, storage_options)
        if not isinstance(source, str) or is_remote(source):
            raise
        try:
            return ImageSlide(source)
        except UnsupportedError:  # without Pillow
            raise error from None


def read_regions(
    specs: Sequence[tuple[OpenSlide, Pair, int, Pair]], out: NDArray[np.uint8] | None = None, *, threads: int = 0
) -> NDArray[np.uint8]:
    """OpenSlide.read_regions over several slides: specs are (slide, location, level, size)."""
    slides: dict[int, OpenSlide] = {}
    numbers: dict[int, int] = {}
    places = np.empty((len(specs), 4), np.int64)
    sizes: set[Pair] = set()
    for row, (slide, location, level, size) in zip(places, specs, strict=True):
        if id(slide) not in numbers:
            numbers[id(slide)] = len(slides)
            slides[len(slides)] = slide
        x, y = _pair(location, "location")
        row[:] = numbers[id(slide)], y, x, _whole(level, "level")
        sizes.add(_pair(size, "size"))
    if len(sizes) > 1:
        raise UsageError(f"all regions of one call have one size, {len(sizes)} were given: {sorted(sizes)[:4]}")
    width, height = next(iter(sizes), (0, 0))
    shape = (len(specs), height, width, 3)
    if min(shape) < 0:
        raise UsageError(f"a size of {width}x{height} was given; sizes are not negative")
    if out is None:
        out = _core.new_patches(*shape[:3])
        array = out
    else:
        array = checked_output(out, "out", shape, np.uint8)
    threads = thread_count(threads)
    if array.size:
        _core.read_patches([slide._open() for slide in slides.values()], places, array, threads)
    return out
