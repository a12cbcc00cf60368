"""headrace train --predictions: a run keeps what it predicts for the images that judged it, as headrace predict gives it."""
import json

import pytest
from driving import headrace, write_config

TRAIN = """model: {name: unet2d, widths: [8, 16]}
train: {epochs: 1, lr: 1.0e-3, threads: 1}
loader: {threads: 1, prefetch: 2}
"""


def files_of(folder):
    """All but when and how long."""
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file() and f.name != "times.json"}


def judged(run):
    return {image["id"] for image in json.loads((run / "eval.json").read_text())["images"]}


def predicted(run):
    return {f.name for f in (run / "predictions").iterdir() if f.is_dir() and not f.name.startswith(".")}


@pytest.fixture(scope="module")
def trained(nuclei, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    headrace("train", "--config", write_config(folder / "run.yaml", nuclei, extra=TRAIN, batches=2), "--out", folder / "run", "--predictions")
    return folder


def test_they_are_those_of_predict(trained, nuclei, tmp_path):
    run = trained / "run"
    assert predicted(run) == judged(run) and len(judged(run)) == 2
    headrace("predict", "--run", run, nuclei, "--split", "val", "--out", tmp_path / "out")
    assert files_of(tmp_path / "out") == files_of(run / "predictions")


def test_a_finished_run_gets_them_later_and_those_that_are_there_stay(trained, nuclei, tmp_path):
    config = write_config(tmp_path / "run.yaml", nuclei, extra=TRAIN, batches=2)
    headrace("train", "--config", config, "--out", tmp_path / "run")
    assert not (tmp_path / "run/predictions").exists()
    for _ in range(2):
        headrace("train", "--config", config, "--out", tmp_path / "run", "--resume", "--predictions")
        assert predicted(tmp_path / "run") == judged(tmp_path / "run")


def test_each_fold_has_those_of_its_own_patients(nuclei, tmp_path):
    headrace("train", "--config", write_config(tmp_path / "run.yaml", nuclei, extra=TRAIN, batches=2), "--out", tmp_path / "runs", "--folds", 2,
             "--predictions")
    both = [judged(tmp_path / f"runs/fold-{k}") for k in (0, 1)]
    assert both[0] and both[1] and not both[0] & both[1]
    assert [predicted(tmp_path / f"runs/fold-{k}") for k in (0, 1)] == both
