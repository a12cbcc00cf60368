"""What is said once of every figure, and what follows from it: docs/formats.md names each, and trackers get those that they got."""
import json
import re
from pathlib import Path

import pytest
from headrace import _core
from headrace.track import allowed

TABLE = json.loads(_core.figure_table())
FORMATS = (Path(__file__).resolve().parents[2] / "docs/formats.md").read_text()


def words_of(kind):
    """The keys that the section on the evaluation of a kind has."""
    section = FORMATS.split(f"### Evaluation of {kind}\n")[1].split("\n## ")[0].split("\n### ")[0]
    return {part.strip("{}") for quoted in re.findall(r"`([^`]+)`", section) for part in quoted.split(".")}


@pytest.mark.parametrize("kind", ["slides", "volumes"])
def test_every_figure_is_in_the_docs(kind):
    words = words_of(kind)
    missing = []
    for row in TABLE:
        if kind not in row["of"]:
            continue
        parts = [part for part in row["key"].split(".") if not part.startswith("{")]
        for part in {parts[0], parts[-1]}:
            stem, _, last = part.partition("{")[0].rpartition("_")  # "sensitivity_at_0.125", then only "_0.25"
            if part not in words and not (f"_{last}" in words and any(word.startswith(stem) for word in words)) \
                    and not ("{" in part and any(word.startswith(f"{stem}_") for word in words)):
                missing.append(row["key"])
    assert missing == [], f"docs/formats.md says nothing of them in 'Evaluation of {kind}'"


def test_trackers_get_what_they_got():
    """Nothing more leaves by accident: a figure that is new to trackers comes after these."""
    assert allowed.FIGURES[:14] == ("mean_dice", "dice", "iou", "pooled_dice", "accuracy", "surface_dice", "hd95", "kappa", "tumour", "detection",
                                    "gleason", "lesion", "calibration", "objects")
    assert allowed.FIGURES[-3:] == ("images", "cases", "of_images")
    assert allowed.COLUMNS[:13] == ("mean_dice", "dice", "iou", "kappa", "gleason.kappa", "surface_dice", "hd95", "tumour.auc", "detection.slides.auc",
                                    "detection.cases.auc", "lesion.froc", "lesion.sensitivity_at_1", "calibration.ece")


def test_the_better_way_is_that_of_the_table():
    for row in TABLE:
        name = re.sub(r"\{[^}]*\}", "a.b", row["key"])
        assert _core.smaller_is_better(name) == row["smaller_is_better"], name
    assert not _core.smaller_is_better("val_loss")
