"""JPEG in Zarr: `transpose` and `imagecodecs_jpeg` in shards, against imagecodecs in zarr-python, Pillow and OpenSlide."""

import io
import json
from dataclasses import dataclass

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

SLIDE = SAMPLES / "slides/derived/tcga-jpeg420-256.tif"
INNER, SHARD = 256, 1024


@dataclass(frozen=True)
class Jpeg(ArrayBytesCodec):
    """What imagecodecs.zarr.Jpeg does (2026-05 source); the installed wheel has no imagecodecs.zarr."""

    level: int | None = None
    subsampling: str | None = None
    is_fixed_size = False

    @classmethod
    def from_dict(cls, data):
        return cls(**data.get("configuration", {}))

    def to_dict(self):
        return {"name": "imagecodecs_jpeg", "configuration": {"level": self.level, "subsampling": self.subsampling}}

    def compute_encoded_size(self, input_byte_length, _chunk_spec):
        raise NotImplementedError

    async def _decode_single(self, chunk_bytes, chunk_spec):
        pixels = imagecodecs.jpeg8_decode(chunk_bytes.to_bytes())
        return chunk_spec.prototype.nd_buffer.from_numpy_array(pixels.reshape(chunk_spec.shape))

    async def _encode_single(self, chunk_array, chunk_spec):
        pixels = np.ascontiguousarray(chunk_array.as_numpy_array())
        jpeg = imagecodecs.jpeg8_encode(pixels, level=self.level, subsampling=self.subsampling)
        return chunk_spec.prototype.buffer.from_bytes(jpeg)


register_codec("imagecodecs_jpeg", Jpeg)


def metadata_of(shape, chunk, inner_codecs) -> dict:
    index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    sharding = {"chunk_shape": chunk, "codecs": inner_codecs, "index_codecs": index, "index_location": "end"}
    shard = [edge if axis == 0 else SHARD for axis, edge in enumerate(shape)]
    return {
        "zarr_format": 3, "node_type": "array", "shape": list(shape), "data_type": "uint8", "fill_value": 255,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shard}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "sharding_indexed", "configuration": sharding}], "attributes": {},
    }  # fmt: skip


def jpeg_codecs(**configuration) -> list:
    transpose = {"name": "transpose", "configuration": {"order": [1, 2, 0]}}
    return [transpose, {"name": "imagecodecs_jpeg", "configuration": configuration}]


def tissue() -> np.ndarray:
    """Real pixels as (c, y, x), no multiple of the chunk."""
    with tifffile.TiffFile(SLIDE) as tiff:
        return np.ascontiguousarray(tiff.pages[0].asarray()[:1100, :900].transpose(2, 0, 1))


