"""openslide-python's module by Headrace: ``import headrace.openslide as openslide``.

Its DeepZoomGenerator stays in openslide.deepzoom and takes these slides.
"""

from . import __version__, _core
from .slide import (
    AbstractSlide,
    ImageSlide,
    OpenSlide,
    OpenSlideCache,
    OpenSlideError,
    OpenSlideUnsupportedFormatError,
    open_slide,
)

__all__ = [
    "AbstractSlide",
    "ImageSlide",
    "OpenSlide",
    "OpenSlideCache",
    "OpenSlideError",
    "OpenSlideUnsupportedFormatError",
    "OpenSlideVersionError",
    "__library_version__",
    "__version__",
    "open_slide",
]



class OpenSlideVersionError(OpenSlideError):
    """openslide-python's, of a library that is too old; never raised here."""


__library_version__ = _core.openslide_version()
"""Of the OpenSlide library beneath; "" where none was found."""

PROPERTY_NAME_BACKGROUND_COLOR = "openslide.background-color"
PROPERTY_NAME_BARCODE = "openslide.barcode"
PROPERTY_NAME_BOUNDS_HEIGHT = "openslide.bounds-height"
PROPERTY_NAME_BOUNDS_WIDTH = "openslide.bounds-width"
PROPERTY_NAME_BOUNDS_X = "openslide.bounds-x"
PROPERTY_NAME_BOUNDS_Y = "openslide.bounds-y"
PROPERTY_NAME_COMMENT = "openslide.comment"
PROPERTY_NAME_MPP_X = "openslide.mpp-x"
PROPERTY_NAME_MPP_Y = "openslide.mpp-y"
PROPERTY_NAME_OBJECTIVE_POWER = "openslide.objective-power"
PROPERTY_NAME_QUICKHASH1 = "openslide.quickhash-1"
PROPERTY_NAME_VENDOR = "openslide.vendor"
