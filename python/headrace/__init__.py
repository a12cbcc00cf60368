"""Headrace: stores, slides, volumes and training batches of medical images, read by C++."""

import importlib
from typing import TYPE_CHECKING, Any

from . import _dicom_dictionary as _dicom_dictionary
from . import _openslide_library as _openslide_library
from ._core import (
    Cancelled,
    CorruptError,
    DeviceError,
    Diverged,
    Error,
    InternalError,
    MalformedError,
    NotFoundError,
    OutOfMemoryError,
    StorageError,
    UnsupportedError,
    UsageError,
    __version__,
)
from . import transforms
from ._augment import Transforms, augment
from ._estimates import estimate_colour, estimate_intensities
from ._evaluate import evaluate_segmentation
from ._network import allow_hosts, use_cache, use_s3
from ._patch_list import PatchSpec
from ._work import ingest_labels, ingest_slides, ingest_volumes, process, verify
from .loader import BatchMeta, Loader
from .store import (
    Cohort,
    Colour,
    Histogram,
    Image,
    Images,
    Intensities,
    Labels,
    Lesion,
    Level,
    Mask,
    open as open,
)

__all__ = [
    "BatchMeta",
    "Cancelled",
    "Cohort",
    "Colour",
    "CorruptError",
    "DeviceError",
    "Diverged",
    "Error",
    "Histogram",
    "Image",
    "ImageSlide",
    "Images",
    "Intensities",
    "InternalError",
    "Labels",
    "Lesion",
    "Level",
    "Loader",
    "MalformedError",
    "Mask",
    "NotFoundError",
    "OpenSlide",
    "OpenSlideCache",
    "OpenSlideError",
    "OpenSlideUnsupportedFormatError",
    "OutOfMemoryError",
    "PatchSpec",
    "StorageError",
    "Transforms",
    "UnsupportedError",
    "UsageError",
    "allow_hosts",
    "augment",
    "estimate_colour",
    "estimate_intensities",
    "evaluate_segmentation",
    "features",
    "ingest_labels",
    "ingest_slides",
    "ingest_volumes",
    "open_slide",
    "process",
    "read_regions",
    "transforms",
    "use_cache",
    "use_s3",
    "verify",
    "__version__",
]


if TYPE_CHECKING:
    from ._features import features
    from .slide import ImageSlide, OpenSlide, OpenSlideCache, OpenSlideError, OpenSlideUnsupportedFormatError, open_slide, read_regions

_SLIDE_NAMES = ("ImageSlide", "OpenSlide", "OpenSlideCache", "OpenSlideError", "OpenSlideUnsupportedFormatError", "open_slide", "read_regions")


def __getattr__(name: str) -> Any:
    """The parts that need PyTorch, Lightning or Ray, or look for openslide-python, imported when they are first used."""
    if name in ("lightning", "openslide", "ray", "slide", "tiffslide", "torch"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in _SLIDE_NAMES:
        return getattr(importlib.import_module(f"{__name__}.slide"), name)
    if name == "features":
        return importlib.import_module(f"{__name__}._features").features
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "lightning", "openslide", "ray", "slide", "tiffslide", "torch"})
