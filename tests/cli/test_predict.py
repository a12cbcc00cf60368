"""Predictions of slides: the same bytes for any batch, threads, interruption, and from a file or a store; findings against counts made here
from the maps; what can't be predicted is said."""
import json
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
import scipy.ndimage
from driving import PROGRAM, headrace, json_of, message_of, rows_of
from matrices import times
from predictions import findings_of, maps_of, slides_of, tree


def test_each_image_is_a_whole_result(predicted, cohort):
    ids = [row["image"] for row in rows_of(cohort / "in/cases.csv")]
    assert sorted(p.name for p in predicted.iterdir() if p.is_dir()) == sorted(ids)
    assert not list(predicted.glob(".*part*")) and not (predicted / ".work").exists()
    for name in ids:
        classes, probability = maps_of(predicted / name)
        assert classes.shape == probability.shape[1:] and probability.shape[0] == 6
        known = classes != 255
        assert known.any()
        assert (probability[:, ~known] == 0).all()
        assert np.abs(probability[:, known].astype(int).sum(0) - 255).max() <= 3  # each class is rounded by itself
        chosen = np.take_along_axis(probability, np.where(known, classes, 0)[None].astype(int), 0)[0]
        assert (probability.max(0) - chosen)[known].max() <= 1  # equal after rounding at most


def test_levels_of_the_class_map_hold_the_most_frequent_class(predicted):
    folder = next(p for p in sorted(predicted.iterdir()) if p.is_dir())
    classes, _ = maps_of(folder)
    group = json.loads((folder / "labels/classes/zarr.json").read_text())["attributes"]["ome"]
    datasets = group["multiscales"][0]["datasets"]
    assert [d["coordinateTransformations"][0]["scale"] for d in datasets][0] == [4.0, 4.0]
    assert {p["class"] for p in group["image-label"]["properties"]} >= {"pattern3", "pattern4", "pattern5"}
    assert len(datasets) == 1 or max(classes.shape) > 512


def test_findings_are_counts_of_the_maps(predicted):
    for folder in sorted(p for p in predicted.iterdir() if p.is_dir()):
        classes, probability = maps_of(folder)
        found = findings_of(folder)["slide"]
        names = list(found["classes"])
        for value, name in enumerate(names):
            pixels = int((classes == value).sum())
            assert found["classes"][name]["pixels"] == pixels
            assert found["classes"][name]["area_mm2"] == pytest.approx(pixels * 16e-6, rel=1e-5)
        tissue, tumour = ((classes > 0) & (classes < 255)).sum(), ((classes >= 3) & (classes < 255)).sum()
        assert found["tumour"]["share_of_tissue"] == pytest.approx(tumour / tissue, abs=1e-4)
        regions = rows_of(folder / "regions.csv")
        least = found["regions"]["least_pixels"]
        expected = []
        for value in range(1, len(names)):
            marked, count = scipy.ndimage.label(classes == value)
            sizes = np.bincount(marked.ravel(), minlength=count + 1)
            for k in range(1, count + 1):
                if sizes[k] >= least:
                    inside = marked == k
                    expected.append((names[value], int(sizes[k]), round(float(probability[value][inside].mean()) / 255, 4)))
        mean = "mean_probability_{}"
        listed = sorted((row["class"], int(row["pixels"]), float(row[mean.format(row["class"])])) for row in regions)
        assert [row[:2] for row in listed] == [row[:2] for row in sorted(expected)]
        np.testing.assert_allclose([row[2] for row in listed], [row[2] for row in sorted(expected)], atol=1.01e-4)


def test_cases_are_graded_on_all_their_slides(predicted, cohort):
    slides = {}
    for row in rows_of(cohort / "in/cases.csv"):
        slides.setdefault(row["case"], []).append(row["image"])
    table = {row["case"]: row for row in rows_of(predicted / "cases.csv")}
    assert set(table) == set(slides)
    for case, names in slides.items():
        assert int(table[case]["slides"]) == len(names)
        tumour = sum(findings_of(predicted / name)["slide"]["tumour"]["area_mm2"] for name in names)
        assert float(table[case]["tumour_mm2"]) == pytest.approx(tumour, rel=1e-4)


def test_files_that_were_never_ingested_give_the_same(cohort, tmp_path):
    """As a store of the same file: JPEG tiles, which are copied, and pixels without loss."""
    jpeg = slides_of(cohort)[2]
    iio.imwrite(tmp_path / "lossless.png", iio.imread(slides_of(cohort)[1]))
    for name, path, options in (("jpeg", jpeg, []), ("png", tmp_path / "lossless.png", ["--mpp", 0.5])):
        headrace("ingest", "slides", path, "--out", tmp_path / f"{name}.zarr", *options)
        headrace("predict", "--run", cohort / "run", tmp_path / f"{name}.zarr", "--out", tmp_path / f"{name}-store")
        headrace("predict", "--run", cohort / "run", path, "--out", tmp_path / f"{name}-file", *options)
        stored, own = (tree(tmp_path / f"{name}-{kind}" / path.stem, source=False) for kind in ("store", "file"))
        assert own == stored and len(own) > 8
        assert not (tmp_path / f"{name}-file/.work").exists()


