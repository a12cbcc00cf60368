"""headrace.tiffslide against tiffslide: the same pixels, facts and names; nothing private unless it is asked for."""
import io
import os
import pickle
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tifffile
import tiffslide
from driving import SAMPLES
from slides import CMU, NAMES, PYRAMID, SLIDES

import headrace as hr
import headrace.tiffslide as ours

# tiffslide reads no DICOM, and of NDPI it lacks levels that OpenSlide computes.
SAME_LEVELS = [path for path in SLIDES if path.suffix not in (".dcm", ".ndpi")]
IN_EVERY_SUITE = 147


def places(slide, count, seed):
    """(location, level, size): anywhere, outside, negative, between pixels."""
    rng = np.random.default_rng(seed)
    width, height = slide.dimensions
    for _ in range(count):
        yield (float(rng.uniform(-300, width + 200)), int(rng.integers(-300, height + 200))), int(rng.integers(slide.level_count)), (
            int(rng.integers(1, 400)), int(rng.integers(1, 400)))


@pytest.mark.filterwarnings("ignore:.*out-of-bounds")
@pytest.mark.parametrize("path", SAME_LEVELS, ids=lambda path: path.name)
def test_regions_are_the_same_at_any_place_and_level(path):
    most = 1 if "TCGA" in path.name else 0  # versions of OpenJPEG round a few values otherwise
    with tiffslide.TiffSlide(path) as theirs, ours.TiffSlide(path) as slide:
        count = theirs.level_count  # of a file with SVS's words but not its thumbnail tiffslide has level 0 alone
        assert slide.level_dimensions[:count] == theirs.level_dimensions and slide.level_downsamples[:count] == theirs.level_downsamples
        assert slide.level_count == count or path == PYRAMID
        for place in places(theirs, 30, 1):
            for padding in (True, False):
                expected = theirs.read_region(*place, as_array=True, padding=padding)
                got = slide.read_region(*place, as_array=True, padding=padding)
                assert got.dtype == expected.dtype and got.shape == expected.shape, place
                differs = np.abs(got.astype(int) - expected)
                assert differs.max(initial=0) <= most and np.count_nonzero(differs) <= 10, place
        image = slide.read_region((5, 6), 0, (70, 50))
        assert image.mode == theirs.read_region((5, 6), 0, (70, 50)).mode and image.size == (70, 50)
        assert np.array_equal(np.asarray(image), slide.read_region((5, 6), 0, (70, 50), as_array=True))


@pytest.mark.parametrize("path", SAME_LEVELS, ids=lambda path: path.name)
def test_facts_are_tiffslides(path):
    with tiffslide.TiffSlide(path) as theirs, ours.TiffSlide(path, private=True) as asked, ours.TiffSlide(path) as slide:
        said, expected = asked.properties, theirs.properties
        beyond = {name for name in said if "level[" in name and name not in expected}  # levels that tiffslide does not find
        assert set(said) - beyond == set(expected)
        for name, value in expected.items():
            unknown = said[name] is None and "tile-" in name
            assert said[name] == pytest.approx(value) or unknown or (value is None and "mpp-" in name), name  # OME-XML's is not read there
        numbers = {name: value for name, value in expected.items() if name.startswith("tiffslide.") and name != "tiffslide.comment"}
        assert set(numbers) <= set(slide.properties) and all(slide.properties[name] == said[name] for name in numbers)
        assert ours.TiffSlide.detect_format(path) == tiffslide.TiffSlide.detect_format(path)
        assert set(asked.associated_images) == set(theirs.associated_images)
        for name, image in theirs.associated_images.items():
            assert np.array_equal(np.asarray(asked.associated_images[name]), np.asarray(image)), name
        assert np.array_equal(slide.zarr_group["0"][10:110, 20:99], slide.read_region((20, 10), 0, (79, 100), as_array=True))


