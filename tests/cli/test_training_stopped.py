"""A training that is asked to stop while it judges: it leaves the validation, and goes on with it; the final evaluation is made again."""
import signal
import subprocess
import time

import pytest
from driving import PROGRAM, headrace, write_config
from test_training import metrics, weights
from test_training_processes import evaluation

EXTRA = """model: {name: unet2d, widths: [8, 16]}
train: {epochs: 2, lr: 1.0e-3, checkpoint_every: 2, threads: 1, log_every: 1, gradient_parts: 2}
loader: {threads: 1, prefetch: 2}
eval: {overlap: 0.85, batch: 2}
"""


@pytest.fixture(scope="module")
def whole(nuclei, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    headrace("train", "--config", config_of(folder, nuclei), "--out", folder / "run")
    return folder / "run"


def config_of(folder, store):
    return write_config(folder / "run.yaml", store, patch=34, extra=EXTRA, batches=3)


def ask_when(config, run, begun, *more):
    """The training's end: it is sent SIGTERM as soon as `begun` says so."""
    process = subprocess.Popen([PROGRAM, "train", "--config", config, "--out", run, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while process.poll() is None and not begun():
        assert time.monotonic() < deadline
        time.sleep(0.002)
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=300)[1]
    return process.returncode, said


def lines_of(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.parametrize("processes", [1, 2])
def test_a_validation_is_left_and_made_again(whole, nuclei, tmp_path, processes):
    config, run = config_of(tmp_path, nuclei), tmp_path / "run"
    # The third line of metrics comes after the epoch's last step, before the validation.
    code, said = ask_when(config, run, lambda: lines_of(run / "metrics.jsonl") >= 3, "--processes", str(processes))
    assert code == 1 and "Stopped by SIGTERM after step 3 of 6" in said, said
    assert [line["step"] for line in metrics(run) if "validation" in line] == [], "it was waited for"
    assert (run / "checkpoints/step-00000003.safetensors").exists()
    headrace("train", "--config", config, "--out", run, "--resume")
    assert metrics(run) == metrics(whole) and evaluation(run) == evaluation(whole)
    for name in ("final.safetensors", "best.safetensors"):
        assert weights(run)[name] == weights(whole)[name], name


def test_the_final_evaluation_ends_at_once_and_is_made_again(whole, nuclei, tmp_path):
    config, run = config_of(tmp_path, nuclei), tmp_path / "run"
    code, said = ask_when(config, run, lambda: (run / "final.safetensors").exists())
    assert code != 0, said
    assert not (run / "eval.json").exists() and not (run / "summary.json").exists(), "it was waited for"
    headrace("train", "--config", config, "--out", run, "--resume")
    assert metrics(run) == metrics(whole) and evaluation(run) == evaluation(whole)
    assert weights(run)["final.safetensors"] == weights(whole)["final.safetensors"]
