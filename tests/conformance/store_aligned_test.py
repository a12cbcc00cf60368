"""Stores of `--align BYTES`: inner chunks of images begin at multiples, zarr-python reads the same elements, verify passes, and a run
that goes on keeps the choice."""
import json

import numpy as np
import pytest
import zarr
from driving import SAMPLES, headrace
from store_support import SLIDES, ingest
from volume_store_support import ingest_volumes

SLIDE = SLIDES / "CMU-1-Small-Region.svs"
VOLUME = SAMPLES / "ct/sarcoma/sts-002.nii.gz"
MISSING = 2**64 - 1


def chunk_offsets(array):
    """Where the inner chunks of every shard begin, by its index: number pairs at its end, and four bytes of crc32c."""
    metadata = json.loads((array / "zarr.json").read_text())
    shard = metadata["chunk_grid"]["configuration"]["chunk_shape"]
    inner = metadata["codecs"][0]["configuration"]["chunk_shape"]
    count = int(np.prod([s // i for s, i in zip(shard, inner, strict=True)]))
    found = []
    for file in (p for p in (array / "c").rglob("*") if p.is_file()):
        index = np.frombuffer(file.read_bytes()[-16 * count - 4:-4], "<u8").reshape(-1, 2)
        found.extend(index[index[:, 0] != MISSING][:, 0].tolist())
    return found


def arrays(store, image):
    return sorted(p.parent for p in (store / "images" / image).glob("*/zarr.json") if p.parent.name.isdigit())


@pytest.mark.parametrize("align", [512, 4096])
@pytest.mark.parametrize("kind", ["slides", "volumes", "copied"])
def test_chunks_begin_at_multiples_and_hold_the_same(tmp_path, kind, align):
    source, codec = (VOLUME, ["--codec", "zstd"]) if kind == "volumes" else (SLIDE, ["--codec", "zstd"] if kind == "slides" else [])
    make = ingest_volumes if kind == "volumes" else ingest
    name = "sts-002" if kind == "volumes" else SLIDE.stem
    plain, aligned = tmp_path / "plain.zarr", tmp_path / "aligned.zarr"
    make(source, "--out", plain, *codec)
    make(source, "--out", aligned, *codec, "--align", align)
    levels = arrays(aligned, name)
    assert len(levels) >= 2
    offsets = [offset for level in levels for offset in chunk_offsets(level)]
    assert len(offsets) > 10 and all(offset % align == 0 for offset in offsets)
    assert any(offset % align for level in arrays(plain, name) for offset in chunk_offsets(level))
    for level in levels:
        path = f"images/{name}/{level.name}"
        one, other = (np.asarray(zarr.open_group(str(store), mode="r")[path]) for store in (plain, aligned))
        np.testing.assert_array_equal(one, other)
    headrace("verify", aligned)
    # Run again, a finished store is left as it is, and another choice is refused.
    make(source, "--out", aligned, *codec, "--align", align)
    assert "with other settings" in make(source, "--out", aligned, *codec, code=2).stderr


@pytest.mark.parametrize("kind", ["slides", "volumes"])
def test_other_numbers_are_refused(tmp_path, kind):
    source = VOLUME if kind == "volumes" else SLIDE
    for align in (-1, 3, 131072):
        done = headrace("ingest", kind, source, "--out", tmp_path / "s.zarr", f"--align={align}", code=2)
        assert f"--align {align}: must be 0, or a power of two up to 65536" in done.stderr
    assert not (tmp_path / "s.zarr").exists()