@pytest.mark.parametrize("path", SLIDES, ids=NAMES)
def test_what_may_name_a_patient_is_given_only_on_request(path):
    with ours.TiffSlide(path) as slide:
        properties = slide.properties
        assert slide.associated_images == {} and properties["tiffslide.comment"] is None
        assert not any(isinstance(value, str) and len(value) > 20 for value in properties.values())
        assert all(name.startswith("tiffslide.") or name in ("aperio.AppMag", "aperio.MPP") for name in properties)
        with pytest.raises(hr.UsageError, match="private=True"):
            slide.ts_tifffile
        if path == CMU:
            assert np.array_equal(np.asarray(slide.get_thumbnail((90, 90), use_embedded=True)), np.asarray(slide.get_thumbnail((90, 90))))


def test_the_embedded_thumbnail_is_taken_where_it_is_enough():
    with ours.TiffSlide(CMU, private=True) as slide, tiffslide.TiffSlide(CMU) as theirs:
        for size in ((200, 200), (90, 700), (2000, 2000)):
            expected, got = theirs.get_thumbnail(size, use_embedded=True), slide.get_thumbnail(size, use_embedded=True)
            assert got.size == expected.size
            if size != (90, 700):  # tiffslide compares sizes as tuples, and takes one that is too low
                assert np.array_equal(np.asarray(got), np.asarray(expected))
        with pytest.raises(IndexError):
            slide.read_region((0, 0), 7, (4, 4), padding=False)
        with pytest.raises(hr.UsageError, match="negative"):
            slide.read_region((0, 0), 0, (-4, 4))


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """16 bits, one channel, two levels: no slide for Headrace's reader."""
    path = tmp_path_factory.mktemp("deep") / "deep.tif"
    pixels = np.random.default_rng(3).integers(0, 60000, (700, 900), np.uint16)
    with tifffile.TiffWriter(path) as tiff:
        options = {"tile": (128, 128), "photometric": "minisblack", "resolutionunit": "CENTIMETER"}
        tiff.write(pixels, subifds=1, resolution=(20000, 40000), **options)
        tiff.write(pixels[::2, ::2], subfiletype=1, **options)
    return path


@pytest.mark.filterwarnings("ignore:.*out-of-bounds")
def test_what_headrace_refuses_is_read_by_tifffile(deep):
    with pytest.raises(hr.OpenSlideError, match="16 bits"):
        hr.OpenSlide(deep)
    with tiffslide.TiffSlide(deep) as theirs, ours.TiffSlide(deep) as slide, ours.TiffSlide(io.BytesIO(deep.read_bytes())) as of_bytes:
        assert slide.properties["tiffslide.mpp-x"] == 0.5 and slide.properties["tiffslide.mpp-y"] == 0.25
        asked = list(places(theirs, 20, 2))
        expected = [theirs.read_region(*place, as_array=True) for place in asked]
        for one in (slide, of_bytes, pickle.loads(pickle.dumps(slide))):
            with ThreadPoolExecutor(4) as pool:
                got = list(pool.map(lambda place, one=one: one.read_region(*place, as_array=True), asked))
            assert all(np.array_equal(a, b) and a.dtype == np.uint16 for a, b in zip(got, expected, strict=True))
        assert slide.read_region((0, 0), 0, (30, 30)).mode == theirs.read_region((0, 0), 0, (30, 30)).mode
        with pytest.raises(hr.UnsupportedError, match="tifffile"):
            slide.read_regions([((0, 0), 0, (30, 30))])


@pytest.mark.filterwarnings("ignore:.*out-of-bounds")
def test_many_regions_at_once_and_white():
    with ours.TiffSlide(PYRAMID) as slide, hr.OpenSlide(PYRAMID) as other:
        specs = [((x, 300), 1, (64, 64)) for x in range(-64, 900, 100)]
        assert np.array_equal(slide.read_regions(specs), other.read_regions(specs))
        assert (slide.read((-64, 300), 1, (16, 16)) == 255).all() and not slide.read_region((-64, 300), 1, (16, 16), as_array=True).any()
        assert np.array_equal(hr.read_regions([(slide, *specs[2])]), other.read_regions([specs[2]]))


