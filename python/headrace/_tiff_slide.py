"""Slides with the interface of tiffslide."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import NotFoundError, UnsupportedError, UsageError
from ._slide_files import SlideSource, StorageOptions
from ._slide_interface import OpenSlideError, OpenSlideUnsupportedFormatError, Pair, _ArgumentError, _pillow
from ._tifffile_pixels import AssociatedImages, TiffPixels, numbers_of, open_tiff, vendor_of, words_of
from .slide import OpenSlide, _source

if TYPE_CHECKING:
    from PIL import Image

    class _TheirError(ValueError): ...

else:
    try:
        from tifffile import TiffFileError as _TheirError
    except ImportError:

        class _TheirError(ValueError):
            """Stands in for tifffile.TiffFileError."""


Options: TypeAlias = "Mapping[str, Any] | None"

_KNOWN_NAMES = ("comment", "vendor", "quickhash-1", "background-color", "objective-power", "mpp-x", "mpp-y",
                "bounds-x", "bounds-y", "bounds-width", "bounds-height")  # fmt: skip
_VENDORS = {"philips": "philips_tiff", "tiff": "generic-tiff"}  # the others have the names that OpenSlide gives
_NO_TIFFS = ("dicom", "headrace", "jpeg", "mirax", "png", "sakura", "zeiss")


class TiffFileError(OpenSlideUnsupportedFormatError, _TheirError):
    """The file is no slide that is read; also tifffile.TiffFileError where tifffile is installed, else ValueError."""


class _Levels:
    """The levels of Headrace's reader, in the interface of TiffPixels."""

    axes, channels, dtype = "YXS", 3, np.dtype(np.uint8)

    def __init__(self, reader: _core.Slide) -> None:
        self._reader = reader
        self.dimensions = [(level[0], level[1]) for level in reader.levels]
        self.tiles = [(level[3] or None, level[4] or None) for level in reader.levels]

    def read(self, level: int, y: int, x: int, height: int, width: int) -> NDArray[np.uint8]:
        pixels: NDArray[np.uint8] = self._reader.read_level(y, x, level, height, width)
        return pixels


