"""Figures that are none, a clock that goes back, a full disk, followers that end early: what is there arrives once, and training goes on."""
import json
import os
import subprocess
import sys
import time

import pytest
from driving import PROGRAM, headrace
from test_track_files import history_of, measured, read_tensorboard, same_points, scalars
from trackers import copied, expected_points, flat, lines_of, small_config, track


def points_of(run, to, mlflow=None):
    """{(name, step): value} in a tracker; each is there once."""
    if to == "mlflow":
        points = [(name, step, value) for name, step, value, _ in mlflow.history(mlflow.run(run.parent.name))]
        found = {(name, step): value for name, step, value in points}
        assert len(found) == len(points), "a step is there twice"
        return measured(found)
    if to == "tensorboard":
        return measured(scalars(read_tensorboard(run / "tracking/tensorboard")))
    (file,) = run.glob("tracking/wandb/wandb/offline-run-*/run-*.wandb")
    return measured(history_of(file))


def sent(run, to, request):
    """Sends the run and gives what the tracker has."""
    mlflow = request.getfixturevalue("mlflow") if to == "mlflow" else None
    where = ["--url", mlflow.url, "--experiment", run.parent.name] if mlflow else []
    track(run, "--to", to, *where)
    return points_of(run, to, mlflow)


@pytest.mark.parametrize("to", ["mlflow", "wandb", "tensorboard"])
def test_figures_that_are_none(trained_run, request, tmp_path, to):
    """null, NaN and infinities, of figures, times and steps: they are left out, and all others are there."""
    run = copied(trained_run, tmp_path / "run")
    lines = lines_of(run)
    wanted = expected_points(run)
    nan, inf = float("nan"), float("inf")
    steps = [line["step"] for line in lines if "loss" in line][:5]
    training = {line["step"]: line for line in lines if "loss" in line}
    for step, value in zip(steps, (nan, inf, -inf, None)):
        training[step]["loss"] = value
        del wanted["train/loss", step]
    training[steps[4]]["time"]["at"] = nan
    judged = next(line for line in lines if "validation" in line)
    judged["validation"]["mean_dice"] = nan
    del wanted["val/mean_dice", judged["step"]]
    odd = [{**training[steps[0]], "step": step} for step in (nan, inf, 1e300, -1)]
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [*odd, *lines]))
    evaluation = json.loads((run / "eval.json").read_text())
    cohort = next(iter(evaluation["cohorts"].values()))
    cohort["mean_dice"], evaluation["overall"]["accuracy"] = inf, nan
    (run / "eval.json").write_text(json.dumps(evaluation))
    same_points(sent(run, to, request), wanted)


@pytest.mark.parametrize("to", ["mlflow", "wandb", "tensorboard"])
def test_a_clock_that_goes_back(trained_run, request, tmp_path, to):
    run = copied(trained_run, tmp_path / "run")
    lines = lines_of(run)
    for number, line in enumerate(lines):
        line["time"]["at"] = 1.7e9 - 3600 * number
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    same_points(sent(run, to, request), expected_points(run))


FULL_AT_TIMES = """
import errno, os, sys
from headrace.track import event_file, follow, journal, __main__
follow.LOOK_S = 0.1
calls = {"flush": 0, "save": 0}
def full(name, times, real):
    def call(self):
        calls[name] += 1
        if calls[name] in times:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere")
        return real(self)
    return call
event_file.EventFile.flush = full("flush", (2, 4), event_file.EventFile.flush)
journal.Journal.save = full("save", (2, 5), journal.Journal.save)
sys.exit(__main__.main())
"""


