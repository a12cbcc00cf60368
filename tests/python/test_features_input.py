"""What features takes: files, folders, DICOM, stores; what is wrong is said before anything is computed; optional packages stay optional."""
import errno
import itertools
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from batches import child_environment
from driving import SAMPLES, headrace
from feature_networks import read_h5, small_network
from slides import CMU, PYRAMID

import headrace as hr
from headrace._slide_sources import find_slides

JPEG = SAMPLES / "slides/derived/tcga-jpeg420-256.tif"
TCGA = SAMPLES / "slides/TCGA-CR-7395-01A-01-TS1.svs"
DICOM = SAMPLES / "slides/dicom-camelyon-lowres.dcm"


def never(patches):
    raise AssertionError("the encoder was called")


def test_folders_are_searched_for_slides(tmp_path):
    (tmp_path / "in/deeper").mkdir(parents=True)
    shutil.copy(JPEG, tmp_path / "in/b.TIF")
    shutil.copy(JPEG, tmp_path / "in/deeper/a.tif")
    shutil.copy(SAMPLES / "tissue/no-tissue.png", tmp_path / "in/overview.png")
    (tmp_path / "in/.hidden.svs").write_bytes(b"")
    (tmp_path / "in/notes.txt").write_text("no slide")
    report = hr.features(tmp_path / "in", small_network(), tmp_path / "out")
    assert list(report["files"]) == ["b", "a"] and report["skipped"] == []


def test_files_of_one_dicom_slide_are_one(tmp_path):
    """OpenSlide reads a series whichever of its files is named; several files have the name of their folder, as in ingest."""
    (tmp_path / "case 7").mkdir()
    for name in ("x.dcm", "y.dcm"):
        shutil.copy(DICOM, tmp_path / "case 7" / name)
    shutil.copy(SAMPLES / "slides/dicom-bone-jpeg.dcm", tmp_path / "bone.dcm")
    options = dict(mpp=30, patch=64)
    report = hr.features(tmp_path, small_network(), tmp_path / "out", **options)
    assert sorted(report["files"]) == ["bone", "case_7"] and report["skipped"] == []
    by_file = hr.features(tmp_path / "case 7/y.dcm", small_network(), tmp_path / "again", **options)
    (alone,) = hr.features(DICOM, small_network(), tmp_path / "alone", **options)["files"].values()
    features, coords, _ = read_h5(alone)
    assert len(features)
    for made in (report, by_file):
        got = read_h5(made["files"]["case_7"])
        assert np.allclose(got[0], features, rtol=0, atol=1e-6) and np.array_equal(got[1], coords)


def test_every_file_of_a_slide_counts_for_whether_it_is_the_same(tmp_path):
    """Levels in DICOM are files of their own, and MIRAX keeps its pixels in a folder."""
    (tmp_path / "case").mkdir()
    shutil.copy(DICOM, tmp_path / "case/x.dcm")
    options = dict(mpp=30, patch=64)
    hr.features(tmp_path / "case/x.dcm", small_network(), tmp_path / "out", **options)
    os.rename(tmp_path / "out/x.h5", tmp_path / "out/case.h5")  # as it is called with a second file
    shutil.copy(DICOM, tmp_path / "case/y.dcm")
    with pytest.raises(hr.UsageError, match=f"case.h5: was made of a slide of {DICOM.stat().st_size} bytes.*now has {2 * DICOM.stat().st_size}"):
        hr.features(tmp_path / "case/x.dcm", small_network(), tmp_path / "out", **options)
    (tmp_path / "a.mrxs").write_bytes(b"123")
    assert [slide.bytes for slide in find_slides(tmp_path / "a.mrxs")] == [3]
    (tmp_path / "a").mkdir()
    for name in ("Data0000.dat", "Slidedat.ini"):
        (tmp_path / "a" / name).write_bytes(b"12345")
    assert [slide.bytes for slide in find_slides(tmp_path / "a.mrxs")] == [13]