class TiffSlide(OpenSlide):
    """A slide with the interface of tiffslide.TiffSlide.

    filename, storage_options: as OpenSlide's. tifffile_options: for tifffile.TiffFile, where tifffile reads the slide.
    private: also hands out what may name a patient: the file's words in `properties`, its images beside the slide, and
    `ts_tifffile`. Without it `properties` has numbers and the vendor, and `associated_images` is empty.

    Slides of 8-bit colour are read by Headrace. TIFFs that it refuses (one channel, 16 bits) are read by tifffile, where
    that is installed; they lack read and read_regions. Safe from any thread, also one object from several. Can be
    pickled (it is opened again).

    Errors: TiffFileError (not a slide), NotFoundError, which is FileNotFoundError; of reads IndexError (a level that
    does not exist, with padding=False), CorruptError, StorageError.
    """

    def __init__(
        self, filename: SlideSource, *, tifffile_options: Options = None, storage_options: StorageOptions = None, private: bool = False
    ) -> None:
        self._tifffile_options = dict(tifffile_options or {})
        self._tiff: Any = None
        self._opening = threading.RLock()
        self._all_wanted = private
        self._pixels: _Levels | TiffPixels | None = None
        try:
            super().__init__(filename, storage_options=storage_options)
        except (NotFoundError, _ArgumentError):
            raise
        except OpenSlideError as refused:
            self._reader = None
            self._pixels = self._by_tifffile(refused)
            self._vendor = vendor_of(self._tiff)
        else:
            reader = self._open()
            self._pixels, self._vendor = _Levels(reader), _VENDORS.get(reader.format, reader.format)
        (width, height), *_ = self._level_dimensions = tuple(self._pixels.dimensions)
        self._level_downsamples = tuple((width / w + height / h) / 2 for w, h in self._level_dimensions)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._path!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (type(self), self._filename, self._tifffile_options, self._storage_options, self._all_wanted)

    @classmethod
    def detect_format(cls, filename: SlideSource, *, tifffile_options: Options = None, storage_options: StorageOptions = None) -> str | None:
        """The vendor as tiffslide names it; None of what is no slide. Errors: NotFoundError."""
        try:
            with cls(filename, tifffile_options=tifffile_options, storage_options=storage_options) as slide:
                return slide._vendor
        except TiffFileError:
            return None

    def close(self) -> None:
        """Closes it; a second time without effect."""
        with self._opening:
            self._reader = self._pixels = None
            if self._tiff is not None:
                self._tiff.close()
                self._tiff = None

    @cached_property
    def properties(self) -> dict[str, Any]:
        """Facts by tiffslide's names, as numbers and text; None where one is not known."""
        levels = self._levels()
        facts: dict[str, Any] = {f"tiffslide.{name}": None for name in _KNOWN_NAMES}
        if self._vendor != "generic-tiff":
            facts["tiffslide.vendor"] = self._vendor
        facts |= {"tiffslide.series-index": 0, "tiffslide.series-axes": levels.axes}
        for k, ((width, height), (tile_width, tile_height)) in enumerate(zip(levels.dimensions, levels.tiles, strict=True)):
            level = {"downsample": self._level_downsamples[k], "height": height, "width": width, "tile-height": tile_height, "tile-width": tile_width}
            facts |= {f"tiffslide.level[{k}].{name}": value for name, value in level.items()}
        numbers = _numbers_of(self._reader) if self._reader is not None else numbers_of(self._tiff, self._vendor)
        facts |= {f"tiffslide.{name}": value for name, value in numbers.items()}
        if self._vendor == "aperio":
            own = {"aperio.AppMag": "objective-power", "aperio.MPP": "mpp-x"}
            facts |= {name: numbers[same] for name, same in own.items() if same in numbers}
        if self._all_wanted and self._is_tiff():
            facts |= words_of(self.ts_tifffile, self._vendor)
        return facts

    @cached_property
    def associated_images(self) -> Mapping[str, Image.Image]:
        """Thumbnail, label and macro with private=True, else nothing. Needs Pillow and tifffile."""
        self._levels()
        return AssociatedImages(self.ts_tifffile.series[1:] if self._all_wanted and self._is_tiff() else [])

    @property
    def ts_tifffile(self) -> Any:
        """The file as a tifffile.TiffFile. Errors: UsageError (without private=True), UnsupportedError (no TIFF, no tifffile)."""
        if not self._all_wanted:
            raise UsageError(f"{self._path}: ts_tifffile gives the label and all words of the file; open the slide with private=True")
        return self._tifffile()

    @cached_property
    def zarr_group(self) -> Any:
        """The levels as a zarr.Group by tifffile, as they are stored; "0" is the finest.

        Errors: UnsupportedError (no TIFF whose first series is the slide; tifffile or zarr-python is not installed).
        """
        levels = self._levels()
        if not isinstance(levels, TiffPixels):
            levels = TiffPixels(self._tifffile(), self._path)
            if levels.dimensions[0] != self._level_dimensions[0]:
                raise UnsupportedError(f"{self._path}: the first series that tifffile finds in it is not the slide")
        return levels.group

    @property
    def ts_zarr_grp(self) -> Any:
        """zarr_group."""
        return self.zarr_group

    @overload  # type: ignore[override]
    def read_region(self, location: Pair, level: int, size: Pair, *, as_array: Literal[False] = ..., padding: bool = ...) -> Image.Image: ...
    @overload
    def read_region(self, location: Pair, level: int, size: Pair, *, as_array: Literal[True], padding: bool = ...) -> NDArray[Any]: ...
    def read_region(
        self, location: Pair, level: int, size: Pair, *, as_array: bool = False, padding: bool = True
    ) -> Image.Image | NDArray[Any]:
        """A region as tiffslide gives it: a Pillow image, RGB, or, as_array, (height, width, channels).

        location: (x, y) of its first pixel on level 0, rounded towards 0 to a pixel of the level. size: (width, height)
        in pixels of the level. padding: what lies outside is 0, with a warning where all of it does; without it the
        region is cut to what lies inside. Errors: IndexError (such a level is not there, without padding), UsageError.
        """
        (x, y), (width, height) = map(int, location), map(int, size)
        pixels = self._region(x, y, int(level), width, height, padding)
        if as_array:
            return pixels
        image: Image.Image = _pillow().fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
        return self._with_profile(image)

    def get_thumbnail(self, size: Pair, *, use_embedded: bool = False) -> Image.Image:
        """An image of the whole slide of at most this (width, height).

        use_embedded: made of the file's own thumbnail, where that is large enough, smaller than the level that would be
        read, and given (private=True).
        """
        pillow = _pillow()
        downsample = max(whole / wanted for whole, wanted in zip(self.dimensions, size, strict=True))
        level = self.get_best_level_for_downsample(downsample)
        image = self._embedded_thumbnail(size, level) if use_embedded else None
        if image is None:
            image = self.read_region((0, 0), level, self._level_dimensions[level])
        try:
            image.thumbnail(size, pillow.Resampling.LANCZOS)
        except ValueError:  # pixels of a kind that Pillow does not filter
            image.thumbnail(size, pillow.Resampling.NEAREST)
        return self._with_profile(image)

    def _embedded_thumbnail(self, size: Pair, level: int) -> Image.Image | None:
        images = self.associated_images
        if not isinstance(images, AssociatedImages) or "thumbnail" not in images:
            return None
        width, height = images.size_of("thumbnail")
        level_width, level_height = self._level_dimensions[level]
        is_enough = width >= size[0] and height >= size[1] and width * height < level_width * level_height
        return images["thumbnail"].copy() if is_enough else None

    def _region(self, x: int, y: int, level: int, width: int, height: int, padding: bool) -> NDArray[Any]:
        levels = self._levels()
        if width < 0 or height < 0:
            raise UsageError(f"{self._path}: a region of {width}x{height} pixels was asked for; sizes are not negative")
        exists = 0 <= level < len(levels.dimensions)
        if not exists and not padding:
            raise IndexError(f"{self._path}: level {level} was asked for, there are {len(levels.dimensions)}")
        left = right = top = bottom = x0 = y0 = 0
        if exists:
            (level_width, level_height), downsample = levels.dimensions[level], self._level_downsamples[level]
            x0, y0 = int(x / downsample), int(y / downsample)
            left, right = (min(max(edge, 0), level_width) for edge in (x0, x0 + width))
            top, bottom = (min(max(edge, 0), level_height) for edge in (y0, y0 + height))
        shape = (bottom - top, right - left)
        inside = levels.read(level, top, left, *shape) if min(shape) > 0 else np.zeros((*shape, levels.channels), levels.dtype)
        if not padding or shape == (height, width):
            return inside
        if min(shape) == 0:
            warn(f"location={(x, y)}, level={level}, size={(width, height)} is out-of-bounds, but padding is requested", stacklevel=3)
        whole = np.zeros((height, width, levels.channels), levels.dtype)
        if min(shape) > 0:
            whole[top - y0 : bottom - y0, left - x0 : right - x0] = inside
        return whole

    def _levels(self) -> _Levels | TiffPixels:
        if self._pixels is None:
            raise _ArgumentError(f"{self._path}: the slide is closed")
        return self._pixels

    def _open(self) -> _core.Slide:
        if self._reader is None and isinstance(self._pixels, TiffPixels):
            raise UnsupportedError(f"{self._path}: is read by tifffile; read_region(…, as_array=True) gives its pixels")
        return super()._open()

    def _sound(self) -> _core.Slide | None:  # type: ignore[override]
        self._levels()
        return self._reader

    def _is_tiff(self) -> bool:
        return self._vendor not in _NO_TIFFS

    def _by_tifffile(self, refused: OpenSlideError) -> TiffPixels:
        """Where Headrace's reader refuses a file. Errors: TiffFileError, with what that said."""
        try:
            pixels = TiffPixels(self._tifffile(), self._path)
            self._profile = self._tiff.pages[0].tags.valueof("InterColorProfile")
            return pixels
        except Exception as error:
            self.close()
            raise TiffFileError(str(refused)) from error

    def _tifffile(self) -> Any:
        with self._opening:
            if self._tiff is None:
                if self._pixels is not None and not self._is_tiff():
                    raise UnsupportedError(f"{self._path}: is no TIFF, which tifffile could open")
                self._tiff = open_tiff(_source(self._filename, self._storage_options), self._tifffile_options)
            return self._tiff


class NotTiffSlide(TiffSlide):
    """A PNG or JPEG image with the interface of tiffslide.NotTiffSlide: one level. Errors: TiffFileError (neither of these)."""

    _pictures = True

    def _by_tifffile(self, refused: OpenSlideError) -> TiffPixels:
        raise TiffFileError(str(refused)) from refused


def _reopened(
    kind: type[TiffSlide], filename: SlideSource, tifffile_options: Options, storage_options: StorageOptions, private: bool
) -> TiffSlide:
    return kind(filename, tifffile_options=tifffile_options, storage_options=storage_options, private=private)


def _numbers_of(reader: _core.Slide) -> dict[str, Any]:
    known: dict[str, Any] = {"mpp-x": reader.mpp_x, "mpp-y": reader.mpp_y, "objective-power": reader.objective_power}
    known["background-color"] = reader.background_colour or None
    if reader.bounds is not None:
        known |= dict(zip(("bounds-x", "bounds-y", "bounds-width", "bounds-height"), reader.bounds, strict=True))
    return {name: value for name, value in known.items() if value is not None}