@pytest.mark.parametrize("options", [("--batch", 1), ("--batch", 3, "--threads", 2), ("--batch", 16, "--threads", 7)])
def test_batch_and_threads_do_not_matter(predicted, cohort, tmp_path, options):
    headrace("predict", "--run", cohort / "run", cohort / "s.zarr", "--out", tmp_path / "out", *options)
    assert tree(tmp_path / "out") == tree(predicted)


def test_other_images_do_not_matter(predicted, cohort, tmp_path):
    name = slides_of(cohort)[3].stem
    headrace("predict", "--run", cohort / "run", cohort / "s.zarr", "--images", name, "--out", tmp_path / "out")
    assert tree(tmp_path / "out" / name) == tree(predicted / name)


def test_killed_at_any_moment_it_goes_on(predicted, cohort, tmp_path):
    command = [PROGRAM, "predict", "--run", cohort / "run", *slides_of(cohort), "--out", tmp_path / "out"]
    headrace(*command[1:])
    whole, moments = tree(tmp_path / "out"), random.Random(4)
    shutil.rmtree(tmp_path / "out")
    for _ in range(times(8, 4, "kills of predict")):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.05, 2.5))
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        for folder in (tmp_path / "out").glob("[!.]*/findings.json"):
            assert tree(folder.parent) == {name.split("/", 1)[1]: value for name, value in whole.items() if name.startswith(folder.parent.name + "/")}
    headrace(*command[1:])
    assert tree(tmp_path / "out") == whole
    kept = json_of(*command[1:])
    assert all(image["kept"] for image in kept["images"]) and tree(tmp_path / "out") == whole


def test_an_ensemble_is_the_mean_of_its_runs(predicted, cohort, tmp_path):
    name = slides_of(cohort)[0].stem
    store = [cohort / "s.zarr", "--images", name]
    for out, runs in (("one", ["fold1"]), ("both", ["run", "fold1"]), ("twice", ["run", "run"])):
        headrace("predict", *(word for run in runs for word in ("--run", cohort / run)), *store, "--out", tmp_path / out)
    first, second, both = (maps_of(folder / name) for folder in (predicted, tmp_path / "one", tmp_path / "both"))
    mean = (first[1].astype(float) + second[1]) / 2
    assert np.abs(both[1] - mean).max() <= 1
    known = first[0] != 255
    disputed = findings_of(tmp_path / "both" / name)["ensemble"]
    assert disputed["runs"] == 2 and disputed["disputed_share"] == pytest.approx((first[0] != second[0])[known].mean())
    for a, b in zip(maps_of(tmp_path / "twice" / name), first):
        np.testing.assert_array_equal(a, b)
    assert findings_of(tmp_path / "twice" / name)["ensemble"]["disputed_share"] == 0


def test_flips_are_the_mean_over_mirror_images(predicted, cohort, tmp_path):
    name = slides_of(cohort)[0].stem
    headrace("predict", "--run", cohort / "run", cohort / "s.zarr", "--images", name, "--flips", "--out", tmp_path / "out")
    plain, flipped = maps_of(predicted / name), maps_of(tmp_path / "out" / name)
    assert (plain[0] == 255).sum() == (flipped[0] == 255).sum()
    difference = np.abs(plain[1].astype(int) - flipped[1])
    assert 0 < difference.mean() < 40
    # A mirrored slide gives the mirrored map, which without flips it does not.
    image = iio.imread(slides_of(cohort)[0])
    for out, flips in (("plain", []), ("flips", ["--flips"])):
        maps = []
        for i, pixels in enumerate((image[:1408, :1408], image[:1408, :1408][:, ::-1])):
            iio.imwrite(tmp_path / f"{out}{i}.png", pixels)
            headrace("predict", "--run", cohort / "run", tmp_path / f"{out}{i}.png", "--mpp", 0.5, "--out", tmp_path / out, *flips)
            maps.append(maps_of(tmp_path / out / f"{out}{i}")[1].astype(int))
        apart = np.abs(maps[0] - maps[1][:, :, ::-1])
        assert (np.percentile(apart, 99) <= 12) == bool(flips), (flips, np.percentile(apart, 99))