@pytest.fixture(scope="module")
def passthrough(tmp_path_factory):
    """The slide's own tiles as inner chunks, put into shards by Python: backwards, with gaps, one of them left out."""
    root = tmp_path_factory.mktemp("passthrough")
    with tifffile.TiffFile(SLIDE) as tiff:
        page = tiff.pages[0]
        height, width = page.shape[:2]
        across = -(-width // INNER)
        tiles = []
        for offset, count in zip(page.dataoffsets, page.databytecounts, strict=True):
            tiff.filehandle.seek(offset)
            data = tiff.filehandle.read(count)
            tables = page.jpegtables
            tiles.append(data if tables is None else data[:2] + tables[2:-2] + data[2:])
    per_shard = SHARD // INNER
    for sy in range(-(-height // SHARD)):
        for sx in range(-(-width // SHARD)):
            index = np.full((per_shard, per_shard, 2), 2**64 - 1, "<u8")
            blob = bytearray()
            for y in reversed(range(per_shard)):
                for x in range(per_shard):
                    ty, tx = sy * per_shard + y, sx * per_shard + x
                    if tx >= across or ty * INNER >= height or (ty, tx) == (1, 2):
                        continue
                    blob += b"\0" * (-len(blob) % 4096)
                    tile = tiles[ty * across + tx]
                    index[y, x] = len(blob), len(tile)
                    blob += tile
            blob += index.tobytes() + crc32c_of(index.tobytes())
            path = root / "a" / "c" / "0" / str(sy) / str(sx)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(blob)
    metadata = metadata_of((3, height, width), [3, INNER, INNER], jpeg_codecs(level=85))
    (root / "a" / "zarr.json").write_text(json.dumps(metadata))
    return root


def crc32c_of(data: bytes) -> bytes:
    import google_crc32c

    return google_crc32c.value(data).to_bytes(4, "little")


def test_passthrough_gives_the_pixels_of_openslide(passthrough):
    slide = openslide.OpenSlide(str(SLIDE))
    width, height = slide.dimensions
    want = np.asarray(slide.read_region((0, 0), 0, (width, height)).convert("RGB")).copy()
    want[256:512, 512:768] = 255  # the tile that was left out reads as fill value
    got = zarr_tool.read(passthrough, "a", (0, 0, 0), (3, height, width), (1, 2, 0))
    np.testing.assert_array_equal(got, want)
    rng = np.random.default_rng(3)
    for _ in range(12):
        h, w = (int(v) for v in rng.integers(1, 600, 2))
        y, x = int(rng.integers(0, height - h)), int(rng.integers(0, width - w))
        got = zarr_tool.read(passthrough, "a", (0, y, x), (3, h, w), (1, 2, 0))
        np.testing.assert_array_equal(got, want[y : y + h, x : x + w])


def test_passthrough_is_read_by_zarr_python_with_imagecodecs(passthrough):
    array = zarr.open_array(str(passthrough), path="a", mode="r")
    np.testing.assert_array_equal(array[:], zarr_tool.read(passthrough, "a"))


@pytest.mark.parametrize("level,subsampling", [(90, None), (80, "420"), (95, "422"), (75, "444")])
def test_what_headrace_encodes_others_decode_alike(tmp_path, level, subsampling):
    pixels = tissue()
    metadata = metadata_of(pixels.shape, [3, INNER, INNER], jpeg_codecs(level=level, subsampling=subsampling))
    zarr_tool.write(tmp_path, "a", metadata, pixels)
    got = zarr_tool.read(tmp_path, "a")
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path), path="a", mode="r")[:], got)
    # Level 75 to 95 of real tissue; a wrong colour space or a shifted row would be tens of levels.
    assert np.abs(got.astype(int) - pixels).mean() < 4


def test_what_imagecodecs_encodes_headrace_decodes_alike(tmp_path):
    pixels = tissue()
    codecs = metadata_of(pixels.shape, [3, INNER, INNER], jpeg_codecs(level=88, subsampling="420"))["codecs"]
    array = zarr.create(store=str(tmp_path), path="a", shape=pixels.shape, dtype="uint8", chunks=(3, SHARD, SHARD),
                        codecs=codecs, fill_value=0, zarr_format=3)  # fmt: skip
    array[:] = pixels
    np.testing.assert_array_equal(zarr_tool.read(tmp_path, "a"), array[:])


def test_grey_images_are_read_and_written(tmp_path):
    pixels = tissue()[1]
    metadata = metadata_of((1, *pixels.shape), [1, INNER, INNER], [{"name": "imagecodecs_jpeg", "configuration": {"level": 90}}])
    zarr_tool.write(tmp_path, "a", metadata, pixels[None])
    got = zarr_tool.read(tmp_path, "a")
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path), path="a", mode="r")[:], got)
    assert np.abs(got[0].astype(int) - pixels).mean() < 4


@pytest.mark.parametrize("mode", ["YCbCr", "RGB", "CMYK"])
def test_colour_follows_the_markers_as_in_pillow(tmp_path, mode):
    """RGB: three components that an Adobe marker says are not YCbCr."""
    pixels = np.ascontiguousarray(tissue()[:, :256, :256].transpose(1, 2, 0))
    stream = io.BytesIO()
    if mode == "CMYK":
        PIL.Image.fromarray(pixels).convert("CMYK").save(stream, "jpeg", quality=90)
        jpeg = stream.getvalue()
    else:
        jpeg = imagecodecs.jpeg8_encode(pixels, level=90, colorspace="RGB", outcolorspace=mode)
        if mode == "RGB" and b"Adobe" not in jpeg:
            jpeg = jpeg[:2] + b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00" + jpeg[2:]
    metadata = metadata_of((3, 256, 256), [3, 256, 256], jpeg_codecs())
    metadata["chunk_grid"]["configuration"]["chunk_shape"] = [3, 256, 256]
    metadata["codecs"] = jpeg_codecs()
    (tmp_path / "a" / "c" / "0" / "0").mkdir(parents=True)
    (tmp_path / "a" / "c" / "0" / "0" / "0").write_bytes(jpeg)
    (tmp_path / "a" / "zarr.json").write_text(json.dumps(metadata))
    if mode == "CMYK":
        text = zarr_tool.run("read", tmp_path, "a", tmp_path / "o.npy", expect=4)
        assert "256x256 with 4 components" in text, text
        return
    want = np.asarray(PIL.Image.open(io.BytesIO(jpeg)).convert("RGB"))
    got = zarr_tool.read(tmp_path, "a", (0, 0, 0), (3, 256, 256), (1, 2, 0))
    np.testing.assert_array_equal(got, want)
