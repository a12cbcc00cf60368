"""What is said of the inputs of a prediction: images that fail among others, names that two inputs have, contents that changed, channels that
files do not tell."""
import os
import shutil
import subprocess

import numpy as np
import pytest
import SimpleITK as sitk
from driving import PROGRAM, headrace, json_of, message_of
from predictions import slides_of, tree

PHASES = """task: segmentation
data: {{store: {store}, channels: [portal-venous]}}
patch: {{size: [16, 16, 16], spacing_mm: [1, 1, 1]}}
sampling: {{seed: 7, batch: 2, batches_per_epoch: 2}}
transforms:
  - window_hu: {{low: -100, high: 250}}
model: {{name: unet3d, widths: [8, 16]}}
train: {{epochs: 1, threads: 1, validate_every: 0}}
loader: {{threads: 1, prefetch: 2}}
"""


def predict(cohort, *words, **options):
    return headrace("predict", "--run", cohort / "run", *words, **options)


def damage(store, image):
    """Changes bytes in every file of an image's pixels."""
    for file in (store / "images" / image).glob("[0-9]*/c/**/*"):
        if file.is_file():
            data = bytearray(file.read_bytes())
            data[::40] = bytes(255 - b for b in data[::40])
            file.write_bytes(data)


def test_an_image_that_fails_does_not_end_the_others(cohort, tmp_path):
    names = [slide.stem for slide in slides_of(cohort)]
    shutil.copytree(cohort / "s.zarr", tmp_path / "s.zarr")
    headrace("predict", "--run", cohort / "run", tmp_path / "s.zarr", "--out", tmp_path / "whole")
    damage(tmp_path / "s.zarr", names[2])
    done = json_of("predict", "--run", cohort / "run", tmp_path / "s.zarr", "--out", tmp_path / "skip", "--on-error", "skip", "--batch", 7)
    assert [image["id"] for image in done["images"]] == [name for name in names if name != names[2]]
    (left_out,) = done["left_out"]
    assert left_out["input"] == str(tmp_path / "s.zarr") and f"image {names[2]}" in left_out["reason"]
    for name in names:
        assert (tmp_path / "skip" / name).exists() == (name != names[2])
        if name != names[2]:
            assert tree(tmp_path / "skip" / name) == tree(tmp_path / "whole" / name)
    assert not [p for p in (tmp_path / "skip").iterdir() if p.name.startswith(".part")]
    said = message_of(predict(cohort, tmp_path / "s.zarr", "--out", tmp_path / "stop", code=4))
    assert not (tmp_path / "stop" / names[2]).exists() and said
    alone = predict(cohort, tmp_path / "s.zarr", "--images", names[2], "--out", tmp_path / "alone", "--on-error", "skip", code=1)
    assert "1 input was left out" in alone.stdout


def test_one_name_twice_is_refused_before_anything_is_predicted(cohort, tmp_path):
    slides = slides_of(cohort)
    for name, slide in (("a/same.tiff", slides[0]), ("b/other.tiff", slides[1]), ("c/same.png", slides[2])):
        (tmp_path / name).parent.mkdir()
        shutil.copy(slide, tmp_path / name)
    named = [tmp_path / name for name in ("a/same.tiff", "b/other.tiff", "c/same.png")]
    said = message_of(predict(cohort, *named, "--out", tmp_path / "out", code=2))
    assert f"{tmp_path / 'a/same.tiff'} and {tmp_path / 'c/same.png'} both have an image 'same'" in said
    assert not [p for p in (tmp_path / "out").iterdir() if p.is_dir()]
    # A folder, and a store.
    named = [tmp_path / "b/other.tiff", tmp_path / "c", tmp_path / "a"]
    said = message_of(predict(cohort, *named, "--out", tmp_path / "out", "--on-error", "skip", code=2))
    assert f"{tmp_path / 'c'} and {tmp_path / 'a'} both have" in said and not [p for p in (tmp_path / "out").iterdir() if p.is_dir()]
    shutil.copy(slides[0], tmp_path / "a" / f"{slides[3].stem}.tiff")
    said = message_of(predict(cohort, cohort / "s.zarr", tmp_path / "a", "--out", tmp_path / "out", code=2))
    assert f"{cohort / 's.zarr'} and {tmp_path / 'a'} both have an image '{slides[3].stem}'" in said
    # The result of another file is in the way of the second one.
    predict(cohort, tmp_path / "a/same.tiff", "--out", tmp_path / "out")
    said = message_of(predict(cohort, tmp_path / "b/other.tiff", tmp_path / "c/same.png", "--out", tmp_path / "out", code=2))
    assert "has an image of the same name 'same'" in said and not (tmp_path / "out/other").exists()
    # One file named twice is one file.
    done = json_of("predict", "--run", cohort / "run", tmp_path / "a/same.tiff", tmp_path / "a/same.tiff", "--out", tmp_path / "out")
    assert [image["kept"] for image in done["images"]] == [True, True]


