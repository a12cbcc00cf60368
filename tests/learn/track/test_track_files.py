"""TensorBoard's files by its own reader, W&B's offline runs by theirs."""
import json
import os
import random
import re
import struct
import time

import numpy as np
import pytest
from matrices import times
from trackers import Follower, copied, entry, expected_points, flat, lines_of, long_lines, track, wandb_reader

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason="not run: tensorboard is not installed")
pytest.importorskip("wandb", reason="not run: the package wandb is not installed")


def read_tensorboard(folder):
    events = accumulator.EventAccumulator(str(folder), size_guidance={"scalars": 0, "images": 0, "tensors": 0})
    events.Reload()
    return events


def scalars(events):
    points = [(tag, event.step, event.value) for tag in events.Tags()["scalars"] for event in events.Scalars(tag)]
    found = {(tag, step): value for tag, step, value in points}
    assert len(found) == len(points), "a step is there twice"
    return found


def same_points(got, wanted):
    assert got.keys() == wanted.keys()
    for key, value in wanted.items():
        assert np.float32(value) == np.float32(got[key]), key


def measured(points):
    return {key: value for key, value in points.items() if key[0].split("/")[0] in ("train", "val", "time")}


def test_tensorboard(trained_run, tmp_path):
    run = copied(trained_run, tmp_path / "run")
    for _ in range(2):
        track(run, "--to", "tensorboard", "--folder", tmp_path / "logs", "--pictures")
    (file,) = (tmp_path / "logs/run").iterdir()
    events = read_tensorboard(file.parent)
    same_points(measured(scalars(events)), expected_points(run))
    evaluation = json.loads((run / "eval.json").read_text())
    final = {name: value for (name, _), value in scalars(events).items() if name.startswith("final/dice")}
    assert final == {name: np.float32(value) for name, value in flat(evaluation["overall"]["dice"], "final/dice").items()}
    for picture in run.glob("montage/eval-*.png"):
        (image,) = events.Images(f"pictures/{picture.stem}")
        assert image.encoded_image_string == picture.read_bytes()
        assert (image.width, image.height) == struct.unpack(">II", picture.read_bytes()[16:24])
    text = {tag: events.Tensors(tag)[0].tensor_proto.string_val[0].decode() for tag in events.Tags()["tensors"]}
    assert json.loads((run / "run.json").read_text())["config_hash"] in text["config"]
    matrix = [[int(cell) for cell in line.split("|")[2:-1]] for line in text["tables/confusion"].splitlines()[2:]]
    assert matrix == evaluation["overall"]["matrix"]


def half_written(run):
    """A run that goes on: 150 steps, no end yet. Gives the rest of the lines, and what its end writes."""
    lines = long_lines(run)
    ends = {name: (run / name).read_bytes() for name in ("summary.json", "eval.json")}
    for name in ends:
        (run / name).unlink()
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines[:150]))
    return lines[150:], ends


@pytest.mark.parametrize("to", ["tensorboard", "wandb"])
def test_killed_followers_leave_one_file(trained_run, tmp_path, to):
    run = copied(trained_run, tmp_path / "run")
    rest, ends = half_written(run)
    keys = entry(to=to)
    moments = random.Random(7)
    for _ in range(times(5, 3, "kills of a follower that writes files")):
        follower = Follower(run, keys)
        time.sleep(moments.uniform(0.3, 1.5))
        follower.kill()
        with open(run / "metrics.jsonl", "a") as file:
            file.writelines(json.dumps(line) + "\n" for line in rest[:20])
        del rest[:20]
    with open(run / "metrics.jsonl", "a") as file:
        file.writelines(json.dumps(line) + "\n" for line in rest)
    for name, content in ends.items():
        (run / name).write_bytes(content)
    assert Follower(run, keys).finish() == 0, (run / "follower.log").read_text()
    if to == "tensorboard":
        (file,) = (run / "tracking/tensorboard").iterdir()
        same_points(measured(scalars(read_tensorboard(file.parent))), expected_points(run))
    else:
        (file,) = run.glob("tracking/wandb/wandb/offline-run-*/run-*.wandb")
        same_points(measured(history_of(file)), expected_points(run))


