"""Foreign readers open a slide store and see OpenSlide's pixels at level 0, and the stated averages below it."""
import json

import numpy as np
import openslide
import pytest
import tensorstore
from store_support import SLIDES, group, halve, ingest

CMU = "CMU-1-Small-Region"
LEVELS = "cmu-aperio-style-4level"


def openslide_level(path, level=0):
    slide = openslide.OpenSlide(str(path))
    return np.asarray(slide.read_region((0, 0), level, slide.level_dimensions[level]).convert("RGB"))


@pytest.fixture(scope="session")
def blosc(tmp_path_factory):
    store = tmp_path_factory.mktemp("blosc") / "s.zarr"
    ingest(SLIDES / f"{CMU}.svs", SLIDES / "TCGA-CR-7395-01A-01-TS1.svs", "--out", store, "--codec", "blosc-zstd", "--shard", 1024)
    return store


@pytest.fixture(scope="session")
def copied(tmp_path_factory):
    store = tmp_path_factory.mktemp("copied") / "s.zarr"
    ingest(SLIDES / f"{CMU}.svs", SLIDES / f"derived/{LEVELS}.svs", "--out", store)
    return store


@pytest.mark.parametrize("image", [CMU, "TCGA-CR-7395-01A-01-TS1"])
def test_zarr_python_reads_openslides_pixels_and_their_averages(blosc, image):
    expected = openslide_level(SLIDES / f"{image}.svs")
    node = group(blosc, image)
    levels = node.attrs["ome"]["multiscales"][0]["datasets"]
    assert len(levels) >= 4
    if image != CMU:  # JPEG 2000, of which builds of OpenJPEG round a few values in ten million otherwise
        pixels = np.asarray(node["0"]).transpose(1, 2, 0)
        differs = np.abs(pixels.astype(int) - expected)
        assert differs.max() <= 1 and (differs > 0).sum() < 100
        expected = pixels
    for level in levels:
        np.testing.assert_array_equal(np.asarray(node[level["path"]]).transpose(1, 2, 0), expected)
        expected = halve(expected)


def test_tensorstore_reads_the_same(blosc):
    expected = openslide_level(SLIDES / f"{CMU}.svs")
    for level in range(3):
        array = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{blosc}/images/{CMU}/{level}"}}).result()
        assert array.domain.labels == ("c", "y", "x")
        np.testing.assert_array_equal(array.read().result().transpose(1, 2, 0), expected)
        expected = halve(expected)


def test_ome_zarr_py_reads_the_same(blosc):
    from ome_zarr.io import parse_url
    from ome_zarr.reader import Reader
    nodes = list(Reader(parse_url(f"{blosc}/images/{CMU}"))())
    data = nodes[0].data
    assert len(data) == 4 and [axis["name"] for axis in nodes[0].metadata["axes"]] == ["c", "y", "x"]
    np.testing.assert_array_equal(np.asarray(data[0]).transpose(1, 2, 0), openslide_level(SLIDES / f"{CMU}.svs"))


def test_copied_tiles_decode_to_openslides_pixels(copied):
    for image, path in ((CMU, SLIDES / f"{CMU}.svs"), (LEVELS, SLIDES / f"derived/{LEVELS}.svs")):
        node = group(copied, image)
        slide = openslide.OpenSlide(str(path))
        assert node.attrs["headrace"]["codec"] == "jpeg"
        for level in node.attrs["headrace"]["copied_levels"]:
            stored = np.asarray(node[str(level)]).transpose(1, 2, 0)
            same = slide.level_dimensions.index((stored.shape[1], stored.shape[0]))
            np.testing.assert_array_equal(stored, openslide_level(path, same))
    assert group(copied, LEVELS).attrs["headrace"]["copied_levels"] == [0, 1, 2, 3]


def test_levels_that_the_source_lacks_are_near_to_its_averages(copied):
    node = group(copied, CMU)
    expected = openslide_level(SLIDES / f"{CMU}.svs")
    for level in range(1, 4):
        expected = halve(expected)
        stored = np.asarray(node[str(level)]).transpose(1, 2, 0)
        assert stored.shape == expected.shape
        # JPEG of quality 90, 4:2:0: measured 1.9 to 2.6 on this slide.
        assert np.abs(stored.astype(int) - expected).mean() < 4


def test_the_metadata_is_ome_zarr(blosc):
    ome = json.loads((blosc / "images" / CMU / "zarr.json").read_text())["attributes"]["ome"]
    assert ome["version"] == "0.5"
    scales = [d["coordinateTransformations"][0]["scale"] for d in ome["multiscales"][0]["datasets"]]
    assert scales == [[1, 0.499 * 2**k, 0.499 * 2**k] for k in range(4)]
    assert [a.get("unit") for a in ome["multiscales"][0]["axes"]] == [None, "micrometer", "micrometer"]
