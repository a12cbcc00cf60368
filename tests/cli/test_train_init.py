"""Another round of labelling: a training that begins with the weights of a former one, with a class more and tensors that are not trained."""
import json
import struct

import pytest
from ct_inputs import CT, key_file
from driving import headrace, message_of, write_table

CONFIG = """task: colorectal
data: {{store: {store}}}
patch: {{size: [8, 32, 32], spacing_mm: [8, 3, 3]}}
sampling: {{seed: {seed}, batch: 2, batches_per_epoch: 4, foreground: 0.7}}
transforms: [window_hu: {{low: -160, high: 240}}]
model: {{name: unet3d, widths: [8, 16]}}
train: {{epochs: 1, lr: 3.0e-3, checkpoint_every: 2, threads: 1, log_every: 1{train}}}
loader: {{threads: 1, prefetch: 2}}
eval: {{surface_tolerance_mm: 4, lesion_min_mm3: 100, lesion_classes: [tumour]}}
"""


def tensors(path):
    """A safetensors file by its specification, without its library: metadata, and bytes by name."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    body = data[8 + size :]
    return header.pop("__metadata__", {}), {name: body[slice(*entry["data_offsets"])] for name, entry in header.items()}


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """Folder with the stores of two rounds, the second with a class more before the tumour's, and the first one's run."""
    folder = tmp_path_factory.mktemp("rounds")
    rows = [{"file": str(CT / f"sarcoma/{name}.nii.gz"), "image": name, "case": name, "split": split, "phase": "native",
             "labels": str(CT / f"sarcoma/{name}-gtv.nii.gz")} for name, split in (("sts-012", "val"), ("sts-018", "train"))]
    table = write_table(folder / "cases.csv", rows)
    for name, classes in (("first", "background,tumour"), ("second", "background,bone,tumour")):
        headrace("ingest", "volumes", CT / "sarcoma", "--table", table, "--classes", classes, "--out", folder / f"{name}.zarr",
                 "--key-file", key_file(folder))
    config_of(folder, "first", seed=7)
    headrace("train", "--config", folder / "first.yaml", "--out", folder / "first")
    return folder


def config_of(folder, name, **options):
    path = folder / f"{name}.yaml"
    path.write_text(CONFIG.format(**{"store": folder / f"{name}.zarr", "seed": 8, "train": "", **options}))
    return path


def test_rows_of_heads_follow_the_names_of_classes_and_it_is_said(rounds):
    config = config_of(rounds, "second", train=", freeze: [encoder, decoder]")
    assert "every tensor is frozen" in message_of(headrace("train", "--config", config, "--out", rounds / "x", "--init", rounds / "first", code=2))
    config_of(rounds, "second", train=", freeze: [encoder, decoder.0.0, decoder.0.head]")
    done = headrace("train", "--config", config, "--out", rounds / "second", "--init", rounds / "first")
    said = done.stderr
    assert "classes with their weights, by name: background, tumour" in said
    assert "classes that begin anew: bone" in said
    assert "not trained: encoder, decoder.0.0, decoder.0.head" in said
    (before, old), (after, new) = tensors(rounds / "first/final.safetensors"), tensors(rounds / "second/final.safetensors")
    assert json.loads(before["classes"]) == ["background", "tumour"]
    assert json.loads(after["classes"]) == ["background", "bone", "tumour"]
    assert old.keys() == new.keys()
    frozen = ("model.encoder.", "model.decoder.0.0.", "model.decoder.0.head.")
    for name, value in new.items():
        if ".head." in name:
            row = len(value) // 3
            assert len(old[name]) == 2 * row
            assert value[:row] == old[name][:row] and value[2 * row :] == old[name][row:], name
        else:
            assert (value == old[name]) == name.startswith(frozen), name
    init = json.loads((rounds / "second/run.json").read_text())["init"]
    assert init["classes_taken"] == ["background", "tumour"] and init["classes_fresh"] == ["bone"]
    # What the run began with is part of it.
    assert "did not begin with other weights" in message_of(
        headrace("train", "--config", rounds / "first.yaml", "--out", rounds / "first", "--resume", "--init", rounds / "second", code=2))


def test_weights_that_do_not_fit_are_refused_before_there_is_a_folder(rounds, tmp_path):
    config = config_of(rounds, "second")

    def refusal(init, code):
        return message_of(headrace("train", "--config", config, "--out", tmp_path / "x", "--init", init, code=code))

    assert "is neither a run folder nor a weights file" in refusal(tmp_path / "nothing", 1)
    (tmp_path / "no.safetensors").write_bytes(b"\x08\x00\x00\x00\x00\x00\x00\x00{}      ")
    assert "none of its 0 tensors" in refusal(tmp_path / "no.safetensors", 2)
    (tmp_path / "cut.safetensors").write_bytes((rounds / "first/final.safetensors").read_bytes()[:-100])
    assert "cut.safetensors" in refusal(tmp_path / "cut.safetensors", 1)
    assert not (tmp_path / "x").exists()


def test_what_is_frozen_without_weights_is_warned_of(rounds, tmp_path):
    done = headrace("train", "--config", config_of(rounds, "first", train=", freeze: [encoder]"), "--out", tmp_path / "run")
    assert "keeps its random first values" in done.stderr


def test_a_loss_that_is_no_number_fails(rounds, tmp_path):
    """The config may be right and the data not: no error of usage."""
    weights = bytearray((rounds / "first/final.safetensors").read_bytes())
    size = struct.unpack("<Q", weights[:8])[0]
    header = json.loads(weights[8 : 8 + size])
    begin, end = next(t["data_offsets"] for name, t in header.items() if name.startswith("model.encoder."))
    weights[8 + size + begin : 8 + size + end] = struct.pack("<f", float("nan")) * ((end - begin) // 4)
    (tmp_path / "nan.safetensors").write_bytes(weights)
    said = message_of(headrace("train", "--config", config_of(rounds, "first"), "--out", tmp_path / "run", "--init", tmp_path / "nan.safetensors", code=1))
    assert "The loss of batch 0 of epoch 0 is nan" in said