def records(file):
    """By W&B's own reader of offline runs, which checks the framing and every record's CRC."""
    store = wandb_reader().DataStore()
    store.open_for_scan(str(file))
    try:
        while (record := store.scan_data()) is not None:
            yield record
    finally:
        store.close()


def messages_of(file):
    from wandb.proto import wandb_internal_pb2
    return [wandb_internal_pb2.Record.FromString(record) for record in records(file)]


def history_of(file):
    """{(name, step): value}; each is there once, and steps rise."""
    found, last = {}, -1
    for message in messages_of(file):
        if message.WhichOneof("record_type") != "history":
            continue
        assert message.history.step.num > last, "not in order"
        last = message.history.step.num
        row = {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in message.history.item}
        for name, value in row.items():
            if isinstance(value, (int, float)) and not name.startswith("_"):
                key = (name, message.history.step.num)
                assert key not in found, "a step is there twice"
                found[key] = value
    return found


def test_wandb_offline(trained_run, tmp_path):
    run = copied(trained_run, tmp_path / "run")
    for _ in range(2):
        track(run, "--to", "wandb", "--project", "nuclei", environment={"HTTPS_PROXY": "http://127.0.0.1:9"})
    (file,) = run.glob("tracking/wandb/wandb/offline-run-*/run-*.wandb")
    messages = messages_of(file)
    assert measured(history_of(file)) == expected_points(run)
    (begun,) = [message.run for message in messages if message.WhichOneof("record_type") == "run"]
    assert begun.project == "nuclei" and begun.display_name == "run" and not begun.host and not begun.git.commit
    config = {item.key: json.loads(item.value_json) for item in begun.config.update}
    assert config["headrace.config_hash"] == json.loads((run / "run.json").read_text())["config_hash"] and config["train.lr"] == "0.001"
    summary = {"/".join(item.nested_key) or item.key: json.loads(item.value_json)
               for message in messages if message.WhichOneof("record_type") == "summary" for item in message.summary.update}
    evaluation = json.loads((run / "eval.json").read_text())
    assert summary["final/mean_dice"] == evaluation["overall"]["mean_dice"]
    (confusion,) = file.parent.glob("files/media/table/tables/confusion_*.table.json")
    assert [row[1:] for row in json.loads(confusion.read_text())["data"]] == evaluation["overall"]["matrix"]
    said = b"".join(path.read_bytes() for path in file.parent.rglob("files/**/*") if path.is_file())
    said += b"".join(message.SerializeToString() for message in messages if message.WhichOneof("record_type") in ("run", "history", "summary"))
    for word in {*evaluation["cases"], *evaluation["cohorts"], json.loads((run / "run.json").read_text())["store"]}:
        assert word.encode() not in said, word
    name = re.escape(os.uname().nodename.encode())
    assert not re.search(rb"(?<![A-Za-z0-9_])" + name + rb"(?![A-Za-z0-9_])", said), "the name of this machine"


@pytest.mark.parametrize("to", ["tensorboard", "wandb"])
def test_runs_of_one_name_in_one_folder(trained_run, tmp_path, to):
    runs = [copied(trained_run, tmp_path / place / "run") for place in ("a", "b")]
    for run in runs:
        track(run, "--to", to, "--folder", tmp_path / "all")
    before = {path: path.read_bytes() for path in (tmp_path / "all").rglob("*") if path.is_file()}
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["run", "run-2"]
    (runs[1] / "summary.json").write_text(json.dumps({**json.loads((runs[1] / "summary.json").read_text()), "kappa": 0.5}))
    track(runs[1])  # which has changed, and is written anew
    after = {path: path.read_bytes() for path in (tmp_path / "all").rglob("*") if path.is_file()}
    first = tmp_path / "all/run"
    assert {path for path in before if first in path.parents} == {path for path in after if first in path.parents}
    assert all(after[path] == before[path] for path in before if first in path.parents) and after.keys() != before.keys()


