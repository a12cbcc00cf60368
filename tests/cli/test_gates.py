"""Gates in the run config and in a file: what they hold against what, when they are refused, and what misses."""
import json
import shutil
import subprocess

import pytest
from driving import headrace, message_of
from promoted_runs import config_of, contents


@pytest.fixture
def run(promotable, tmp_path):
    return shutil.copytree(promotable / "a", tmp_path / "a")


def with_gates(run, gates):
    """The run with other gates in its config, as a resume would write them."""
    config = json.loads((run / "config.json").read_text())
    config["gates"] = gates
    (run / "config.json").write_text(json.dumps(config))
    return run


def gates_of(run, *options, code=0):
    return json.loads(headrace("eval", "--run", run, *options, "--json", code=code).stdout)["gate"]


def test_training_holds_the_gates_of_its_config(promotable):
    evaluation, summary = (json.loads((promotable / "a" / name).read_text()) for name in ("eval.json", "summary.json"))
    gate = summary["gate"]
    found = {(one["figure"], one["group"]): one["found"] for one in gate["figures"]}
    assert gate["passed"] and found == {
        ("dice.background", "overall"): evaluation["overall"]["dice"]["background"],
        **{("mean_dice", f"cohorts.{name}"): group["mean_dice"] for name, group in evaluation["cohorts"].items()}}
    assert len(evaluation["cohorts"]) == 2
    assert evaluation["weights"] == "final" and evaluation["weights_sha256"] == summary["weights_sha256"]


def test_a_missed_gate_does_not_fail_the_training(promotable, tmp_path):
    (tmp_path / "run.yaml").write_text(config_of(promotable / "s.zarr", gates="gates: [{figure: mean_dice, least: 1.5}]"))
    said = headrace("train", "--config", tmp_path / "run.yaml", "--out", tmp_path / "run").stderr
    assert "gate MISSED: mean_dice" in said and "at least 1.5 asked for" in said
    assert json.loads((tmp_path / "run/summary.json").read_text())["gate"]["passed"] is False
    # Gates decide nothing: the weights, and the hash of the config, are those of other gates.
    for file, key in (("summary.json", "weights_sha256"), ("run.json", "config_hash")):
        ours, theirs = (json.loads((folder / file).read_text())[key] for folder in (tmp_path / "run", promotable / "a"))
        assert ours == theirs
    # And they may change with a resume.
    (tmp_path / "run.yaml").write_text(config_of(promotable / "s.zarr"))
    headrace("train", "--config", tmp_path / "run.yaml", "--out", tmp_path / "run", "--resume")
    assert json.loads((tmp_path / "run/config.json").read_text())["gates"] == json.loads((promotable / "a/config.json").read_text())["gates"]
    assert json.loads((tmp_path / "run/summary.json").read_text())["gate"]["passed"] is True
    assert headrace("eval", "--run", tmp_path / "run").returncode == 0


def test_eval_takes_the_runs_own_and_names_each_miss(run):
    own = gates_of(run)
    assert own["passed"] and len(own["figures"]) == 3
    evaluation = json.loads((run / "eval.json").read_text())
    bound = max(group["mean_dice"] for group in evaluation["cohorts"].values()) + 0.001
    with_gates(run, [{"figure": "mean_dice", "least": bound, "scope": "each cohort"}, {"figure": "dice.hgpin", "least": 0},
                     {"figure": "mean_dice", "least": 0, "scope": "scanners.none"}, {"figure": "dice.background", "least": 0}])
    out = headrace("eval", "--run", run, code=3).stdout
    for name, group in evaluation["cohorts"].items():
        assert f"gate MISSED: cohorts.{name}.mean_dice {group['mean_dice']:.4f}, at least {bound}" in out
    assert "gate MISSED: dice.hgpin is undefined on this split" in out  # validation slides have none of it
    assert evaluation["overall"]["dice"]["hgpin"] is None
    assert "gate MISSED: scanners.none.mean_dice can't be held: this evaluation has no such group, only scanner-1, scanner-2" in out
    assert "gate passed: dice.background" in out
    assert [one["passed"] for one in gates_of(run, code=3)["figures"]] == [False, False, False, False, True]


def test_a_file_of_gates_replaces_them(run, tmp_path):
    gate = tmp_path / "gate.yaml"
    for text in ("{mean_dice: 0, cohorts.phantom-site-1.mean_dice: {least: 0, most: 1}}", "- {figure: mean_dice, most: 1}",
                 "gates:\n- {figure: mean_dice, least: 0, scope: each scanner}"):
        gate.write_text(text)
        assert gates_of(run, "--gate", gate)["passed"], text
    gate.write_text("- {figure: mean_dice, least: 2}")
    assert "gate MISSED: mean_dice" in headrace("eval", "--run", run, "--gate", gate, code=3).stdout
    # The verdict stands in the evaluation and in its report, beside that of the run's own.
    kept = json.loads((run / "eval.json").read_text())
    assert not kept["gate"]["passed"] and kept["gate"]["file"] == "gate.yaml" and kept["own_gate"]["passed"]
    assert [f["figure"] for f in kept["gate"]["figures"] if not f["passed"]] == ["mean_dice"] and len(kept["own_gate"]["figures"]) == 3
    page = (run / "report.html").read_text()
    assert "Gates passed: all 3 hold." in page and "Gates of gate.yaml, not the run’s own, missed: 1 of 1." in page
    gate.write_text("- {figure: mean_dice, most: 1}")
    with_gates(run, [{"figure": "mean_dice", "least": 1.5}])
    headrace("eval", "--run", run, "--gate", gate)
    page = (run / "report.html").read_text()
    assert "Gates missed: 1 of 1." in page and "not the run’s own, passed: all 1 hold." in page