@pytest.mark.parametrize("to", ["tensorboard", "mlflow"])
def test_a_full_disk(trained_run, request, tmp_path, to):
    """Writes that find no room, of figures and of the state: it says so, and goes on when there is some."""
    mlflow = request.getfixturevalue("mlflow") if to == "mlflow" else None
    run = copied(trained_run, tmp_path / "run")
    where = ["--url", mlflow.url, "--experiment", tmp_path.name] if mlflow else []
    done = subprocess.run([sys.executable, "-c", FULL_AT_TIMES, run, "--to", to, *where], capture_output=True, text=True, timeout=120,
                          env=os.environ | {"PYTHONPATH": str(PROGRAM.parent / "python")})
    assert done.returncode == 0 and "/somewhere: No space left on device; tried again later" in done.stderr, done.stderr
    same_points(points_of(run, to, mlflow), expected_points(run))


def test_a_file_of_wandb_that_lacks_rows(trained_run, tmp_path):
    """Its package does not tell what it could not write: the file is read back, and written anew where a part is missing."""
    pytest.importorskip("wandb", reason="not run: the package wandb is not installed")
    run = copied(trained_run, tmp_path / "run")
    program = """
import sys, wandb
from headrace.track import wandb as sink, __main__
real, cut = sink.rows_in, []
def damaged(file):
    if not cut:
        cut.append(file)
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    return real(file)
sink.rows_in = damaged
sys.exit(__main__.main())
"""
    done = subprocess.run([sys.executable, "-c", program, run, "--to", "wandb"], capture_output=True, text=True, timeout=120,
                          env=os.environ | {"PYTHONPATH": str(PROGRAM.parent / "python")})
    assert done.returncode == 0 and "of 8 rows were written" in done.stderr, done.stderr
    same_points(points_of(run, "wandb"), expected_points(run))


def test_one_that_ends_early(nuclei, trained_run, tmp_path):
    """A folder that can't be made ends the follower: training says so once, with how to send the run, leaves no zombie and ends as any other."""
    taken = tmp_path / "taken"
    taken.write_text("a file")
    config = small_config(tmp_path, nuclei, f"tracking:\n  - {{to: tensorboard, folder: {taken}/logs}}\n", batches=150)
    run = tmp_path / "run"
    with open(tmp_path / "said", "w") as said:
        training = subprocess.Popen([PROGRAM, "train", "--config", config, "--out", run], stderr=said, stdout=said)
        deadline = time.time() + 60
        while "is not followed any more" not in (tmp_path / "said").read_text():
            assert training.poll() is None and time.time() < deadline, (tmp_path / "said").read_text()
            time.sleep(0.05)
        children = subprocess.run(["ps", "-o", "stat=", "--ppid", str(training.pid)], capture_output=True, text=True).stdout.split()
        assert training.poll() is None and not [state for state in children if state.startswith("Z")]
        assert training.wait(timeout=120) == 0
    told = [line for line in (tmp_path / "said").read_text().splitlines() if "is not followed any more" in line]
    assert len(told) == 1 and "Not a directory" in told[0] and f"headrace track {run}" in told[0]


def test_folds_and_their_results(nuclei, mlflow, tmp_path):
    """By `tracking:`: each fold once, under a run that has the pooled figures of folds.json."""
    tracking = f"tracking:\n  - {{to: mlflow, url: \"{mlflow.url}\", experiment: pooled, wait_s: 60}}\n"
    five = tmp_path / "five"
    headrace("train", "--config", small_config(tmp_path, nuclei, tracking), "--out", five, "--folds", 2)
    logs = [five / "fold-0/tracking/mlflow.log", five / "fold-1/tracking/mlflow.log", five / "tracking/mlflow.log"]
    deadline = time.time() + 90
    while not all(log.exists() and "sent to mlflow" in log.read_text() for log in logs):
        assert time.time() < deadline, [log.read_text() for log in logs if log.exists()]
        time.sleep(0.1)
    track(five)  # nothing is missing
    runs = {run["info"]["run_name"]: run for run in mlflow.runs("pooled")}
    assert sorted(runs) == ["five", "fold-0", "fold-1"] and {run["info"]["status"] for run in runs.values()} == {"FINISHED"}
    for fold in range(2):
        points = [(name, step) for name, step, _, _ in mlflow.history(runs[f"fold-{fold}"])]
        assert len(set(points)) == len(points) and {*expected_points(five / f"fold-{fold}")} <= {*points}
    stored = [(name, value) for name, _, value, _ in mlflow.history(runs["five"])]
    folds = json.loads((five / "folds.json").read_text())
    assert len(dict(stored)) == len(stored) and dict(stored)["folds/mean_dice/sd"] == folds["over_folds"]["overall"]["mean_dice"]["sd"]
    for name, value in flat(folds["pooled"]["overall"]["dice"], "pooled/dice").items():
        assert dict(stored)[name] == value
    (table,) = [path for name, path in mlflow.files(runs["five"]).items() if name.startswith("tables/pooled_by_cohort-")]
    rows = json.loads(table.read_text())
    assert dict(zip(rows["columns"], rows["data"][0]))["mean_dice"] == folds["pooled"]["overall"]["mean_dice"]


