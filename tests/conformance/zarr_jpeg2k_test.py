"""JPEG 2000 in Zarr: `imagecodecs_jpeg2k` against imagecodecs in zarr-python, Pillow and OpenSlide, each with an OpenJPEG of its own."""

import io
import json
import struct
import subprocess
import sys
from dataclasses import dataclass

import google_crc32c
import imagecodecs
import numpy as np
import openslide
import PIL.Image
import pytest
import tifffile
import zarr
import zarr_tool
from driving import SAMPLES
from zarr.abc.codec import ArrayBytesCodec
from zarr.registry import register_codec

SLIDE = SAMPLES / "slides/TCGA-CR-7395-01A-01-TS1.svs"  # RGB, lossy, by Kakadu
EDGE = 256


@dataclass(frozen=True)
class Jpeg2k(ArrayBytesCodec):
    """What imagecodecs.zarr.Jpeg2k does (2026-05 source); the installed wheel has no imagecodecs.zarr."""

    is_fixed_size = False

    @classmethod
    def from_dict(cls, data):
        return cls()

    def to_dict(self):
        return {"name": "imagecodecs_jpeg2k"}

    def compute_encoded_size(self, input_byte_length, _chunk_spec):
        raise NotImplementedError

    async def _decode_single(self, chunk_bytes, chunk_spec):
        pixels = imagecodecs.jpeg2k_decode(chunk_bytes.to_bytes())
        return chunk_spec.prototype.nd_buffer.from_numpy_array(pixels.reshape(chunk_spec.shape))


def write_array(root, chunks, shape, edge=EDGE) -> None:
    """(c, y, x), interleaved, one object for each chunk of `chunks`, which is {(row, column): bytes}."""
    metadata = {
        "zarr_format": 3, "node_type": "array", "shape": list(shape), "data_type": "uint8", "fill_value": 255,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [shape[0], edge, edge]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "attributes": {},
        "codecs": [{"name": "transpose", "configuration": {"order": [1, 2, 0]}}, {"name": "imagecodecs_jpeg2k"}, {"name": "crc32c"}],
    }  # fmt: skip
    for (y, x), data in chunks.items():
        path = root / f"a/c/0/{y}/{x}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data + google_crc32c.value(data).to_bytes(4, "little"))
    (root / "a/zarr.json").write_text(json.dumps(metadata))


def sycc_file(codestream, height, width) -> bytes:
    """A JP2 file of the fewest boxes that states YCbCr."""
    box = lambda kind, data: struct.pack(">I", 8 + len(data)) + kind + data
    header = box(b"ihdr", struct.pack(">IIHBBBB", height, width, 3, 7, 7, 0, 0)) + box(b"colr", struct.pack(">BBBI", 1, 0, 0, 18))
    return box(b"jP  ", b"\r\n\x87\n") + box(b"ftyp", b"jp2 \0\0\0\0jp2 ") + box(b"jp2h", header) + box(b"jp2c", codestream)


def interleaved(root, shape):
    return zarr_tool.read(root, "a", (0, 0, 0), shape, (1, 2, 0))


def by_imagecodecs(root):
    register_codec("imagecodecs_jpeg2k", Jpeg2k)
    return zarr.open_array(str(root), path="a", mode="r")[:].transpose(1, 2, 0)


def tissue(edge=EDGE) -> np.ndarray:
    return np.ascontiguousarray(tifffile.imread(SLIDE, key=0)[1000 : 1000 + edge, 1400 : 1400 + edge])


