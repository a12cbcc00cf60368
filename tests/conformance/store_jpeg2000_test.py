"""A slide with JPEG 2000 tiles in a store: the file's own tiles, with the pixels that OpenSlide gives."""
import json
import shutil

import imagecodecs
import numpy as np
import openslide
import pytest
import tifffile
import zarr
from driving import headrace, json_of, message_of
from store_support import SLIDES, halve

NAME = "TCGA-CR-7395-01A-01-TS1"
SLIDE = SLIDES / f"{NAME}.svs"


@pytest.fixture(scope="module")
def ingested(tmp_path_factory):
    out = tmp_path_factory.mktemp("jpeg2000") / "s.zarr"
    return out, json_of("ingest", "slides", SLIDE, "--out", out)


@pytest.fixture(scope="module")
def store(ingested):
    return ingested[0]


def read(store, level):
    _, height, width = json.loads((store / f"images/{NAME}/{level}/zarr.json").read_text())["shape"]
    out = store.parent / "level.png"
    headrace("read", store, NAME, "--level", level, "--origin", "0,0", "--size", f"{height},{width}", "--out", out)
    return imagecodecs.png_decode(out.read_bytes())


def codecs_of(store, level):
    metadata = json.loads((store / f"images/{NAME}/{level}/zarr.json").read_text())
    return [codec["name"] for codec in metadata["codecs"][0]["configuration"]["codecs"]], metadata


def chunks_of(store, level):
    """{(row, column): bytes}, without the checksum."""
    _, metadata = codecs_of(store, level)
    (_, high, wide), inner = metadata["chunk_grid"]["configuration"]["chunk_shape"], metadata["codecs"][0]["configuration"]["chunk_shape"]
    down, across = high // inner[1], wide // inner[2]
    found = {}
    for path in (store / f"images/{NAME}/{level}/c").rglob("*"):
        if not path.is_file():
            continue
        row, column = int(path.parent.name), int(path.name)
        data = path.read_bytes()
        index = np.frombuffer(data[-(16 * down * across + 4) : -4], "<u8").reshape(down, across, 2)
        for y, x in np.ndindex(down, across):
            at, size = (int(value) for value in index[y, x])
            if size != 2**64 - 1:
                found[row * down + y, column * across + x] = data[at : at + size - 4]
    return found


def without_comments(tile):
    """Text of comments overwritten by spaces: marker 0xff64, length, kind, text, in the main header."""
    tile, at = bytearray(tile), 2
    while tile[at : at + 2] != b"\xff\x90":
        length = int.from_bytes(tile[at + 2 : at + 4], "big")
        if tile[at : at + 2] == b"\xff\x64":
            tile[at + 6 : at + 2 + length] = b" " * (length - 4)
        at += 2 + length
    return bytes(tile)


def test_the_store_has_the_sources_size(ingested):
    store, result = ingested
    assert result["footprint_ratio"] < 1.25 and result["passthrough_share"] > 0.7
    facts = json.loads((store / f"images/{NAME}/zarr.json").read_text())["attributes"]["headrace"]
    assert facts["codec"] == "jpeg2k" and facts["copied_levels"] == [0, 1] and facts["chunk"] == 256
    for level in range(len(facts["levels"])):
        image = "imagecodecs_jpeg2k" if level < 2 else "imagecodecs_jpeg"
        assert codecs_of(store, level)[0] == ["transpose", image, "crc32c"]


def test_its_chunks_are_the_files_tiles_without_the_text_of_comments(store):
    with tifffile.TiffFile(SLIDE) as tiff:
        pages = [page for page in tiff.pages if page.is_tiled]
        for level, page in enumerate(pages):
            chunks = chunks_of(store, level)
            assert len(chunks) == len(page.dataoffsets)
            across = -(-page.imagewidth // page.tilewidth)
            for i, (offset, count) in enumerate(zip(page.dataoffsets, page.databytecounts, strict=True)):
                tiff.filehandle.seek(offset)
                assert chunks[divmod(i, across)] == without_comments(tiff.filehandle.read(count))


def test_its_pixels_are_openslides(store):
    slide = openslide.OpenSlide(str(SLIDE))
    for level in range(2):
        want = np.asarray(slide.read_region((0, 0), level, slide.level_dimensions[level]).convert("RGB"))
        differs = np.abs(read(store, level).astype(int) - want)
        # Builds of OpenJPEG round a few values in ten million otherwise.
        assert differs.max() <= 1 and (differs > 0).sum() < 100
    below = np.abs(read(store, 2).astype(int) - halve(read(store, 1)))
    assert below.mean() < 4  # JPEG of quality 90


def test_a_changed_bit_is_found(store, tmp_path):
    copy = tmp_path / "s.zarr"
    shutil.copytree(store, copy)
    headrace("verify", copy)
    shard = next(path for path in sorted((copy / f"images/{NAME}/0/c").rglob("*")) if path.is_file())
    data = bytearray(shard.read_bytes())
    data[len(data) // 3] ^= 4
    shard.chmod(0o644)
    shard.write_bytes(data)
    assert "images/" in headrace("verify", copy, code=4).stdout + headrace("verify", copy, code=4).stderr
    text = message_of(headrace("read", copy, NAME, "--origin", "0,0", "--size", "3000,4000", "--out", tmp_path / "o.png", code=4))
    assert "crc32c" in text, text


def test_an_export_is_read_by_any_reader(store, tmp_path):
    headrace("export", store, "--as", "ome-zarr", "--out", tmp_path)
    [image] = tmp_path.glob("*.ome.zarr")
    pixels = zarr.open_array(str(image), path="0", mode="r")[:]
    np.testing.assert_array_equal(np.moveaxis(pixels.squeeze(), 0, -1), read(store, 0))


def test_other_codecs_are_as_before(tmp_path):
    result = json_of("ingest", "slides", SLIDE, "--out", tmp_path / "zstd.zarr", "--codec", "zstd")
    assert result["footprint_ratio"] > 5 and result["passthrough_bytes"] == 0
    text = message_of(headrace("ingest", "slides", SLIDES / "CMU-1-Small-Region.svs", "--out", tmp_path / "no.zarr", "--codec", "jpeg2k", code=1))
    assert "no JPEG 2000 tiles" in text and "use auto" in text, text
