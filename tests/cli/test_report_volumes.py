"""The report of CT against what NumPy and SciPy make of the predictions of `headrace predict` and of the label files as SimpleITK reads them. The
colon takes the lesion's part, since a network of a few steps finds it."""
import json

import numpy as np
import pytest
import scipy.ndimage
import SimpleITK as sitk
import zarr
from driving import headrace, rows_of
from made_once import made_once
from report_page import Page

CONFIG = """task: colorectal
data: {{store: {store}}}
patch: {{size: [24, 24, 24], spacing_mm: [5, 4.1666667, 4.1666667]}}
sampling: {{seed: 7, batch: 2, batches_per_epoch: 40, foreground: 0.7}}
transforms:
  - window_hu: {{low: -160, high: 240}}
model: {{name: unet3d, widths: [8, 16]}}
train: {{epochs: 1, lr: 6.0e-3, threads: 1, validate_every: 0}}
loader: {{threads: 1, prefetch: 2}}
eval: {{overlap: 0.25, batch: 4, bootstrap: 200, lesion_min_mm3: 200, lesion_lowest: 0.2, lesion_classes: [colon]}}
"""
COLON = 1


def make(folder):
    headrace("phantom", "volumes", "--out", folder / "in", "--count", 9, "--size", 96, "--slices", 88, "--phases", 1, "--scanners", 1, "--seed", 11)
    headrace("ingest", "volumes", folder / "in/images", "--table", folder / "in/cases.csv", "--classes", "background,colon,lesion",
             "--out", folder / "s.zarr")
    (folder / "run.yaml").write_text(CONFIG.format(store=folder / "s.zarr"))
    headrace("train", "--config", folder / "run.yaml", "--out", folder / "run")
    headrace("predict", "--run", folder / "run", folder / "s.zarr", "--split", "val", "--out", folder / "out")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_once(tmp_path_factory, "phantom-report", make)


@pytest.fixture(scope="module")
def page(made):
    return Page((made / "run/report.html").read_text())


@pytest.fixture(scope="module")
def images(made):
    """By id: the entry in eval.json, the truth, the predicted classes, the map of the calls and their scores."""
    result = {image["id"]: image for image in json.loads((made / "run/eval.json").read_text())["images"]}
    out = {}
    for row in (row for row in rows_of(made / "in/cases.csv") if row["split"] == "val"):
        truth = sitk.GetArrayFromImage(sitk.DICOMOrient(sitk.ReadImage(str(made / "in" / row["labels"])), "LPS"))
        folder = made / "out" / row["image"]
        maps = zarr.open_group(folder, mode="r")
        scores = [lesion["score"] for lesion in json.loads((folder / "findings.json").read_text())["volume"]["lesions"]]
        out[row["image"]] = result[row["image"]], truth, maps["labels/classes/0"][:], maps["labels/lesions/0"][:], scores
    assert len(out) == 3 == len(result)
    return out


def shown(value):
    return f"{value:.3f}"


def test_dice_of_each_case(page, images):
    """A prediction leaves out air around the body, an evaluation judges it too: so voxels that are annotated are held against the maps, and
    the Dice follows from these and from how many the evaluation said. Of three cases there is no interval."""
    dice = {}
    for name, (entry, truth, predicted, _, _) in images.items():
        matrix = np.array(entry["matrix"])
        for c in (1, 2):
            assert matrix[c].tolist() == [((truth == c) & ((predicted == k) | ((k == 0) & (predicted == 255)))).sum() for k in range(3)]
        inside = predicted != 255
        assert matrix[0, COLON] >= ((truth == 0) & (predicted == COLON) & inside).sum() and matrix.sum() == truth.size
        dice[name] = 2 * ((truth == COLON) & (predicted == COLON)).sum() / ((truth == COLON).sum() + matrix[:, COLON].sum())
    listed = page.table("Volume", "Case", "Cohort")
    at = listed[0].index("colon Dice")
    assert {row[0]: row[at] for row in listed[1:]} == {name: shown(value) for name, value in dice.items()}
    assert min(dice.values()) > 0.1 and len(set(dice.values())) == 3, "a network that found nothing shows nothing"
    (row,) = [row for row in page.table("Class", "Dice")[1:] if row[0] == "colon"]
    values = list(dice.values())
    assert row[1] == shown(np.mean(values))


def hits_of(truth, calls, scores, least):
    """Scores of the calls that hit: each, from the highest on, the structure not yet hit that it overlaps most, by `least` (IoU)."""
    structures, count = scipy.ndimage.label(truth == COLON, np.ones((3, 3, 3)))
    taken, out = set(), []
    for k in sorted(range(len(scores)), key=lambda k: -scores[k]):
        call = calls == k + 1
        overlaps = {s: (call & (structures == s)).sum() / (call | (structures == s)).sum()
                    for s in set(np.unique(structures[call]).tolist()) - {0} - taken}
        best = max(overlaps, key=overlaps.get, default=None)
        if best is not None and overlaps[best] >= least:
            taken.add(best)
            out.append(scores[k])
    return count, out


def test_froc_and_sensitivity(made, page, images):
    rules = json.loads((made / "run/config.json").read_text())["eval"]
    total, scored = 0, []
    for entry, truth, _, calls, scores in images.values():
        count, hit = hits_of(truth, calls, scores, rules["lesion_overlap"])
        total += count
        assert len(entry["lesions"]) == count
        assert sorted(c["score"] for c in entry["calls"] if c["hit"]) == pytest.approx(sorted(hit), abs=1e-3)
        scored += [(c["score"], c["hit"]) for c in entry["calls"]]
    scored.sort(reverse=True)
    hit = np.array([hit for _, hit in scored])
    sensitivity, false = np.cumsum(hit) / total, np.cumsum(~hit) / len(images)
    expected = {at: max(sensitivity[false <= float(at)], default=0) for at in ("0.125", "0.25", "0.5", "1", "2", "4", "8")}
    rows = {row[0]: row[1].split()[0] for row in page.table("False positives a scan", "Sensitivity")[1:]}
    assert rows == {at: shown(value) for at, value in expected.items()} | {"mean of these": shown(np.mean(list(expected.values())))}
    assert 0 < expected["8"]
    used = np.array([score >= rules["lesion_probability"] for score, _ in scored])
    facts = {row[0]: row[1].split()[0] for table in page.tables for row in table if len(row) == 2 and row[1]}
    assert facts[f"Sensitivity for lesions, calls from {rules['lesion_probability']:g}"] == shown((hit & used).sum() / total)
    assert facts["Precision of these calls"] == shown((hit & used).sum() / used.sum())
    by_size = page.table("Diameter", "Lesions", "Hit")[1:]
    assert (sum(int(row[1]) for row in by_size), sum(int(row[2]) for row in by_size)) == (total, (hit & used).sum())