def test_a_sweep_and_its_table(nuclei, mlflow, tmp_path):
    """By `tracking:` of its run config: each trial once, under a run that has the sweep's table and best."""
    pytest.importorskip("optuna", reason="not run: optuna is not installed")
    tracking = f"tracking:\n  - {{to: mlflow, url: \"{mlflow.url}\", experiment: swept, wait_s: 60}}\n"
    config, sweep = small_config(tmp_path, nuclei, tracking), tmp_path / "lr"
    (tmp_path / "sweep.yaml").write_text(f"config: {config}\nsearch: {{train.lr: [0.001, 0.003]}}\nmethod: grid\nthreads_per_trial: 1\n")
    headrace("sweep", tmp_path / "sweep.yaml", "--out", sweep)
    logs = [*(sweep / f"trials/000{n}/run/tracking/mlflow.log" for n in range(2)), sweep / "tracking/mlflow.log"]
    deadline = time.time() + 90
    while not all(log.exists() and "sent to mlflow" in log.read_text() for log in logs):
        assert time.time() < deadline, [log.read_text() for log in logs if log.exists()]
        time.sleep(0.1)
    runs = {run["info"]["run_name"]: run for run in mlflow.runs("swept")}
    assert sorted(runs) == ["lr", "trial-0000", "trial-0001"]
    for number in range(2):
        points = [(name, step) for name, step, _, _ in mlflow.history(runs[f"trial-000{number}"])]
        assert len(set(points)) == len(points) and {*expected_points(sweep / f"trials/000{number}/run")} <= {*points}
    said = json.loads((sweep / "sweep.json").read_text())
    stored = {(name, step): value for name, step, value, _ in mlflow.history(runs["lr"])}
    assert stored == {**{("sweep/mean_dice", trial["number"]): trial["value"] for trial in said["trials"]},
                      ("best/trial", 2): said["best"]["trial"], ("best/mean_dice", 2): said["best"]["value"]}
    (table,) = [path for name, path in mlflow.files(runs["lr"]).items() if name.startswith("tables/trials-")]
    assert [row[3] for row in json.loads(table.read_text())["data"]] == [0.001, 0.003]


def test_a_training_of_two_processes(nuclei, mlflow, tmp_path):
    """One follower for both."""
    tracking = f"tracking:\n  - {{to: mlflow, url: \"{mlflow.url}\", experiment: two, wait_s: 60}}\n"
    config, run = small_config(tmp_path, nuclei, tracking), tmp_path / "run"
    config.write_text(config.read_text().replace("threads: 1, log", "threads: 1, gradient_parts: 2, log"))
    said = headrace("train", "--config", config, "--out", run, "--processes", 2).stderr
    assert said.count("tracked by mlflow") == 1
    deadline = time.time() + 60
    while "sent to mlflow" not in (run / "tracking/mlflow.log").read_text():
        assert time.time() < deadline
        time.sleep(0.1)
    points = [(name, step, value) for name, step, value, _ in mlflow.history(mlflow.run("two"))]
    assert len({point[:2] for point in points}) == len(points)
    assert measured({(name, step): value for name, step, value in points}) == expected_points(run)
