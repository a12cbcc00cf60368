"""What info, train and eval print without --json, of either kind and every task: the figures that stand in the run's own files."""
import json
import re

import pytest
from ct_inputs import CT
from driving import headrace, json_of, write_table

COMMON = """loader: {threads: 1, prefetch: 2}
"""
SLIDES = """patch: {size: [64, 64], mpp: %s}
sampling: {seed: 7, batch: 2, batches_per_epoch: 2}
model: {name: unet2d, widths: [8, 16]}
train: {epochs: 1, threads: 1, log_every: 1}
""" + COMMON
VOLUMES = """patch: {size: [16, 32, 32], spacing_mm: [4, 4, 4]}
sampling: {seed: 7, batch: 1, batches_per_epoch: 2}
transforms: [window_hu: {low: -160, high: 240}]
model: {name: unet3d, widths: [8, 16]}
train: {epochs: 1, threads: 1, log_every: 1}
""" + COMMON


@pytest.fixture(scope="module")
def phantoms(tmp_path_factory):
    """A store of synthetic slides that have grades, of two scanners."""
    folder = tmp_path_factory.mktemp("phantoms")
    headrace("phantom", "slides", "--out", folder / "in", "--count", 8, "--size", 512, "--scanners", 2, "--seed", 3)
    classes = ",".join((folder / "in/classes.txt").read_text().split())
    headrace("ingest", "slides", folder / "in/slides", "--table", folder / "in/cases.csv", "--classes", classes, "--out", folder / "s.zarr")
    return folder / "s.zarr"


@pytest.fixture(scope="module")
def ct(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ct")
    rows = [{"file": str(CT / f"sarcoma/{name}.nii.gz"), "image": name, "case": name, "split": split, "phase": "native",
             "labels": str(CT / f"sarcoma/{name}-gtv.nii.gz")} for name, split in (("sts-019", "train"), ("sts-012", "val"))]
    table = write_table(folder / "cases.csv", rows)
    headrace("ingest", "volumes", CT / "sarcoma", "--table", table, "--classes", "background,tumour", "--out", folder / "ct.zarr")
    return folder / "ct.zarr"


def figure(value):
    return "undefined" if value is None else f"{value:.4f}"


@pytest.mark.parametrize("task, kind", [("segmentation", "slides"), ("gleason", "slides"), ("segmentation", "volumes"),
                                        ("colorectal", "volumes")])
def test_train_and_eval_say_the_figures(task, kind, request, tmp_path):
    store = request.getfixturevalue("ct" if kind == "volumes" else "phantoms" if task == "gleason" else "nuclei")
    config = tmp_path / "run.yaml"
    body = VOLUMES if kind == "volumes" else SLIDES % (4.0 if task == "gleason" else 0.5)
    config.write_text(f"task: {task}\ndata: {{store: {store}}}\n{body}")
    trained = headrace("train", "--config", config, "--out", tmp_path / "run").stdout
    result = json.loads((tmp_path / "run/eval.json").read_text())
    overall = result["overall"]
    assert "trained 2 steps" in trained and f"mean Dice {figure(overall['mean_dice'])}" in trained and "report.html" in trained
    for name, dice in overall["dice"].items():
        assert re.search(rf"^  {name} +{figure(dice)}$", trained, re.M), trained
    assert ("quadratic kappa" in trained) == (task == "gleason")
    assert ("FROC" in trained) == (task == "colorectal")

    said = headrace("eval", "--run", tmp_path / "run").stdout.splitlines()
    groups = {"split": {result["split"]: overall}, "cohort": result["cohorts"], "scanner": result["scanners"], "phase": result.get("phases", {})}
    expected = [(kind_of, name, group) for kind_of, named in groups.items() for name, group in named.items()]
    assert len(expected) >= 3
    for line, (kind_of, name, group) in zip(said, expected, strict=False):
        assert line.split()[:2] == [kind_of, name] and f"mean Dice {figure(group['mean_dice'])}" in line, line
        assert (f"kappa {figure(group['gleason']['kappa'])}" in line) if task == "gleason" else "kappa" not in line
        assert (f"FROC {figure(group['lesion']['froc'])}" in line) if task == "colorectal" else "FROC" not in line
    classes = said[len(expected):]
    if kind == "volumes":
        assert "surface-distance" in classes.pop()  # whose HD95 it is
    assert [line.split()[0] for line in classes] == result["classes"]
    for line, name in zip(classes, result["classes"], strict=True):
        assert f"Dice {figure(overall['dice'][name])}" in line
        assert ("HD95" in line) == (kind == "volumes" and name in overall["hd95"])


def test_info_lists_slides_and_volumes(nuclei, ct):
    for store in (nuclei, ct):
        facts = json_of("info", store)
        lines = headrace("info", store).stdout.splitlines()
        for line, image in zip(lines[1:], facts["images"], strict=False):
            assert line.split()[0] == image["id"] and image["split"] in line and image["codec"] in line
            assert " x ".join(str(n) for n in image["shape"][-(3 if facts["kind"] == "volume" else 2):]) in line
        assert facts["classes"] == lines[1 + len(facts["images"])].split("classes: ")[1].split(", ")
        assert lines[-1] == f"dataset hash {facts['dataset_hash']}"
