"""A full disk from Python: an exception of the right class, no half-written object, an interpreter that goes on."""
import json

import numpy as np
import pytest
import tifffile

import headrace


def test_an_ingest_on_a_full_disk(tmp_path, small_disk):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "abc":  # 3 MiB each, which noise keeps
        pixels = np.random.default_rng(ord(name)).integers(0, 256, (1024, 1024, 3), dtype=np.uint8)
        tifffile.imwrite(folder / f"{name}.tif", pixels, tile=(256, 256), photometric="rgb", resolution=(20000, 20000), resolutionunit="CENTIMETER")
    expected = headrace.ingest_slides(folder, tmp_path / "whole.zarr", codec="blosc-zstd")["dataset_hash"]
    store = small_disk(8) / "s.zarr"
    for _ in range(2):
        with pytest.raises(headrace.StorageError, match="disk full") as caught:
            headrace.ingest_slides(folder, store, codec="blosc-zstd")
        assert isinstance(caught.value, OSError) and str(store) in str(caught.value)
    finished = {json.loads(path.read_text())["id"] for path in store.glob(".ingest/done/*.json")}
    assert {path.name for path in (store / "images").glob("*")} == finished < {"a", "b", "c"}
    small_disk(100)
    assert headrace.ingest_slides(folder, store, codec="blosc-zstd")["dataset_hash"] == expected
    assert headrace.verify(store)["ok"]


def test_processing_on_a_full_disk(tmp_path, small_disk):
    source = tmp_path / "in.tif"
    pixels = np.random.default_rng(0).integers(0, 256, (2048, 2048, 3), dtype=np.uint8)
    tifffile.imwrite(source, pixels, tile=(256, 256), photometric="rgb", resolution=(20000, 20000), resolutionunit="CENTIMETER")
    out = small_disk(2) / "out.zarr"
    with pytest.raises(headrace.StorageError, match="disk full"):
        headrace.process(source, out, "gaussian", sigma=1)
    small_disk(100)
    headrace.process(source, out, "gaussian", sigma=1)
    headrace.process(source, tmp_path / "out.zarr", "gaussian", sigma=1)
    files = sorted(path.relative_to(out) for path in out.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(tmp_path / "out.zarr") for path in (tmp_path / "out.zarr").rglob("*") if path.is_file())
    assert all((out / path).read_bytes() == (tmp_path / "out.zarr" / path).read_bytes() for path in files)
