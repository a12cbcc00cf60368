"""Many regions at once: the pixels of read(), for files and stores, several slides, any threads; what is wrong is said."""
import threading

import numpy as np
import pytest
from driving import SAMPLES, headrace
from slides import CMU, NAMES, PYRAMID, SLIDES, damage, wide_pyramid

import headrace as hr


def specs_of(slide, count, size, seed):
    """Random places on random levels, some outside, some twice, some overlapping."""
    rng = np.random.default_rng(seed)
    width, height = slide.dimensions
    specs = [((int(rng.integers(-2 * size[0], width + size[0])), int(rng.integers(-2 * size[1], height + size[1]))),
              int(rng.integers(slide.level_count)), size) for _ in range(count)]
    return specs + specs[:3] + [((x + 7, y - 5), level, size) for (x, y), level, size in specs[:5]]


@pytest.mark.parametrize("path", SLIDES, ids=NAMES)
@pytest.mark.parametrize("size", [(200, 130), (31, 300), (1, 1)])
def test_regions_are_what_read_gives(path, size):
    with hr.OpenSlide(path) as slide:
        specs = specs_of(slide, 25, size, 1)
        regions = slide.read_regions(specs)
        assert regions.shape == (len(specs), size[1], size[0], 3) and regions.dtype == np.uint8
        for spec, region in zip(specs, regions, strict=True):
            assert np.array_equal(region, slide.read(*spec)), spec


def test_every_window_of_a_tile_has_the_pixels_of_the_whole_tile():
    """Only the needed part of a tile is decoded: windows of each size at each edge."""
    with hr.OpenSlide(PYRAMID) as slide:
        whole = slide.read((0, 0), 0, (960, 960))
        for size in ((1, 1), (2, 3), (17, 16), (33, 250), (239, 241)):
            specs = [((x, y), 0, size) for x in range(230, 262, 5) for y in range(228, 260, 7)]
            for (location, _, (w, h)), region in zip(specs, slide.read_regions(specs), strict=True):
                assert np.array_equal(region, whole[location[1]:location[1] + h, location[0]:location[0] + w])


def test_several_slides_in_one_call(tmp_path):
    other = wide_pyramid(tmp_path / "wide.tif")
    with hr.OpenSlide(CMU) as a, hr.OpenSlide(PYRAMID) as b, hr.OpenSlide(other) as c:
        rng = np.random.default_rng(5)
        specs = [((a, b, c)[int(rng.integers(3))], (int(rng.integers(2000)), int(rng.integers(2000))), 0, (96, 64)) for _ in range(40)]
        for (slide, *spec), region in zip(specs, hr.read_regions(specs), strict=True):
            assert np.array_equal(region, slide.read(*spec))


@pytest.mark.parametrize("codec", ["jpeg", "blosc-zstd"])
def test_regions_of_a_store(tmp_path, codec):
    headrace("ingest", "slides", PYRAMID, "--out", tmp_path / "s.zarr", "--codec", codec)
    with hr.OpenSlide(f"{tmp_path / 's.zarr'}::{PYRAMID.stem}") as slide, hr.OpenSlide(PYRAMID) as file:
        specs = specs_of(slide, 30, (120, 90), 2)
        for spec, region in zip(specs, slide.read_regions(specs), strict=True):
            assert np.array_equal(region, slide.read(*spec)), spec
            if spec[1] == 0:
                assert np.array_equal(region, file.read(*spec))


def test_threads_do_not_change_a_byte():
    with hr.OpenSlide(PYRAMID) as slide:
        specs = specs_of(slide, 40, (128, 128), 3)
        expected = slide.read_regions(specs, threads=1)
        assert np.array_equal(slide.read_regions(specs, threads=3), expected)
        got = [None] * 4

        def work(k):
            got[k] = slide.read_regions(specs)

        workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(120)
        assert all(np.array_equal(regions, expected) for regions in got)


def test_out_is_filled_and_given_back():
    with hr.OpenSlide(CMU) as slide:
        specs = specs_of(slide, 6, (50, 40), 4)
        out = np.full((len(specs), 40, 50, 3), 7, np.uint8)
        assert slide.read_regions(specs, out) is out
        assert np.array_equal(out, slide.read_regions(specs))
        wider = np.zeros((len(specs), 40, 60, 3), np.uint8)
        frozen = out.copy()
        frozen.flags.writeable = False
        for wrong, why in ((out[1:], r"found \("), (out.astype(np.int8), "int8"), (wider[:, :, :50], "no gaps"), (frozen, "written to"),
                           (out.tolist(), "list")):
            with pytest.raises(hr.UsageError, match=why):
                slide.read_regions(specs, wrong)


def test_nothing_asked_for_is_an_empty_array():
    with hr.OpenSlide(CMU) as slide:
        assert slide.read_regions([]).shape == (0, 0, 0, 3)
        assert slide.read_regions([((0, 0), 0, (0, 4))]).shape == (1, 4, 0, 3)


def test_what_is_wrong_is_said(tmp_path):
    x, y = damage(CMU, tmp_path / "damaged.svs")
    with hr.OpenSlide(tmp_path / "damaged.svs") as slide:
        with pytest.raises(hr.CorruptError, match="tile row 3, column 2.*damaged.svs"):
            slide.read_regions([((0, 0), 0, (20, 20)), ((x, y), 0, (20, 20))])
        assert slide.read_regions([((0, 0), 0, (20, 20))]).std() > 0  # the others go on
        with pytest.raises(hr.UsageError, match="one size"):
            slide.read_regions([((0, 0), 0, (20, 20)), ((0, 0), 0, (20, 21))])
        with pytest.raises(hr.UsageError, match="level 4"):
            slide.read_regions([((0, 0), 4, (20, 20))])
        with pytest.raises(hr.UsageError, match="negative"):
            slide.read_regions([((0, 0), 0, (-20, 20))])
        with pytest.raises(hr.UsageError, match="whole numbers"):
            slide.read_regions([((0, 0.5), 0, (20, 20))])
    with pytest.raises(hr.UsageError, match="closed"):
        slide.read_regions([((0, 0), 0, (20, 20))])


def test_a_png_is_read_through_a_store_alone():
    with pytest.raises(hr.OpenSlideUnsupportedFormatError):
        hr.OpenSlide(next((SAMPLES / "nuclei/images").glob("*.png")))
