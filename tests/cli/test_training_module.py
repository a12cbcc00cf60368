"""Networks of one's own, in Python (`model.module`): trained, judged and used for predictions as the built-in ones are."""
import json

import pytest
from driving import headrace, message_of, write_config
from killed_training import train_killed_and_resumed
from test_train_init import tensors
from test_training import metrics, same

NETWORK = """
import torch
from torch import nn


class Net(nn.Module):
    # Dropout draws at random, and batch normalisation changes tensors by itself: both must be resumed exactly.
    def __init__(self, channels, classes, width, dropout):
        super().__init__()
        self.inner = nn.Sequential(nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Dropout(dropout))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        return self.head(self.inner(x))


def build(channels, classes, width=8, dropout=0.25):
    return Net(channels, classes, width, dropout)


def with_levels(channels, classes):
    class Levels(Net):
        def forward(self, x):
            y = self.inner(x)
            return [self.head(y), self.head(nn.functional.avg_pool2d(y, 2))] if self.training else self.head(y)
    return Levels(channels, classes, 8, 0.0)


def group_norm(channels, classes):
    return nn.Sequential(nn.Conv2d(channels, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(), nn.Dropout(0.25), nn.Conv2d(8, classes, 1))


def on_a_gpu(channels, classes):
    # As torch is where there is a GPU that Python has not used yet.
    torch.cuda.is_available = lambda: True
    torch.cuda.init = lambda: print("CUDA is started")
    torch.cuda.manual_seed_all = lambda seed: print("CUDA's seed is", seed)
    return group_norm(channels, classes)


def too_few(channels, classes):
    return nn.Conv2d(channels, classes - 1, 1)


def no_module(channels, classes):
    return "a word"


class Frozen(nn.Module):
    # One layer that its author froze, and one that no loss reaches.
    def __init__(self, channels, classes):
        super().__init__()
        self.frozen, self.head, self.unused = nn.Conv2d(channels, 8, 1), nn.Conv2d(8, classes, 1), nn.Linear(4, 4)
        for value in self.frozen.parameters():
            value.requires_grad_(False)
        self.register_buffer("table", torch.ones(8, 1, 1), persistent=False)

    def forward(self, x):
        print("images", tuple(x.shape))
        return self.head(self.frozen(x) * self.table)


def frozen(channels, classes):
    return Frozen(channels, classes)


class Many(nn.Conv2d):
    def __init__(self, channels, classes, second):
        super().__init__(channels, classes, 1)
        self.second = second

    def forward(self, x):
        y = super().forward(x)
        more = {"features": x, "vector": y.mean((2, 3)), "larger": nn.functional.interpolate(y, scale_factor=2)}[self.second]
        return [y, more] if self.training else y


def many(channels, classes, second):
    return Many(channels, classes, second)


class Backward(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 1

    @staticmethod
    def backward(context, gradient):
        raise ValueError("no way back")


class OneWay(nn.Conv2d):
    def forward(self, x):
        return Backward.apply(super().forward(x))


def one_way(channels, classes):
    return OneWay(channels, classes, 1)


class Broken(nn.Conv2d):
    def forward(self, x):
        raise RuntimeError("no such layer")


def broken(channels, classes):
    return Broken(channels, classes, 1)
"""
TRAIN = """model: {module: "own_nets:%s"%s}
train: {epochs: 2, lr: 1.0e-3, checkpoint_every: 2, threads: 1, log_every: 1, gradient_parts: %d}
loader: {threads: 1, prefetch: 2}
"""


def config_of(folder, store, function="build", arguments="", parts=1):
    (folder / "own_nets.py").write_text(NETWORK)
    return write_config(folder / "run.yaml", store, extra=TRAIN % (function, arguments, parts), batches=6)


def train(folder, store, *options, code=0, **config):
    return headrace("train", "--config", config_of(folder, store, **config), "--out", folder / "run", *options, code=code, cwd=folder)


@pytest.fixture(scope="module")
def trained(nuclei, tmp_path_factory):
    folder = tmp_path_factory.mktemp("module")
    train(folder, nuclei)
    return folder / "run"


def test_it_learns_and_is_recorded(trained):
    lines = metrics(trained)
    losses = [line["loss"] for line in lines if "loss" in line]
    assert losses[-1] < losses[0]
    config = json.loads((trained / "config.json").read_text())
    assert config["model"] == {"module": "own_nets:build", "arguments": {}}


def test_twice_the_same(trained, nuclei, tmp_path):
    train(tmp_path, nuclei)
    same(trained, tmp_path / "run")


def test_killed_in_the_middle_and_resumed(trained, nuclei, tmp_path):
    config, run = config_of(tmp_path, nuclei), tmp_path / "run"
    train_killed_and_resumed(config, run, cwd=tmp_path)
    same(trained, run)


def test_eval_finds_the_run_s_own_figures(trained):
    again = json.loads(headrace("eval", "--run", trained, "--json", cwd=trained.parent).stdout)
    assert again["overall"]["dice"] == json.loads((trained / "eval.json").read_text())["overall"]["dice"]


