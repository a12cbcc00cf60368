"""A training in several processes gives the bytes of one: weights, checkpoints, metrics and evaluation, also when processes are killed and the
run goes on in another number of them; and what does not fit is refused in one sentence."""
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ct_inputs import CT, key_file
from driving import PROGRAM, headrace, message_of, write_config, write_table
from test_training import metrics, same, weights, without_times

TRAIN = """model: {name: unet2d, widths: [8, 16]}
train: {epochs: 2, lr: 1.0e-3, checkpoint_every: 2, threads: 1, log_every: 1, gradient_parts: %d}
loader: {threads: 1, prefetch: 2}
"""
VOLUMES = """task: colorectal
data: {{store: {store}}}
patch: {{size: [18, 18, 18], spacing_mm: [4, 4, 4]}}
sampling: {{seed: 7, batch: 4, batches_per_epoch: 2, foreground: 0.7}}
transforms:
  - affine: {{rotate_deg: [-15, 15], scale: [0.8, 1.25], flip: true}}
  - window_hu: {{low: -160, high: 240}}
  - gaussian_noise: {{sigma: [0, 0.05], probability: 0.5}}
model: {{name: unet3d, widths: [8, 16]}}
train: {{epochs: 2, lr: 3.0e-3, schedule: poly, ema: 0.9, freeze: [encoder.0], checkpoint_every: 2, threads: 1, log_every: 1, gradient_parts: 4}}
loader: {{threads: 1, prefetch: 2}}
eval: {{batch: 8, surface_tolerance_mm: 4, lesion_probability: 0.3, lesion_min_mm3: 100, lesion_classes: [tumour]}}
"""


def config_of(folder, store, parts=4, batches=3):
    return write_config(folder / "run.yaml", store, patch=34, extra=TRAIN % parts, batches=batches)


@pytest.fixture(scope="module")
def tumours(tmp_path_factory):
    """A store of two real CTs with tumours."""
    folder = tmp_path_factory.mktemp("tumours")
    rows = [{"file": str(CT / f"sarcoma/{name}.nii.gz"), "image": name, "case": name, "split": split, "phase": "native",
             "labels": str(CT / f"sarcoma/{name}-gtv.nii.gz")} for name, split in (("sts-012", "val"), ("sts-018", "train"))]
    table = write_table(folder / "cases.csv", rows)
    headrace("ingest", "volumes", CT / "sarcoma", "--table", table, "--classes", "background,tumour", "--out", folder / "ct.zarr",
             "--key-file", key_file(folder))
    return folder / "ct.zarr"


@pytest.fixture(scope="module")
def alone(nuclei, tmp_path_factory):
    """Four parts a batch, in one process."""
    folder = tmp_path_factory.mktemp("alone")
    headrace("train", "--config", config_of(folder, nuclei), "--out", folder / "run")
    return folder / "run"


def evaluation(run):
    return without_times(json.loads((run / "eval.json").read_text()))


def summary(run):
    return without_times(json.loads((run / "summary.json").read_text()))


def pictures(run):
    return re.findall(r'data:image/[^"]+', (run / "report.html").read_text())


def same_run(a, b):
    same(a, b)
    assert pictures(a) == pictures(b) and len(pictures(a)) > 4
    assert evaluation(a) == evaluation(b) and summary(a) == summary(b)
    names = [sorted(str(f.relative_to(run)) for f in run.rglob("*") if f.is_file()) for run in (a, b)]
    assert names[0] == names[1]


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def left_behind():
    return sorted(name for name in os.listdir("/dev/shm") if name.startswith("headrace-"))


