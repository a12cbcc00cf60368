"""`headrace process`: against scikit-image and SciPy on real slides, the same bytes both ways, and what interrupted runs leave."""
import os
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
import tifffile
import zarr
from driving import PROGRAM, SAMPLES, headrace, json_of, message_of

SLIDE = SAMPLES / "slides/CMU-1-Small-Region.svs"
BIGTIFF = SAMPLES / "slides/derived/cmu-bigtiff-deflate-512.tif"
LZW = SAMPLES / "slides/derived/cmu-lzw-pred-256.tif"
JPEG = SAMPLES / "slides/derived/tcga-jpeg420-256.tif"


def objects(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def pixels(folder):
    return zarr.open_group(str(folder), mode="r")["0"][:]


def slide_pixels(path, size):
    """By OpenSlide, an independent reader."""
    import openslide
    slide = openslide.OpenSlide(path)
    return np.asarray(slide.read_region((0, 0), 0, slide.dimensions).convert("RGB"))[:size]


@pytest.mark.parametrize("source", [SLIDE, BIGTIFF, LZW, JPEG], ids=lambda p: p.name)
def test_sobel_of_a_slide_equals_scikit_image(tmp_path, source):
    from skimage.color import rgb2gray
    from skimage.filters import sobel
    headrace("process", "sobel", source, tmp_path / "out.zarr")
    found = pixels(tmp_path / "out.zarr")
    rgb = slide_pixels(SLIDE, None) if source == SLIDE else tifffile.imread(source, key=0)[..., :3]
    expected = sobel(rgb2gray(rgb))
    assert found.dtype == np.float32 and expected.max() > 0.2
    assert np.abs(found - expected).max() < 1e-6


def test_gaussian_of_a_slide_equals_scipy(tmp_path):
    from scipy.ndimage import gaussian_filter
    headrace("process", "gaussian", LZW, tmp_path / "out.zarr", "--sigma", 2.5, "--dtype", "float32")
    rgb = tifffile.imread(LZW, key=0).astype(np.float64) / 255
    for c in range(3):
        expected = gaussian_filter(rgb[..., c], 2.5, mode="reflect", truncate=4)
        assert np.abs(pixels(tmp_path / "out.zarr")[c] - expected).max() < 1e-6


def test_stain_amounts_are_scikit_images_up_to_its_logarithm(tmp_path):
    from skimage.color import hed_from_rgb
    headrace("process", "stain-separate", JPEG, tmp_path / "out.zarr")
    rgb = tifffile.imread(JPEG, key=0).astype(np.float64)
    amounts = -np.log10((rgb + 1) / 256) @ hed_from_rgb
    found = pixels(tmp_path / "out.zarr")
    assert found.shape[0] == 2
    for stain in range(2):
        assert np.abs(found[stain] - amounts[..., stain]).max() < 2e-5


def test_the_tissue_mask_follows_its_stated_threshold(tmp_path):
    found = json_of("process", "tissue-mask", SLIDE, tmp_path / "out.zarr")
    darkest = slide_pixels(SLIDE, None).min(axis=2)
    expected = darkest <= found["operation"]["highest_value"]
    assert 0.05 < expected.mean() < 0.95
    assert np.array_equal(pixels(tmp_path / "out.zarr"), expected.astype(np.uint8))


def test_normalize_moves_the_stains_to_the_reference(tmp_path):
    headrace("process", "normalize", SLIDE, tmp_path / "once.zarr", "--mode", "global")
    found = json_of("process", "stain-separate", tmp_path / "once.zarr", tmp_path / "he.zarr", "--stains", "macenko")
    stains = np.array(found["operation"]["stain_od_rgb_he"]).reshape(3, 2)
    reference = np.array([[.5626, .2159], [.7201, .8012], [.4062, .5581]])
    cosines = (stains * reference).sum(0) / np.linalg.norm(stains, axis=0) / np.linalg.norm(reference, axis=0)
    assert (cosines > 0.99).all(), stains


@pytest.mark.parametrize("operation", ["sobel", "gaussian", "tissue-mask"])
def test_both_modes_store_the_same_bytes(tmp_path, operation):
    headrace("process", operation, SLIDE, tmp_path / "global.zarr", "--mode", "global", "--threads", 2)
    expected = objects(tmp_path / "global.zarr")
    for tile, threads, isa in [(64, 1, "v1"), (333, 3, "v2"), (2048, 8, "v1")]:
        out = tmp_path / f"{tile}.zarr"
        headrace("--isa", isa, "process", operation, SLIDE, out, "--tile", tile, "--threads", threads, "--memory", 1024)
        assert objects(out) == expected, (tile, threads, isa)


def test_an_image_of_a_store_and_a_written_image_are_read(slide, tmp_path):
    name = json_of("info", slide)["images"][0]["id"]
    headrace("process", "save", slide, tmp_path / "copy.zarr", "--image", name, "--codec", "blosc-zstd")
    headrace("process", "sobel", slide, tmp_path / "a.zarr", "--image", name)
    headrace("process", "sobel", tmp_path / "copy.zarr", tmp_path / "b.zarr")
    assert np.array_equal(pixels(tmp_path / "a.zarr"), pixels(tmp_path / "b.zarr"))


def test_a_tiff_is_a_bigtiff_with_the_same_pixels(tmp_path):
    headrace("process", "normalize", LZW, tmp_path / "out.zarr")
    headrace("process", "normalize", LZW, tmp_path / "out.tif", "--chunk", 256)
    headrace("process", "sobel", LZW, tmp_path / "edges.zarr")
    headrace("process", "sobel", LZW, tmp_path / "edges.tif")
    with tifffile.TiffFile(tmp_path / "out.tif") as tiff:
        assert tiff.is_bigtiff and tiff.pages[0].is_tiled and tiff.pages[0].tilewidth == 256
        assert np.array_equal(tiff.asarray(), np.moveaxis(pixels(tmp_path / "out.zarr"), 0, -1))
    assert np.array_equal(tifffile.imread(tmp_path / "edges.tif"), pixels(tmp_path / "edges.zarr"))


def test_the_result_is_a_valid_ome_zarr_image(tmp_path):
    from ome_zarr_models.v05.image import Image
    headrace("process", "stain-separate", SLIDE, tmp_path / "out.zarr", "--chunk", 1024, "--codec", "zstd")
    image = Image.from_zarr(zarr.open_group(str(tmp_path / "out.zarr"), mode="r"))
    scale = image.ome_attributes.multiscales[0].datasets[0].coordinateTransformations[0].scale
    assert scale[1:] == pytest.approx([0.499, 0.499])


def test_a_killed_run_is_no_image_and_the_next_one_finishes_it(tmp_path):
    out = tmp_path / "out.zarr"
    command = [PROGRAM, "process", "gaussian", SLIDE, out, "--sigma", "12", "--chunk", "256", "--threads", "1"]
    for _ in range(3):
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while run.poll() is None and not (out / "0/c/0/1").exists():
            time.sleep(0.001)
        run.send_signal(signal.SIGKILL)
        run.wait(timeout=300)
    assert run.returncode == -signal.SIGKILL  # else it was done before: give it more to do
    with pytest.raises(KeyError):
        zarr.open_group(str(out), mode="r")["0"][:]
    text = message_of(headrace("process", "sobel", out, tmp_path / "other.zarr", code=4))
    assert "was not finished" in text and not (tmp_path / "other.zarr").exists()
    found = json_of(*command[1:])
    assert found["chunks"]["kept"] > 0
    headrace("process", "gaussian", SLIDE, tmp_path / "whole.zarr", "--sigma", 12, "--chunk", 256)
    assert objects(out) == objects(tmp_path / "whole.zarr")


def test_a_nearly_full_disk(small_disk, tmp_path):
    disk = small_disk(8)
    text = message_of(headrace("process", "sobel", SLIDE, disk / "out.zarr", code=1))
    assert "disk full" in text and re.search(r"0/c/\d+/\d+", text)
    assert "was not finished" in message_of(headrace("process", "sobel", disk / "out.zarr", tmp_path / "o.zarr", code=4))
    text = message_of(headrace("process", "sobel", SLIDE, disk / "out.tif", code=1))
    assert "out.tif" in text and not list(disk.glob("*.tif"))


def test_a_broken_tile_is_named_with_its_file(tmp_path):
    broken = tmp_path / "broken.tif"
    shutil.copy(JPEG, broken)
    with tifffile.TiffFile(broken) as tiff:
        page = tiff.pages[0]
        offset, across = page.dataoffsets[3], -(-page.imagewidth // page.tilewidth)
    with open(broken, "r+b") as file:
        file.seek(offset)
        file.write(b"\0" * 64)
    text = message_of(headrace("process", "sobel", broken, tmp_path / "out.zarr", code=4))
    assert "broken.tif" in text and f"tile row {3 // across}, column {3 % across}" in text
    assert "was not finished" in message_of(headrace("process", "save", tmp_path / "out.zarr", tmp_path / "x.zarr", code=4))
    headrace("process", "sobel", JPEG, tmp_path / "out.zarr")  # another source: begun anew, not continued
    headrace("process", "sobel", JPEG, tmp_path / "whole.zarr")
    assert objects(tmp_path / "out.zarr") == objects(tmp_path / "whole.zarr")


@pytest.mark.parametrize("arguments, words, code", [
    (["sobell", LZW, "o.zarr"], "did you mean 'sobel'", 2),
    (["sobel", LZW], "OUT", 2),
    (["load", LZW, "o.zarr"], "load stores nothing", 2),
    (["sobel", LZW, LZW], "IN and OUT at once", 2),
    (["sobel", LZW, "o.zarr", "--level", "7"], "levels 0 to", 2),
    (["sobel", LZW, "o.zarr", "--memory", "64"], "at least", 1),
    (["gaussian", LZW, "o.zarr", "--sigma", "99"], "--sigma 99", 2),
    (["sobel", LZW, "o.tif", "--codec", "zstd"], "without compression", 2),
    (["sobel", "absent.tif", "o.zarr"], "absent.tif", 1),
])
def test_what_cannot_be_is_said_in_one_sentence(tmp_path, arguments, words, code):
    text = message_of(headrace("process", *arguments, code=code, cwd=tmp_path))
    assert words in text
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.path.exists("/dev/nvidia0"), reason="not run: there is a GPU")
@pytest.mark.parametrize("arguments", [["load", LZW], ["save", LZW, "o.zarr"], ["sobel", LZW, "o.zarr", "--mode", "global"]])
def test_without_a_gpu_cuda_is_refused_in_one_sentence(tmp_path, arguments):
    run = subprocess.run([PROGRAM, "process", *map(str, arguments), "--device", "cuda"], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert run.returncode == 1
    text = message_of(run)
    assert "--device cuda: " in text and ("no GPU" in text or "this build has no CUDA" in text)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("arguments", [["--gpudirect", "on"], ["--gpudirect", "auto", "--device", "cpu"], ["--decode", "gpu"]])
def test_the_ways_to_a_gpu_need_one(tmp_path, arguments):
    text = message_of(headrace("process", "save", LZW, "o.zarr", "--mode", "global", *arguments, code=2, cwd=tmp_path))
    assert text.endswith(f"--{' '.join(arguments[:2])[2:]} needs --device cuda")
    assert os.listdir(tmp_path) == []


def test_load_reports_figures():
    found = json_of("process", "load", LZW)
    assert found["seconds"]["load"] > 0 and found["source_bytes"] == tifffile.imread(LZW, key=0).nbytes


def test_bench_prints_the_table_of_the_workflow(tmp_path):
    found = json_of("bench", "process", "--input", LZW, "--out", tmp_path / "out", "--threads", 2)
    cpu = {(r["mode"], r["threads"], r["chunk"]) for r in found["runs"] if r["device"] == "CPU"}
    assert cpu == {("tilewise", 1, 512), ("tilewise", 2, 512), ("global", 1, 512), *(("global", 2, c) for c in (256, 512, 1024, 2048))}
    assert all(r["whole_s"] > 0 and r["load_s"] > 0 and r["save_s"] > 0 for r in found["runs"])
    devices = {"CPU"} if "not_measured" in found["cuda"] else {"CPU", "GPU", "GPU + GPUDirect"}
    assert {r["device"] for r in found["runs"]} == devices
    table = headrace("bench", "process", "--input", LZW, "--out", tmp_path / "out", "--threads", 2).stdout.splitlines()
    rows = [line for line in table if line.startswith("| ")]
    assert {row.count("|") for row in rows} == {rows[0].count("|")} and len(rows) >= 5 + 2
    assert [row for row in rows if row.startswith("| GPU + GPUDirect | ")]
    assert not (tmp_path / "out").exists()
