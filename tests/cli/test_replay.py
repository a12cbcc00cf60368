"""headrace replay: a run's own folder gives the run again, and every kind of difference is named. The batches' digests are computed anew by
hashlib over what `headrace batches` writes."""
import hashlib
import json
import os
import shutil
import signal
import struct
import subprocess
import time

import numpy as np
import pytest
from driving import PROGRAM, headrace, json_of, message_of, sentence_of, version_of, write_config
from killed_training import train_killed_and_resumed
from test_versions import polygons

TRAIN = """model: {name: unet2d, widths: [8, 16]}
train: {epochs: 2, lr: 1.0e-3, checkpoint_every: 4, threads: 1, log_every: 2, gradient_parts: 2}
loader: {threads: 1, prefetch: 2}
"""


def config_of(folder, store, name="run.yaml", extra=TRAIN, batches=6):
    return write_config(folder / name, store, patch=32, extra=extra, batches=batches)


def lines_of(run, name):
    return [json.loads(line) for line in (run / name).read_text().splitlines()]


def files_of(folder):
    """Every file with its bytes and its time: nothing may be written."""
    return {str(f.relative_to(folder)): (f.read_bytes(), f.stat().st_mtime_ns) for f in sorted(folder.rglob("*")) if f.is_file()}


def differs(run, *arguments):
    """What a replay that differs says, as JSON."""
    found = json.loads(headrace("replay", run, *arguments, "--json", code=4).stdout)
    assert not found["same"]
    return found


@pytest.fixture(scope="module")
def trained(nuclei, tmp_path_factory):
    """A run, and the store that it read, which lies beside it; nothing may write into either."""
    folder = tmp_path_factory.mktemp("replayed")
    shutil.copytree(nuclei, folder / "nuclei.zarr")
    headrace("train", "--config", config_of(folder, folder / "nuclei.zarr"), "--out", folder / "run")
    return folder / "run"


@pytest.fixture
def own(trained, tmp_path):
    """A copy of both, to be changed."""
    shutil.copytree(trained.parent, tmp_path, dirs_exist_ok=True)
    run = json.loads((tmp_path / "run/run.json").read_text())
    run["store"] = str(tmp_path / "nuclei.zarr")
    (tmp_path / "run/run.json").write_text(json.dumps(run))
    return tmp_path / "run"


def test_what_a_run_records(trained, tmp_path):
    steps = lines_of(trained, "steps.jsonl")
    assert [line["step"] for line in steps] == list(range(1, 13))
    assert all(len(line["batch"]) == 16 for line in steps)  # of the first 100 steps
    assert [line["step"] for line in steps if "weights" in line] == [*range(1, 11), 12]
    # The mean of a line of metrics is that of its steps' losses.
    for line in lines_of(trained, "metrics.jsonl"):
        assert line["time"]["at"] > 1.7e9 and round(line["time"]["at"], 3) == line["time"]["at"]
        if "loss" in line:
            two = steps[line["step"] - 2:line["step"]]
            assert line["loss"] == (two[0]["loss"] + two[1]["loss"]) / 2
            assert line["gradient_norm"] == two[1]["gradient_norm"]
    start, = lines_of(trained, "starts.jsonl")
    run = json.loads((trained / "run.json").read_text())
    assert start["step"] == 0 and start["processes"] == 1 and start["config"] == json.loads((trained / "config.json").read_text())
    for key in ("code", "runtime", "hardware", "libraries", "dataset_hash"):
        assert start[key] == run[key], key
    assert start["hardware"]["cores"] == len(os.sched_getaffinity(0)) and start["libraries"]["libtorch"] == run["runtime"]["torch"]
    assert run["code"]["version"] == run["code_version"] and "-ffp-contract=off" in run["code"]["flags"] and run["seed"] == 7
    said = (trained / "starts.jsonl").read_text() + json.dumps({k: v for k, v in run.items() if k != "store"})
    assert os.uname().nodename not in said


