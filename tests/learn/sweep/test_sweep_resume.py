"""Sweeps of eight trials that are killed, stopped and gone on with end as undisturbed ones: the same parameters, figures and best."""
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time

import headrace as hr
import pytest
from driving import PROGRAM, headrace, message_of, sentence_of
from headrace.sweep._folder import Folder, write_whole
from sweeps import SEARCH, killed, leases, outcome, sweep, trainings, write_sweep

TPE = SEARCH + "method: tpe\ntrials: 8\nstartup: 3\nseed: 5\nprocesses_at_once: 2\nprune: {method: median, startup: 2}\n"


@pytest.fixture(scope="module")
def undisturbed(nuclei, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    path = write_sweep(folder, nuclei, TPE, epochs=3)
    sweep(path, folder / "out")
    return folder / "out"


def test_eight_trials_are_run_folders(undisturbed):
    found = outcome(undisturbed)
    assert [trial["number"] for trial in found["trials"]] == list(range(8))
    assert {trial["state"] for trial in found["trials"]} == {"complete", "pruned"}, "a test of pruning needs both"
    for trial in found["trials"]:
        run = undisturbed / trial["folder"] / "run"
        config = json.loads((run / "config.json").read_text())
        assert config["train"]["lr"] == trial["params"]["train.lr"] and config["model"]["widths"] == trial["params"]["model.widths"]
        assert config["sampling"]["seed"] == trial["seed"] and config["train"]["threads"] == 1
        assert any((run / "checkpoints").iterdir()), "one that was stopped early keeps its checkpoint, too"
        if trial["state"] == "complete":
            assert trial["value"] == json.loads((run / "eval.json").read_text())["overall"]["mean_dice"]
    complete = [trial for trial in found["trials"] if trial["state"] == "complete"]
    assert found["best"]["value"] == max(trial["value"] for trial in complete)
    assert len({trial["seed"] for trial in found["trials"]}) == 8


def test_the_first_seeds_and_draws_are_as_documented(undisturbed):
    """Seeds by hashlib here; the draw of trial 0 by Optuna alone, with a sampler of the documented seed."""
    import optuna

    def seed(*parts):
        return int.from_bytes(hashlib.sha256(" ".join(map(str, parts)).encode()).digest()[:8], "big") >> 33
    trials = outcome(undisturbed)["trials"]
    assert [trial["seed"] for trial in trials] == [seed("trial", 5, number) for number in range(8)]
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed("sampler", 5, 0), n_startup_trials=3))
    asked = study.ask({"model.widths": optuna.distributions.CategoricalDistribution(["[8, 16]", "[16, 16]"]),
                       "train.lr": optuna.distributions.FloatDistribution(1e-4, 1e-2, log=True)})
    assert trials[0]["params"]["model.widths"] == json.loads(asked.params["model.widths"])
    assert trials[0]["params"]["train.lr"] == pytest.approx(asked.params["train.lr"], rel=1e-5)


def test_median_pruning_is_what_its_rule_says(undisturbed):
    """The rule, written again: below the median of the complete trials among those that it may look at, from two of these on."""
    trials = outcome(undisturbed)["trials"]
    for trial in trials:
        known = [one for one in trials[: max(0, trial["number"] - 1)] if one["state"] == "complete"]
        stopped = None
        best = float("-inf")
        for i, (step, value) in enumerate(trial["validations"]):
            best = max(best, value)
            others = sorted(one["validations"][i][1] for one in known)
            middle = len(others) // 2
            if len(known) >= 2 and step < 6 and best < (others[middle] if len(others) % 2 else (others[middle - 1] + others[middle]) / 2):
                stopped = step
                break
        assert (trial["step"], trial["state"] == "pruned") == (stopped, stopped is not None), trial


def test_killed_at_any_moment_and_gone_on_with(undisturbed, nuclei, tmp_path):
    path = write_sweep(tmp_path, nuclei, TPE, epochs=3)
    """Also by turns with one trial at a time and with two."""
    draw = random.Random(11)
    for ended, jobs in ((0, 2), (0, 1), (1, 1), (3, 2), (5, 1)):
        assert killed(path, tmp_path / "out", ended, draw.uniform(0, 0.4), "--jobs", jobs), "it was done before it was killed"
        for file in (tmp_path / "out").glob("trials/*/run.yaml"):  # as after a loss of power: the folder has its name, not yet its content
            file.write_text("")
    sweep(path, tmp_path / "out")
    assert outcome(tmp_path / "out") == outcome(undisturbed)
    assert not trainings(tmp_path / "out")


def test_again_trains_nothing(undisturbed, nuclei):
    before = {file: file.stat().st_mtime_ns for file in undisturbed.rglob("run/*")}
    sweep(undisturbed.parent / "sweep.yaml", undisturbed)
    assert {file: file.stat().st_mtime_ns for file in undisturbed.rglob("run/*")} == before


def test_another_sweep_in_its_folder_is_refused(undisturbed, nuclei, tmp_path):
    other = write_sweep(tmp_path, nuclei, TPE.replace("1.0e-2", "2.0e-2"), epochs=3)
    assert "search.train.lr.log" in message_of(sweep(other, undisturbed, code=2))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_all_with_checkpoints(nuclei, tmp_path, number):
    """A long training, so that it is in the middle of it; nothing runs afterwards, and the trial is not recorded as failed."""
    path = write_sweep(tmp_path, nuclei, SEARCH + "method: random\ntrials: 3\n", batches=4, epochs=2000)
    process = subprocess.Popen([PROGRAM, "sweep", path, "--out", tmp_path / "out"], env=os.environ | leases(tmp_path / "leases"),
                               stderr=subprocess.PIPE, text=True)
    metrics = tmp_path / "out/trials/0000/run/metrics.jsonl"
    deadline = time.time() + 60
    while not (metrics.exists() and metrics.read_bytes().count(b"\n") > 4):
        assert time.time() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 1 and "0 of 3 trials done" in said
    assert not trainings(tmp_path / "out")
    log = (tmp_path / "out/trials/0000/log.txt").read_text()
    assert "checkpoint" in log or "resume" in log, log
    assert json.loads((tmp_path / "out/trials/0000/trial.json").read_text())["state"] == "chosen"


