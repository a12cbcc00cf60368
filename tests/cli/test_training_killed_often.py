"""One training that is killed at twenty random moments (some of them by default), of its start, steps, checkpoints, validations and end, and goes on each time: in the end its
files are those of a training that nobody disturbed. Nothing is lost, doubled or half written on the way either."""
import json
import os
import random
import re
import signal
import subprocess
import time

import pytest
from driving import PROGRAM, headrace, message_of, sentence_of, write_config
from matrices import ALL, times
from test_training import metrics, without_times
from test_training_processes import same_run

EPOCHS, BATCHES = 10, 12
TRAIN = f"""model: {{name: unet2d, widths: [8, 16]}}
train: {{epochs: {EPOCHS}, lr: 3.0e-3, ema: 0.9, checkpoint_every: 3, keep_checkpoints: 100, threads: 1, log_every: 2}}
loader: {{threads: 1, prefetch: 2}}
eval: {{overlap: 0, batch: 16}}
"""
# Moments of the end come last: a training that has taken its last step has no other ones left.
BEFORE_THE_END = ["start"] * 4 + ["steps"] * 6 + ["checkpoint"] * 4 + ["validation"] * 3
if not ALL:
    BEFORE_THE_END = ["start", "steps", "steps", "checkpoint", "checkpoint", "validation"]
KILLS = times(20, 7, "kills of a training")


def config_of(folder, store):
    return write_config(folder / "run.yaml", store, extra=TRAIN, batches=BATCHES)


def whole_lines(file):
    return file.read_bytes().split(b"\n")[:-1] if file.exists() else []


def temporary_names(run):
    return sorted(str(path.relative_to(run)) for path in run.rglob(".*") if path.is_file() and path.name != ".lock")


