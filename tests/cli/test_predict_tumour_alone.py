"""What predict says of slides whose classes above 0 are all tumour: class 0 is other tissue and glass, so no part of the tissue is stated."""
import re

import pytest
from driving import headrace, rows_of
from predictions import findings_of, maps_of, trained

CONFIG = """task: segmentation
data: {{store: {store}}}
patch: {{size: [64, 64], mpp: 0.5}}
sampling: {{seed: 3, batch: 4, batches_per_epoch: 40}}
transforms:
  - stain_normalize: {{}}
model: {{name: unet2d, widths: [8, 16]}}
train: {{epochs: 1, lr: 4.0e-3, threads: 1, validate_every: 0}}
loader: {{threads: 1, prefetch: 2}}
"""


@pytest.fixture(scope="module")
def run(nuclei, tmp_path_factory):
    """Of the classes background and nucleus."""
    return trained(tmp_path_factory.mktemp("run"), "run", CONFIG.format(store=nuclei))


@pytest.fixture(scope="module")
def predicted(run, nuclei, tmp_path_factory):
    """The folder of predictions of two slides, and what was printed."""
    out = tmp_path_factory.mktemp("predicted") / "out"
    return out, headrace("predict", "--run", run, nuclei, "--split", "val", "--out", out).stdout


def test_no_share_of_the_tissue_is_stated(predicted):
    out, said = predicted
    folders = sorted(path for path in out.iterdir() if path.is_dir())
    assert len(folders) == 2 and "of the tissue" not in said
    for folder in folders:
        nuclei = int((maps_of(folder)[0] == 1).sum())
        found = findings_of(folder)["slide"]
        assert found["tumour"]["pixels"] == nuclei > 0
        assert found["tissue"] == {"pixels": None, "area_mm2": None}
        assert [found["tumour"]["share_of_tissue"]] + [one["share_of_tissue"] for one in found["classes"].values()] == [None] * 3
        assert {piece["tissue_pixels"] for piece in found["tissue_pieces"]["list"]} <= {None}
        (printed,) = re.findall(rf"{re.escape(folder.name)}: ([0-9.]+) mm² of tumour", said)
        assert float(printed) == pytest.approx(nuclei * 0.25e-6, rel=0.06)  # two digits below 1 mm²


def test_the_table_of_cases_leaves_it_out(predicted):
    rows = rows_of(predicted[0] / "cases.csv")
    assert sum(int(row["slides"]) for row in rows) == 2
    for row in rows:
        assert row["tissue_mm2"] == row["tumour_share"] == "" and float(row["tumour_mm2"]) > 0
