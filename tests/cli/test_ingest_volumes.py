"""Volumes: the same dataset hash for any threads, order and kills; a full disk, bad options and other kinds leave nothing half-written."""
import json
import random
import resource
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
import SimpleITK as sitk
from driving import PROGRAM, SAMPLES, headrace, json_of, message_of
from matrices import times
from peak_memory import peak_memory

KILLS = times(8, 4, "kills of ingest volumes")
CT = SAMPLES / "ct"


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Real volumes with labels, and a larger made one, so that a run can be stopped in its midst."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "ct").mkdir()
    (folder / "labels").mkdir()
    for mask in sorted((CT / "sarcoma").glob("*-gtv.nii.gz"))[:3]:
        name = mask.name.replace("-gtv", "")
        (folder / "ct" / name).symlink_to(CT / "sarcoma" / name)
        (folder / "labels" / name).symlink_to(mask)
    rng = np.random.default_rng(3)
    hu = (rng.normal(40, 12, (150, 180, 170))).astype(np.int16)
    hu[:, :20] = -1000
    labels = np.zeros(hu.shape, np.uint8)
    labels[40:60, 60:90, 70:99] = 1
    for kind, voxels in (("ct", hu), ("labels", labels)):
        sitk.WriteImage(sitk.GetImageFromArray(voxels), str(folder / kind / "made.nii"))
    return folder


def arguments(folder, store, *more):
    return ["ingest", "volumes", folder / "ct", "--labels", folder / "labels", "--classes", "background,tumour", "--chunk", 16,
            "--shard", 64, "--out", store, *more]


def files(store):
    return sorted(str(p.relative_to(store)) for p in store.rglob("*"))


@pytest.fixture(scope="module")
def whole(sources, tmp_path_factory):
    store = tmp_path_factory.mktemp("whole") / "whole.zarr"
    start = time.monotonic()
    result = json_of(*arguments(sources, store, "--jobs", 1))
    assert result["images"] == 4 and result["reused"] == 0
    return {"hash": result["dataset_hash"], "seconds": time.monotonic() - start, "files": files(store), "store": store}


def test_the_hash_does_not_depend_on_threads_or_the_order_of_inputs(sources, whole, tmp_path):
    inputs = sorted((sources / "ct").iterdir())
    for i, jobs in enumerate((2, 5)):
        random.Random(i).shuffle(inputs)
        store = tmp_path / f"{jobs}.zarr"
        command = arguments(sources, store, "--jobs", jobs)
        assert json_of(*command[:2], *inputs, *command[3:])["dataset_hash"] == whole["hash"]
        assert files(store) == whole["files"]


