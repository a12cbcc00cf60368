"""Trainings on CT: the same weights and figures every time, whatever the loader's threads, and when killed and resumed; and nothing that was
planted into the DICOM headers is found in the run folder or its report."""
import base64
import csv
import json
import re

import nibabel
import numpy as np
import pytest
from ct_inputs import CT, key_file
from driving import headrace, message_of, write_table
from killed_training import train_killed_and_resumed
from test_training import same, without_times
from test_volume_phi import assert_nothing_found, plant, unpacked

CONFIG = """task: colorectal
data: {{store: {store}}}
patch: {{size: [16, 32, 32], spacing_mm: [4, 4, 4]}}
sampling: {{seed: 7, batch: 2, batches_per_epoch: {batches}, foreground: 0.7}}
transforms:
  - affine: {{rotate_deg: [-15, 15], scale: [0.8, 1.25], flip: true}}
  - elastic: {{grid: 4, magnitude_mm: 6, probability: 0.5}}
  - window_hu: {{low: -160, high: 240}}
  - gaussian_noise: {{sigma: [0, 0.05], probability: 0.5}}
model: {{name: unet3d, widths: [8, 16]}}
train: {{epochs: 2, lr: 3.0e-3, checkpoint_every: 2, threads: 1, log_every: 1}}
loader: {{threads: {threads}, prefetch: 2}}
eval: {{bootstrap: 50, surface_tolerance_mm: 4, lesion_probability: 0.3, lesion_min_mm3: 100, lesion_classes: [tumour]}}
"""


def config_of(folder, store, threads=1, batches=6):
    path = folder / "run.yaml"
    path.write_text(CONFIG.format(store=store, threads=threads, batches=batches))
    return path


@pytest.fixture(scope="module")
def ct(tmp_path_factory):
    """A store of three real CTs with tumours; one comes from DICOM files that name a patient."""
    folder = tmp_path_factory.mktemp("ct")
    dicom = plant(CT / "sts-008/image", folder / "in" / "series")
    rows = [{"file": str(dicom), "image": "sts-008", "case": "sts-008", "cohort": "dicom", "scanner": "Site 1 CT", "split": "val",
             "phase": "native", "labels": str(CT / "sts-008/mask.nii.gz")}]
    rows += [{"file": str(CT / f"sarcoma/{name}.nii.gz"), "image": name, "case": name, "cohort": "nifti", "scanner": "", "split": split, "phase": "native",
              "labels": str(CT / f"sarcoma/{name}-gtv.nii.gz")} for name, split in (("sts-012", "val"), ("sts-018", "train"), ("sts-024", "train"))]
    table = write_table(folder / "cases.csv", rows)
    headrace("ingest", "volumes", folder / "in", "--table", table, "--classes", "background,tumour", "--out", folder / "ct.zarr",
             "--key-file", key_file(folder))
    return folder / "ct.zarr"


