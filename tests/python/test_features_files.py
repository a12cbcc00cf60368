"""Files of features: as CLAM, TRIDENT and zarr-python read them; complete or absent, kept, and never mixed with those of other settings."""
import errno
import functools
import json
import os
import signal
import subprocess
import sys

import h5py
import numpy as np
import openslide
import pytest
import tifffile
import torch
import zarr
from batches import child_environment
from driving import SAMPLES
from feature_networks import Pixels, as_bytes, read_h5, small_network
from slides import CMU, PYRAMID, damage, on_white

import headrace as hr

JPEG = SAMPLES / "slides/derived/tcga-jpeg420-256.tif"
NDPI = SAMPLES / "slides/hamamatsu-DAPI-387.ndpi"
BLANK = SAMPLES / "tissue/no-tissue.png"

# The features are those of one patch at a time, so they don't go by what else is in a batch.
KILLED = """
import os, signal, sys
import headrace, torch
from feature_networks import small_network

network, left, rename = small_network(), int(sys.argv[2]), os.rename

class Killed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.network = network

    def forward(self, patches):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.cat([self.network(patch[None]) for patch in patches])

def killed(part, path):
    os.kill(os.getpid(), signal.SIGKILL)

if left < 0:
    os.rename = killed
headrace.features(sys.argv[3:], Killed(), sys.argv[1], batch=8, name="killed", layout=os.environ["LAYOUT"])
"""
SLIDES = [JPEG, CMU, PYRAMID]


def run_until_killed(out, left, layout="h5", code=-signal.SIGKILL):
    """One call in a Python of its own, killed in batch `left`, at the first file (-1), or never (0)."""
    environment = child_environment() | {"LAYOUT": layout}
    environment["PYTHONPATH"] += os.pathsep + os.path.dirname(__file__) + os.pathsep + os.path.dirname(__file__) + "/../cli"
    done = subprocess.run([sys.executable, "-c", KILLED, out, str(left), *map(str, SLIDES)], capture_output=True, text=True, timeout=300,
                          env=environment)
    assert done.returncode == code, done.stderr


def test_tridents_reader_gets_its_attributes(tmp_path):
    """TRIDENT reads features, coords and the attributes of coords; WSIPatcher makes the size on level 0 of the magnifications."""
    for slide, options in ((CMU, {}), (CMU, {"mpp": 1.3, "step": 200}), (NDPI, {"mpp": 1.0, "patch": 128})):
        out = tmp_path / f"{slide.stem}-{len(options)}"
        features, coords, attributes = read_h5(*hr.features(slide, small_network(), out, **options)["files"].values())
        assert features.dtype == np.float32 and coords.dtype.kind == "i" and coords.shape == (len(features), 2)
        patch, mpp = options.get("patch", 256), 0.499 if slide == CMU and not options else options["mpp"]
        with openslide.OpenSlide(slide) as opened:
            own = float(opened.properties["openslide.mpp-x"])
            assert (attributes["level0_width"], attributes["level0_height"]) == opened.dimensions
        assert attributes["name"] == slide.stem and attributes["patch_size"] == patch
        assert attributes["overlap"] == patch - options.get("step", patch)
        assert attributes["level0_magnification"] == (20 if slide == CMU else 40)
        by_patcher = round(patch * attributes["level0_magnification"] / attributes["target_magnification"])
        assert attributes["patch_size_level0"] == by_patcher == round(patch * mpp / own)


def test_clams_reader_sees_the_pixels_that_the_encoder_saw(tmp_path):
    """CLAM's Whole_Slide_Bag_FP reads patch_level and patch_size of coords, and the slide at each of coords."""
    for mpp in (0.5, 1.0):
        out = tmp_path / str(mpp)
        report = hr.features(JPEG, Pixels(), out, mpp=mpp, patch=112, mean=(0, 0, 0), std=(1, 1, 1))
        features, coords, attributes = read_h5(*report["files"].values())
        assert len(coords)
        with openslide.OpenSlide(JPEG) as slide:
            size = (int(attributes["patch_size"]),) * 2
            for place, seen in zip(coords, as_bytes(features, 112), strict=True):
                expected = on_white(slide.read_region(tuple(place), attributes["patch_level"], size))
                assert np.abs(seen - expected).max() < 1e-3