def test_a_link_to_nowhere_is_one_bad_slide(tmp_path):
    (tmp_path / "in").mkdir()
    shutil.copy(JPEG, tmp_path / "in/a.tif")
    (tmp_path / "in/b.svs").symlink_to(tmp_path / "moved.svs")
    report = hr.features(tmp_path / "in", small_network(), tmp_path / "out", on_error="skip")
    assert list(report["files"]) == ["a"]
    assert report["skipped"] == [{"slide": str(tmp_path / "in/b.svs"), "reason": f"{tmp_path}/in/b.svs: can't be opened: No such file or directory"}]
    with pytest.raises(hr.NotFoundError, match=r"b\.svs: can't be opened"):
        hr.features(tmp_path / "in", small_network(), tmp_path / "again")


def test_a_folder_that_cannot_be_searched_is_an_error(tmp_path, monkeypatch):
    """As for one without the right to read a folder; root has it everywhere, so the system's answer is made here."""
    (tmp_path / "in/closed").mkdir(parents=True)
    shutil.copy(JPEG, tmp_path / "in/a.tif")
    scandir = os.scandir

    def closed(path):
        if str(path).endswith("closed"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    with pytest.raises(hr.StorageError, match="in/closed: this folder can't be searched for slides: Permission denied"):
        hr.features(tmp_path / "in", never, tmp_path / "out", name="never")


def test_a_gpu_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(hr.DeviceError, match="device is 'cuda:2', and this PyTorch finds 2 GPUs"):
        hr.features(CMU, never, tmp_path, name="never", device="cuda:2")


def test_images_and_lists_of_them(tmp_path):
    headrace("ingest", "slides", CMU, JPEG, "--out", tmp_path / "s.zarr")
    cohort = hr.open(tmp_path / "s.zarr")
    by_list = hr.features([cohort[CMU.stem], PYRAMID], small_network(), tmp_path / "a")
    assert set(by_list["files"]) == {CMU.stem, PYRAMID.stem}
    by_path = hr.features(str(tmp_path / "s.zarr"), small_network(), tmp_path / "b")
    assert set(by_path["files"]) == {CMU.stem, JPEG.stem}


def test_slides_that_do_not_state_their_pixels(tmp_path):
    with pytest.raises(hr.UsageError, match=r"TS1\.svs: does not state the size of its pixels; give slide_mpp="):
        hr.features(TCGA, never, tmp_path, name="never")
    assert hr.features([TCGA, JPEG], small_network(), tmp_path / "out", slide_mpp=0.25)["slides"] == 2


@pytest.mark.parametrize(("options", "what"), [
    ({"patch": 0}, "patch is 0: expected a whole number from 1 on"), ({"patch": 2.5}, "patch is 2.5"), ({"batch": True}, "batch is True"),
    ({"step": -1}, "step is -1"), ({"mpp": 0}, "mpp is 0: expected a number above 0"), ({"mpp": float("nan")}, "mpp is nan"),
    ({"mpp": "0.5"}, "mpp is '0.5'"), ({"tissue": 1.5}, "tissue is 1.5: expected a share"), ({"slide_mpp": -1}, "slide_mpp is -1"),
    ({"mean": (0.5, 0.5)}, "mean is .*three numbers"), ({"std": (1, 0, 1)}, "std is .*above 0"), ({"mean": 3}, "mean is 3"),
    ({"transform": torch.nn.Flatten(), "mean": (0, 0, 0)}, "transform: expected a function, and neither mean"),
    ({"device": "tpu"}, "device is 'tpu'"), ({"device": "mps"}, "device is 'mps'"), ({"autocast": "float64"}, "autocast is 'float64'"),
    ({"layout": "hdf"}, "layout is 'hdf'.*'h5'"), ({"name": 3}, "name is 3: expected a text"), ({"name": ""}, "name is '': expected a text"),
    ({"mean": (123.7, 116.3, 103.5), "std": (58, 57, 57)}, "mean is .*of values of 0 to 1; divide"),
    ({"on_error": "ski"}, "on_error is 'ski'.*did you mean 'skip'"), ({"threads": -2}, "threads"), ({"mpp": 0.2}, "finest pixels are 0.499")])
def test_options_that_are_wrong(options, what, tmp_path):
    with pytest.raises(hr.UsageError, match=what):
        hr.features(CMU, never, tmp_path / "out", **{"name": "never", **options})
    assert not list(tmp_path.glob("out/*.h5"))


def test_encoders_that_are_wrong(tmp_path):
    with pytest.raises(hr.UsageError, match="encoder is 3"):
        hr.features(CMU, 3, tmp_path)
    with pytest.raises(hr.UsageError, match="a function, whose weights can't be seen: give name="):
        hr.features(CMU, never, tmp_path)
    for wrong, what in ((torch.nn.Conv2d(3, 4, 9), r"float32 \(2, 4, 24, 24\) of 2 patches.*pool and flatten"),
                        (lambda patches: patches[:1].flatten(1), r"\(1, 3072\) of 2"), (lambda patches: [patches], "made list"),
                        (lambda patches: patches.flatten(1).int(), "int32")):
        with pytest.raises(hr.UsageError, match=what):
            hr.features(CMU, wrong, tmp_path / what[:9], name="wrong", patch=32, batch=2)
    widths = itertools.count(3)
    with pytest.raises(hr.UsageError, match="made 4 features of a patch, and 3 before"):
        hr.features(CMU, lambda patches: torch.zeros(2, next(widths)), tmp_path / "widths", name="wrong", batch=2)
    with pytest.raises(ZeroDivisionError):
        hr.features(CMU, lambda patches: 1 / 0, tmp_path / "own", name="own")
    with pytest.raises(hr.UsageError, match="transform made"):
        hr.features(CMU, never, tmp_path / "transform", name="own", transform=lambda patches: patches[:1])


def test_sources_that_are_wrong(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a").mkdir()
    shutil.copy(JPEG, tmp_path / "a" / CMU.name)
    sources = [(tmp_path / "not-there.svs", hr.NotFoundError, "not-there.svs: there is no such file"), ([], hr.UsageError, "no slides are given"),
               (tmp_path / "empty", hr.UsageError, "no slides in this folder"), (7, hr.UsageError, "expected slides"),
               ([7], hr.UsageError, "neither a path"), ([CMU, tmp_path / "a"], hr.UsageError, "have one name, 'CMU-1-Small-Region'")]
    for source, kind, what in sources:
        with pytest.raises(kind, match=what):
            hr.features(source, never, tmp_path / "out", name="never")
    assert not (tmp_path / "out").exists()
    with pytest.raises(hr.StorageError, match="notes.txt: can't be written"):
        (tmp_path / "notes.txt").write_text("a file")
        hr.features(CMU, never, tmp_path / "notes.txt", name="never")


def test_a_store_of_volumes_is_refused(ct, tmp_path):
    with pytest.raises(hr.UsageError, match="store of volumes"):
        hr.features(ct, never, tmp_path / "out", name="never")


@pytest.mark.parametrize(("missing", "layout", "said"),
                         [("torch", "h5", "pip install torch"), ("h5py", "h5", "pip install h5py"), ("h5py", "zarr", "")])
def test_packages_that_are_not_installed(missing, layout, said, tmp_path):
    code = f"""
import sys
sys.modules[{missing!r}] = None
import headrace
assert not {{"torch", "h5py"}} & {{name for name, module in sys.modules.items() if module is not None}}
try:
    print(headrace.features({str(JPEG)!r}, lambda patches: patches.mean((2, 3)), {str(tmp_path)!r}, name="means", layout={layout!r})["slides"])
except headrace.UnsupportedError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=child_environment())
    assert done.returncode == 0, done.stderr
    assert said in done.stdout if said else done.stdout == "1\n"