class Moment:
    """Waits for something that a training does, and then for a random time within that."""

    def __init__(self, chosen, kind, run, start_s):
        self.kind, self._run = kind, run
        self._steps = self._written()
        self._last = self._end()
        self._known = set(temporary_names(run))
        self._more = chosen.randint(1, 8)
        longest = {"start": 1.1 * start_s, "steps": 0.02, "checkpoint": 0.0005, "validation": 0.06, "end": 0.15}[kind]
        self._delay = chosen.uniform(0, longest)

    def __str__(self):
        return f"{self.kind} after {self._steps} steps, {self._more} more, {1000 * self._delay:.1f} ms"

    def _written(self):
        lines = whole_lines(self._run / "steps.jsonl")
        return json.loads(lines[-1])["step"] if lines else 0

    def _end(self):
        path = self._run / "final.safetensors"
        return path.stat().st_ino if path.exists() else None

    def _begun(self):
        if self.kind == "steps":
            return self._written() >= self._steps + self._more
        if self.kind == "checkpoint":
            return any(name.startswith("checkpoints/") and name not in self._known for name in temporary_names(self._run))
        if self.kind == "validation":
            return self._written() >= (self._steps // BATCHES + 1) * BATCHES
        return self.kind == "start" or self._end() != self._last

    def wait(self, process):
        """Whether the process still runs when the moment has come."""
        deadline = time.monotonic() + 120
        while process.poll() is None and not self._begun():
            assert time.monotonic() < deadline, f"120 s without {self}"
            time.sleep(0.0003)
        until = time.monotonic() + self._delay
        while process.poll() is None and time.monotonic() < until:
            time.sleep(min(0.001, max(0, until - time.monotonic())))
        return process.poll() is None


def begin(config, run):
    """Starts the training, or goes on with it, as its folder asks for."""
    more = ["--resume"] if (run / "config.json").exists() else []
    return subprocess.Popen([PROGRAM, "train", "--config", config, "--out", run, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check_what_a_kill_left(run, whole):
    """Every file is the beginning of that of the undisturbed run, or the same."""
    steps, lines = whole_lines(run / "steps.jsonl"), whole_lines(run / "metrics.jsonl")
    assert steps == whole_lines(whole / "steps.jsonl")[:len(steps)]
    assert [without_times(json.loads(line)) for line in lines] == metrics(whole)[:len(lines)]
    checkpoints = sorted((run / "checkpoints").glob("step-*.safetensors"))
    for path in checkpoints:
        assert path.read_bytes() == (whole / "checkpoints" / path.name).read_bytes(), path.name
    for path in run.glob("*.json"):
        json.loads(path.read_text())
    return int(re.search(r"\d+", checkpoints[-1].name)[0]) if checkpoints else 0


def starts_of(run):
    text = (run / "starts.jsonl").read_bytes() if (run / "starts.jsonl").exists() else b""
    assert text == b"" or text.endswith(b"\n")
    return [json.loads(line)["step"] for line in text.splitlines()]


@pytest.fixture(scope="module")
def whole(nuclei, tmp_path_factory):
    """The undisturbed run, and how long it took until its first steps were written."""
    folder = tmp_path_factory.mktemp("undisturbed")
    began = time.monotonic()
    process = begin(config_of(folder, nuclei), folder / "run")
    while process.poll() is None and not (folder / "run/steps.jsonl").exists():
        time.sleep(0.001)
    start_s = time.monotonic() - began
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 0, said
    assert temporary_names(folder / "run") == []
    return folder / "run", start_s


def test_random_moments(whole, nuclei, tmp_path):
    undisturbed, start_s = whole
    seed = int(os.environ.get("HEADRACE_KILL_SEED", random.SystemRandom().randrange(2**32)))
    chosen = random.Random(seed)
    print(f"HEADRACE_KILL_SEED={seed}")  # shown where it fails
    kinds = chosen.sample(BEFORE_THE_END, len(BEFORE_THE_END))
    config, run = config_of(tmp_path, nuclei), tmp_path / "run"
    newest, starts, fell = 0, [], {"before the first step": 0, "between": 0, "after the last step": 0}
    for attempt in range(3 * KILLS):
        if sum(fell.values()) == KILLS:
            break
        moment = Moment(chosen, kinds.pop() if kinds else "end", run, start_s)
        process = begin(config, run)
        try:
            killed = moment.wait(process)
        finally:
            process.kill()
            said = process.communicate(timeout=300)[1]
        assert process.returncode == (-signal.SIGKILL if killed else 0), said
        print(attempt, moment, "killed" if killed else "ended before", temporary_names(run))
        now = starts_of(run)
        assert now in (starts, [*starts, newest]), "a start that is lost, doubled, or from another step than the newest checkpoint's"
        newest, starts = check_what_a_kill_left(run, undisturbed), now
        if killed:
            where = "before the first step" if not whole_lines(run / "steps.jsonl") else \
                "between" if newest < EPOCHS * BATCHES else "after the last step"
            fell[where] += 1
    assert sum(fell.values()) == KILLS and fell["between"] >= KILLS // 2 and fell["after the last step"] >= (2 if ALL else 1), fell
    # What a kill leaves in the middle of a checkpoint, also where that is too short to be hit.
    (run / "checkpoints/.tmp-1-1").write_bytes((run / "checkpoints/step-00000003.safetensors").read_bytes()[:1000])
    headrace("train", "--config", config, "--out", run, "--resume")
    assert check_what_a_kill_left(run, undisturbed) == EPOCHS * BATCHES
    assert starts_of(run) == [*starts, newest]
    assert (run / "steps.jsonl").read_bytes() == (undisturbed / "steps.jsonl").read_bytes()
    assert [json.loads(line)["step"] for line in whole_lines(run / "steps.jsonl")] == list(range(1, EPOCHS * BATCHES + 1))
    same_run(undisturbed, run)  # metrics, weights, evaluation and the names of all files
    assert temporary_names(run) == []


def test_killed_before_it_had_begun(whole, nuclei, tmp_path):
    """config.json is the last file of a start. Without it there is nothing to go on with, and nothing that is in the way."""
    undisturbed, _ = whole
    config, run = config_of(tmp_path, nuclei), tmp_path / "run"
    assert f"{run} holds no run to go on with" in message_of(headrace("train", "--config", config, "--out", run, "--resume", code=1))
    run.mkdir()
    (run / "run.json").write_bytes((undisturbed / "run.json").read_bytes())
    (run / "preprocessing.json").write_bytes((undisturbed / "preprocessing.json").read_bytes())
    (run / ".tmp-1-1").write_text("{")
    said = message_of(headrace("train", "--config", config, "--out", run, "--resume", code=1))
    assert "give the same command without --resume" in said
    headrace("train", "--config", config, "--out", run)
    same_run(undisturbed, run)


@pytest.mark.parametrize("name", ["notes.txt", "checkpoints"])
def test_a_folder_with_anything_else_stays_as_it_is(nuclei, tmp_path, name):
    config, run = config_of(tmp_path, nuclei), tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text("{}")
    (run / name).mkdir() if name == "checkpoints" else (run / name).write_text("mine")
    assert "is not empty and holds no run" in sentence_of(headrace("train", "--config", config, "--out", run, code=2))
    assert sorted(path.name for path in run.iterdir()) == sorted([name, "run.json"])
