"""`headrace diff RUN RUN`: what differs between two runs. Its intervals are held against an independent bootstrap in
tests/python/test_paired_bootstrap.py."""
import json
import shutil

from driving import headrace, message_of


def test_two_runs(promotable):
    before, after = promotable / "a", promotable / "b"
    diff = json.loads(headrace("diff", before, after, "--json").stdout)
    changes = {one["key"]: (one["before"], one["after"]) for one in diff["config"]["decides"]}
    assert changes == {"sampling.seed": (5, 6), "train.epochs": (1, 4), "train.validate_every": (0, 2)}
    assert [one["key"] for one in diff["config"]["decides_nothing"]] == ["loader.threads"]
    assert all(diff["run"][key]["same"] for key in ("dataset_hash", "preprocessing_sha256", "init", "code_version", "libraries", "hardware"))
    for side, run in (("before", before), ("after", after)):
        assert diff[side]["weights_sha256"] == json.loads((run / "summary.json").read_text())["weights_sha256"]
        evaluation = json.loads((run / "eval.json").read_text())
        for group, figures in [("overall", evaluation["overall"]), *((f"cohorts.{name}", of) for name, of in evaluation["cohorts"].items())]:
            shown = diff["evaluation"]["groups"][group]["figures"]["tumour.dice"]
            assert shown[side] == figures["tumour"]["dice"] and shown[f"{side}_interval_95"] == figures["interval_95"]["tumour"]["dice"]
    assert set(diff["evaluation"]["groups"]) == {"overall", *(f"{kind}-{i}" for kind in ("cohorts.phantom-site", "scanners.scanner") for i in (1, 2))}
    one = diff["evaluation"]["groups"]["overall"]["figures"]["dice.background"]
    low, high = one["difference_interval_95"]
    assert low <= one["difference"] <= high and one["difference"] == one["after"] - one["before"]
    words = headrace("diff", before, after).stdout
    assert "config sampling.seed: 5 -> 6" in words and "(decides neither batches nor weights) loader.threads: 1 -> 2" in words
    assert "overall, 3 cases in both:" in words and f"{one['difference']:+.4f} ({low:.4f} to {high:.4f})" in words


def test_a_run_and_itself(promotable):
    diff = json.loads(headrace("diff", promotable / "a", promotable / "a", "--json").stdout)
    assert diff["config"] == {"decides": [], "decides_nothing": []} and all(part["same"] for part in diff["run"].values())
    differences = {figure["difference"] for figure in diff["evaluation"]["groups"]["overall"]["figures"].values()}
    assert differences <= {0, None} and 0 in differences


def test_another_split_has_no_paired_intervals(promotable, tmp_path):
    other = shutil.copytree(promotable / "b", tmp_path / "b")
    evaluation = json.loads((other / "eval.json").read_text())
    (other / "eval.json").write_text(json.dumps(evaluation | {"split": "test"}))
    words = headrace("diff", promotable / "a", other).stdout
    assert "differences have no intervals: they were judged by another split: val and test" in words and "in both" not in words
    # The images of another fold are of the same split, but others.
    for image in evaluation["images"]:
        image["id"], image["case"] = "other-" + image["id"], "other-" + image["case"]
    evaluation["cases"] = {"other-" + name: case for name, case in evaluation["cases"].items()}
    (other / "eval.json").write_text(json.dumps(evaluation))
    assert "no case was judged by both" in headrace("diff", promotable / "a", other).stdout
    (other / "eval.json").unlink()
    assert "the run was not evaluated" in headrace("diff", promotable / "a", other).stdout


def test_what_is_no_run_is_refused(promotable, nuclei):
    message = message_of(headrace("diff", promotable / "a", nuclei, code=2))
    assert f"{nuclei} holds no run" in message and "headrace diff STORE BEFORE AFTER" in message