def test_killed_at_random_moments_and_run_again(sources, whole, tmp_path):
    store, rng, killed, seconds = tmp_path / "killed.zarr", random.Random(2026), 0, whole["seconds"]
    while killed < KILLS:
        start = time.monotonic()
        running = subprocess.Popen([PROGRAM, *map(str, arguments(sources, store, "--jobs", 2))], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            running.wait(timeout=rng.uniform(0.02, 0.6) * seconds)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait(timeout=300)
            killed += 1
        if (store / "manifest.json").exists():  # done, or all but: the next one ends it, and another begins from nothing
            seconds = min(seconds, time.monotonic() - start)
            assert json_of(*arguments(sources, store))["dataset_hash"] == whole["hash"]
            assert files(store) == whole["files"]
            shutil.rmtree(store)
    assert json_of(*arguments(sources, store))["dataset_hash"] == whole["hash"]
    assert files(store) == whole["files"]
    headrace("verify", store)


def test_volumes_are_added_to_a_finished_store_and_changed_ones_are_refused(sources, whole, tmp_path):
    store = tmp_path / "s.zarr"
    command = arguments(sources, store)
    some = sorted((sources / "ct").iterdir())[1:]
    (tmp_path / "labels").mkdir()
    for path in some:
        (tmp_path / "labels" / path.name).symlink_to(sources / "labels" / path.name)
    assert json_of(*command[:2], *some, "--labels", tmp_path / "labels", *command[5:])["images"] == 3
    times = {p: p.stat().st_mtime_ns for p in (store / "images").rglob("*") if p.is_file() and p.parent.name != "images"}
    added = json_of(*command)
    assert added["reused"] == 3 and added["dataset_hash"] == whole["hash"]
    assert times == {p: p.stat().st_mtime_ns for p in times}
    again = json_of(*command)
    assert again["reused"] == 4 and again["dataset_hash"] == whole["hash"]
    other = headrace(*command[:-2], "--out", store, "--codec", "zstd", code=2)
    assert "codec" in message_of(other)
    changed = tmp_path / "made.nii"
    sitk.WriteImage(sitk.GetImageFromArray(np.zeros((70, 70, 70), np.int16)), str(changed))
    assert "'made'" in message_of(headrace(*command[:2], changed, *command[5:], code=2))
    headrace("verify", store)


def test_kinds_are_not_mixed(sources, whole, nuclei, tmp_path):
    refused = headrace("ingest", "slides", SAMPLES / "nuclei/images", "--out", whole["store"], code=2)
    assert "kind 'volume'" in message_of(refused)
    refused = headrace(*arguments(sources, nuclei), code=2)
    assert "kind 'slide'" in message_of(refused)


def test_info_tells_what_a_store_of_volumes_holds(whole):
    facts = json_of("info", whole["store"])
    assert facts["kind"] == "volume" and facts["classes"] == ["background", "tumour"]
    images = {image["id"]: image for image in facts["images"]}
    assert images["made"]["shape"] == [150, 180, 170] and images["made"]["spacing"] == [1, 1, 1]
    assert [level["shape"] for level in images["made"]["levels"]] == [[150, 180, 170], [75, 90, 85], [38, 45, 43]]
    assert images["made"]["labels"] == ["annotation"] and images["made"]["phase"] == "unknown"
    assert "150 x 180 x 170" in headrace("info", whole["store"]).stdout


def limited(bytes_):
    """Files may not grow beyond this: what a full disk does, at a place that is known."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))
    return limit


def test_a_disk_that_takes_no_more_leaves_whole_volumes_only(sources, whole, tmp_path):
    store = tmp_path / "full.zarr"
    sizes = sorted((p.stat().st_size for p in whole["store"].rglob("*") if p.is_file()), reverse=True)
    done = subprocess.run([PROGRAM, *map(str, arguments(sources, store))], capture_output=True, text=True,
                          preexec_fn=limited(sizes[0] - 1), timeout=300)
    assert done.returncode == 1 and len([s for s in done.stderr.splitlines() if s.startswith("headrace: ")]) == 1
    assert not (store / "manifest.json").exists()
    finished = {json.loads(p.read_text())["id"] for p in store.glob(".ingest/done/*.json")}
    assert {p.name for p in (store / "images").glob("*")} == finished
    assert not [p for p in store.rglob("*") if p.name.startswith(".tmp") or p.suffix == ".tmp"]
    assert json_of(*arguments(sources, store))["dataset_hash"] == whole["hash"]


def test_a_nearly_full_disk_leaves_whole_volumes_only(sources, whole, small_disk):
    store = small_disk(3) / "s.zarr"
    assert "disk full" in message_of(headrace(*arguments(sources, store), code=1))
    finished = {json.loads(p.read_text())["id"] for p in store.glob(".ingest/done/*.json")}
    assert {p.name for p in (store / "images").glob("*")} == finished
    small_disk(200)
    assert json_of(*arguments(sources, store))["dataset_hash"] == whole["hash"]


@pytest.mark.parametrize(("option", "value", "word"), [
    ("--codec", "blosc-zst", "blosc-zstd"), ("--chunk", 12, "multiple of 8"), ("--shard", 100, "multiple of the chunk"),
    ("--clevel", 10, "0 to 9"), ("--irregular", "ignore", "refuse"), ("--val-fraction", 1.5, "0 to 1"),
    ("--lesion-classes", "tumor", "did you mean 'tumour'"), ("--table", "none.csv", "none.csv")])
def test_bad_options_are_one_sentence_and_leave_no_store(sources, tmp_path, option, value, word):
    command = ["ingest", "volumes", sources / "ct", "--labels", sources / "labels", "--classes", "background,tumour", "--out",
               tmp_path / "s.zarr", option, value]
    done = subprocess.run([PROGRAM, *map(str, command)], capture_output=True, text=True, timeout=300)
    assert done.returncode in (1, 2) and word in message_of(done)
    assert not (tmp_path / "s.zarr").exists()


def test_a_mask_of_other_voxels_is_refused_before_anything_is_stored(sources, tmp_path):
    (tmp_path / "labels").mkdir()
    for path in (sources / "labels").iterdir():
        (tmp_path / "labels" / path.name).symlink_to(path)
    last = tmp_path / "labels" / sorted(p.name for p in (sources / "ct").iterdir())[-1]
    mask = sitk.ReadImage(str(last))
    mask.SetOrigin([mask.GetOrigin()[0] + 2 * mask.GetSpacing()[0], *mask.GetOrigin()[1:]])
    last.unlink()
    sitk.WriteImage(mask, str(last))
    done = headrace("ingest", "volumes", sources / "ct", "--labels", tmp_path / "labels", "--classes", "background,tumour", "--out",
                    tmp_path / "s.zarr", code=1)
    assert "another grid" in message_of(done) and last.name in done.stderr
    assert not (tmp_path / "s.zarr").exists()


def test_a_volume_is_ingested_in_bounded_memory(tmp_path):
    """5 bytes a voxel and 150 MiB: what a study of 512x512x800 may take is 2 GiB, 9.8 bytes a voxel."""
    shape = (200, 320, 320)
    hu = np.random.default_rng(1).normal(0, 200, shape).astype(np.int16)
    sitk.WriteImage(sitk.GetImageFromArray(hu), str(tmp_path / "a.nii"))
    sitk.WriteImage(sitk.GetImageFromArray((hu > 300).astype(np.uint8)), str(tmp_path / "a-mask.nii"))
    (tmp_path / "labels").mkdir()
    (tmp_path / "a-mask.nii").rename(tmp_path / "labels/a.nii")
    command = [PROGRAM, "ingest", "volumes", tmp_path / "a.nii", "--labels", tmp_path / "labels", "--classes", "background,high",
               "--out", tmp_path / "s.zarr", "--jobs", 2]
    assert peak_memory(command) < 9.8 * np.prod(shape) + (150 << 20)
