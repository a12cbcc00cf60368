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
            assert shown[side] == figures["tumour"]["dice"] and shown[f"{side}_interval_95"] is None and "no_interval" in figures
    assert set(diff["evaluation"]["groups"]) == {"overall", *(f"{kind}-{i}" for kind in ("cohorts.phantom-site", "scanners.scanner") for i in (1, 2))}
    one = diff["evaluation"]["groups"]["overall"]["figures"]["dice.background"]
    assert one["difference_interval_95"] is None and one["difference"] == one["after"] - one["before"]
    words = headrace("diff", before, after).stdout
    assert "config sampling.seed: 5 -> 6" in words and "(decides neither batches nor weights) loader.threads: 1 -> 2" in words
    assert "overall, of both 3 cases: no interval:" in words and f"{one['difference']:+.4f}\n" in words


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


def test_parts_that_a_run_does_not_record(promotable, tmp_path):
    """Runs of an earlier release."""
    older = [shutil.copytree(promotable / name, tmp_path / name) for name in "ab"]
    for run in older:
        facts = json.loads((run / "run.json").read_text())
        for key in ("code", "hardware"):
            del facts[key]
        (run / "run.json").write_text(json.dumps(facts))
    parts = json.loads(headrace("diff", *older, "--json").stdout)["run"]
    assert parts["code"] == parts["hardware"] == {"same": None, "recorded_by": []} and parts["libraries"]["same"] is True
    words = headrace("diff", *older).stdout.splitlines()
    assert "neither run records it, as those of earlier versions: code, hardware" in words
    (same,) = [line for line in words if line.startswith("the same: ")]
    assert {"code", "hardware"}.isdisjoint(same.removeprefix("the same: ").split(", ")) and "libraries" in same
    words = headrace("diff", older[0], promotable / "b").stdout
    assert "run hardware: only the second run records it\n" in words and '{"' not in words


def test_first_weights_are_shown_by_name_and_hash(promotable, tmp_path):
    one, other, moved = (shutil.copytree(promotable / "a", tmp_path / name) for name in ("one", "other", "moved"))
    for run, init in ((one, {"file": "/home/anna/runs/first/final.safetensors", "sha256": 32 * "ab", "tensors_taken": 7}),
                      (moved, {"file": "/archive/first/final.safetensors", "sha256": 32 * "ab", "tensors_taken": 7}),
                      (other, {"file": "/home/anna/w.safetensors", "sha256": 32 * "cd", "tensors_taken": 7})):
        facts = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps(facts | {"init": init}))
    words = headrace("diff", promotable / "a", one).stdout
    assert "run init: nothing -> first/final.safetensors (SHA-256 abababababababab)\n" in words
    words = headrace("diff", one, other).stdout
    assert "run init: first/final.safetensors (SHA-256 abababababababab) -> anna/w.safetensors (SHA-256 cdcdcdcdcdcdcdcd)\n" in words
    assert "/home" not in words and '{"' not in words
    assert json.loads(headrace("diff", one, moved, "--json").stdout)["run"]["init"]["same"] is True  # wherever they lay
    for run, file, tensors in ((one, "12", "ef"), (moved, "34", "ef"), (other, "12", "56")):  # the tensors decide, not their file
        facts = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps(facts | {"init": facts["init"] | {"sha256": 32 * file, "weights_sha256": 32 * tensors}}))
    assert [json.loads(headrace("diff", one, run, "--json").stdout)["run"]["init"]["same"] for run in (moved, other)] == [True, False]


def test_what_is_no_run_is_refused(promotable, nuclei):
    message = message_of(headrace("diff", promotable / "a", nuclei, code=2))
    assert f"{nuclei} holds no run" in message and "headrace diff STORE BEFORE AFTER" in message
