"""What the store tests share: a JPEG codec for zarr-python, and the stated pyramid in NumPy."""
import asyncio
import io
from dataclasses import dataclass

import numpy as np
import zarr
from driving import SAMPLES, headrace
from PIL import Image
from zarr.abc.codec import ArrayBytesCodec
from zarr.registry import register_codec

SLIDES = SAMPLES / "slides"


def ingest(*arguments, code=0):
    return headrace("ingest", "slides", *arguments, code=code)


@dataclass(frozen=True)
class Jpeg(ArrayBytesCodec):
    """Decodes `imagecodecs_jpeg` chunks by Pillow: independent of the library that Headrace uses for it in C++."""
    level: int | None = None
    is_fixed_size = False

    @classmethod
    def from_dict(cls, data):
        return cls(level=data.get("configuration", {}).get("level"))

    def to_dict(self):
        return {"name": "imagecodecs_jpeg", "configuration": {"level": self.level}}

    async def _decode_single(self, chunk_bytes, chunk_spec):
        def decode():
            pixels = np.asarray(Image.open(io.BytesIO(chunk_bytes.to_bytes())).convert("RGB"))
            return chunk_spec.prototype.nd_buffer.from_numpy_array(pixels.reshape(chunk_spec.shape))
        return await asyncio.to_thread(decode)

    async def _encode_single(self, chunk_array, chunk_spec):
        raise NotImplementedError("these tests only read")

    def compute_encoded_size(self, input_byte_length, chunk_spec):
        raise NotImplementedError


register_codec("imagecodecs_jpeg", Jpeg)


def group(store, image):
    return zarr.open_group(str(store), mode="r")[f"images/{image}"]


def halve(pixels):
    """(y, x, c) uint8: the mean of 2×2, (sum + 2) >> 2; at an odd edge of what exists, (sum + 1) >> 1."""
    h, w = pixels.shape[:2]
    wide = np.pad(pixels, ((0, h % 2), (0, w % 2), (0, 0)), mode="edge").astype(np.uint16)
    return ((wide[0::2, 0::2] + wide[0::2, 1::2] + wide[1::2, 0::2] + wide[1::2, 1::2] + 2) >> 2).astype(np.uint8)


def centre_picks(size, level, count):
    if level == 0:
        return np.arange(count)
    return np.minimum(np.arange(count) * 2**level + 2 ** (level - 1), size - 1)
