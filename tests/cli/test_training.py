"""Two trainings of one config are the same bit for bit; so is one that was killed and resumed, and one with other loader threads."""
import json

import pytest
from driving import headrace, message_of, write_config
from killed_training import train_killed_and_resumed

TRAIN = """model: {name: unet2d, widths: [8, 16]}
train: {epochs: 2, lr: 1.0e-3, checkpoint_every: 2, threads: 1, log_every: 1}
loader: {threads: %d, prefetch: 2}
"""
TIMES = ("second", "_s", "time", "wall", "stall", "wait", "per_s", "date", "started", "peak", "rss", "host", "read", "decode", "transform")


def config_of(folder, store, threads=1, batches=6):
    return write_config(folder / "run.yaml", store, extra=TRAIN % threads, batches=batches)


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if not any(t in k for t in TIMES)}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def metrics(run):
    return [without_times(json.loads(line)) for line in (run / "metrics.jsonl").read_text().splitlines()]


def weights(run):
    """Bytes of every weights and checkpoint file: equal tensors give equal files."""
    files = {str(f.relative_to(run)): f.read_bytes() for f in sorted(run.rglob("*.safetensors"))}
    assert "final.safetensors" in files, sorted(run.rglob("*"))
    return files


def same(a, b):
    assert metrics(a) == metrics(b) and len(metrics(a)) >= 3
    left, right = weights(a), weights(b)
    assert left.keys() == right.keys()
    assert [name for name in left if left[name] != right[name]] == []


@pytest.fixture(scope="module")
def trained(nuclei, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    headrace("train", "--config", config_of(folder, nuclei), "--out", folder / "run")
    return folder / "run"


def test_twice_the_same(trained, nuclei, tmp_path):
    headrace("train", "--config", config_of(tmp_path, nuclei), "--out", tmp_path / "run")
    same(trained, tmp_path / "run")


def test_loader_threads_do_not_matter(trained, nuclei, tmp_path):
    headrace("train", "--config", config_of(tmp_path, nuclei, threads=3), "--out", tmp_path / "run")
    same(trained, tmp_path / "run")


def test_killed_in_the_middle_and_resumed(trained, nuclei, tmp_path):
    config, run = config_of(tmp_path, nuclei), tmp_path / "run"
    train_killed_and_resumed(config, run)
    same(trained, run)


def test_eval_and_report_of_a_run(trained):
    result = json.loads(headrace("eval", "--run", trained, "--json").stdout)
    assert "dice" in json.dumps(result)
    headrace("report", trained)
    pages = list(trained.rglob("*.html"))
    assert len(pages) == 1
    text = pages[0].read_text()
    assert "<svg" in text or "data:image/png;base64," in text
    assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text, "the report must be self-contained"


def test_a_run_is_not_overwritten(trained, nuclei, tmp_path):
    assert str(trained) in message_of(headrace("train", "--config", config_of(tmp_path, nuclei), "--out", trained, code=2))