def test_zarr_has_the_same_arrays(tmp_path):
    """As zarr-python reads them."""
    options = dict(patch=32, step=20, tissue=0.5)
    (flat,) = hr.features(JPEG, small_network(), tmp_path / "h5", **options)["files"].values()
    expected = read_h5(flat)
    (path,) = hr.features(JPEG, small_network(), tmp_path / "zarr", layout="zarr", **options)["files"].values()
    group = zarr.open_group(path, mode="r")
    assert np.array_equal(group["features"][:], expected[0]) and np.array_equal(group["coords"][:], expected[1])
    assert group["features"].dtype == np.float32 and group["coords"].dtype == np.int64
    attributes = {key: value.item() if hasattr(value, "item") else value for key, value in expected[2].items()}
    assert dict(group["coords"].attrs) == attributes
    with h5py.File(flat) as file:
        assert {**json.loads(file.attrs["headrace"]), "layout": "zarr"} == group.attrs["headrace"]


def test_many_rows_lie_in_several_chunks(tmp_path):
    (path,) = hr.features(JPEG, lambda patches: patches.mean((2, 3)), tmp_path, patch=8, step=10, tissue=None, layout="zarr", batch=512,
                          name="means")["files"].values()
    group = zarr.open_group(path, mode="r")
    assert group["features"].shape == (90 * 90, 3) and group["features"].chunks[0] < 90 * 90
    (same,) = hr.features(JPEG, lambda patches: patches.mean((2, 3)), tmp_path / "h5", patch=8, step=10, tissue=None, batch=512,
                          name="means")["files"].values()
    assert np.array_equal(group["features"][:], read_h5(same)[0]) and np.array_equal(group["coords"][:], read_h5(same)[1])


@pytest.mark.parametrize("layout", ["h5", "zarr"])
def test_slides_without_tissue_are_empty(layout, tmp_path):
    """As TRIDENT has them: (0, d) and (0, 2); d is known without a single patch, too."""
    for number, slides in enumerate(([BLANK], [BLANK, JPEG])):
        report = hr.features(slides, small_network(), tmp_path / str(number), slide_mpp=0.5, layout=layout)
        path = report["files"][BLANK.stem]
        arrays = read_h5(path)[:2] if layout == "h5" else [zarr.open_group(path, mode="r")[name][:] for name in ("features", "coords")]
        assert arrays[0].shape == (0, 32) and arrays[0].dtype == np.float32 and arrays[1].shape == (0, 2)


def test_slides_without_tissue_do_not_stay_open(tmp_path):
    slides = [tmp_path / f"{k}.tif" for k in range(20)]
    for path in slides:
        tifffile.imwrite(path, np.full((300, 300, 3), 255, np.uint8), tile=(256, 256), photometric="rgb", compression="jpeg")
    most = []

    def shown(*_):
        most.append(sum(os.path.realpath(f"/proc/self/fd/{fd}").endswith(".tif") for fd in os.listdir("/proc/self/fd")))

    report = hr.features([*slides, JPEG], small_network(), tmp_path / "out", slide_mpp=0.5, progress=shown)
    assert report["slides"] == 21 and list(report["files"]) == [*(path.stem for path in slides), JPEG.stem]
    assert max(most) < 10