def test_folds_in_one_folder(trained_run, tmp_path):
    for fold in range(2):
        copied(trained_run, tmp_path / f"five/fold-{fold}")
    track(tmp_path / "five", "--to", "tensorboard", "--folder", tmp_path / "logs")
    track(tmp_path / "five", "--to", "wandb")
    assert sorted(path.name for path in (tmp_path / "logs/five").iterdir()) == ["fold-0", "fold-1"]
    for fold in range(2):
        (file,) = tmp_path.glob(f"five/fold-{fold}/tracking/wandb/wandb/offline-run-*/run-*.wandb")
        (begun,) = [message.run for message in messages_of(file) if message.WhichOneof("record_type") == "run"]
        assert begun.run_group == "five" and begun.display_name == f"fold-{fold}"


def test_a_reader_goes_on_when_a_follower_is_killed(trained_run, tmp_path):
    """One reader, as a TensorBoard that is open in a browser: it has read half of a record when the follower ends, and gets the rest of the run."""
    run = copied(trained_run, tmp_path / "run")
    rest, ends = half_written(run)
    follower = Follower(run, entry(to="tensorboard"))
    folder, deadline = run / "tracking/tensorboard", time.time() + 60
    while not (folder.is_dir() and list(folder.iterdir()) and len(measured(scalars(read_tensorboard(folder)))) > 1000):
        assert time.time() < deadline, (run / "follower.log").read_text()
        time.sleep(0.1)
    follower.kill()
    (file,) = folder.iterdir()
    os.truncate(file, file.stat().st_size - 11)
    reader = read_tensorboard(folder)
    before = measured(scalars(reader))
    assert before and before.keys() < expected_points(run).keys()
    with open(run / "metrics.jsonl", "a") as lines:
        lines.writelines(json.dumps(line) + "\n" for line in rest)
    for name, content in ends.items():
        (run / name).write_bytes(content)
    assert Follower(run, entry(to="tensorboard")).finish() == 0, (run / "follower.log").read_text()
    reader.Reload()
    same_points(measured(scalars(reader)), expected_points(run))
    assert {name for name, _ in scalars(reader) if name.startswith("final/")} and list(folder.iterdir()) == [file]


def test_a_damaged_file_and_another_end_are_written_anew(trained_run, tmp_path):
    """From the damage on; and as a whole where the run has an end with other figures, or is judged otherwise."""
    run = copied(trained_run, tmp_path / "run")
    folder = run / "tracking/tensorboard"
    track(run, "--to", "tensorboard")
    whole = scalars(read_tensorboard(folder))
    (file,) = folder.iterdir()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    state = json.loads((run / "tracking/tensorboard.json").read_text())
    del state["done"]
    (run / "tracking/tensorboard.json").write_text(json.dumps(state))
    track(run)
    assert scalars(read_tensorboard(folder)) == whole and list(folder.iterdir()) == [file]

    def change(name, **keys):
        (run / name).write_text(json.dumps({**json.loads((run / name).read_text()), **keys}))
    evaluation = json.loads((run / "eval.json").read_text())
    change("eval.json", overall={**evaluation["overall"], "mean_dice": 0.125})
    track(run)
    changed = scalars(read_tensorboard(folder))
    assert {key: value for key, value in changed.items() if whole[key] != value} == {("final/mean_dice", 8): 0.125} and changed.keys() == whole.keys()
    for name in ("run.json", "summary.json"):
        change(name, config_hash="0" * 64)
    lines = [line if "validation" not in line else {**line, "validation": {"mean_dice": 0.25}} for line in lines_of(run)]
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    track(run)
    same_points(measured(scalars(read_tensorboard(folder))), expected_points(run))
    assert len(list(folder.iterdir())) == 1
