"""What predict says of slides of one class above 0: class 0 is other tissue and glass, so no part of the tissue is stated; and it is no tumour
unless the config says so."""
import re

import pytest
from driving import headrace, rows_of
from predictions import findings_of, maps_of, nuclei_config, trained


@pytest.fixture(scope="module")
def run(nuclei, tmp_path_factory):
    """Of the classes background and object."""
    return trained(tmp_path_factory.mktemp("run"), "run", nuclei_config(nuclei))


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
        assert found["tumour"] is None and found["foreground"]["pixels"] == nuclei > 0
        assert found["tissue"] == {"pixels": None, "area_mm2": None}
        assert [found["foreground"]["share_of_tissue"]] + [one["share_of_tissue"] for one in found["classes"].values()] == [None] * 3
        assert {piece["tissue_pixels"] for piece in found["tissue_pieces"]["list"]} <= {None}
        (printed,) = re.findall(rf"{re.escape(folder.name)}: object ([0-9.]+) mm²", said)
        assert float(printed) == pytest.approx(nuclei * 0.25e-6, rel=0.06)  # two digits below 1 mm²


def test_the_table_of_cases_leaves_it_out(predicted):
    rows = rows_of(predicted[0] / "cases.csv")
    assert sum(int(row["slides"]) for row in rows) == 2
    for row in rows:
        assert row["tissue_mm2"] == "" and "tumour_mm2" not in row and float(row["area_mm2_object"]) > 0
