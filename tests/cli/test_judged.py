"""What is judged is what is delivered, and called what it is: Dice of evaluation against Dice of the exported map, classes beyond the body mask,
regions as small as the training's, enlargement, values that are not CT, the same pixels in two splits. Expected values are counted here from the
stored arrays by NumPy and SciPy."""
import json
import shutil

import nibabel
import numpy as np
import pytest
import scipy.ndimage
import zarr
from ct_inputs import CT
from driving import SAMPLES, headrace, json_of, label_group, message_of, rows_of, write_table
from predictions import findings_of, maps_of, nuclei_config, trained

VOLUMES = """task: {task}
data: {{store: {store}}}
patch: {{size: [16, 32, 32], spacing_mm: [4, 4, 4]}}
sampling: {{seed: 7, batch: 2, batches_per_epoch: 2}}
transforms:
  - window_hu: {{low: -160, high: 240}}
model: {{name: unet3d, widths: [8, 16]}}
train: {{epochs: 1, threads: 1, validate_every: 0}}
loader: {{threads: 1, prefetch: 2}}
eval: {{bootstrap: 20{eval}}}
"""


def scan_store(folder, corner):
    """Two scans; 2 % of the second one's tumour lies outside the body mask, half of it is air. corner: a tumour is drawn in the air of the first."""
    folder.mkdir(exist_ok=True)
    rows = []
    for name, split in (("sts-018", "train"), ("sts-019", "val")):
        mask = nibabel.load(CT / f"sarcoma/{name}-gtv.nii.gz")
        values = np.asarray(mask.dataobj).astype(np.uint8)
        if corner and split == "train":
            air = np.asarray(nibabel.load(CT / f"sarcoma/{name}.nii.gz").dataobj) < -900
            far = scipy.ndimage.distance_transform_edt(air)
            values[tuple(slice(max(0, c - 2), c + 3) for c in np.unravel_index(far.argmax(), far.shape))] = 1
        nibabel.save(nibabel.Nifti1Image(values, mask.affine), folder / f"{name}-mask.nii.gz")
        rows.append({"file": str(CT / f"sarcoma/{name}.nii.gz"), "image": name, "split": split, "labels": str(folder / f"{name}-mask.nii.gz")})
    headrace("ingest", "volumes", CT / "sarcoma", "--table", write_table(folder / "cases.csv", rows), "--classes", "background,tumour",
             "--out", folder / "ct.zarr")
    return folder / "ct.zarr"


def delivered(run, store, out):
    """The predicted map of the validation image, its labels and its body mask."""
    headrace("predict", "--run", run, store, "--split", "val", "--out", out)
    group = zarr.open_group(store, mode="r")
    return (maps_of(out / "sts-019")[0], group[label_group(store, "sts-019") + "/0"][:], group["images/sts-019/masks/body"][:] > 0)


@pytest.mark.parametrize("corner", [False, True])
def test_volumes_are_judged_by_what_is_delivered(tmp_path, corner):
    """A network that has learnt next to nothing finds tumours in the air."""
    store = scan_store(tmp_path / "in", corner)
    run = trained(tmp_path, "run", VOLUMES.format(task="lesions", store=store, eval=", lesion_lowest: 0.05, lesion_min_mm3: 100"))
    classes, truth, body = delivered(run, store, tmp_path / "out")
    image = json.loads((run / "eval.json").read_text())["images"][0]
    found, true = classes == 1, truth == 1
    assert found.any() and image["dice"]["tumour"] == pytest.approx(2 * (found & true).sum() / (found.sum() + true.sum()), rel=1e-12)
    assert sum(row[1] for row in image["matrix"]) == found.sum()
    scores = sorted(lesion["score"] for lesion in findings_of(tmp_path / "out/sts-019")["volume"]["lesions"])
    assert scores == pytest.approx(sorted(call["score"] for call in image["calls"]), abs=1e-9)
    preprocessing = json.loads((run / "preprocessing.json").read_text())
    assert preprocessing.get("outside_body", []) == (["tumour"] if corner else [])
    # What the readers drew lies where predictions are taken, also beyond the mask.
    assert 0.015 < (true & ~body).sum() / true.sum() < 0.025 and (classes[true] != 255).all()
    assert (classes == 255).any() != corner
    if not corner:  # 8 voxels around the body at most in the plane, one slice above and below
        near = scipy.ndimage.binary_dilation(body, np.ones((3, 15, 15)))
        assert (classes[~near] == 255).all() and (classes[body] != 255).all()