def test_a_trial_that_is_ended_from_outside_goes_on(nuclei, tmp_path):
    """Alone, as by what frees memory; one that has the time writes a checkpoint. It ends as the same config trained by itself."""
    path = write_sweep(tmp_path, nuclei, "config: run.yaml\nsearch: {train.lr: [0.001]}\nmethod: grid\nthreads_per_trial: 1\n", batches=20, epochs=8)
    process = subprocess.Popen([PROGRAM, "sweep", path, "--out", tmp_path / "out"], env=os.environ | leases(tmp_path / "leases"),
                               stderr=subprocess.PIPE, text=True)
    metrics, ended = tmp_path / "out/trials/0000/run/metrics.jsonl", []
    for number, step in ((signal.SIGTERM, 20), (signal.SIGKILL, 60)):
        deadline = time.time() + 60
        while True:
            assert time.time() < deadline and process.poll() is None
            found = [one for one in trainings(tmp_path / "out") if one not in ended]
            lines = metrics.read_text().splitlines()[:-1] if metrics.exists() else []
            if found and any(json.loads(line)["step"] >= step for line in lines):
                break
            time.sleep(0.01)
        ended.append(found[0])
        os.kill(found[0], number)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 0 and said.count("was ended from outside") == 2, said
    trial, = outcome(tmp_path / "out")["trials"]
    headrace("train", "--config", tmp_path / "out/trials/0000/run.yaml", "--out", tmp_path / "alone")
    assert trial["value"] == json.loads((tmp_path / "alone/eval.json").read_text())["overall"]["mean_dice"]


def test_a_damaged_trial_is_named(tmp_path):
    folder = Folder(str(tmp_path))
    folder.of(0).mkdir(parents=True)
    for text in ("", "[]", '{"number": 0}', '{"number": 0, "validations": 5}'):
        (folder.of(0) / "trial.json").write_text(text)
        with pytest.raises(hr.MalformedError, match="trials/0000/trial.json"):
            folder.load_trial(0)


def test_a_file_that_can_not_be_written_stays_as_it_was(tmp_path):
    """A limit on the size of files stands for a full disk: the write fails in the middle."""
    path, soft_hard = tmp_path / "trial.json", resource.getrlimit(resource.RLIMIT_FSIZE)
    write_whole(path, "old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, soft_hard[1]))
    try:
        with pytest.raises(hr.StorageError, match="trial.json can't be written"):
            write_whole(path, "new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, soft_hard)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_two_processes_in_one_folder(nuclei, tmp_path):
    path = write_sweep(tmp_path, nuclei, SEARCH + "trials: 2\n", batches=4, epochs=300)
    first = subprocess.Popen([PROGRAM, "sweep", path, "--out", tmp_path / "out"], env=os.environ | leases(tmp_path / "leases"),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.time() + 60
        while not (tmp_path / "out/trials/0000/log.txt").exists():
            assert time.time() < deadline and first.poll() is None
            time.sleep(0.02)
        assert "another headrace sweep works in this folder" in sentence_of(sweep(path, tmp_path / "out", code=2))
    finally:
        first.terminate()
        first.wait(timeout=60)


def test_what_decides_nothing_may_be_mended(nuclei, tmp_path):
    """A wrong tracker, gates, the loader's threads, and a store that was moved: the sweep goes on with the new ones, and keeps its trials."""
    shutil.copytree(nuclei, tmp_path / "store.zarr")
    text = "config: run.yaml\nsearch: {train.lr: [0.001, 0.003]}\nmethod: grid\nthreads_per_trial: 1\n"
    path = write_sweep(tmp_path, tmp_path / "store.zarr", text)
    with open(tmp_path / "run.yaml", "a") as config:
        config.write("tracking: [{to: mlflow, url: 'http://127.0.0.1:9', wait_s: 0}]\ngates: [{figure: mean_dice, least: 0.9}]\n")
    sweep(path, tmp_path / "out")
    before = outcome(tmp_path / "out")
    (tmp_path / "store.zarr").rename(tmp_path / "moved.zarr")
    write_sweep(tmp_path, tmp_path / "moved.zarr", text)
    with open(tmp_path / "run.yaml", "a") as config:
        config.write("tracking: [{to: tensorboard}]\n")
    (tmp_path / "run.yaml").write_text((tmp_path / "run.yaml").read_text().replace("prefetch: 2", "prefetch: 3"))
    sweep(path, tmp_path / "out")
    after = outcome(tmp_path / "out")
    assert after["trials"] == before["trials"] and after["best"] == before["best"]
    stored = after["definition"]["config"]
    assert stored["tracking"] == [{"to": "tensorboard"}] and "gates" not in stored and stored["loader"]["prefetch"] == 3
    assert stored["data"] == {"store": str(tmp_path / "moved.zarr"), "version": before["definition"]["config"]["data"]["version"]}
    (tmp_path / "run.yaml").write_text((tmp_path / "run.yaml").read_text().replace("overlap: 0", "overlap: 0.5"))
    assert "config.eval.overlap: 0 there, 0.5 now" in message_of(sweep(path, tmp_path / "out", code=2))