def test_a_folder_of_other_predictions_is_left_alone(predicted, cohort, tmp_path):
    out = shutil.copytree(predicted, tmp_path / "out")
    said = message_of(headrace("predict", "--run", cohort / "fold1", cohort / "s.zarr", "--out", out, code=2))
    assert "holds predictions with another 'runs'" in said and "Name another output folder" in said
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    said = message_of(headrace("predict", "--run", cohort / "run", cohort / "s.zarr", "--out", tmp_path / "mine", code=2))
    assert "holds other things than predictions" in said and (tmp_path / "mine/notes.txt").read_text() == "mine"
    # A slide of the same name from another place is another slide.
    name = slides_of(cohort)[0]
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(slides_of(cohort)[1], tmp_path / "elsewhere" / name.name)
    said = message_of(headrace("predict", "--run", cohort / "run", tmp_path / "elsewhere" / name.name, "--out", out, code=2))
    assert f"'{name.stem}'" in said and "Predict it into another output folder" in said
    assert tree(out) == tree(predicted)
    assert not (out / ".work").exists()
    said = message_of(headrace("predict", "--run", cohort / "run", name, "--split", "val", "--out", tmp_path / "new", code=2))
    assert "--images and --split choose images of a store" in said
    said = message_of(headrace("predict", "--run", cohort / "run", tmp_path / "elsewhere", "--out", tmp_path / "elsewhere/results", code=2))
    assert "lies in the input" in said


def test_a_file_that_changed_is_refused(cohort, tmp_path):
    slide = tmp_path / "slide.tif"
    shutil.copy(slides_of(cohort)[0], slide)
    headrace("predict", "--run", cohort / "run", slide, "--out", tmp_path / "out")
    assert json_of("predict", "--run", cohort / "run", slide, "--out", tmp_path / "out")["images"][0]["kept"]
    before = tree(tmp_path / "out")
    shutil.copy(slides_of(cohort)[1], slide)
    assert "has changed since it was predicted" in message_of(headrace("predict", "--run", cohort / "run", slide, "--out", tmp_path / "out", code=2))
    assert tree(tmp_path / "out") == before


def test_glass_alone_is_a_result_that_says_so(cohort, tmp_path):
    iio.imwrite(tmp_path / "glass.png", np.full((900, 700, 3), 243, np.uint8))
    done = headrace("predict", "--run", cohort / "run", tmp_path / "glass.png", "--mpp", 0.5, "--out", tmp_path / "out")
    assert "glass: no tissue; warning: " in done.stdout
    classes, probability = maps_of(tmp_path / "out/glass")
    assert (classes == 255).all() and (probability == 0).all() and classes.shape == (113, 88)
    found = findings_of(tmp_path / "out/glass")
    assert [remark["code"] for remark in found["quality"]][:1] == ["no-tissue"]
    assert found["slide"]["grade"]["cancer"] is False and found["slide"]["tumour"]["share_of_tissue"] is None


def test_one_bad_file(cohort, tmp_path):
    (tmp_path / "in").mkdir()
    shutil.copy(slides_of(cohort)[0], tmp_path / "in/good.tiff")
    (tmp_path / "in/bad.tiff").write_bytes(slides_of(cohort)[1].read_bytes()[:5000])
    said = message_of(headrace("predict", "--run", cohort / "run", tmp_path / "in", "--out", tmp_path / "a", code=4))
    assert "bad.tiff" in said and not (tmp_path / "a/good").exists()
    done = json_of("predict", "--run", cohort / "run", tmp_path / "in", "--out", tmp_path / "b", "--on-error", "skip")
    assert [image["id"] for image in done["images"]] == ["good"]
    assert len(done["left_out"]) == 1 and "bad.tiff" in done["left_out"][0]["reason"]
    done = json_of("predict", "--run", cohort / "run", tmp_path / "in/bad.tiff", tmp_path / "in/good.tiff", "--out", tmp_path / "c", "--on-error", "skip")
    assert [image["id"] for image in done["images"]] == ["good"] and "bad.tiff" in done["left_out"][0]["reason"]


@pytest.mark.parametrize("arguments, words", [
    (["--split", "vall"], "there is no image in split 'vall'"),
    (["--images", "nobody"], "'nobody'"),
    (["--weights", "best"], None),
])
def test_what_is_asked_for_must_be_there(cohort, tmp_path, arguments, words):
    done = headrace("predict", "--run", cohort / "run", cohort / "s.zarr", "--out", tmp_path / "out", *arguments, code=2 if words else 0)
    if words:
        assert words in message_of(done)


def test_predicts_and_exports_in_one_call(cohort, tmp_path):
    name = slides_of(cohort)[0]
    options = ["predict", "--run", cohort / "run", name, "--out", tmp_path / "out"]
    said = message_of(headrace(*options, "--as", "geojson,nrrd", code=2))
    assert "nrrd is for volumes" in said and not (tmp_path / "out").exists()
    files = headrace(*options, "--as", "geojson,parquet").stdout.splitlines()[1:]
    folder = tmp_path / "out" / name.stem
    assert [Path(line.strip()).name for line in files] == [f"{name.stem}.geojson", f"{name.stem}.regions.parquet", "cases.parquet"]
    headrace("export", folder, "--as", "geojson", "--out", tmp_path / "alone")
    assert (folder / f"{name.stem}.geojson").read_bytes() == (tmp_path / "alone" / f"{name.stem}.geojson").read_bytes()
