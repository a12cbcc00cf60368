"""Pictures that Pillow reads, as slides of one level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from ._core import UsageError
from ._slide_interface import AbstractSlide, Filename, OpenSlideError, Pair, _pillow

if TYPE_CHECKING:
    from PIL import Image


class ImageSlide(AbstractSlide):
    """A Pillow image, or an image file that Pillow opens, with the interface of a slide of one level. Needs Pillow."""

    def __init__(self, file: Filename | Image.Image) -> None:
        pillow = _pillow()
        self._file = file
        self._own = not isinstance(file, pillow.Image)
        image: Any = pillow.open(file) if self._own else file
        self._image: Image.Image | None = image
        self._profile = self._open().info.get("icc_profile")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._file!r})"

    @classmethod
    def detect_format(cls, filename: Filename) -> str | None:
        """Pillow's name of the format, or None where Pillow does not read it."""
        try:
            with _pillow().open(filename) as image:
                name: str | None = image.format
                return name
        except OSError:
            return None

    def close(self) -> None:
        """Closes it, and the file where this opened it."""
        if self._own and self._image is not None:
            self._image.close()
        self._image = None

    @property
    def level_count(self) -> Literal[1]:
        """1."""
        return 1

    @property
    def level_dimensions(self) -> tuple[Pair]:
        """((width, height),)."""
        return (self._open().size,)

    @property
    def level_downsamples(self) -> tuple[float]:
        """(1.0,)."""
        return (1.0,)

    @property
    def properties(self) -> Mapping[str, str]:
        """Empty."""
        return {}

    @property
    def associated_images(self) -> Mapping[str, Image.Image]:
        """Empty."""
        return {}

    def get_best_level_for_downsample(self, downsample: float) -> Literal[0]:
        """0."""
        return 0

    def read_region(self, location: Pair, level: int, size: Pair) -> Image.Image:
        """A region as an RGBA image, transparent outside. Errors: OpenSlideError (another level, a negative size)."""
        image = self._open()
        if level != 0:
            raise OpenSlideError(f"an image has level 0 alone, level {level} was asked for")
        if min(size) < 0:
            raise OpenSlideError(f"size {size} must not be negative")
        (x, y), (width, height) = location, size
        region: Image.Image = _pillow().new("RGBA", size)
        left, top = max(x, 0), max(y, 0)
        right, bottom = min(x + width, image.width), min(y + height, image.height)
        if left < right and top < bottom:
            region.paste(image.crop((left, top, right, bottom)), (left - x, top - y))
        return self._with_profile(region)

    def _open(self) -> Image.Image:
        if self._image is None:
            raise UsageError("the image is closed")
        return self._image
