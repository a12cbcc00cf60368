"""The tissue mask of real slides against scikit-image's Otsu, and where it must differ."""
import numpy as np
import pytest
from skimage.filters import threshold_otsu
from store_support import SLIDES, group, ingest


@pytest.fixture(scope="session")
def slides(tmp_path_factory):
    store = tmp_path_factory.mktemp("tissue") / "s.zarr"
    ingest(SLIDES / "CMU-1-Small-Region.svs", SLIDES / "TCGA-CR-7395-01A-01-TS1.svs", "--out", store, "--codec", "blosc-zstd")
    return store


@pytest.mark.parametrize("image", ["CMU-1-Small-Region", "TCGA-CR-7395-01A-01-TS1"])
def test_the_mask_agrees_with_otsus(slides, image):
    node = group(slides, image)
    mask = np.asarray(node["masks/tissue"]).astype(bool)
    level = int(np.log2(node["masks/tissue"].attrs["headrace"]["downsample"]))
    pixels = np.asarray(node[str(level)]).min(axis=0)
    density = -np.log10((pixels + 1.0) / 256)
    reference = density > min(threshold_otsu(density), 0.15)
    overlap = (mask & reference).sum() / (mask | reference).sum()
    # Opening, closing and small objects are what is left of the difference.
    assert overlap > 0.85, overlap


def test_a_blank_slide_has_no_tissue_and_a_crop_of_tissue_is_all_tissue(tmp_path):
    import imageio.v3 as iio
    rng = np.random.default_rng(1)
    glass = np.clip(rng.normal(243, 2, (600, 500, 3)), 0, 255).astype(np.uint8)
    iio.imwrite(tmp_path / "glass.png", glass)
    ingest(tmp_path / "glass.png", "--out", tmp_path / "g.zarr")
    facts = group(tmp_path / "g.zarr", "glass").attrs["headrace"]
    assert facts["tissue_fraction"] == 0 and facts["stain"] is None
    stroma = np.clip(rng.normal((200, 140, 180), 6, (600, 500, 3)), 0, 255).astype(np.uint8)
    stroma[::40, ::40] = (80, 40, 120)
    iio.imwrite(tmp_path / "stroma.png", stroma)
    ingest(tmp_path / "stroma.png", "--out", tmp_path / "t.zarr")
    assert group(tmp_path / "t.zarr", "stroma").attrs["headrace"]["tissue_fraction"] > 0.99


def test_ink_is_taken_out(tmp_path):
    import imageio.v3 as iio
    rng = np.random.default_rng(2)
    pixels = np.clip(rng.normal(243, 2, (600, 600, 3)), 0, 255).astype(np.uint8)
    pixels[100:400, 100:500] = np.clip(rng.normal((200, 140, 180), 6, (300, 400, 3)), 0, 255)
    pixels[500:540, 50:550] = (20, 150, 90)
    iio.imwrite(tmp_path / "pen.png", pixels)
    ingest(tmp_path / "pen.png", "--out", tmp_path / "p.zarr")
    node = group(tmp_path / "p.zarr", "pen")
    mask = np.asarray(node["masks/tissue"])
    assert mask[500:540, 50:550].sum() == 0 and mask[110:390, 110:490].all()
    assert node.attrs["headrace"]["pen_fraction"] > 0.05
