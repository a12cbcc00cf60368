"""Losses and optimisers of one's own, in Python (`train.loss.module`, `train.optimizer.module`)."""
import json

import numpy as np
import pytest
from driving import headrace, message_of, write_config
from killed_training import train_killed_and_resumed
from test_train_init import tensors
from test_training import metrics, same

FUNCTIONS = """
import torch
from torch import nn


def smoothed(smoothing=0.1):
    return nn.CrossEntropyLoss(ignore_index=255, label_smoothing=smoothing)


def plain():
    # Of a run without dice_weight, written again: the mean over annotated pixels.
    def loss(logits, labels):
        assert logits.dtype == torch.float32 and labels.dtype == torch.int64
        return nn.functional.cross_entropy(logits, labels, ignore_index=255)
    return loss


def by_pixel():
    return nn.CrossEntropyLoss(ignore_index=255, reduction="none")


def constant():
    return lambda logits, labels: torch.ones(())


def raising():
    def loss(logits, labels):
        raise ValueError("labels unlike mine")
    return loss


def two_groups(parameters, lr, momentum):
    heads = [value for name, value in parameters if name.startswith("head")]
    rest = [value for name, value in parameters if not name.startswith("head")]
    return torch.optim.SGD([{"params": rest}, {"params": heads, "lr": lr * 0.1}], lr=lr, momentum=momentum)


class Counting(torch.optim.SGD):
    # Keeps a number, which is no tensor.
    def step(self, closure=None):
        for group in self.param_groups:
            group["count"] = group.get("count", 0) + 1
            for value in group["params"]:
                value.grad.mul_(1 / group["count"])
                self.state[value]["seen"] = self.state[value].get("seen", 0) + 0.5
        return super().step(closure)


def counting(parameters, lr):
    return Counting(parameters, lr=lr)


def only_one(parameters, lr):
    return torch.optim.SGD([parameters[0][1]], lr=lr)


def not_one(parameters, lr):
    return 7
"""
TRAIN = """model: {widths: [8, 16]}
train: {epochs: 2, lr: 1.0e-3, checkpoint_every: 2, threads: 1, log_every: 1%s}
loader: {threads: 1, prefetch: 2}
"""


def config_of(folder, store, train):
    folder.mkdir(exist_ok=True)
    (folder / "own_parts.py").write_text(FUNCTIONS)
    return write_config(folder / "run.yaml", store, extra=TRAIN % train, batches=6)


def train(folder, store, keys, *options, code=0):
    return headrace("train", "--config", config_of(folder, store, keys), "--out", folder / "run", *options, code=code, cwd=folder)


def test_a_loss_of_torch_is_trained(nuclei, tmp_path):
    train(tmp_path, nuclei, ', loss: {module: "own_parts:smoothed", arguments: {smoothing: 0.2}}')
    lines = [line for line in metrics(tmp_path / "run") if "loss" in line]
    assert lines[-1]["loss"] < lines[0]["loss"]
    assert lines[0]["loss"] != lines[0]["cross_entropy"]  # which is measured all the same
    config = json.loads((tmp_path / "run/config.json").read_text())["train"]
    assert config["loss"] == {"module": "own_parts:smoothed", "arguments": {"smoothing": 0.2}}
    assert "dice_weight" not in config and "class_weights" not in config


def test_the_built_in_loss_written_in_python_trains_alike(nuclei, tmp_path):
    train(tmp_path / "ours", nuclei, ", dice_weight: 0")
    train(tmp_path / "theirs", nuclei, ', loss: {module: "own_parts:plain"}')
    ours, theirs = ([line["loss"] for line in metrics(tmp_path / name / "run") if "loss" in line] for name in ("ours", "theirs"))
    assert np.allclose(ours, theirs, rtol=2e-3)
    assert abs(ours[0] - theirs[0]) < 1e-5


