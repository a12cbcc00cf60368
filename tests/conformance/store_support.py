"""What the store tests share: the program, a JPEG codec for zarr-python, and the stated pyramid in NumPy."""
import asyncio
import io
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import zarr
from PIL import Image
from zarr.abc.codec import ArrayBytesCodec
from zarr.registry import register_codec

ROOT = Path(__file__).resolve().parents[2]
SLIDES = ROOT / "samples/slides"
PROGRAM = Path(os.environ.get("HEADRACE", ROOT / "build/headrace")).resolve()


def run_ingest(kind, *arguments, code=0):
    done = subprocess.run([PROGRAM, "ingest", kind, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr
    return done


def ingest(*arguments):
    return run_ingest("slides", *arguments)


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


def version_of(store):
    """What the current version of a store says."""
    return json.loads((store / f"versions/{json.loads((store / 'manifest.json').read_text())['dataset_hash']}.json").read_text())


def label_group(store, image):
    """The folder of an image's annotation in the current version."""
    return f"images/{image}/labels/{version_of(store)['images'][image]['labels']['annotation']['group']}"


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
