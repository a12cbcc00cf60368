"""TIFFs by tifffile, for what Headrace's reader does not give: other pixels than 8-bit colour, Zarr groups, words and images beside the slide."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._core import UnsupportedError
from ._slide_files import PythonFile, is_remote, source_of
from ._slide_interface import Pair, _pillow

if TYPE_CHECKING:
    from PIL import Image

_AXES = ("YXS", "CYX", "YX")


def open_tiff(source: str | PythonFile, options: Mapping[str, Any]) -> Any:
    """A tifffile.TiffFile of the slide. Errors: UnsupportedError (tifffile is not installed), tifffile's own."""
    try:
        tifffile = import_module("tifffile")
    except ImportError:
        raise UnsupportedError("this is read by tifffile, which is not installed: pip install 'headrace[tiffslide]'") from None
    if isinstance(source, str) and is_remote(source):
        source = source_of(_by_python(source))
    if isinstance(source, str):
        tiff = tifffile.TiffFile(source, **options)
    else:
        tiff = tifffile.TiffFile(source.open(), **{"name": source.name.rpartition("/")[2], **options})
    tiff.filehandle.set_lock(True)  # several threads may read
    return tiff


def _by_python(url: str) -> Any:
    """The URL as a file of fsspec, since tifffile reads files of Python's."""
    try:
        return import_module("fsspec").open(url)
    except ImportError:
        raise UnsupportedError(f"{url}: tifffile reads it by fsspec, which is not installed: pip install 'headrace[tiffslide]'") from None


class TiffPixels:
    """The levels of a TIFF's first series as they are stored: any number of channels, any type of values.

    Reading is safe from any thread, one at a time. Errors: UnsupportedError (other axes than y, x, and colours or
    channels; zarr-python or imagecodecs are not installed).
    """

    def __init__(self, tiff: Any, name: str) -> None:
        series = tiff.series[0]
        self.axes: str = series.axes
        if self.axes not in _AXES:
            raise UnsupportedError(f"{name}: has the axes {self.axes}; {', '.join(_AXES)} are read")
        y, x = self.axes.index("Y"), self.axes.index("X")
        self.dimensions: list[Pair] = [(int(level.shape[x]), int(level.shape[y])) for level in series.levels]
        """(width, height) of each level."""
        self.tiles: list[Pair] = [(int(level[0].tilewidth), int(level[0].tilelength)) for level in series.levels]
        """(width, height) of each level's tiles; 0 without tiles."""
        self._lock = threading.Lock()
        self.group: Any = _zarr_group(series)
        """A zarr.Group of the levels, "0" the finest."""
        self.dtype = np.dtype(series.dtype)
        self.channels = 1 if self.axes == "YX" else int(series.shape[self.axes.index("S" if "S" in self.axes else "C")])

    def read(self, level: int, y: int, x: int, height: int, width: int) -> NDArray[Any]:
        """(height, width, channels) from (y, x) of this level, all of it within the level."""
        rows, columns = slice(y, y + height), slice(x, x + width)
        array = self.group[str(level)]
        with self._lock:
            if self.axes == "YXS":
                return np.asarray(array[rows, columns, :])
            if self.axes == "CYX":
                return np.asarray(array[:, rows, columns]).transpose(1, 2, 0)
            return np.asarray(array[rows, columns])[..., np.newaxis]


def _zarr_group(series: Any) -> Any:
    try:
        return import_module("zarr").open_group(series.aszarr(multiscales=True), mode="r", zarr_format=2)
    except ImportError as error:
        raise UnsupportedError(f"this needs zarr-python and imagecodecs ({error}): pip install 'headrace[tiffslide]'") from None


class AssociatedImages(Mapping[str, "Image.Image"]):
    """The images beside the slide by their names in lower case (thumbnail, label, macro), read when they are asked for."""

    def __init__(self, series: Sequence[Any]) -> None:
        self._series = {one.name.lower(): one for one in series}
        self._read: dict[str, Image.Image] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self._series)}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def __getitem__(self, name: str) -> Image.Image:
        if name not in self._read:
            self._read[name] = _pillow().fromarray(self._series[name].asarray())
        return self._read[name]

    def size_of(self, name: str) -> Pair:
        """(width, height), without reading it."""
        height, width = self._series[name].shape[:2]
        return int(width), int(height)


def vendor_of(tiff: Any) -> str:
    """As tiffslide names it."""
    named = {"svs": "aperio", "scn": "leica", "bif": "ventana", "ndpi": "hamamatsu", "philips": "philips_tiff"}
    return next((vendor for mark, vendor in named.items() if getattr(tiff, f"is_{mark}")), "generic-tiff")


def numbers_of(tiff: Any, vendor: str) -> dict[str, Any]:
    """Size of a pixel (mpp-x, mpp-y, micrometres) and objective-power, where the file states them."""
    if vendor == "aperio":
        words = _aperio_words(tiff)
        own = {"mpp-x": "MPP", "mpp-y": "MPP", "objective-power": "AppMag"}
        return {name: words[word] for name, word in own.items() if isinstance(words.get(word), (int, float))}
    tags = tiff.pages[0].tags
    unit = _MICROMETRES.get(getattr(tags.valueof("ResolutionUnit"), "name", ""), 0)
    stated = {"mpp-x": tags.valueof("XResolution"), "mpp-y": tags.valueof("YResolution")}
    return {name: unit * value[1] / value[0] for name, value in stated.items() if unit and value and value[0]}


def words_of(tiff: Any, vendor: str) -> dict[str, Any]:
    """What the file says in words, and its resolution as it stands there, by tiffslide's names: words may name a patient."""
    page = tiff.pages[0]
    facts: dict[str, Any] = {"tiff.ImageDescription": page.description}
    if vendor == "aperio":
        facts["tiffslide.comment"] = page.description
        facts |= {f"aperio.{name}": value for name, value in _aperio_words(tiff).items()}
    if vendor == "hamamatsu":
        named = {65421: "SourceLens", 65422: "XOffsetFromSlideCentre", 65423: "YOffsetFromSlideCentre", 272: "Model"}
        facts |= {f"hamamatsu.{name}": page.tags[tag].value for tag, name in named.items() if tag in page.tags}
    tags = {name: page.tags.valueof(name) for name in ("ResolutionUnit", "XResolution", "YResolution")}
    if "aperio.MPP" not in facts and None not in tags.values():
        facts |= {"tiff.ResolutionUnit": tags["ResolutionUnit"].name}
        facts |= {f"tiff.{name}": value[0] / value[1] for name, value in tags.items() if name != "ResolutionUnit"}
    return facts


_MICROMETRES = {"INCH": 25400, "CENTIMETER": 10000, "MILLIMETER": 1000, "MICROMETER": 1}


def _aperio_words(tiff: Any) -> dict[str, Any]:
    words: dict[str, Any] = import_module("tifffile.tifffile").svs_description_metadata(tiff.pages[0].description)
    return words