def test_predict(trained, nuclei, tmp_path):
    headrace("predict", "--run", trained, nuclei, "--split", "val", "--out", tmp_path / "out", cwd=trained.parent)
    assert len(list((tmp_path / "out").glob("*/findings.json"))) == 2


def test_arguments_reach_the_function(nuclei, tmp_path):
    train(tmp_path, nuclei, arguments=", arguments: {width: 16, dropout: 0.0}")
    assert json.loads((tmp_path / "run/config.json").read_text())["model"]["arguments"] == {"width": 16, "dropout": 0.0}


def test_heads_at_coarser_levels(nuclei, tmp_path):
    train(tmp_path, nuclei, function="with_levels")


def test_frozen_and_unused_layers_keep_their_values(nuclei, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    weights = []
    for steps in (1, 2):
        folder = tmp_path / str(steps)
        folder.mkdir()
        done = train(folder, nuclei, function="frozen", arguments="", parts=steps)
        assert "images (" in done.stdout  # what a network prints is not lost
        weights.append(tensors(folder / "run/final.safetensors")[1])
    for name in weights[0]:
        same_bytes = weights[0][name] == weights[1][name]
        assert same_bytes == (not name.startswith("model.head")), name


def test_a_gpu_s_generators_get_their_seeds(nuclei, tmp_path):
    """torch keeps them back until Python's part of CUDA is started, and a network without buffers starts it nowhere."""
    lines = train(tmp_path, nuclei, function="on_a_gpu").stdout.splitlines()
    seeds = [i for i, line in enumerate(lines) if line.startswith("CUDA's seed is")]
    assert len({lines[i] for i in seeds}) >= 12  # of every step
    assert all(lines[i - 1] == "CUDA is started" for i in seeds)


def test_parts_of_a_batch_in_two_processes(nuclei, tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, options in zip(folders, ((), ("--processes", 2))):
        folder.mkdir()
        train(folder, nuclei, *options, function="group_norm", parts=2)
    same(folders[0] / "run", folders[1] / "run")


def test_running_means_are_refused_in_several_processes(nuclei, tmp_path):
    done = train(tmp_path, nuclei, "--processes", 2, parts=2, code=2)
    assert "inner.1.running_mean by itself" in done.stderr


@pytest.mark.parametrize("function, arguments, says", [
    ("nobody", "", "has no attribute 'nobody'"),
    ("build", ", arguments: {depth: 3}", "unexpected keyword argument 'depth'"),
    ("no_module", "", "returned str, expected a torch.nn.Module"),
    ("too_few", "", "expected logits ("),
    ("broken", "", "RuntimeError: no such layer (own_nets.py:"),
    ("many", ", arguments: {second: features}", "output 1 of the network is ("),
    ("many", ", arguments: {second: vector}", "output 1 of the network is ("),
    ("many", ", arguments: {second: larger}", "output 1 of the network is ("),
    ("one_way", "", "backward pass of model.module or train.loss.module: "),
])
def test_what_is_wrong_is_said_in_one_sentence(nuclei, tmp_path, function, arguments, says):
    assert says in message_of(train(tmp_path, nuclei, function=function, arguments=arguments, code=2))


def test_a_module_that_is_not_there(nuclei, tmp_path):
    config = config_of(tmp_path, nuclei)
    (tmp_path / "own_nets.py").unlink()
    assert "No module named 'own_nets'" in message_of(headrace("train", "--config", config, "--out", tmp_path / "run", code=2, cwd=tmp_path))


@pytest.mark.parametrize("model, says", [
    ('{module: "own_nets"}', "expected package.module:function"),
    ('{module: "own_nets:build", widths: [8, 16]}', "model.module is the network"),
    ("{arguments: {width: 8}}", "model.module, which is not there"),
    ('{module: "own_nets:build", arguments: [1]}', "expected a mapping"),
])
def test_keys_that_do_not_fit(nuclei, tmp_path, model, says):
    config = write_config(tmp_path / "run.yaml", nuclei, extra=f"model: {model}\n")
    assert says in message_of(headrace("train", "--config", config, "--out", tmp_path / "run", code=2, cwd=tmp_path))


def test_a_unet_of_monai(nuclei, tmp_path):
    (tmp_path / "nets.py").write_text("""
from monai.networks.nets import UNet


def build(channels, classes, widths):
    return UNet(2, channels, classes, widths, strides=[2] * (len(widths) - 1), norm="instance")
""")
    config = write_config(tmp_path / "run.yaml", nuclei, batches=4, extra="""model: {module: "nets:build", arguments: {widths: [8, 16, 32]}}
train: {epochs: 1, lr: 1.0e-3, threads: 1, log_every: 1, ema: 0.9}
loader: {threads: 1, prefetch: 2}
""")
    headrace("train", "--config", config, "--out", tmp_path / "run", cwd=tmp_path)
    assert (tmp_path / "run/final.safetensors").exists()
