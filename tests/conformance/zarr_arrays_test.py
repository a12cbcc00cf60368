"""Every data type, codec, key encoding and sharding layout, against zarr-python and TensorStore, both ways."""

import itertools
import json

import numpy as np
import pytest
import tensorstore as ts
import zarr
import zarr_tool
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64",
]  # fmt: skip
COMPRESSORS = {
    "none": [],
    "blosc-zstd": [BloscCodec(cname="zstd", clevel=5, shuffle="shuffle")],
    "blosc-zstd-plain": [BloscCodec(cname="zstd", clevel=1, shuffle="noshuffle", blocksize=512)],
    "blosc-lz4-bits": [BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle")],
    "blosc-zlib": [BloscCodec(cname="zlib", clevel=3, shuffle="shuffle")],
    "blosc-lz4hc": [BloscCodec(cname="lz4hc", clevel=3, shuffle="noshuffle")],
    "blosc-blosclz": [BloscCodec(cname="blosclz", clevel=9, shuffle="shuffle")],
    "zstd": [ZstdCodec(level=7, checksum=True)],
    "gzip": [GzipCodec(level=4)],
    "crc32c": [Crc32cCodec()],
    "zstd-crc32c": [ZstdCodec(level=0), Crc32cCodec()],
}
SHAPE, CHUNKS, SHARDS = (5, 37, 41), (2, 8, 16), (4, 16, 32)
# Each pair of data type and compressor meets one layout; the layouts go round, so each of their values meets all of them.
LAYOUTS = list(itertools.product([None, "end", "start"], ["default", "v2"], ["/", "."], [False, True]))
CASES = [
    (dtype, name, *LAYOUTS[i * 5 % len(LAYOUTS)])
    for i, (dtype, name) in enumerate(itertools.product(DTYPES, COMPRESSORS))
]


def elements_of(dtype: str, shape=SHAPE) -> np.ndarray:
    """Random elements with a chunk that is all zero."""
    rng = np.random.default_rng(DTYPES.index(dtype))
    kind = np.dtype(dtype)
    if kind.kind == "f":
        out = rng.standard_normal(shape).astype(kind)
    else:
        high = 2 if dtype == "bool" else 2 ** min(8 * kind.itemsize, 40)
        out = rng.integers(0, high, size=shape).astype(kind)
    out[:2, :8, :16] = 0
    return out


def regions():
    rng = np.random.default_rng(5)
    yield (0, 0, 0), SHAPE
    yield (-2, 30, -7), (9, 20, 60)
    for _ in range(2):
        shape = [int(rng.integers(1, edge + 1)) for edge in SHAPE]
        yield [int(rng.integers(0, e - s + 1)) for e, s in zip(SHAPE, shape, strict=True)], shape


def expected(elements, origin, shape):
    out = np.zeros(shape, elements.dtype)
    low = [max(o, 0) for o in origin]
    high = [min(o + s, e) for o, s, e in zip(origin, shape, elements.shape, strict=True)]
    inside = tuple(slice(a, b) for a, b in zip(low, high, strict=True))
    there = tuple(slice(a - o, b - o) for a, b, o in zip(low, high, origin, strict=True))
    out[there] = elements[inside]
    return out


def check_reads(store, array, elements):
    for origin, shape in regions():
        got = zarr_tool.read(store, array, origin, shape)
        np.testing.assert_array_equal(got, expected(elements, origin, shape))
    got = zarr_tool.read(store, array, (0, 3, 5), (5, 20, 20), (1, 2, 0))
    np.testing.assert_array_equal(got, elements[:, 3:23, 5:25].transpose(1, 2, 0))


def create(folder, path, dtype, compressors, location, encoding="default", separator="/", big=False):
    """An empty array by zarr-python's own hand."""
    codecs = [TransposeCodec(order=(1, 2, 0)), BytesCodec(endian="big" if big else "little"), *compressors]
    if location:
        codecs = [ShardingCodec(chunk_shape=CHUNKS, codecs=codecs, index_location=location)]
    return zarr.create(
        store=str(folder), path=path, shape=SHAPE, dtype=dtype, chunks=SHARDS if location else CHUNKS, codecs=codecs,
        chunk_key_encoding=(encoding, separator), fill_value=0, zarr_format=3,
        attributes={"who": "zarr-python"}, dimension_names=("c", None, "x"),
    )  # fmt: skip


@pytest.mark.parametrize("dtype,name,location,encoding,separator,big", CASES)
def test_both_ways(tmp_path, dtype, name, location, encoding, separator, big):
    elements = elements_of(dtype)
    array = create(tmp_path, "theirs", dtype, COMPRESSORS[name], location, encoding, separator, big)
    array[:] = elements
    check_reads(tmp_path, "theirs", elements)

    metadata = json.loads((tmp_path / "theirs" / "zarr.json").read_text())
    zarr_tool.write(tmp_path, "ours", metadata, elements)
    ours = zarr.open_array(str(tmp_path), path="ours", mode="r")
    np.testing.assert_array_equal(ours[:], elements)
    assert ours.attrs["who"] == "zarr-python"
    assert ours.metadata.dimension_names == ("c", None, "x")
    check_reads(tmp_path, "ours", elements)
    with_tensorstore = ts.open({"driver": "zarr3", "kvstore": f"file://{tmp_path}/ours/"}).result()
    np.testing.assert_array_equal(with_tensorstore.read().result().astype(dtype), elements)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("location", ["end", "start"])
def test_tensorstore_writes(tmp_path, dtype, location):
    elements = elements_of(dtype)
    inner = [{"name": "bytes", "configuration": {"endian": "little"}}] if np.dtype(dtype).itemsize > 1 else [{"name": "bytes"}]
    inner = [*inner, {"name": "zstd", "configuration": {"level": 3}}]
    index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    sharding = {"chunk_shape": CHUNKS, "codecs": inner, "index_codecs": index, "index_location": location}
    array = ts.open({
        "driver": "zarr3", "kvstore": f"file://{tmp_path}/theirs/", "create": True,
        "metadata": {
            "shape": SHAPE, "data_type": dtype, "fill_value": False if dtype == "bool" else 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": SHARDS}},
            "chunk_key_encoding": {"name": "default"},
            "codecs": [{"name": "sharding_indexed", "configuration": sharding}],
        },
    }).result()  # fmt: skip
    array.write(elements).result()
    check_reads(tmp_path, "theirs", elements)


FILLS = {
    "float16": [np.nan, np.inf, -np.inf, 0.1, -0.0], "float32": [np.nan, -np.inf, 0.1, 1e-45],
    "float64": [np.nan, np.inf, 0.1, 5e-324], "int8": [-128, 127], "int64": [-(2**63), 2**63 - 1],
    "uint64": [2**64 - 1], "bool": [True, False], "uint8": [255],
}  # fmt: skip


@pytest.mark.parametrize("dtype,fill", [(dtype, fill) for dtype, fills in FILLS.items() for fill in fills])
def test_fill_values(tmp_path, dtype, fill):
    want = np.full((3, 4), fill, dtype)
    zarr.create(store=str(tmp_path), path="theirs", shape=(3, 4), dtype=dtype, chunks=(2, 2), fill_value=want[0, 0], zarr_format=3)
    assert zarr_tool.read(tmp_path, "theirs").tobytes() == want.tobytes()
    metadata = json.loads((tmp_path / "theirs" / "zarr.json").read_text())
    zarr_tool.write(tmp_path, "ours", metadata, want)
    assert not (tmp_path / "ours" / "c").exists(), "chunks that are all fill value are not stored"
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path), path="ours", mode="r")[:], want)