def test_digests_of_batches_are_those_of_their_bytes(trained, tmp_path):
    headrace("batches", "--config", trained.parent / "run.yaml", "--count", 3, "--out", tmp_path / "tensors")
    for line, index in zip(lines_of(trained, "steps.jsonl"), range(3)):
        images, labels = (np.load(tmp_path / f"tensors/batch-0-{index}-{what}.npy") for what in ("images", "labels"))
        total = sum(int(hashlib.sha256(struct.pack("<Q", place) + images[place].tobytes() + labels[place].tobytes()).hexdigest()[:16], 16)
                    for place in range(len(images)))
        assert line["batch"] == f"{total % 2 ** 64:016x}"


def test_the_same_and_nothing_is_written(trained):
    before, beside = files_of(trained.parent), sorted(os.listdir(trained.parent))
    done = headrace("replay", trained)
    assert "nothing that the run records differs" in done.stdout
    assert "10 of 12 steps are the run's: losses, gradient norms, 10 batches and the weights after 10" in done.stdout
    assert "every object of the store's version is as it was stored" in done.stdout and done.stdout.endswith("the same\n")
    full = json_of("replay", trained, "--full")
    assert full["same"] and full["steps"] == 12 and full["batches"] == 12 and full["weights"] == 11
    assert full["files"] == ["final.safetensors", "validations of metrics.jsonl", "best.safetensors", "eval.json"]
    assert files_of(trained.parent) == before and sorted(os.listdir(trained.parent)) == beside


def test_a_changed_value_of_the_config(own):
    config = json.loads((own / "config.json").read_text())
    config["train"]["lr"] = 0.002
    (own / "config.json").write_text(json.dumps(config))
    found = differs(own)
    change, = found["known"]
    assert (change["kind"], change["key"], change["recorded"], change["now"]) == ("config", "train.lr", 0.001, 0.002)
    # The first loss is computed before the optimiser's first step.
    assert (found["difference"]["what"], found["difference"]["step"]) == ("weights", 1)
    assert found["likely_causes"] == ["config: train.lr: the run has 0.001, now 0.002"]
    said = headrace("replay", own, code=4).stdout
    assert said.index("known to differ") < said.index("The weights after step 1 differ") < said.index("likely cause")


def test_another_seed(trained):
    config = config_of(trained.parent.parent, trained.parent / "nuclei.zarr", name=f"{trained.parent.name}.yaml")
    config.write_text(config.read_text().replace("seed: 7", "seed: 8"))
    found = differs(trained, "--config", config)
    assert (found["difference"]["what"], found["difference"]["step"]) == ("batch", 1)
    assert found["likely_causes"] == ["config: sampling.seed: the run has 7, now 8"]
    # What decides only the evaluation changes no step.
    config.write_text(config.read_text().replace("seed: 8", "seed: 7") + "eval: {overlap: 0.25}\n")
    same = json_of("replay", trained, "--config", config)
    assert same["same"] and [(one["kind"], one["key"]) for one in same["known"]] == [("evaluation", "eval.overlap")]


def test_a_config_that_decides_but_gives_the_same_bytes(trained, tmp_path):
    """How often metrics are written is a key that decides the training: the run is not the same, though its steps are."""
    config = config_of(tmp_path, trained.parent / "nuclei.zarr", extra=TRAIN.replace("log_every: 2", "log_every: 3"))
    found = differs(trained, "--config", config)
    assert found["difference"] is None and found["steps"] == 10


@pytest.mark.parametrize("key, value", [("data.labels", "others"), ("patch.size", [31, 31]), ("train.foo", 1)])
def test_a_config_that_was_changed_and_is_refused(own, key, value):
    config = json.loads((own / "config.json").read_text())
    section, name = key.split(".")
    config[section][name] = value
    (own / "config.json").write_text(json.dumps(config))
    said = message_of(headrace("replay", own, code=4))
    assert f"config.json is not what the run was trained by ({key}: the run has " in said


