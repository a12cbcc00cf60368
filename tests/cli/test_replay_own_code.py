"""`headrace replay` and `diff` where the run's network, loss or optimizer is a function in Python: changed code is named as the cause. Hashes are
hashlib's own."""
import hashlib
import json
import shutil

import pytest
from driving import headrace, message_of, sentence_of, write_config

NETS = """import monai_like
from torch import nn
from own_blocks import block


def build(channels, classes):
    return nn.Sequential(block(channels), nn.Conv2d(8, classes, 1))
"""
BLOCKS = """from torch import nn


def block(channels):
    return nn.Sequential(nn.Conv2d(channels, 8, 3, padding=1), nn.ReLU())
"""
LOSS = """from torch.nn import functional


def build(weight=1.0):
    return lambda logits, labels: weight * functional.cross_entropy(logits, labels, ignore_index=255)
"""
PARTS = """model: {module: "own_nets:build"}
train: {epochs: 1, lr: 1.0e-2, threads: 1, log_every: 1, loss: {module: "own_loss:build"}, optimizer: {module: "torch.optim:SGD"}}
loader: {threads: 1, prefetch: 2}
"""


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def trained(nuclei, tmp_path_factory):
    """`run`, and beside it its code; an installed package is one in a folder of that name, and `starts` has what Python runs at its start."""
    folder = tmp_path_factory.mktemp("own-code")
    for name, text in {"own_nets.py": NETS, "own_blocks.py": BLOCKS, "own_loss.py": LOSS}.items():
        (folder / name).write_text(text)
    (folder / "site-packages").mkdir()
    (folder / "site-packages/monai_like.py").write_text('__version__ = "1.2.3"\n')
    (folder / "starts").mkdir()
    (folder / "starts/sitecustomize.py").write_text("STARTED = True\n")
    config = write_config(folder / "run.yaml", nuclei, patch=32, extra=PARTS, batches=3)
    headrace("train", "--config", config, "--out", folder / "run", cwd=folder, environment=installed(folder))
    return folder


@pytest.fixture
def own(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "own")


def installed(folder):
    return {"PYTHONPATH": f"{folder / 'site-packages'}:{folder / 'starts'}"}


def replay(folder, code=0):
    return json.loads(headrace("replay", folder / "run", "--json", code=code, cwd=folder, environment=installed(folder)).stdout)


def test_a_run_records_its_own_code(trained):
    code = json.loads((trained / "run/run.json").read_text())["code"]["python"]
    assert code["files"] == {name: sha256(trained / f"{name}.py") for name in ("own_nets", "own_blocks", "own_loss")}
    assert code["packages"]["monai_like"] == "1.2.3" and code["packages"]["torch"].startswith("2.")
    (start,) = [json.loads(line) for line in (trained / "run/starts.jsonl").read_text().splitlines()]
    assert start["code"]["python"] == code and str(trained) not in json.dumps(code)
    assert replay(trained)["known"] == []


@pytest.mark.parametrize("name, old, new, what, step", [
    ("own_blocks", "nn.ReLU()", "nn.LeakyReLU()", "loss", 1),  # of a module that the network's file imports
    ("own_loss", "weight=1.0", "weight=2.0", "loss", 1),
])
def test_changed_code_is_named_as_the_cause(own, name, old, new, what, step):
    before = sha256(own / f"{name}.py")
    (own / f"{name}.py").write_text((own / f"{name}.py").read_text().replace(old, new))
    found = replay(own, code=4)
    (change,) = found["known"]
    assert (change["kind"], change["key"], change["recorded"], change["now"]) == (
        "code", f"code.python.files.{name}", before, sha256(own / f"{name}.py"))
    assert (found["difference"]["what"], found["difference"]["step"]) == (what, step)
    (cause,) = found["likely_causes"]
    assert cause.startswith(f"code: code.python.files.{name}: the run has ")


def test_another_release_of_a_package_and_code_without_effect(own):
    (own / "own_nets.py").write_text(NETS + "# a comment\n")
    (own / "site-packages/monai_like.py").write_text('__version__ = "1.3.0"\n')
    found = replay(own)
    assert found["same"] and [one["key"] for one in found["known"]] == ["code.python.files.own_nets", "code.python.packages.monai_like"]


def test_a_run_that_does_not_record_it(own):
    """One of an earlier release: nothing is said of its code."""
    for name in ("run.json", "starts.jsonl"):
        facts = json.loads((own / "run" / name).read_text())
        del facts["code"]["python"]
        (own / "run" / name).write_text(json.dumps(facts) + "\n")
    assert replay(own)["known"] == []


def test_diff_and_resume_name_it(own, trained):
    (own / "own_loss.py").write_text(LOSS.replace("1.0", "2.0"))
    config = own / "run.yaml"
    headrace("train", "--config", config, "--out", own / "second", cwd=own, environment=installed(own))
    said = headrace("diff", trained / "run", own / "second").stdout
    assert f"run code.python.files.own_loss: {sha256(trained / 'own_loss.py')[:16]} -> {sha256(own / 'own_loss.py')[:16]}" in said
    resumed = headrace("train", "--config", config, "--out", own / "run", "--resume", cwd=own, environment=installed(own))
    assert "own functions in Python have changed since it began" in resumed.stderr and "files.own_loss" in resumed.stderr


def test_code_that_is_not_there(own):
    (own / "own_loss.py").unlink()
    done = headrace("replay", own / "run", code=2, cwd=own, environment=installed(own))
    assert "own_loss" in sentence_of(done) and done.stdout == ""
    assert message_of(done)