@pytest.fixture(scope="module")
def trained(ct, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    done = headrace("train", "--config", config_of(folder, ct), "--out", folder / "run")
    (folder / "said.txt").write_text(done.stdout + done.stderr)
    return folder / "run"


def evaluation(run):
    return without_times(json.loads((run / "eval.json").read_text()))


def test_twice_the_same_with_other_loader_threads(trained, ct, tmp_path):
    headrace("train", "--config", config_of(tmp_path, ct, threads=3), "--out", tmp_path / "run")
    same(trained, tmp_path / "run")
    assert evaluation(trained) == evaluation(tmp_path / "run")


def test_killed_in_the_middle_and_resumed(trained, ct, tmp_path):
    config, run = config_of(tmp_path, ct), tmp_path / "run"
    train_killed_and_resumed(config, run)
    same(trained, run)
    assert evaluation(trained) == evaluation(run)


def test_figures_are_those_of_the_tables(trained):
    result = evaluation(trained)
    with open(trained / "eval-volumes.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["sts-008", "sts-012"]
    overall = result["overall"]
    dice = [float(row["dice_tumour"]) for row in rows if row["dice_tumour"]]
    assert overall["dice"]["tumour"] == pytest.approx(np.mean(dice))
    assert overall["lesion"]["lesions"] == sum(int(row["lesions"]) for row in rows) >= 2
    assert set(result["cohorts"]) == {"dicom", "nifti"} and set(result["phases"]) == {"native"}
    assert set(result["scanners"]) == set(result["baseline"]["scanners"]) == {"Site 1 CT", "not stated"}
    for figures in (result, result["baseline"]):
        assert figures["scanners"]["Site 1 CT"] == figures["cohorts"]["dicom"] and figures["scanners"]["not stated"] == figures["cohorts"]["nifti"]
    assert sum(group["voxels"] for group in result["cohorts"].values()) == overall["voxels"]
    assert overall["no_interval"].endswith("no interval") and "interval_95" not in overall
    with open(trained / "eval-lesions.csv", newline="") as file:
        found = [(row["kind"], float(row["score"] or 0)) for row in csv.DictReader(file)]
    kinds = [kind for kind, _ in found]
    assert kinds.count("hit") + kinds.count("missed") == overall["lesion"]["lesions"]
    wrong = [score for kind, score in found if kind == "false positive"]
    assert sum(score >= 0.3 for score in wrong) == overall["lesion"]["calls"] - overall["lesion"]["hits"]
    assert sum(int(row["false_positives"]) for row in rows) == overall["lesion"]["calls"] - overall["lesion"]["hits"]
    words = [row["structure_tumour"] for row in rows]
    assert {word: words.count(word) for word in ("found", "missed", "invented", "absent")} == overall["structures"]["tumour"]


def test_figures_are_on_the_files_own_grid(trained):
    """Labels are not resampled: what is true are the mask's own voxels, whatever the patch's spacing."""
    for image in evaluation(trained)["images"]:
        mask = CT / ("sts-008/mask.nii.gz" if image["id"] == "sts-008" else "sarcoma/sts-012-gtv.nii.gz")
        voxels = np.asanyarray(nibabel.load(mask).dataobj)
        assert image["voxels"] == voxels.size
        assert sum(lesion["voxels"] for lesion in image["lesions"]) == np.count_nonzero(voxels)


def test_a_baseline_that_looks_at_no_pixel_stands_beside(trained):
    result = evaluation(trained)
    ball = json.loads((trained / "baseline.json").read_text())["balls"]["tumour"]
    volumes = []
    for name in ("sts-018", "sts-024"):
        mask = nibabel.load(CT / f"sarcoma/{name}-gtv.nii.gz")
        volumes.append(np.count_nonzero(np.asanyarray(mask.dataobj)) * abs(np.linalg.det(mask.affine[:3, :3])))
    assert ball["volume_mm3"] == pytest.approx(np.mean(volumes), rel=1e-4)
    baseline = result["baseline"]["overall"]
    assert baseline["lesion"]["curve"][0][2] == 1 and baseline["structures"]["tumour"]["missed"] == 0
    said = headrace("eval", "--run", trained).stdout
    assert f"(baseline {baseline['dice']['tumour']:.4f})" in said
    assert "looks at no pixel" in (trained / "report.html").read_text()


def test_eval_gates_and_report(trained, tmp_path):
    result = json.loads(headrace("eval", "--run", trained, "--json").stdout)
    assert without_times(result)["overall"] == evaluation(trained)["overall"]
    gate = tmp_path / "gate.yaml"
    gate.write_text("{lesion.froc: 0, lesion.sensitivity_at_1: 0, surface_dice.tumour: 0, hd95.tumour: {most: 1.0e+6}}")
    assert "hd95.tumour" in headrace("eval", "--run", trained, "--gate", gate).stdout
    gate.write_text("{cohorts.dicom.hd95_penalised.tumour: {most: 1.0e+6}, hd95_undefined.tumour: {most: 2}}")
    assert "cohorts.dicom.hd95_penalised.tumour" in headrace("eval", "--run", trained, "--gate", gate).stdout
    gate.write_text("{dice.tumour: 0.999}")
    headrace("eval", "--run", trained, "--gate", gate, code=3)
    gate.write_text("{lesion.frok: 0.5}")
    assert "lesion.froc" in headrace("eval", "--run", trained, "--gate", gate, code=2).stderr
    other = headrace("eval", "--run", trained, "--split", "train", "--weights", "best").stdout
    assert "phase" in other and "FROC" in other
    headrace("report", trained)
    text = (trained / "report.html").read_text()
    assert "FROC" in text and "surface Dice" in text and "HD95" in text and text.count("data:image/png;base64,") >= 6
    assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text


def test_planted_identifiers_are_not_in_the_run(trained):
    assert_nothing_found("output", (trained.parent / "said.txt").read_bytes())
    files = [path for path in sorted(trained.rglob("*")) if path.is_file()]
    assert len(files) > 12
    for path in files:
        assert_nothing_found("a name", str(path.relative_to(trained)).encode())
        raw = path.read_bytes()
        for part in unpacked(raw) if path.suffix == ".png" else [raw]:
            assert_nothing_found(path, part)
    for packed in re.findall(r"data:image/png;base64,([^\"]+)", (trained / "report.html").read_text()):
        assert_nothing_found("a picture", base64.b64decode(packed))


def test_a_lesion_class_that_is_not_there_is_named(ct, tmp_path):
    config = config_of(tmp_path, ct)
    config.write_text(config.read_text().replace("[tumour]", "[tumor]"))
    said = message_of(headrace("train", "--config", config, "--out", tmp_path / "run", code=2))
    assert "eval.lesion_classes" in said and "tumor" in said and "tumour" in said