@pytest.fixture(scope="module")
def nuclei_run(nuclei, tmp_path_factory):
    return trained(tmp_path_factory.mktemp("nuclei-run"), "run", nuclei_config(nuclei, "eval: {bootstrap: 20}\n"))


@pytest.fixture(scope="module")
def nuclei_out(nuclei_run, nuclei, tmp_path_factory):
    out = tmp_path_factory.mktemp("nuclei-out") / "out"
    return out, headrace("predict", "--run", nuclei_run, nuclei, "--split", "val", "--out", out).stdout


def test_nuclei_are_no_tumour(nuclei_run, nuclei_out):
    out, said = nuclei_out
    assert "tumour" not in said and "object 0." in said
    for name in ("cases.csv", *(path.parent.name + "/findings.json" for path in out.glob("*/findings.json"))):
        text = (out / name).read_text()
        assert "tumour_" not in text and '"tumour": {' not in text
    for row in rows_of(out / "cases.csv"):
        assert list(row) == ["case", "slides", "tissue_mm2", "area_mm2_object"] and float(row["area_mm2_object"]) > 0
    page = (nuclei_run / "report.html").read_text()
    assert "Tumour" not in page and "Foreground against the rest" in page


def test_regions_are_as_small_as_those_of_the_training(nuclei_run, nuclei_out, nuclei, tmp_path):
    out, _ = nuclei_out
    store = zarr.open_group(nuclei, mode="r")
    areas = []
    for image in json_of("info", nuclei)["images"]:
        if image["split"] != "train":
            continue
        labels = store[label_group(nuclei, image["id"]) + "/0"][:]
        mpp = store["images/" + image["id"]].attrs["ome"]["multiscales"][0]["datasets"][0]["coordinateTransformations"][0]["scale"][-1]
        numbered, count = scipy.ndimage.label(labels == 1, np.ones((3, 3)))
        areas += list(np.bincount(numbered.ravel())[1:] * mpp**2 / 1e6)
    least = json.loads((nuclei_run / "preprocessing.json").read_text())["least_region_mm2"]
    assert least == pytest.approx(sorted(areas)[int(0.05 * (len(areas) - 1))] / 2, rel=0.2)  # of 4 or 8 neighbours
    listed = sum(findings_of(path.parent)["slide"]["regions"]["count"] for path in out.glob("*/findings.json"))
    assert listed > 20
    for path in out.glob("*/findings.json"):
        result = path.parent
        headrace("export", result, "--as", "geojson", "--out", tmp_path / "all")
        features = json.loads((tmp_path / f"all/{result.name}.geojson").read_text())["features"]
        assert len(features) == scipy.ndimage.label(maps_of(result)[0] == 1)[1]
        said = headrace("export", result, "--as", "geojson", "--min-area-mm2", 0.0001, "--out", tmp_path / "some").stderr
        some = json.loads((tmp_path / f"some/{result.name}.geojson").read_text())["features"]
        ignored = [one for one in some if one["properties"]["classification"]["name"] == "Ignore*"]
        assert len(some) == len(features) and ignored and f"{len(ignored)} regions below 0.0001 mm2 are of the class Ignore*" in said


def test_what_an_export_leaves_out_comes_back_as_ignore(nuclei_out, nuclei, tmp_path):
    out, _ = nuclei_out
    names = sorted(path.parent.name for path in out.glob("*/findings.json"))
    shutil.copytree(nuclei, tmp_path / "s.zarr")
    headrace("export", *(out / name for name in names), "--as", "geojson", "--min-area-mm2", 0.0001, "--out", tmp_path / "notes")
    headrace("ingest", "labels", tmp_path / "s.zarr", "--annotations", tmp_path / "notes")
    group = zarr.open_group(tmp_path / "s.zarr", mode="r")
    for name in names:
        labels, classes = group[label_group(tmp_path / "s.zarr", name) + "/0"][:], maps_of(out / name)[0]
        if labels.shape == classes.shape:
            assert (labels[classes == 1] != 0).all() and (labels == 255).any()