def almost(got, want, share=1e-5) -> None:
    """Builds of OpenJPEG round a few values of lossy pictures otherwise."""
    differs = got.astype(int) - want
    assert np.abs(differs).max() <= 1 and (differs != 0).mean() <= share


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The slide's own tiles; one of them is left out."""
    root = tmp_path_factory.mktemp("copied")
    with tifffile.TiffFile(SLIDE) as tiff:
        page = tiff.pages[0]
        height, width = page.shape[:2]
        across = -(-width // EDGE)
        chunks = {}
        for i, (offset, count) in enumerate(zip(page.dataoffsets, page.databytecounts, strict=True)):
            tiff.filehandle.seek(offset)
            chunks[divmod(i, across)] = tiff.filehandle.read(count)
        del chunks[1, 2]
    write_array(root, chunks, (3, height, width))
    return root, (3, height, width)


def test_copied_tiles_give_the_pixels_of_openslide(copied):
    root, shape = copied
    slide = openslide.OpenSlide(str(SLIDE))
    want = np.asarray(slide.read_region((0, 0), 0, slide.dimensions).convert("RGB")).copy()
    want[EDGE : 2 * EDGE, 2 * EDGE : 3 * EDGE] = 255  # the tile that was left out reads as fill value
    got = interleaved(root, shape)
    almost(got, want)
    rng = np.random.default_rng(3)
    for _ in range(8):
        h, w = (int(v) for v in rng.integers(1, 600, 2))
        y, x = int(rng.integers(0, shape[1] - h)), int(rng.integers(0, shape[2] - w))
        np.testing.assert_array_equal(zarr_tool.read(root, "a", (0, y, x), (3, h, w), (1, 2, 0)), got[y : y + h, x : x + w])


def test_copied_tiles_are_read_by_zarr_python_with_imagecodecs(copied):
    root, shape = copied
    almost(by_imagecodecs(root), interleaved(root, shape))


@pytest.mark.parametrize("codecformat", ["j2k", "jp2"])
@pytest.mark.parametrize("mct", [True, False])
def test_lossless_pictures_of_imagecodecs_come_back(tmp_path, mct, codecformat):
    pixels = tissue()
    write_array(tmp_path, {(0, 0): imagecodecs.jpeg2k_encode(pixels, level=0, reversible=True, mct=mct, codecformat=codecformat)}, (3, EDGE, EDGE))
    np.testing.assert_array_equal(interleaved(tmp_path, (3, EDGE, EDGE)), pixels)


def test_grey_pictures_are_read(tmp_path):
    pixels = tissue()[:, :, 1]
    write_array(tmp_path, {(0, 0): imagecodecs.jpeg2k_encode(pixels, level=0, reversible=True, codecformat="j2k")}, (1, EDGE, EDGE))
    np.testing.assert_array_equal(interleaved(tmp_path, (1, EDGE, EDGE))[:, :, 0], pixels)


@pytest.mark.parametrize("lossless", [True, False])
def test_ycbcr_that_states_it_becomes_rgb_for_every_reader(tmp_path, lossless):
    """As tiles of compression 33003 are stored: never would a reader take luma and chroma for colours."""
    components = np.asarray(PIL.Image.fromarray(tissue()).convert("YCbCr"))
    options = {"level": 0, "reversible": True} if lossless else {"level": 45}
    file = sycc_file(imagecodecs.jpeg2k_encode(components, mct=False, codecformat="j2k", **options), EDGE, EDGE)
    write_array(tmp_path, {(0, 0): file}, (3, EDGE, EDGE))
    got = interleaved(tmp_path, (3, EDGE, EDGE))
    if lossless:
        y, cb, cr = np.moveaxis(components.astype(float), -1, 0) - np.array([0, 128, 128])[:, None, None]
        want = np.stack([y + 1.402 * cr, y - 0.344136286 * cb - 0.714136286 * cr, y + 1.772 * cb], -1)
        almost(got, np.rint(np.clip(want, 0, 255)).astype(int), share=2e-4)  # values near a half
    # These two cut off where we round.
    almost(got, by_imagecodecs(tmp_path), share=1)
    almost(got, np.asarray(PIL.Image.open(io.BytesIO(file)).convert("RGB")), share=1)


def test_pictures_of_other_kinds_are_damage(tmp_path):
    pixels = tissue()
    for name, data, text in [
        ("size", imagecodecs.jpeg2k_encode(pixels[:200], codecformat="j2k"), "256x200 pixels of 3 components"),
        ("grey", imagecodecs.jpeg2k_encode(pixels[:, :, 0], codecformat="j2k"), "of 1 components"),
        ("depth", imagecodecs.jpeg2k_encode(pixels.astype(np.uint16) * 9, codecformat="j2k"), "not all 8 bits"),
        ("cut", imagecodecs.jpeg2k_encode(pixels, codecformat="j2k")[:9000], "can't be decoded"),
        ("jpeg", imagecodecs.jpeg8_encode(pixels), "not a JPEG 2000 picture"),
    ]:
        write_array(tmp_path / name, {(0, 0): data}, (3, EDGE, EDGE))
        said = zarr_tool.run("read", tmp_path / name, "a", tmp_path / "o.npy", expect=4)
        assert text in said and "imagecodecs_jpeg2k" in said, said


def test_zarr_python_alone_refuses_the_codec(copied):
    code = f"import zarr; zarr.open_array({str(copied[0])!r}, path='a', mode='r')[:]"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0 and "imagecodecs_jpeg2k" in done.stderr, done.stderr
