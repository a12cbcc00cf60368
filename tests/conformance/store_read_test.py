"""`headrace read` gives exactly the stored pixels, of a store and of a slide file, inside and outside of the image."""

import imageio.v3 as iio
import numpy as np
import openslide
import pytest
from driving import SAMPLES, headrace
from store_support import SLIDES, group, ingest

SLIDE = SLIDES / "derived/cmu-aperio-style-4level.svs"
NAME = SLIDE.stem


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("read") / "s.zarr"
    ingest(SLIDE, "--out", path)
    return path


def read(*arguments, code=0):
    return headrace("read", *arguments, code=code).stderr


def window(level, y, x, h, w):
    """Cut from the whole level: OpenSlide places other origins by a factor that is not quite 2^k, and interpolates."""
    slide = openslide.OpenSlide(str(SLIDE))
    whole = np.asarray(slide.read_region((0, 0), level, slide.level_dimensions[level]).convert("RGB"))
    padded = np.pad(whole, ((100, 100), (100, 100), (0, 0)), constant_values=255)
    return padded[y + 100:y + 100 + h, x + 100:x + 100 + w]


@pytest.mark.parametrize("level,y,x,h,w", [(0, 100, 200, 300, 400), (0, 0, 0, 2967, 2220), (1, 700, 500, 257, 129), (2, -20, -30, 100, 100)])
def test_store_and_file_give_openslides_pixels(store, tmp_path, level, y, x, h, w):
    place = ("--level", level, f"--origin={y},{x}", f"--size={h},{w}", "--out", tmp_path / "p.npy")
    expected = window(level, y, x, h, w)
    for source in ((store, NAME), (SLIDE,)):
        read(*source, *place)
        np.testing.assert_array_equal(np.load(tmp_path / "p.npy"), expected)


def test_png_holds_the_same_pixels(store, tmp_path):
    read(store, NAME, "--level", 3, "--origin", "5,6", "--size", "50,60", "--out", tmp_path / "p.png")
    stored = np.asarray(group(store, NAME)["3"]).transpose(1, 2, 0)
    np.testing.assert_array_equal(iio.imread(tmp_path / "p.png"), stored[5:55, 6:66])


@pytest.mark.parametrize("codec", ["zstd", "jpeg"])
def test_other_codecs_read_back(tmp_path, codec):
    image = SAMPLES / "nuclei/images/dsb_00ae65c1c663.png"
    ingest(image, "--out", tmp_path / "c.zarr", "--codec", codec)
    read(tmp_path / "c.zarr", image.stem, "--origin", "0,0", "--size", "256,320", "--out", tmp_path / "p.npy")
    difference = np.abs(np.load(tmp_path / "p.npy").astype(int) - iio.imread(image)[..., :3])
    assert difference.max() == 0 if codec == "zstd" else 0 < difference.mean() < 4


def test_what_is_not_there_is_said(store, tmp_path):
    place = ("--origin", "0,0", "--size", "9,9", "--out", tmp_path / "p.npy")
    assert f"'{NAME}'" in read(store, NAME[:-1], *place, code=1)
    assert "levels 0 to 3" in read(store, NAME, "--level", 4, *place, code=2)
    assert ".png" in read(store, NAME, *place[:-1], tmp_path / "p.gif", code=2)
    assert not list(tmp_path.iterdir())