@pytest.mark.parametrize("layout", ["h5", "zarr"])
@pytest.mark.parametrize("left", [-1, 2, 12])
def test_a_killed_call_is_finished_by_the_same_call(layout, left, tmp_path):
    """With the bytes of an undisturbed one; files that were finished are not touched."""
    run_until_killed(tmp_path / "whole", 0, layout, 0)
    run_until_killed(tmp_path / "killed", left, layout)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").iterdir() if not path.name.startswith(".")}
    assert len([path for path in kept if path.suffix == f".{layout}"]) == {-1: 0, 2: 0, 12: 2}[left]
    run_until_killed(tmp_path / "killed", 0, layout, 0)
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    whole, got = ({str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
                  for out in (tmp_path / "whole", tmp_path / "killed"))
    assert got == whole and len(whole) >= 4


def test_finished_slides_are_kept_and_new_ones_added(tmp_path):
    network = small_network()
    assert hr.features([CMU], network, tmp_path)["slides"] == 1
    before = (tmp_path / f"{CMU.stem}.h5").stat()
    report = hr.features([CMU, JPEG], network, tmp_path)
    assert (report["slides"], report["kept"]) == (1, 1) and set(report["files"]) == {CMU.stem, JPEG.stem}
    after = (tmp_path / f"{CMU.stem}.h5").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


@pytest.mark.parametrize(("options", "what"), [
    ({"patch": 128}, "patch 256, this call 128"), ({"mpp": 1.0}, "mpp 0.5, this call 1.0"), ({"step": 100}, "step 256, this call 100"),
    ({"tissue": 0.3}, "tissue 0.1, this call 0.3"), ({"tissue": None}, "tissue 0.1, this call None"),
    ({"mean": (0, 0, 0)}, "mean"), ({"transform": lambda patches: patches / 255}, "transform"),
    ({"autocast": "bfloat16"}, "autocast None, this call 'bfloat16'"), ({"name": "other"}, "name 'Sequential', this call 'other'"),
    ({"layout": "zarr"}, "layout 'h5', this call 'zarr'"), ({"slide_mpp": 0.25}, "slide_mpp None, this call 0.25")])
def test_other_settings_are_refused_by_name(options, what, tmp_path):
    hr.features(JPEG, small_network(), tmp_path)
    with pytest.raises(hr.UsageError, match=what):
        hr.features(CMU, small_network(), tmp_path, **options)
    assert not (tmp_path / f"{CMU.stem}.h5").exists()


def test_other_arguments_of_a_transform_are_refused(tmp_path):
    """Its text has an address, which is another one in each process; the rest of the text counts."""
    def divided(patches, by):
        return patches / by

    hr.features(JPEG, small_network(), tmp_path, transform=functools.partial(divided, by=255))
    assert hr.features(JPEG, small_network(), tmp_path, transform=functools.partial(divided, by=255))["kept"] == 1
    with pytest.raises(hr.UsageError, match="transform .*by=255.*by=1"):
        hr.features(JPEG, small_network(), tmp_path, transform=functools.partial(divided, by=1))
    assert "0x" not in (tmp_path / "headrace-features.json").read_text()


def test_other_weights_are_refused(tmp_path):
    network = small_network()
    hr.features(JPEG, network, tmp_path)
    with torch.no_grad():
        network[0].bias[3] += 1e-6
    with pytest.raises(hr.UsageError, match="network_sha256"):
        hr.features(JPEG, network, tmp_path)
    network = small_network()
    network[1].running_mean[0] = 1  # a buffer
    with pytest.raises(hr.UsageError, match="network_sha256"):
        hr.features(JPEG, network, tmp_path)


def test_settings_count_from_the_first_file_on(tmp_path):
    """What a call asked for that made nothing does not bind the next one."""
    with pytest.raises(hr.UsageError, match="finest pixels"):
        hr.features(JPEG, small_network(), tmp_path, mpp=0.1)
    assert hr.features(JPEG, small_network(), tmp_path, mpp=0.5)["slides"] == 1


def test_a_file_that_is_not_ours_or_of_another_slide_is_refused(tmp_path):
    slide = tmp_path / "a.tif"
    slide.write_bytes(JPEG.read_bytes())
    out = tmp_path / "out"
    hr.features(slide, small_network(), out)
    slide.write_bytes(JPEG.read_bytes() + b"\0")
    with pytest.raises(hr.UsageError, match=r"a\.h5.*bytes"):
        hr.features(slide, small_network(), out)
    with h5py.File(out / "a.h5", "w") as file:
        file["features"], file["coords"] = np.zeros((1, 32)), np.zeros((1, 2))
    with pytest.raises(hr.UsageError, match=r"a\.h5: was not made by features"):
        hr.features(slide, small_network(), out)
    (out / "a.h5").write_bytes(b"no HDF5")
    with pytest.raises(hr.StorageError, match=r"a\.h5: can't be read.*remove it"):
        hr.features(slide, small_network(), out)
    report = hr.features([slide, CMU], small_network(), out, on_error="skip")
    assert report["slides"] == 1 and "a.h5" in report["skipped"][0]["reason"]
    (out / "headrace-features.json").write_text("[]")
    with pytest.raises(hr.UsageError, match="is not what a call of features wrote"):
        hr.features(slide, small_network(), out)


def test_disks_without_links(tmp_path, monkeypatch):
    """Network file systems and FAT refuse them; settings are remembered all the same."""
    def refused(*_):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "link", refused)
    assert hr.features(JPEG, small_network(), tmp_path)["slides"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["headrace-features.json", f"{JPEG.stem}.h5"]
    with pytest.raises(hr.UsageError, match="patch 256, this call 128"):
        hr.features(JPEG, small_network(), tmp_path, patch=128)


@pytest.mark.parametrize("batch", [5, 64])
def test_one_bad_slide_is_left_out(batch, tmp_path):
    """Damaged in the middle, beside one that is no slide: the others have the bytes that they have alone."""
    damage(CMU, tmp_path / "damaged.svs")
    broken = SAMPLES / "odd/slides/broken.svs"
    slides = [JPEG, tmp_path / "damaged.svs", broken, PYRAMID]
    options = dict(patch=64, step=240, tissue=None, batch=batch)
    report = hr.features(slides, Pixels(), tmp_path / "out", on_error="skip", **options)
    assert {bad["slide"] for bad in report["skipped"]} == {str(tmp_path / "damaged.svs"), str(broken)}
    assert any("tile row 3, column 2" in bad["reason"] for bad in report["skipped"])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["cmu-aperio-style-4level.h5", "headrace-features.json",
                                                                          "tcga-jpeg420-256.h5"]
    alone = hr.features([JPEG, PYRAMID], Pixels(), tmp_path / "alone", **options)
    for name, path in alone["files"].items():
        with open(path, "rb") as expected, open(report["files"][name], "rb") as got:
            assert got.read() == expected.read()
    with pytest.raises(hr.CorruptError, match="tile row 3, column 2.*damaged.svs"):
        hr.features(slides, Pixels(), tmp_path / "stop", **options)
    assert not (tmp_path / "stop/damaged.h5").exists()


def test_features_that_are_no_numbers_are_not_written(tmp_path):
    """The encoder's input is beyond float16's 65504 where a patch's first pixel is bright. Rows that only fill a batch up don't count."""
    def encoder(patches):
        means = patches.mean((2, 3))
        means[patches[:, 0, 0, 0] == 0] = float("nan")  # zeros, which are no patch here
        return torch.where(means > 1.8, (means * 65504).half().float(), means)

    options = dict(name="half", tissue=None, batch=7, patch=64)
    means = read_h5(hr.features([CMU], lambda patches: patches.mean((2, 3)), tmp_path / "means", **options)["files"][CMU.stem])
    first = means[1][np.argmax((means[0] > 1.8).any(1))]
    report = hr.features([CMU, JPEG], encoder, tmp_path / "skip", on_error="skip", **options)
    assert list(report["files"]) == [JPEG.stem] and report["slides"] == 1
    (bad,) = report["skipped"]
    assert bad["slide"] == str(CMU) and f"NaN or infinite features of the patch at x {first[0]}, y {first[1]}:" in bad["reason"]
    with pytest.raises(hr.UsageError, match="CMU-1-Small-Region.svs: the encoder made NaN"):
        hr.features([CMU, JPEG], encoder, tmp_path / "stop", **options)
    assert not list((tmp_path / "stop").glob("*.h5"))


@pytest.mark.parametrize("layout", ["h5", "zarr"])
def test_a_full_disk_is_an_error_and_the_call_goes_on_later(layout, tmp_path, small_disk):
    """JPEG's features take 2.4 MB, CMU's 21."""
    options = dict(patch=64, step=128, batch=16, layout=layout, tissue=None)
    expected = hr.features([JPEG, CMU], Pixels(), tmp_path / "whole", **options)["files"]
    out = small_disk(8) / "out"
    with pytest.raises(hr.StorageError, match="CMU-1-Small-Region.*disk full"):
        hr.features([JPEG, CMU], Pixels(), out, **options)
    assert sorted(path.name for path in out.iterdir()) == ["headrace-features.json", f"{JPEG.stem}.{layout}"]
    small_disk(100)
    report = hr.features([JPEG, CMU], Pixels(), out, **options)
    assert (report["slides"], report["kept"]) == (1, 1)
    if layout == "h5":
        assert all(np.array_equal(read_h5(report["files"][name])[0], read_h5(path)[0]) for name, path in expected.items())


def test_two_processes_do_not_write_one_file(tmp_path):
    import fcntl

    hr.features(CMU, small_network(), tmp_path)
    with open(tmp_path / f".{JPEG.stem}.h5.part", "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(hr.UsageError, match="another process writes it"):
            hr.features(JPEG, small_network(), tmp_path)
    assert hr.features(JPEG, small_network(), tmp_path)["slides"] == 1
    assert not list(tmp_path.glob(".*.part"))


def test_a_group_that_another_process_made_meanwhile_stays(tmp_path):
    def encoder(patches):
        (tmp_path / f"{JPEG.stem}.zarr/features").mkdir(parents=True, exist_ok=True)
        return patches.mean((2, 3))

    with pytest.raises(hr.UsageError, match="another process has made it meanwhile"):
        hr.features(JPEG, encoder, tmp_path, name="means", layout="zarr")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["headrace-features.json", f"{JPEG.stem}.zarr"]