def test_a_folder_may_grow_but_not_change(cohort, tmp_path):
    slides = slides_of(cohort)
    (tmp_path / "in").mkdir()
    shutil.copy(slides[0], tmp_path / "in/first.tiff")
    command = ["predict", "--run", cohort / "run", tmp_path / "in", "--out", tmp_path / "out"]
    headrace(*command)
    before = tree(tmp_path / "out/first")
    shutil.copy(slides[1], tmp_path / "in/second.tiff")
    assert [(image["id"], image["kept"]) for image in json_of(*command)["images"]] == [("first", True), ("second", False)]
    shutil.copy(slides[2], tmp_path / "in/first.tiff")
    said = message_of(headrace(*command, code=2))
    assert f"{tmp_path / 'in'}: image 'first' has changed since it was predicted" in said
    assert tree(tmp_path / "out/first") == before and not (tmp_path / "out/.work").exists()
    shutil.copy2(slides[0], tmp_path / "in/first.tiff")  # another time, the same content
    assert [image["kept"] for image in json_of(*command)["images"]] == [True, True]
    shutil.rmtree(tmp_path / "out/first")
    assert {image["id"]: image["kept"] for image in json_of(*command)["images"]} == {"first": False, "second": True}
    assert tree(tmp_path / "out/first") == before


def test_a_store_at_the_same_path_with_other_images(cohort, tmp_path):
    slides = slides_of(cohort)
    for i in range(2):
        (tmp_path / f"in{i}").mkdir()
        shutil.copy(slides[i], tmp_path / f"in{i}/slide.tiff")
        headrace("ingest", "slides", tmp_path / f"in{i}", "--out", tmp_path / f"{i}.zarr")
    (tmp_path / "0.zarr").rename(tmp_path / "s.zarr")
    predict(cohort, tmp_path / "s.zarr", "--out", tmp_path / "out")
    before = tree(tmp_path / "out")
    shutil.rmtree(tmp_path / "s.zarr")
    (tmp_path / "1.zarr").rename(tmp_path / "s.zarr")
    said = message_of(predict(cohort, tmp_path / "s.zarr", "--out", tmp_path / "out", code=2))
    assert f"{tmp_path / 's.zarr'}: image 'slide' has changed since it was predicted" in said and tree(tmp_path / "out") == before


def test_a_path_that_results_cannot_state(cohort, tmp_path):
    name = bytes(tmp_path) + b"/caf\xe9.tiff"
    shutil.copy(slides_of(cohort)[0], name)
    said = headrace_bytes("predict", "--run", cohort / "run", name, "--out", tmp_path / "out")
    assert b"its path is not UTF-8" in said


def headrace_bytes(*words):
    done = subprocess.run([PROGRAM, *map(os.fsencode, words)], capture_output=True, timeout=600)
    assert done.returncode == 2
    return done.stderr


@pytest.fixture(scope="module")
def one_channel(tmp_path_factory):
    """A store of two channels, and a run that reads its second one."""
    folder = tmp_path_factory.mktemp("channels")
    (folder / "ct").mkdir()
    (folder / "masks").mkdir()
    random = np.random.default_rng(2)
    for case in ("a", "c"):  # by its name, c is in the split val
        for c in range(2):
            sitk.WriteImage(sitk.GetImageFromArray(random.normal(40, 30, (20, 24, 24)).astype(np.int16)), str(folder / f"ct/{case}_{c:04}.nii.gz"))
        mask = np.zeros((20, 24, 24), np.uint8)
        mask[6:12, 6:14, 6:14] = 1
        sitk.WriteImage(sitk.GetImageFromArray(mask), str(folder / f"masks/{case}.nii.gz"))
    headrace("ingest", "volumes", folder / "ct", "--channels", "arterial,portal-venous", "--labels", folder / "masks", "--classes",
             "background,lesion", "--out", folder / "s.zarr")
    (folder / "run.yaml").write_text(PHASES.format(store=folder / "s.zarr"))
    headrace("train", "--config", folder / "run.yaml", "--out", folder / "run")
    return folder


def test_a_channel_that_files_do_not_tell_is_refused_at_once(one_channel, tmp_path):
    done = json_of("predict", "--run", one_channel / "run", one_channel / "s.zarr", "--out", tmp_path / "stored")
    assert [image["id"] for image in done["images"]] == ["a", "c"]
    for words in ([one_channel / "ct/a_0001.nii.gz"], ["--watch", one_channel / "ct"]):
        said = message_of(headrace("predict", "--run", one_channel / "run", *words, "--out", tmp_path / "out", code=2))
        assert "reads channel 'portal-venous' of several" in said and "headrace ingest volumes" in said
        assert not (tmp_path / "out").exists()