def started(config, run, processes=2, lines=2, **options):
    """The training's parent, when its first process has written so many lines of metrics."""
    parent = subprocess.Popen([PROGRAM, "train", "--config", config, "--out", run, "--processes", str(processes)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    while parent.poll() is None:
        if (run / "metrics.jsonl").exists() and (run / "metrics.jsonl").read_bytes().count(b"\n") >= lines:
            break
        time.sleep(0.002)
    return parent


@pytest.mark.parametrize("processes", [2, 4])
def test_slides_in_processes_are_those_of_one(alone, nuclei, tmp_path, processes):
    done = headrace("train", "--config", config_of(tmp_path, nuclei), "--out", tmp_path / "run", "--processes", processes)
    same_run(alone, tmp_path / "run")
    assert evaluation(alone)["tiles"] > 16 * processes, "not every process has a batch of tiles"
    assert done.stdout.count("trained 6 steps") == 1
    lines = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert {line["time"]["processes"] for line in lines if "loss" in line} == {processes}
    assert left_behind() == []


def test_tiles_of_other_processes_are_blended_where_the_model_is(alone, nuclei, tmp_path):
    """As on GPUs: the first process gets what the others predict, and their labels, and puts it to its model's memory."""
    headrace("train", "--config", config_of(tmp_path, nuclei), "--out", tmp_path / "run", "--processes", 4, environment={"HEADRACE_BLEND": "model"})
    same_run(alone, tmp_path / "run")


def test_parts_are_another_run_than_the_whole(alone, nuclei, tmp_path):
    headrace("train", "--config", config_of(tmp_path, nuclei, parts=1), "--out", tmp_path / "run")
    assert weights(alone)["final.safetensors"] != weights(tmp_path / "run")["final.safetensors"]
    assert summary(alone)["config_hash"] != summary(tmp_path / "run")["config_hash"]


def test_volumes_in_processes_are_those_of_one(tumours, tmp_path):
    config = tmp_path / "run.yaml"
    config.write_text(VOLUMES.format(store=tumours))
    for processes in (1, 4):
        headrace("train", "--config", config, "--out", tmp_path / f"run-{processes}", "--processes", processes)
    same_run(tmp_path / "run-1", tmp_path / "run-4")
    headrace("train", "--config", config, "--out", tmp_path / "there", "--processes", 2, environment={"HEADRACE_BLEND": "model"})
    same_run(tmp_path / "run-1", tmp_path / "there")


@pytest.mark.parametrize("victim", [0, 1])
def test_one_that_is_killed_ends_all_and_another_number_goes_on(alone, nuclei, tmp_path, victim):
    config, run = config_of(tmp_path, nuclei), tmp_path / "run"
    parent = started(config, run)
    by_rank = {}
    for child in children_of(parent.pid):
        environment = dict(entry.split("=", 1) for entry in Path(f"/proc/{child}/environ").read_text().split("\0") if "=" in entry)
        by_rank[int(environment["RANK"])] = child
    os.kill(by_rank[victim], signal.SIGKILL)
    said = parent.communicate(timeout=300)[1]
    assert parent.returncode == 1
    lines = [line for line in said.splitlines() if line.startswith("headrace: ")]
    assert len(lines) == 1 and f"Process {victim} of 2" in lines[0] and "--resume" in lines[0], said
    assert left_behind() == []
    if victim == 1:
        headrace("train", "--config", config, "--out", run, "--resume")
        same_run(alone, run)


@pytest.mark.parametrize("to_group", [False, True])
def test_a_signal_stops_all_at_one_step(alone, nuclei, tmp_path, to_group):
    config, run = config_of(tmp_path, nuclei), tmp_path / "run"
    parent = started(config, run, start_new_session=True)
    (os.killpg if to_group else os.kill)(parent.pid, signal.SIGTERM)
    said = parent.communicate(timeout=300)[1]
    assert parent.returncode == 1, said
    lines = [line for line in said.splitlines() if line.startswith("headrace: ")]
    assert len(lines) == 1 and "Stopped by SIGTERM after step" in lines[0], said
    step = int(re.search(r"after step (\d+) of 6", lines[0])[1])
    assert (run / f"checkpoints/step-{step:08}.safetensors").exists()
    if not to_group:
        return
    headrace("train", "--config", config, "--out", run, "--resume", "--processes", 4)
    # The kept checkpoints are of other steps than the unbroken run's.
    assert metrics(alone) == metrics(run) and evaluation(alone) == evaluation(run)
    assert weights(alone)["final.safetensors"] == weights(run)["final.safetensors"]


def test_a_launcher_sets_the_places(alone, nuclei, tmp_path):
    torchrun = Path(sys.executable).parent / "torchrun"
    assert torchrun.exists(), "torchrun comes with torch, which the tests need"
    config, run = config_of(tmp_path, nuclei), tmp_path / "run"
    done = subprocess.run([torchrun, "--standalone", "--no-python", "--nproc-per-node", "2", PROGRAM, "train", "--config", config, "--out", run],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("trained 6 steps") == 1
    same_run(alone, run)


def test_what_does_not_fit_is_refused_once(nuclei, alone, tmp_path):
    config, run = config_of(tmp_path, nuclei), tmp_path / "run"

    def refusal(*more, environment=None, code=2):
        return message_of(headrace("train", "--config", config, "--out", run, *more, code=code, environment=environment))

    assert "train.gradient_parts is 4, which 3 processes can't share" in refusal("--processes", 3)
    assert "RANK is set, but WORLD_SIZE is not" in refusal(environment={"RANK": "0"})
    assert "several machines" in refusal(environment={"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1"}, code=1)
    assert "RANK is set: a launcher" in refusal("--processes", 2, environment={"RANK": "0", "WORLD_SIZE": "2"})
    assert not run.exists()
    config_of(tmp_path, nuclei, parts=3)
    assert "train.gradient_parts: 3 parts can't be equal: sampling.batch is 4" in refusal()
    # What only the processes find is told by one of them.
    config_of(tmp_path, nuclei)
    said = message_of(headrace("train", "--config", config, "--out", alone, "--processes", 2, code=2))
    assert "already holds a run" in said and str(alone) in said
    config_of(tmp_path, tmp_path / "nothing.zarr")
    assert "nothing.zarr" in refusal("--processes", 2, code=1)


def test_two_trainings_do_not_write_into_one_folder(nuclei, tmp_path):
    config, run = config_of(tmp_path, nuclei, batches=500), tmp_path / "run"
    parent = started(config, run)
    said = message_of(headrace("train", "--config", config, "--out", run, "--resume", "--processes", 2, code=2))
    assert "Another training writes into" in said and str(run) in said
    parent.terminate()
    parent.communicate(timeout=300)


def test_processes_with_other_configs_are_refused(nuclei, tmp_path):
    run, others = tmp_path / "run", []
    for rank in (0, 1):
        folder = tmp_path / str(rank)
        folder.mkdir()
        config = config_of(folder, nuclei)
        config.write_text(config.read_text().replace("lr: 1.0e-3", f"lr: {rank + 1}.0e-3"))
        others.append(subprocess.Popen([PROGRAM, "train", "--config", config, "--out", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env=os.environ | {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)}))
    said = "".join(other.communicate(timeout=300)[1] for other in others)
    assert [other.returncode for other in others] == [2, 2], said
    lines = [line for line in said.splitlines() if line.startswith("headrace: ")]
    assert len(lines) == 1 and "Process 1 would give other results than process 0" in lines[0], said
    assert not run.exists()
