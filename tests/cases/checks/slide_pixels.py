"""Stored slides against what tifffile, Pillow or the maker's own arrays say that they are; read with zarr-python."""
import json
from pathlib import Path

import numpy as np
import tifffile
import zarr


def facts_of(store, image="s"):
    return json.loads((Path(store) / f"images/{image}/zarr.json").read_text())["attributes"]["headrace"]


def pixels_of(store, image="s"):
    return np.moveaxis(zarr.open_array(str(Path(store) / f"images/{image}/0"), mode="r")[:], 0, -1)


def tissue_of(store, image="s"):
    array = zarr.open_array(str(Path(store) / f"images/{image}/masks/tissue"), mode="r")
    mask = array[:] > 0
    step = array.attrs["headrace"]["downsample"]
    return np.kron(mask, np.ones((step, step), bool)), step


def is_as_expected(store, folder):
    np.testing.assert_array_equal(pixels_of(store), np.load(folder / "expected.npy"))


def is_as_tifffile_reads_it(store, folder):
    np.testing.assert_array_equal(pixels_of(store), tifffile.imread(folder / "slides/s.tif", key=0))


def is_white_where_missing(store, _folder):
    """JPEG: of the blocks that are not there."""
    pixels = pixels_of(store)
    assert (pixels[:128, :128] == 255).all() and (pixels[:128, 256:] == 255).all()
    assert (pixels[128:256, 128:256] < 200).any()


def is_quarter_micrometre(store, _folder):
    assert np.allclose(facts_of(store)["mpp"], [0.25, 0.25])


def is_anisotropic(store, _folder):
    assert np.allclose(facts_of(store)["mpp"], [0.5, 0.25])


def has_no_size(store, _folder):
    assert facts_of(store)["mpp"] is None


def has_the_profile(store, folder):
    stored = zarr.open_array(str(Path(store) / "images/s/icc_profile"), mode="r")[:]
    assert stored.tobytes() == (folder / "profile.icc").read_bytes()


def tissue_is_in_the_scan_alone(store, folder):
    """No tissue outside of what was scanned (two pixels of the mask aside), as much as there is inside."""
    tissue, step = tissue_of(store)
    scanned = np.load(folder / "scanned.npy")
    tissue = tissue[:scanned.shape[0], :scanned.shape[1]]
    edge = np.zeros_like(scanned)
    edge[2 * step:-2 * step, 2 * step:-2 * step] = True
    assert not tissue[~scanned].any()
    assert tissue.sum() > 0.6 * 300 * 300
    cells = zarr.open_array(str(Path(store) / "index/s"), mode="r")[:]
    assert 0 < cells[:, 2].sum() < 1.2 * 300 * 300, "the sampler's index holds the tissue alone"
    od = facts_of(store)["od_mean"]
    assert max(od) < 0.7, "black is not among the stain's pixels"


def labels_are_missing_as_background(store, folder):
    from checks.annotations import labels_of
    np.testing.assert_array_equal(labels_of(store, "s"), np.load(folder / "expected.npy")[..., 0])


def has_five_images(store, _folder):
    assert sorted(p.name for p in (Path(store) / "images").iterdir() if p.is_dir()) == ["1.2.840.77", "a", "b", "c", "noending"]


def is_blue_green_red(store, folder):
    np.testing.assert_array_equal(pixels_of(store), np.load(folder / "expected.npy")[..., ::-1])


def is_as_tifffile_reads_page_1(store, folder):
    np.testing.assert_array_equal(pixels_of(store), tifffile.imread(folder / "slides/s.tif", key=1))


def has_one_image(store, _folder):
    assert [p.name for p in (Path(store) / "images").iterdir() if p.is_dir()] == ["s"]