def test_closed_slides_and_copies():
    slide = ours.TiffSlide(CMU, private=True)
    again = pickle.loads(pickle.dumps(slide))
    assert again.properties == slide.properties and repr(again) == repr(slide) == f"TiffSlide({str(CMU)!r})"
    slide.close()
    slide.close()
    for use in (lambda: slide.dimensions, lambda: slide.read_region((0, 0), 0, (4, 4)), lambda: slide.read((0, 0), 0, (4, 4))):
        with pytest.raises(hr.UsageError, match="closed"):
            use()


def test_the_module_has_tiffslides_names():
    names = {name for name in dir(tiffslide) if name.startswith("PROPERTY_NAME_")}
    assert names and all(getattr(ours, name) == getattr(tiffslide, name) for name in names)
    for name in dir(tiffslide.TiffSlide):
        assert name.startswith("_") or hasattr(ours.TiffSlide, name), name
    for name in ("OpenSlide", "ImageSlide", "OpenSlideError", "OpenSlideUnsupportedFormatError"):
        with pytest.warns(UserWarning, match=name):
            assert getattr(ours, name).__name__ == getattr(tiffslide, name).__name__
    for name in ("AbstractSlide", "nothing"):
        with warnings.catch_warnings(), pytest.raises(AttributeError):
            warnings.simplefilter("ignore")
            getattr(ours, name)
    assert issubclass(ours.TiffFileError, (tiffslide.TiffFileError, ValueError)) and issubclass(ours.TiffFileError, hr.OpenSlideError)


def test_pictures_and_what_is_no_slide(tmp_path):
    picture = next((SAMPLES / "nuclei/images").glob("*.png"))
    with ours.open_slide(picture) as slide:
        assert isinstance(slide, ours.NotTiffSlide) and slide.level_count == 1 and slide.associated_images == {}
        with tiffslide.open_slide(picture) as theirs:
            expected = theirs.read_region((9, 7), 0, (60, 50), as_array=True)
        assert np.array_equal(slide.read_region((9, 7), 0, (60, 50), as_array=True), expected[..., :3])
        with pytest.raises(hr.UnsupportedError, match="no TIFF"):
            slide.zarr_group
    for open_it in (ours.TiffSlide, ours.open_slide):
        with pytest.raises(tiffslide.TiffFileError, match=r"README\.md"):
            open_it(SAMPLES / "README.md")
        with pytest.raises(FileNotFoundError, match="none.svs"):
            open_it(tmp_path / "none.svs")
    with pytest.raises(ours.TiffFileError, match="is a slide"):
        ours.NotTiffSlide(CMU)
    assert ours.TiffSlide.detect_format(picture) is None and ours.NotTiffSlide.detect_format(picture) == "png"


def test_slides_need_neither_tifffile_nor_fsspec():
    script = ("import sys; sys.modules.update(dict.fromkeys(('fsspec', 'tifffile', 'zarr', 'imagecodecs')))\n"
              "import headrace.tiffslide\n"
              f"slide = headrace.tiffslide.TiffSlide({str(CMU)!r})\n"
              "assert slide.read_region((5, 5), 0, (40, 30), as_array=True).shape == (30, 40, 3)\n"
              "assert slide.properties['tiffslide.vendor'] == 'aperio' and issubclass(headrace.tiffslide.TiffFileError, ValueError)\n"
              "try: slide.zarr_group\n"
              "except headrace.UnsupportedError as error: assert 'headrace[tiffslide]' in str(error)\n"
              "else: raise SystemExit('a group without tifffile')")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == done.stderr == ""


def test_tiffslides_own_tests_pass():
    folder = Path(os.environ.get("TIFFSLIDE_TESTS", Path(sys.prefix) / "suites/tiffslide"))
    if not folder.is_dir():
        pytest.skip("not run: tools/deps/install.sh test unpacks the tests of tiffslide's source archive; TIFFSLIDE_TESTS may name another folder")
    done = subprocess.run([sys.executable, Path(__file__).with_name("tiffslide_suite.py"), folder], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    passed, failed = re.search(r"^(\d+) passed, (\d+) failed", done.stdout.splitlines()[-1]).groups()
    assert (int(passed), int(failed)) == (IN_EVERY_SUITE, 0), done.stdout
