"""Bit-shuffled voxels of a real CT under LZ4 and zstd, in the chunks and blocks that stores of volumes may have, both ways."""

import json

import nibabel
import numpy as np
import pytest
import tensorstore as ts
import zarr
import zarr_tool
from driving import SAMPLES
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, ShardingCodec

CT = SAMPLES / "ct/totalseg-abdomen/ct.nii.gz"
# compressor, level, edge of an inner chunk, bytes of a block; the first two are the defaults
LAYOUTS = [
    ("lz4hc", 5, 32, 16384), ("zstd", 1, 32, 32768), ("lz4hc", 9, 16, 8192), ("lz4", 1, 24, 9216), ("lz4", 9, 64, 16384),
    ("zstd", 5, 96, 0), ("zstd", 9, 16, 1000), ("lz4hc", 3, 8, 0), ("zstd", 3, 24, 5000),
]  # fmt: skip


@pytest.fixture(scope="module")
def ct():
    return np.ascontiguousarray(np.asarray(nibabel.load(CT).dataobj).astype(np.int16).T)


@pytest.mark.parametrize("cname,level,edge,block", LAYOUTS)
def test_both_ways(tmp_path, ct, cname, level, edge, block):
    blosc = BloscCodec(cname=cname, clevel=level, shuffle="bitshuffle", typesize=2, blocksize=block)
    sharding = ShardingCodec(chunk_shape=(edge,) * 3, codecs=[BytesCodec(), blosc, Crc32cCodec()])
    theirs = zarr.create(store=str(tmp_path), path="theirs", shape=ct.shape, dtype="int16", chunks=(192,) * 3, codecs=[sharding],
                         fill_value=-1024, zarr_format=3)  # fmt: skip
    theirs[:] = ct
    metadata = json.loads((tmp_path / "theirs/zarr.json").read_text())
    zarr_tool.write(tmp_path, "ours", metadata, ct)
    rng = np.random.default_rng(level * edge)
    for name in ("theirs", "ours"):
        np.testing.assert_array_equal(zarr_tool.read(tmp_path, name), ct)
        for _ in range(3):
            origin = [int(rng.integers(0, n - 5)) for n in ct.shape]
            shape = [int(rng.integers(1, n - o + 1)) for n, o in zip(ct.shape, origin, strict=True)]
            box = tuple(slice(o, o + n) for o, n in zip(origin, shape, strict=True))
            np.testing.assert_array_equal(zarr_tool.read(tmp_path, name, origin, shape), ct[box])
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path), path="ours", mode="r")[:], ct)
    array = ts.open({"driver": "zarr3", "kvstore": f"file://{tmp_path}/ours/"}).result()
    np.testing.assert_array_equal(array.read().result(), ct)


def test_a_changed_bit_is_an_error(tmp_path, ct):
    zarr.create(store=str(tmp_path), path="theirs", shape=ct.shape, dtype="int16", chunks=(64,) * 3, fill_value=-1024, zarr_format=3,
                codecs=[BytesCodec(), BloscCodec(cname="lz4hc", shuffle="bitshuffle", typesize=2, blocksize=16384), Crc32cCodec()])  # fmt: skip
    zarr_tool.write(tmp_path, "ours", json.loads((tmp_path / "theirs/zarr.json").read_text()), ct)
    chunk = tmp_path / "ours/c/0/0/0"
    damaged = bytearray(chunk.read_bytes())
    damaged[len(damaged) // 2] ^= 4  # among the noise, where LZ4 itself notices nothing
    chunk.write_bytes(damaged)
    text = zarr_tool.run("read", tmp_path, "ours", tmp_path / "o.npy", expect=4)
    assert "chunk c/0/0/0 of" in text and "stored crc32c" in text, text