def test_a_config_that_is_not_there_or_no_config(trained, tmp_path):
    assert "none.yaml" in message_of(headrace("replay", trained, "--config", tmp_path / "none.yaml", code=1))
    (tmp_path / "bad.yaml").write_text("task: [")
    assert "bad.yaml" in message_of(headrace("replay", trained, "--config", tmp_path / "bad.yaml", code=2))


def test_a_config_with_other_threads_is_trained_by_them(own):
    config = json.loads((own / "config.json").read_text())
    config["train"]["threads"] = 3
    (own / "config.json").write_text(json.dumps(config))
    found = differs(own)
    assert [(one["key"], one["now"]) for one in found["known"]] == [("train.threads", 3), ("runtime.threads", 3)]


def test_other_keys_of_the_evaluation_differ_in_figures_not_in_weights(trained, tmp_path):
    config = config_of(tmp_path, trained.parent / "nuclei.zarr", extra=TRAIN + "eval: {overlap: 0.25}\n")
    found = differs(trained, "--config", config, "--full")
    assert found["files"][0] == "final.safetensors but for its metadata"
    assert found["difference"]["what"] == "figures" and "safetensors" not in found["difference"]["key"]
    assert found["likely_causes"] == ["evaluation: eval.overlap: the run has 0.5, now 0.25"]


def test_a_long_run_is_read_no_further_than_asked(own):
    """Lines of later steps aren't read: here they can't be. A run may have millions."""
    for name in ("steps.jsonl", "metrics.jsonl"):
        with open(own / name, "a") as file:
            file.write('{"step":13,"loss":1,"gradient_norm":1}\n{"step":14,"loss":1,"gradient_norm":1}\nno JSON\n')
    assert json_of("replay", own, "--steps", 12)["same"]


