"""The codecs of copied tiles of slides in stores, for zarr-python 3.

Slides whose scanner wrote JPEG tiles are stored as these tiles, by the codec ``imagecodecs_jpeg``; JPEG 2000 tiles by
``imagecodecs_jpeg2k``. Where the package headrace is installed by pip, zarr-python finds both by itself. Elsewhere they
are made known by

>>> import zarr.registry
>>> from headrace.zarr_codec import ImagecodecsJpeg, ImagecodecsJpeg2k
>>> zarr.registry.register_codec("imagecodecs_jpeg", ImagecodecsJpeg)
>>> zarr.registry.register_codec("imagecodecs_jpeg2k", ImagecodecsJpeg2k)
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ._core import ImageCodec

try:
    from zarr.abc.codec import ArrayBytesCodec
except ImportError as missing:
    raise ImportError("headrace.zarr_codec needs zarr-python 3, which is not installed: pip install 'zarr>=3'") from missing

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer


class _ImageCodec(ArrayBytesCodec):
    """A codec whose chunks are pictures, by the store's own decoder. A class of it states its name and configuration."""

    is_fixed_size = False
    name: ClassVar[str]

    def _configuration(self) -> dict[str, Any]:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "configuration": self._configuration()}

    @classmethod
    def _checked(cls, data: dict[str, Any]) -> dict[str, Any]:
        configuration: dict[str, Any] = data.get("configuration", {})
        ImageCodec(cls.name, json.dumps(configuration), [1, 1], "uint8")  # refuses what no chunk could have
        return configuration

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: ArraySpec) -> int:
        raise NotImplementedError("the size of an encoded picture depends on its pixels")

    def _codec_for(self, chunk_spec: ArraySpec) -> ImageCodec:
        stated: Any = chunk_spec.dtype
        dtype = np.dtype(stated.to_native_dtype() if hasattr(stated, "to_native_dtype") else stated)
        return ImageCodec(self.name, json.dumps(self._configuration()), list(chunk_spec.shape), dtype.name)

    def _decode_sync(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        chunk = chunk_bytes.as_numpy_array().view(np.uint8)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(self._codec_for(chunk_spec).decode(chunk))

    def _encode_sync(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        pixels = np.asarray(chunk_array.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(self._codec_for(chunk_spec).encode(pixels))

    async def _decode_single(self, chunk_bytes: Buffer, chunk_spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    async def _encode_single(self, chunk_array: NDBuffer, chunk_spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._encode_sync, chunk_array, chunk_spec)


@dataclass(frozen=True)
class ImagecodecsJpeg(_ImageCodec):
    """One 8-bit JPEG for each chunk, as imagecodecs names and reads it.

    A chunk is uint8 (y, x, 3), (y, x, 1) or (y, x), after any axes of length 1; RGB as stored. Decoded by the store's
    own decoder: the pixels that `headrace.open` and OpenSlide give. level: quality, 0 to 100, 95 where None;
    subsampling: "444", "422" or "420", which None means; both matter to encoding alone, which loses detail.

    Errors: MalformedError, UnsupportedError (a configuration or a chunk that it does not take); CorruptError (a
    damaged JPEG). Safe from any thread; Python's lock is released meanwhile.
    """

    level: int | None = None
    subsampling: str | None = None

    name: ClassVar[str] = "imagecodecs_jpeg"

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ImagecodecsJpeg:
        configuration = cls._checked(data)
        return cls(configuration.get("level"), configuration.get("subsampling"))

    def _configuration(self) -> dict[str, Any]:
        stated = {"level": self.level, "subsampling": self.subsampling}
        return {key: value for key, value in stated.items() if value is not None}


@dataclass(frozen=True)
class ImagecodecsJpeg2k(_ImageCodec):
    """One JPEG 2000 codestream or JP2 file for each chunk, as imagecodecs names and reads it; read, not written.

    A chunk is as of ImagecodecsJpeg, of 8 bits. A JP2 file that states sYCC becomes RGB; the pixels are those that
    `headrace.open` gives. options: what imagecodecs states about its encoding, which decoding does not need.

    Errors: as ImagecodecsJpeg; UnsupportedError also where pixels are written.
    """

    options: tuple[tuple[str, Any], ...] = ()

    name: ClassVar[str] = "imagecodecs_jpeg2k"

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ImagecodecsJpeg2k:
        stated = cls._checked(data).items()
        return cls(tuple((key, tuple(value) if isinstance(value, list) else value) for key, value in stated))

    def _configuration(self) -> dict[str, Any]:
        return dict(self.options)
