"""An ingest that is killed at any moment is finished by running it again, with the same dataset hash and nothing left over."""
import random
import shutil
import subprocess
import time

import pytest
from driving import PROGRAM, SAMPLES, headrace, json_of
from matrices import times

KILLS = times(10, 4, "kills of ingest")


def arguments(store, *more):
    return ["ingest", "slides", SAMPLES / "nuclei/images", SAMPLES / "slides/CMU-1-Small-Region.svs",
            SAMPLES / "slides/derived", "--out", store, *more]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    store = tmp_path_factory.mktemp("whole") / "whole.zarr"
    start = time.monotonic()
    result = json_of(*arguments(store, "--jobs", 1))
    return {"hash": result["dataset_hash"], "seconds": time.monotonic() - start, "files": files(store)}


def files(store):
    return sorted(str(p.relative_to(store)) for p in store.rglob("*"))


def test_the_hash_does_not_depend_on_threads_or_the_order_of_inputs(whole, tmp_path):
    for i, jobs in enumerate((2, 7)):
        store = tmp_path / f"{jobs}.zarr"
        command = arguments(store, "--jobs", jobs)
        inputs = command[2:5]
        random.Random(i).shuffle(inputs)
        assert json_of(*command[:2], *inputs, *command[5:])["dataset_hash"] == whole["hash"]
        assert files(store) == whole["files"]


def test_killed_at_random_moments_and_run_again(whole, tmp_path):
    store, rng, killed = tmp_path / "killed.zarr", random.Random(2026), 0
    while killed < KILLS:
        running = subprocess.Popen([PROGRAM, *map(str, arguments(store, "--jobs", 2))], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            running.wait(timeout=rng.uniform(0.02, 0.4) * whole["seconds"])
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait(timeout=300)
        if (store / "manifest.json").exists():  # it ended before the kill: the next one begins from nothing
            assert json_of("info", store)["dataset_hash"] == whole["hash"]
            shutil.rmtree(store)
        else:
            killed += 1
    result = json_of(*arguments(store))
    assert result["dataset_hash"] == whole["hash"]
    assert files(store) == whole["files"]
    headrace("verify", store)


def test_finished_images_are_not_ingested_again(whole, tmp_path):
    store = tmp_path / "s.zarr"
    running = subprocess.Popen([PROGRAM, *map(str, arguments(store, "--jobs", 1))], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(store.glob(".ingest/done/*.json"))) < 3 and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    running.kill()
    running.wait(timeout=300)
    result = json_of(*arguments(store))
    assert result["reused"] >= 3 and result["dataset_hash"] == whole["hash"]


def test_ingesting_again_changes_nothing_and_new_images_are_added(whole, tmp_path):
    store = tmp_path / "s.zarr"
    first = ["ingest", "slides", SAMPLES / "nuclei/images", SAMPLES / "slides/CMU-1-Small-Region.svs", "--out", store]
    before = json_of(*first)["dataset_hash"]
    times = {p: p.stat().st_mtime_ns for p in store.rglob("*") if p.is_file()}
    again = json_of(*first)
    assert again["dataset_hash"] == before and again["reused"] == again["images"]
    assert times == {p: p.stat().st_mtime_ns for p in store.rglob("*") if p.is_file()}
    added = json_of("ingest", "slides", SAMPLES / "slides/derived", "--out", store)
    assert added["reused"] == 0 and added["dataset_hash"] == whole["hash"]
    headrace("verify", store)


def test_other_options_and_changed_sources_are_refused(tmp_path):
    store, slide = tmp_path / "s.zarr", tmp_path / "a.png"
    slide.write_bytes((SAMPLES / "nuclei/images/dsb_00ae65c1c663.png").read_bytes())
    headrace("ingest", "slides", slide, "--out", store)
    assert "chunk" in headrace("ingest", "slides", slide, "--out", store, "--chunk", 64, code=2).stderr
    slide.write_bytes((SAMPLES / "nuclei/images/dsb_0121d6759c5a.png").read_bytes())
    assert "'a'" in headrace("ingest", "slides", slide, "--out", store, code=2).stderr
    headrace("verify", store)


def test_a_folder_that_is_no_store_is_left_alone(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/holiday.jpg").write_bytes(b"x")
    done = headrace("ingest", "slides", SAMPLES / "nuclei/images", "--out", tmp_path / "photos", code=2)
    assert "holiday.jpg" in done.stderr and files(tmp_path / "photos") == ["holiday.jpg"]


def test_identifiers_of_the_file_do_not_enter_the_store(tmp_path):
    whole = (SAMPLES / "slides/derived/cmu-aperio-style-4level.svs").read_bytes()
    # Same length, so that no offset in the file moves.
    at = whole.index(b"Aperio")
    end = whole.index(b"\0", at)
    text = whole[at:end]
    marked = text
    for key, value in ((b"ScanScope ID", b"SS77PLANT"), (b"Filename", b"PLANTNAME"), (b"Date", b"11/22/99"), (b"User", b"PLANTUSER")):
        marked += b"|" + key + b" = " + value
    path = tmp_path / "PLANTED-NAME.svs"
    path.write_bytes(replace_description(whole, at, text, marked))
    (tmp_path / "t.csv").write_text("file,image\nPLANTED-NAME.svs,one\n")
    store = tmp_path / "s.zarr"
    headrace("ingest", "slides", tmp_path, "--table", tmp_path / "t.csv", "--out", store)
    for file in store.rglob("*"):
        assert not file.is_file() or not any(
            mark in file.read_bytes() + str(file.relative_to(store)).encode()
            for mark in (b"PLANT", b"SS77", b"11/22/99", b"ScanScope", str(tmp_path).encode())), file


def replace_description(whole, at, old, new):
    """Points the first ImageDescription (tag 270) at a longer text after the end of the file."""
    import struct
    big = whole[2:4] == b"+\0"
    count_form, entry = ("<Q", 20) if big else ("<H", 12)
    ifd = struct.unpack_from("<Q" if big else "<I", whole, 8 if big else 4)[0]
    changed = bytearray(whole)
    for i in range(struct.unpack_from(count_form, whole, ifd)[0]):
        field = ifd + struct.calcsize(count_form) + entry * i
        if struct.unpack_from("<H", whole, field)[0] == 270:
            struct.pack_into("<QQ" if big else "<II", changed, field + 4, len(new) + 1, len(whole))
            return bytes(changed) + new + b"\0"
    raise AssertionError("the sample has no ImageDescription")
