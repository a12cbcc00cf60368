"""tiffslide's module by Headrace: ``import headrace.tiffslide as tiffslide``.

>>> import headrace.tiffslide as tiffslide
>>> slide = tiffslide.TiffSlide("s3://slides/case-17.svs")                    # doctest: +SKIP
>>> slide.read_region((4096, 8192), 0, (512, 512), as_array=True)             # doctest: +SKIP

Where both differ stands in docs/python.md, "tiffslide".
"""

from __future__ import annotations

from typing import Any
from warnings import warn

from . import __version__
from ._slide_files import SlideSource, StorageOptions
from ._tiff_slide import NotTiffSlide, TiffFileError, TiffSlide

__all__ = ["NotTiffSlide", "TiffFileError", "TiffSlide", "__version__", "open_slide"]

PROPERTY_NAME_BACKGROUND_COLOR = "tiffslide.background-color"
PROPERTY_NAME_BOUNDS_HEIGHT = "tiffslide.bounds-height"
PROPERTY_NAME_BOUNDS_WIDTH = "tiffslide.bounds-width"
PROPERTY_NAME_BOUNDS_X = "tiffslide.bounds-x"
PROPERTY_NAME_BOUNDS_Y = "tiffslide.bounds-y"
PROPERTY_NAME_COMMENT = "tiffslide.comment"
PROPERTY_NAME_MPP_X = "tiffslide.mpp-x"
PROPERTY_NAME_MPP_Y = "tiffslide.mpp-y"
PROPERTY_NAME_OBJECTIVE_POWER = "tiffslide.objective-power"
PROPERTY_NAME_QUICKHASH1 = "tiffslide.quickhash-1"
PROPERTY_NAME_VENDOR = "tiffslide.vendor"

_ALIASES: dict[str, Any] = {
    "ImageSlide": NotTiffSlide,
    "OpenSlide": TiffSlide,
    "OpenSlideError": TiffFileError,
    "OpenSlideUnsupportedFormatError": TiffFileError,
}


def open_slide(filename: SlideSource, *, storage_options: StorageOptions = None, private: bool = False) -> TiffSlide:
    """A TiffSlide, or a NotTiffSlide of a PNG or JPEG image. Errors: TiffFileError (neither), NotFoundError."""
    options: dict[str, Any] = {"storage_options": storage_options, "private": private}
    try:
        return TiffSlide(filename, **options)
    except TiffFileError as error:
        try:
            return NotTiffSlide(filename, **options)
        except TiffFileError as no_image:
            raise error from no_image


def __getattr__(name: str) -> Any:
    """openslide-python's names, each with a warning, as tiffslide has them."""
    if name in _ALIASES:
        warn(f"compatibility: {name} is {_ALIASES[name].__name__} here", stacklevel=2)
        return _ALIASES[name]
    if name in ("AbstractSlide", "__library_version__"):
        warn(f"{name} is not provided by tiffslide", stacklevel=2)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