def test_stray_files_cost_no_verdict(promotable, run, tmp_path):
    """Files that are only named as evaluations are named in the report; a report that can't be made is a warning."""
    (run / "eval-notes.json").write_text("{}")
    (run / "eval-text.json").write_text("not JSON")
    gate = tmp_path / "gate.yaml"
    gate.write_text("- {figure: mean_dice, least: 2}")
    headrace("eval", "--run", run, "--gate", gate, code=3)
    page = (run / "report.html").read_text()
    assert "<code>eval-notes.json</code>, <code>eval-text.json</code>" in page
    headrace("report", run)
    (run / "summary.json").write_text("no JSON")
    assert "no report was made" in headrace("eval", "--run", run, "--gate", gate, code=3).stderr
    assert "headrace report says why" in (run / "report.html").read_text()
    assert json.loads((run / "eval.json").read_text())["gate"]["passed"] is False


def test_a_folder_that_can_not_be_written(promotable, tmp_path, small_disk):
    """Said before the evaluation; --out takes it, and promote that."""
    disk, registry = small_disk(16), tmp_path / "registry"
    run = shutil.copytree(promotable / "a", disk / "a")
    command = ("eval", "--run", run)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True, timeout=60)
    try:
        message = message_of(headrace(*command, code=1))
        assert "can't be written there, so none was begun" in message and "--out FOLDER" in message
        before = contents(run)
        result = json.loads(headrace(*command, "--out", tmp_path / "judged", "--json").stdout)
        (found,) = (tmp_path / "judged").glob("*.json")
        assert found.name == f"eval-final-val-{result['dataset_hash'][:12]}.json" and contents(run) == before
        assert {path.name for path in (tmp_path / "judged").iterdir()} == {found.name, "montage"} | {
            found.stem + end for end in ("-slides.csv", "-cases.csv")}
        headrace("promote", run, "--as", "a", "--registry", registry, "--evaluation", found)
        pictures = {str(path.relative_to(tmp_path / "judged")) for path in (tmp_path / "judged/montage").iterdir()}
        assert pictures == {str(path.relative_to((registry / "a").resolve())) for path in (registry / "a").resolve().glob("montage/*")}
    finally:
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True, timeout=60)


def test_bounds_of_intervals(run, tmp_path):
    """Bounds that are met: tests/learn/measure/gate_test.cpp. Three cases have no interval, which is a miss that says what makes one."""
    assert json.loads((run / "eval.json").read_text())["overall"]["no_interval"] == "3 cases: no interval"
    with_gates(run, [{"figure": "accuracy", "least": 0, "bound": "lower"}])
    said = headrace("eval", "--run", run, code=3).stdout
    assert "gate MISSED: accuracy has no 95 % interval here, so this can't be decided (3 cases: no interval; eval.bootstrap" in said
    assert "of ten cases or more" in said
    with_gates(run, [{"figure": "accuracy", "least": 0}, {"figure": "images", "least": 1}])
    said = headrace("eval", "--run", run).stdout.splitlines()
    assert [line.endswith("asked for (3 cases: no interval)") for line in said if line.startswith("gate passed")] == [True, False]


@pytest.mark.parametrize("gates, sentence", [
    ("gates: [{figure: mean_dise, least: 0.5}]", "did you mean 'mean_dice'"),
    ("gates: [{figure: gleason.kapa, least: 0.5}]", "did you mean 'gleason.kappa'"),
    ("gates: [{figure: lesion.froc, least: 0.5}]", "'lesion.froc' is not a figure"),
    ("gates: [{figure: mean_dice, least: 0.5, scope: each phase}]", "slides have no phases"),
    ("gates: [{figure: mean_dice}]", "expected least, most or both"),
    ("gates: [{figure: dice.benign, least: 0.5, bond: lower}]", "Did you mean 'bound'"),
    ("gates: [{figure: dice.bening, least: 0.5}]", "did you mean 'dice.benign'"),  # known once the store is open
])
def test_wrong_gates_are_refused_before_training(promotable, tmp_path, gates, sentence):
    config = tmp_path / "run.yaml"
    config.write_text(config_of(promotable / "s.zarr", gates=gates))
    message = message_of(headrace("train", "--config", config, "--out", tmp_path / "run", code=2))
    assert sentence in message and f"{config}:9" in message
    assert not (tmp_path / "run").exists()


def test_an_interval_without_resamples_is_refused(promotable, tmp_path):
    config = tmp_path / "run.yaml"
    text = config_of(promotable / "s.zarr", gates="gates: [{figure: mean_dice, least: 0.5, bound: lower}]")
    config.write_text(text.replace(", bootstrap: 100", ""))
    assert "eval.bootstrap is 0" in message_of(headrace("train", "--config", config, "--out", tmp_path / "run", code=2))


def test_eval_refuses_unknown_figures_before_it_evaluates(run, tmp_path):
    gate = tmp_path / "gate.yaml"
    gate.write_text("dice.pattern6: 0.5")
    before = (run / "eval.json").stat().st_mtime_ns
    assert "did you mean 'dice.pattern3'" in message_of(headrace("eval", "--run", run, "--gate", gate, code=2))
    assert (run / "eval.json").stat().st_mtime_ns == before
    assert "did you mean 'mean_dice'" in message_of(headrace("eval", "--run", with_gates(run, [{"figure": "mean_dic", "least": 0}]), code=2))


@pytest.mark.parametrize("text", ["", "{}", "[]", "gates: []"])
def test_a_file_that_asks_for_nothing_is_refused(run, tmp_path, text):
    gate = tmp_path / "gate.yaml"
    gate.write_text(text)
    assert "asks for nothing" in message_of(headrace("eval", "--run", run, "--gate", gate, code=2))