def change_a_byte(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0x55
    path.write_bytes(data)


def image_of(store, split):
    return next(name for name, image in sorted(version_of(store)["images"].items()) if image["columns"]["split"] == split)


def chunk_of(store, image, level, folder=""):
    """The largest object below an image's level."""
    files = [f for f in (store / "images" / image / folder / str(level)).rglob("*") if f.is_file() and f.name != "zarr.json"]
    return max(files, key=lambda f: f.stat().st_size)


def test_a_changed_byte_of_pixels_that_are_read(own):
    store = own.parent / "nuclei.zarr"
    for image in (name for name, one in version_of(store)["images"].items() if one["columns"]["split"] == "train"):
        path = chunk_of(store, image, 0)
        change_a_byte(path, 100)  # in the first chunk
    found = differs(own)
    assert found["difference"]["what"] in ("data", "batch") and found["difference"]["step"] <= 10
    named = {damage["key"] for damage in found["store"]["damage"]}
    assert str(path.relative_to(store)) in named and len(named) == 4
    assert any(str(path.relative_to(store)) in cause for cause in found["likely_causes"])


def test_an_object_that_is_gone(own):
    store = own.parent / "nuclei.zarr"
    image = image_of(store, "train")
    (store / f"images/{image}/0/zarr.json").unlink()
    for index in (store / "versions").glob("*.index"):  # which has it as well
        index.unlink()
    found = differs(own)
    assert found["difference"]["what"] == "data" and image in found["difference"]["key"]
    assert [(damage["kind"], damage["key"]) for damage in found["store"]["damage"]] == [("missing", f"images/{image}/0/zarr.json")]


def test_a_changed_byte_of_the_manifest(own):
    manifest = own.parent / "nuclei.zarr/manifest.json"
    change_a_byte(manifest, manifest.read_bytes().index(b'"dataset_hash"'))
    found = differs(own)
    assert found["difference"]["what"] == "data" and "manifest.json: not valid JSON" in found["difference"]["key"]


@pytest.mark.parametrize("what", ["pixels of the validation split", "labels"])
def test_a_changed_byte_elsewhere(own, what):
    store = own.parent / "nuclei.zarr"
    image = image_of(store, "val")
    folder = "" if what != "labels" else "labels/" + version_of(store)["images"][image]["labels"]["annotation"]["group"]
    path = chunk_of(store, image, 0, folder)
    change_a_byte(path, path.stat().st_size // 2)
    found = differs(own)
    assert found["difference"] is None and found["steps"] == 10
    assert [damage["key"] for damage in found["store"]["damage"]] == [str(path.relative_to(store))]
    said = headrace("replay", own, code=4).stdout
    assert f"changed {path.relative_to(store)}: sha256" in said and "the store is not: its damage lies in what was not read" in said


def test_a_run_on_volumes(ct_cohort):
    before = files_of(ct_cohort)
    assert json_of("replay", ct_cohort / "run", "--steps", 3)["same"]
    full = json_of("replay", ct_cohort / "run", "--full")
    assert full["same"] and full["steps"] == full["total_steps"] and "eval.json" in full["files"] and full["store"]["hashed"]
    assert files_of(ct_cohort) == before


@pytest.mark.parametrize("part", ["voxels", "labels"])
def test_a_changed_byte_of_a_volume(ct_cohort, tmp_path, part):
    """Chunks of volumes have checksums, so a changed one is not read at all; the replay names its object."""
    store = tmp_path / "ct.zarr"
    shutil.copytree(ct_cohort / "ct.zarr", store)
    damaged = []
    for image, one in version_of(store)["images"].items():
        if one["columns"]["split"] != "train":
            continue
        folder = store / "images" / image / ("" if part == "voxels" else "labels/" + one["labels"]["annotation"]["group"])
        for path in (f for level in "0123" for f in sorted((folder / level / "c").rglob("*")) if f.is_file()):  # whichever level is read
            data = np.frombuffer(path.read_bytes(), np.uint8).copy()
            data[:len(data) // 2:97] ^= 0x55
            path.write_bytes(data.tobytes())
            damaged.append(str(path.relative_to(store)))
    assert damaged
    found = differs(ct_cohort / "run", "--store", store)
    assert {damage["key"] for damage in found["store"]["damage"]} == set(damaged)
    assert found["difference"]["what"] == "data" and "stored crc32c" in found["difference"]["key"], found["difference"]
    said = headrace("replay", ct_cohort / "run", "--store", store, code=4).stdout
    assert "the data can't be read" in said and "data: objects of the store not as stored: " + damaged[0] in said


def test_other_threads_of_libtorch(trained):
    """LibTorch adds gradients up in another order: the weights differ, or the bytes agree and the replay says so."""
    done = subprocess.run([PROGRAM, "replay", trained, "--threads", "3"], capture_output=True, text=True, timeout=300)
    assert "LibTorch: runtime.threads: the run has 1, now 3" in done.stdout
    if done.returncode == 0:
        assert "the same, in spite of what differs (above)" in done.stdout
    else:
        assert done.returncode == 4 and "likely cause:\n  LibTorch: runtime.threads" in done.stdout


def test_what_differs_without_effect_is_said(own):
    """Another machine and another build, whose bytes are the same."""
    start = json.loads((own / "starts.jsonl").read_text())
    start["hardware"]["cpu"] = "Another CPU"
    start["code"]["compiler"] = "Clang 1.2.3"
    (own / "starts.jsonl").write_text(json.dumps(start) + "\n")
    said = headrace("replay", own).stdout
    assert 'hardware: cpu: the run has "Another CPU", now ' in said and 'code: code.compiler: the run has "Clang 1.2.3", now "' in said
    assert said.endswith("the same, in spite of what differs (above)\n")


def test_a_file_that_was_changed(own):
    lines = (own / "steps.jsonl").read_text().splitlines()
    third = json.loads(lines[2])
    third["loss"] = np.nextafter(third["loss"], 2)
    lines[2] = json.dumps(third)
    (own / "steps.jsonl").write_text("\n".join(lines) + "\n")
    found = differs(own)
    assert (found["difference"]["what"], found["difference"]["step"]) == ("loss", 3)
    assert "Nothing that is recorded explains it, and the batch agrees" in found["likely_causes"][0]
    # A preprocessing that is not the run's.
    mended = own.parent / "run/preprocessing.json"
    mended.write_text(mended.read_text().replace('"object"', '"objects"'))
    assert "preprocessing" in [one["kind"] for one in differs(own)["known"]]


def test_final_files_are_compared(own):
    evaluation = json.loads((own / "eval.json").read_text())
    evaluation["overall"]["mean_dice"] += 1e-9
    (own / "eval.json").write_text(json.dumps(evaluation))
    found = differs(own, "--full")
    assert found["difference"]["what"] == "figures" and found["difference"]["key"] == "eval.json: overall.mean_dice"
    assert found["files"] == ["final.safetensors", "validations of metrics.jsonl", "best.safetensors"]
    assert not list(own.parent.glob(".*.replay*"))


def test_an_evaluation_made_again_or_by_an_earlier_release(own):
    headrace("eval", "--run", own)
    assert json_of("replay", own, "--full")["same"]
    evaluation = json.loads((own / "eval.json").read_text())
    del evaluation["examples"]  # a key that came later
    (own / "eval.json").write_text(json.dumps(evaluation))
    assert json_of("replay", own, "--full")["same"]
    # Gates decide nothing, be they the run's own or a file's.
    config = json.loads((own / "config.json").read_text())
    (own / "config.json").write_text(json.dumps(config | {"gates": [{"figure": "mean_dice", "least": 0}]}))
    (own.parent / "gate.yaml").write_text("mean_dice: 0")
    headrace("eval", "--run", own, "--gate", own.parent / "gate.yaml")
    assert {"gate", "own_gate"} <= json.loads((own / "eval.json").read_text()).keys()
    assert json_of("replay", own, "--full")["same"]


@pytest.mark.parametrize("stopped_by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_full_replay_that_is_stopped_leaves_nothing(own, stopped_by):
    before = files_of(own)
    scratch = own.parent / ".run.replay"
    # What these tests ignore, as in the background of a script, the program would ignore too.
    heard = None if stopped_by == signal.SIGKILL else lambda: signal.signal(stopped_by, signal.SIG_DFL)
    replaying = subprocess.Popen([PROGRAM, "replay", own, "--full"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=heard)
    deadline = time.time() + 100
    while not (scratch / "run/config.json").exists():
        assert replaying.poll() is None and time.time() < deadline
    replaying.send_signal(stopped_by)
    _, said = replaying.communicate(timeout=100)
    if stopped_by == signal.SIGKILL:  # only then something is left; the next call removes it
        assert replaying.returncode == -stopped_by and scratch.exists()
        assert json_of("replay", own, "--full")["same"]
    else:
        assert replaying.returncode == 1 and "Stopped by signal" in said, said
    assert not scratch.exists() and files_of(own) == before


@pytest.mark.parametrize("how", ["replay", "replay --full"])
def test_a_promoted_model_names_its_run(own, tmp_path, how):
    (tmp_path / "gate.yaml").write_text("mean_dice: 0\n")
    registry = tmp_path / "models"
    promote = ("--as", "nuclei", "--registry", registry, "--gate", tmp_path / "gate.yaml", "--by", "anna")
    headrace("promote", own, *promote)
    before = files_of(tmp_path)

    def said(model):
        return message_of(headrace(*how.split(), model, code=2))

    for model in (registry / "nuclei", (registry / "nuclei").resolve()):
        assert "is a promoted model" in said(model) and f"by anna from {own}: give that folder" in said(model)
    assert files_of(tmp_path) == before and not list(tmp_path.rglob(".*replay*"))
    # Promoted once more, from the registry: the run stays the one that was trained.
    headrace("promote", (registry / "nuclei").resolve(), "--as", "again", "--registry", registry, "--without-comparison", "as before")
    assert f"as again on 2" in said(registry / "again") and f"from {own}: give" in said(registry / "again")
    weights = hashlib.sha256((own / "final.safetensors").read_bytes()).hexdigest()
    own.rename(tmp_path / "moved")
    assert f"from {own}, where no run is now" in said(registry / "nuclei") and weights in said(registry / "nuclei")
    copy = shutil.copytree((registry / "nuclei").resolve(), tmp_path / "copy")
    assert "Give the folder of its run" in said(copy) and weights in said(copy)


def test_a_full_replay_on_a_full_disk(own, small_disk):
    disk = small_disk(1)
    (disk / "filler").write_bytes(bytes(900_000))
    before = files_of(own.parent)
    said = sentence_of(headrace("replay", own, "--full", "--out", disk, code=1))
    assert f"{disk}/.run.replay/run: its disk is too full" in said and "MB are free" in said and "--out on another disk" in said
    assert [path.name for path in disk.iterdir()] == ["filler"] and files_of(own.parent) == before
    small_disk(100)
    assert json_of("replay", own, "--full", "--out", disk)["same"]
    assert [path.name for path in disk.iterdir()] == ["filler"] and files_of(own.parent) == before


def test_a_full_replay_where_nothing_can_be_written(own, small_disk, tmp_path):
    """An archive that is mounted read-only: root could write into a folder without rights."""
    disk = small_disk(50)
    archived = shutil.copytree(own, disk / "run")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True, timeout=60)
    said = message_of(headrace("replay", archived, "--full", code=1))
    assert f"{disk}/.run.replay can't be made (Read-only file system)" in said and "(--out)" in said
    (tmp_path / "work").mkdir()
    assert json_of("replay", archived, "--full", "--out", tmp_path / "work")["same"]
    assert not list((tmp_path / "work").iterdir())
    assert "there is no such folder" in message_of(headrace("replay", archived, "--full", "--out", tmp_path / "none", code=2))
    assert "--full" in headrace("replay", archived, "--out", tmp_path / "work", code=2).stderr


def test_no_folder_is_made_for_a_run_that_is_not_there(tmp_path):
    assert "holds no run" in message_of(headrace("replay", tmp_path / "none", "--full", code=1))
    headrace("replay", tmp_path / "none/run", "--full", code=1)
    assert not list(tmp_path.iterdir())


def test_a_run_of_before(own):
    for name in ("steps.jsonl", "starts.jsonl"):
        (own / name).unlink()
    run = json.loads((own / "run.json").read_text())
    for key in ("code", "hardware", "libraries", "seed"):
        del run[key]
    (own / "run.json").write_text(json.dumps(run))
    done = headrace("replay", own)
    assert "the run has no steps.jsonl" in done.stdout and "10 of 12 steps are the run's: means of the loss" in done.stdout
    headrace("train", "--config", own.parent / "run.yaml", "--out", own, "--resume")  # it goes on as ever
    assert [start["step"] for start in lines_of(own, "starts.jsonl")] == [12] and json_of("replay", own)["same"]
    (own / "starts.jsonl").unlink()
    config = json.loads((own / "config.json").read_text())
    config["train"]["lr"] = 0.002
    (own / "config.json").write_text(json.dumps(config))
    found = differs(own)
    assert [one["key"] for one in found["known"]] == ["config_hash"] and found["difference"]["what"] == "loss"
    assert found["likely_causes"][0].startswith("config: config_hash: the run has ")
    assert (found["difference"]["step"], found["by_means"]) == (2, True)


def test_killed_and_resumed_records_as_unbroken(trained, tmp_path):
    store = trained.parent / "nuclei.zarr"
    train_killed_and_resumed(config_of(tmp_path, store), tmp_path / "run")
    assert (tmp_path / "run/steps.jsonl").read_bytes() == (trained / "steps.jsonl").read_bytes()
    starts = lines_of(tmp_path / "run", "starts.jsonl")
    assert [start["step"] for start in starts][0] == 0 and starts[1]["step"] % 4 == 0 and len(starts) == 2
    assert json_of("replay", tmp_path / "run", "--full")["same"]


def test_two_processes_record_as_one(trained, tmp_path):
    headrace("train", "--config", config_of(tmp_path, trained.parent / "nuclei.zarr"), "--out", tmp_path / "run", "--processes", 2)
    assert (tmp_path / "run/steps.jsonl").read_bytes() == (trained / "steps.jsonl").read_bytes()
    assert lines_of(tmp_path / "run", "starts.jsonl")[0]["processes"] == 2
    assert json_of("replay", tmp_path / "run", "--steps", 3)["same"]


def test_weights_that_a_run_began_with(trained, tmp_path):
    config = config_of(tmp_path, trained.parent / "nuclei.zarr", batches=1)
    shutil.copy(trained / "final.safetensors", tmp_path / "first.safetensors")
    headrace("train", "--config", config, "--out", tmp_path / "run", "--init", tmp_path / "first.safetensors")
    (tmp_path / "first.safetensors").rename(tmp_path / "moved.safetensors")
    assert "--weights-from-init" in message_of(headrace("replay", tmp_path / "run", code=1))
    assert json_of("replay", tmp_path / "run", "--weights-from-init", tmp_path / "moved.safetensors")["same"]
    (tmp_path / "none.safetensors").write_bytes(b"no weights at all")
    assert "none.safetensors: " in message_of(headrace("replay", tmp_path / "run", "--weights-from-init", tmp_path / "none.safetensors", code=1))
    found = differs(tmp_path / "run", "--weights-from-init", trained / "best.safetensors")
    known = [one["kind"] for one in found["known"]]
    assert known == ["first weights"] if (trained / "best.safetensors").read_bytes() != (trained / "final.safetensors").read_bytes() else not known


def test_a_store_that_moved(own):
    moved = (own.parent / "nuclei.zarr").rename(own.parent / "elsewhere.zarr")
    assert "--store" in message_of(headrace("replay", own, code=1))
    assert json_of("replay", own, "--store", moved, "--full")["same"]  # its name in eval.json is no figure


def test_another_dataset(own, tmp_path):
    """A further version of the store changes nothing of the run; without the run's own, the data are others."""
    store = own.parent / "nuclei.zarr"
    before = json.loads((own / "run.json").read_text())["dataset_hash"]
    for name, image in version_of(store)["images"].items():
        if image["columns"]["split"] == "train":
            polygons(tmp_path / f"notes/{name}.geojson", ("object", 20, 30, 90, 90))
    after = json_of("ingest", "labels", store, "--annotations", tmp_path / "notes")["dataset_hash"]
    assert json_of("replay", own, "--steps", 2)["same"]
    # A resume, or a config, that asks for the other version is told how to see what it changes.
    config = config_of(tmp_path, store)
    config.write_text(config.read_text().replace(f"store: {store}", f"store: {store}, version: {after}"))
    compare = f"headrace diff {store} {before} {after} says what differs"
    assert compare in sentence_of(headrace("train", "--config", config, "--out", own, "--resume", code=2))
    config.write_text(config.read_text().replace(f"version: {after}", f"expect_hash: {before}"))
    assert compare in sentence_of(headrace("train", "--config", config, "--out", tmp_path / "new", code=2))
    headrace("prune", store, "--drop", before[:12])
    found = differs(own)
    assert ("dataset", "dataset_hash", before, after) in [(one["kind"], one["key"], one["recorded"], one["now"]) for one in found["known"]]
    assert (found["difference"]["what"], found["difference"]["step"]) == ("batch", 1)
    assert found["likely_causes"][0].startswith("dataset: dataset_hash: the run has ")