def test_consolidated_metadata_is_tolerated(tmp_path):
    group = zarr.create_group(str(tmp_path), zarr_format=3)
    group.create_array("a", shape=(4,), chunks=(2,), dtype="uint8")[:] = [1, 2, 3, 4]
    zarr.consolidate_metadata(str(tmp_path))
    np.testing.assert_array_equal(zarr_tool.read(tmp_path, "a"), [1, 2, 3, 4])


def test_bad_stores_are_named_in_one_sentence(tmp_path):
    array = zarr.create(store=str(tmp_path), path="a", shape=(64,), dtype="uint8", chunks=(32,), zarr_format=3,
                        codecs=[BytesCodec(), Crc32cCodec()], fill_value=0)  # fmt: skip
    array[:] = np.arange(64)
    chunk = tmp_path / "a" / "c" / "1"
    chunk.write_bytes(b"\x00" + chunk.read_bytes()[1:])
    text = zarr_tool.run("read", tmp_path, "a", tmp_path / "o.npy", expect=4)
    assert "chunk c/1 of" in text and "(bytes 0-36)" in text and "stored crc32c" in text, text
    chunk.write_bytes(b"")
    text = zarr_tool.run("read", tmp_path, "a", tmp_path / "o.npy", expect=4)
    assert "0 bytes found, expected 36" in text, text
    text = zarr_tool.run("read", tmp_path, "b", tmp_path / "o.npy", expect=1)
    assert "there is no array" in text and "/b" in text, text
    metadata = json.loads((tmp_path / "a" / "zarr.json").read_text())
    metadata["codecs"].append({"name": "vlen-utf8"})
    (tmp_path / "a" / "zarr.json").write_text(json.dumps(metadata))
    text = zarr_tool.run("read", tmp_path, "a", tmp_path / "o.npy", expect=1)
    assert "codec 'vlen-utf8' is not supported" in text and text.count("\n") == 1, text


def test_the_same_elements_give_the_same_bytes_on_any_number_of_threads(tmp_path):
    elements = elements_of("uint16")
    create(tmp_path, "empty", "uint16", COMPRESSORS["blosc-zstd"], "end")
    metadata = json.loads((tmp_path / "empty" / "zarr.json").read_text())
    trees = []
    for threads in (1, 2, 7):
        zarr_tool.write(tmp_path, f"t{threads}", metadata, elements, threads)
        root = tmp_path / f"t{threads}"
        trees.append({str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()})
    assert trees[0] == trees[1] == trees[2]