def test_two_cases_have_no_interval(nuclei_run, nuclei):
    evaluation = json.loads((nuclei_run / "eval.json").read_text())
    assert evaluation["overall"]["no_interval"] == "2 cases: no interval" and "interval_95" not in evaluation["overall"]
    assert "2 cases: no interval" in (nuclei_run / "report.html").read_text()
    assert "2 cases: no interval" in headrace("eval", "--run", nuclei_run).stdout


def test_an_image_without_the_detail_is_refused_before_its_first_tile(nuclei_run, tmp_path):
    slide = sorted((SAMPLES / "nuclei/images").glob("*.png"))[0]
    said = message_of(headrace("predict", "--run", nuclei_run, slide, "--mpp", 1.5, "--out", tmp_path / "out", code=2))
    assert "would be enlarged 3.0 times" in said and "--accept enlarged" in said
    assert not (tmp_path / "out" / slide.stem).exists()
    headrace("predict", "--run", nuclei_run, slide, "--mpp", 1.5, "--accept", "enlarged", "--out", tmp_path / "meant")
    assert (tmp_path / "meant" / slide.stem).exists()
    headrace("predict", "--run", nuclei_run, slide, "--mpp", 1.0, "--out", tmp_path / "twice")


def test_values_that_are_not_ct_are_not_flagged(ct_run, tmp_path):
    scan = nibabel.load(CT / "sarcoma/sts-012.nii.gz")
    shifted = nibabel.Nifti1Image((np.asarray(scan.dataobj) + 1024).astype(np.int16), scan.affine)
    nibabel.save(shifted, tmp_path / "shifted.nii.gz")
    headrace("predict", "--run", ct_run, CT / "sarcoma/sts-012.nii.gz", "--out", tmp_path / "plain")
    assert findings_of(tmp_path / "plain/sts-012")["volume"]["study"]["flag"] is not None
    headrace("predict", "--run", ct_run, tmp_path / "shifted.nii.gz", "--accept", "values", "--out", tmp_path / "out")
    study = findings_of(tmp_path / "out/shifted")["volume"]["study"]
    assert study["flag"] is None and study["reason"].startswith("No flag: ")
    assert rows_of(tmp_path / "out/cases.csv")[0]["flagged"] == ""


def test_cases_have_the_volume_of_each_class(predicted_ct_val):
    (row,) = rows_of(predicted_ct_val / "cases.csv")
    found = findings_of(next(predicted_ct_val.glob("*/findings.json")).parent)["volume"]["structures"]["tumour"]
    assert float(row["volume_ml_tumour"]) == pytest.approx(found["volume_ml"])


def test_the_same_pixels_in_two_splits_are_refused(nuclei, tmp_path):
    rows = [row for row in rows_of(SAMPLES / "nuclei/cases.csv") if row["annotation"]][:3]
    for row in rows:
        row["file"], row["annotation"] = (str(SAMPLES / "nuclei" / row[key]) for key in ("file", "annotation"))
        row["split"] = "train"
    copy = tmp_path / "copy.png"
    shutil.copy(rows[0]["file"], copy)
    rows.append(rows[0] | {"file": str(copy), "image": "copy", "case": "other", "split": "val"})
    table = write_table(tmp_path / "cases.csv", rows)
    ingest = ["ingest", "slides", *(row["file"] for row in rows), "--table", table, "--classes", "background,nucleus", "--out", tmp_path / "s.zarr"]
    said = headrace(*ingest, code=2).stderr
    assert "'copy' of split 'val'" in said and "have the same pixels" in said and "--accept same-pixels" in said
    assert "have the same pixels" in headrace(*ingest, "--accept", "same-pixels").stderr
    config = nuclei_config(tmp_path / "s.zarr")
    (tmp_path / "run.yaml").write_text(config)
    said = headrace("train", "--config", tmp_path / "run.yaml", "--out", tmp_path / "run", code=2).stderr
    assert "have the same pixels" in said and "same_pixels: take" in said and not (tmp_path / "run").exists()
    (tmp_path / "run.yaml").write_text(config.replace("s.zarr}", "s.zarr, same_pixels: take}").replace("batches_per_epoch: 40", "batches_per_epoch: 1"))
    headrace("train", "--config", tmp_path / "run.yaml", "--out", tmp_path / "run")
    rows[-1]["split"] = "train"
    rows[1]["split"] = "val"
    write_table(table, rows)
    assert "are counted as many times" in headrace(*ingest[:-1], tmp_path / "one.zarr").stderr