def test_sgd_steps_by_the_gradient(nuclei, tmp_path):
    """w - lr · g: steps grow with the learning rate, and differ by weight, where Adam's first one is ± lr for all."""
    weights = []
    for rate in (1, 2, 3):
        folder = tmp_path / str(rate)
        folder.mkdir()
        config = write_config(folder / "run.yaml", nuclei, batches=1, extra="model: {widths: [8, 16]}\nloader: {threads: 1, prefetch: 2}\n"
                              f"train: {{epochs: 1, lr: {rate}.0e-2, threads: 1, schedule: constant, clip_norm: 0, optimizer: {{module: \"torch.optim:SGD\"}}}}\n")
        headrace("train", "--config", config, "--out", folder / "run", cwd=folder)
        weights.append({name: np.frombuffer(values, "<f4") for name, values in tensors(folder / "run/final.safetensors")[1].items()})
    steps = [np.concatenate([(a[name] - b[name]).ravel() for name in sorted(a)]) for a, b in zip(weights, weights[1:])]
    assert np.allclose(steps[0], steps[1], atol=3e-7)
    assert np.abs(steps[0]).max() > 1e-4
    assert np.std(np.abs(steps[0])) > 0.3 * np.mean(np.abs(steps[0]))


@pytest.mark.parametrize("keys", [
    ', optimizer: {module: "torch.optim:SGD", arguments: {momentum: 0.9, nesterov: true}}',
    ', optimizer: {module: "torch.optim:Adam", arguments: {amsgrad: true}}, ema: 0.9',
    ', optimizer: {module: "own_parts:two_groups", arguments: {momentum: 0.9}}',
    ', optimizer: {module: "own_parts:counting"}, loss: {module: "own_parts:smoothed"}',
])
def test_killed_in_the_middle_and_resumed(nuclei, tmp_path, keys):
    train(tmp_path / "whole", nuclei, keys)
    folder = tmp_path / "killed"
    config, run = config_of(folder, nuclei, keys), folder / "run"
    train_killed_and_resumed(config, run, cwd=folder)
    same(tmp_path / "whole/run", run)


def test_two_processes_take_the_same_steps(nuclei, tmp_path):
    keys = ', gradient_parts: 2, optimizer: {module: "torch.optim:SGD", arguments: {momentum: 0.9}}, loss: {module: "own_parts:plain"}'
    train(tmp_path / "one", nuclei, keys)
    train(tmp_path / "two", nuclei, keys, "--processes", 2)
    same(tmp_path / "one/run", tmp_path / "two/run")


def test_predictions_need_neither(nuclei, tmp_path):
    train(tmp_path, nuclei, ', loss: {module: "own_parts:plain"}, optimizer: {module: "own_parts:two_groups", arguments: {momentum: 0.9}}')
    (tmp_path / "own_parts.py").unlink()
    headrace("predict", "--run", tmp_path / "run", nuclei, "--split", "val", "--out", tmp_path / "out", cwd=tmp_path)
    assert len(list((tmp_path / "out").glob("*/findings.json"))) == 2


@pytest.mark.parametrize("keys, says", [
    (', loss: {module: "own_parts:by_pixel"}', "expected a tensor with one number"),
    (', loss: {module: "own_parts:constant"}', "the loss has no gradient"),
    (', loss: {module: "own_parts:raising"}', "ValueError: labels unlike mine (own_parts.py:"),
    (', loss: {module: "own_parts:smoothed"}, dice_weight: 0.5', "train.loss.module is given"),
    (', loss: {module: "own_parts:smoothed", pixel: focal}', "train.loss.module is given"),
    (', loss: {arguments: {smoothing: 0.5}}', "belongs to module, which is not there"),
    (', optimizer: {module: "torch.optim:SGD"}, weight_decay: 0.1', "train.optimizer.module is given"),
    (', optimizer: {module: "torch.optim:SGD", arguments: {moment: 0.9}}', "unexpected keyword argument 'moment'"),
    (', optimizer: {module: "torch.optim:LBFGS"}', "takes a step by a closure"),
    (', optimizer: {module: "own_parts:only_one"}', "must have each of the"),
    (', optimizer: {module: "own_parts:not_one"}', "returned int, expected a torch.optim.Optimizer"),
    (', optimizer: {module: "torch.optim"}', "expected package.module:function"),
])
def test_what_is_wrong_is_said_before_the_first_step(nuclei, tmp_path, keys, says):
    done = train(tmp_path, nuclei, keys, code=2)
    assert says in message_of(done)
    assert not (tmp_path / "run").exists()
