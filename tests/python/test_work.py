"""Ingest, verify and process from Python: the program's stores, reports and refusals; progress, log lines, Ctrl-C, the interpreter's end."""
import inspect
import json
import logging
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import tifffile
from batches import child_environment
from driving import SAMPLES, few_nuclei, headrace, json_of, message_of, version_of

import headrace as hr
from headrace import _core

SLIDE = SAMPLES / "slides/CMU-1-Small-Region.svs"
IMAGES = SAMPLES / "nuclei/images"
CT = [SAMPLES / "ct/liver-3slice" / f"0{slice}.dcm" for slice in (1, 2, 3)]
TIMED = {"seconds", "mb_per_s", "mpix_per_s", "peak_rss_mb"}


def lasting(report):
    """What does not depend on time and place."""
    return {key: value for key, value in report.items() if key not in TIMED | {"out", "store"}}


def run_python(code, *arguments, **options):
    """A Python of its own with the package of this one."""
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env=child_environment(), **options)


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """A TIFF whose ingest takes seconds: noise does not compress."""
    path = tmp_path_factory.mktemp("large") / "large.tif"
    pixels = np.random.default_rng(0).integers(0, 256, (4096, 4096, 3), dtype=np.uint8)
    tifffile.imwrite(path, pixels, tile=(512, 512), photometric="rgb", resolution=(20000, 20000), resolutionunit="CENTIMETER")
    return path


@pytest.mark.parametrize("name", ["ingest_slides", "ingest_volumes", "ingest_labels"])
def test_functions_take_the_options_of_the_command_line(name):
    function, keys = getattr(hr, name), _core.work_option_keys()[name]
    assert sorted(inspect.signature(function).parameters) == sorted([*keys, "progress"])
    assert all(f":param {key}:" in function.__doc__ for key in keys)


def test_slides_are_the_programs(tmp_path):
    table = few_nuclei(tmp_path)
    expected = json_of("ingest", "slides", IMAGES, "--table", table, "--out", tmp_path / "a.zarr", "--codec", "blosc-zstd", "--chunk", 256,
                       "--clevel", 3, "--val-fraction", 0.5)
    report = hr.ingest_slides(IMAGES, tmp_path / "b.zarr", table=table, codec="blosc-zstd", chunk=np.int64(256), clevel=3, val_fraction=0.5)
    assert lasting(report) == lasting(expected) and set(report) == set(expected)
    assert hr.ingest_slides([str(IMAGES)], tmp_path / "b.zarr", table=table, codec="blosc-zstd", chunk=256, clevel=3, val_fraction=0.5)["reused"] == 6


def test_volumes_labels_and_verify_are_the_programs(tmp_path):
    key = tmp_path / "site.key"
    key.write_text("a secret of the site, long enough\n")
    key.chmod(0o600)
    expected = json_of("ingest", "volumes", *CT, "--out", tmp_path / "a.zarr", "--key-file", key, "--codec", "zstd")
    report = hr.ingest_volumes(CT, tmp_path / "b.zarr", key_file=key, codec="zstd")
    assert lasting(report) == lasting(expected) and set(report) == set(expected)
    image = next(iter(version_of(tmp_path / "b.zarr")["images"]))
    table = tmp_path / "splits.csv"
    table.write_text(f"image,split\n{image},test\n")
    changed = json_of("ingest", "labels", tmp_path / "a.zarr", "--table", table, "--message", "round 2")
    assert lasting(hr.ingest_labels(tmp_path / "b.zarr", table=table, message="round 2")) == lasting(changed)
    assert changed["columns"] > 0
    states = []
    found = hr.verify(tmp_path / "b.zarr", jobs=2, progress=lambda *state: states.append(state))
    assert states[-1][0] == states[-1][1] > 0 and states[-1][2:] == ("verify", "B")
    assert found["ok"] and lasting(found) == lasting(json_of("verify", tmp_path / "a.zarr"))


def test_damage_is_reported_and_raises_nothing(tmp_path, nuclei):
    store = shutil.copytree(nuclei, tmp_path / "s.zarr")
    shard = max((p for p in (store / "images").rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)
    damaged = bytearray(shard.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    shard.write_bytes(damaged)
    found = hr.verify(store)
    assert not found["ok"] and [(d["key"], d["kind"]) for d in found["damage"]] == [(str(shard.relative_to(store)), "changed")]
    assert found == json.loads(headrace("verify", store, "--json", code=4).stdout)
    with pytest.raises(hr.NotFoundError, match="there is no such store"):
        hr.verify(tmp_path / "gone.zarr")


def test_process_writes_the_programs_bytes(tmp_path):
    expected = json_of("process", "gaussian", SLIDE, tmp_path / "a.tif", "--sigma", 2.5, "--chunk", 256)
    report = hr.process(SLIDE, tmp_path / "b.tif", "gaussian", sigma=np.float32(2.5), chunk=256, memory=512)
    assert (tmp_path / "b.tif").read_bytes() == (tmp_path / "a.tif").read_bytes()
    assert lasting(report) | {"memory_mib": 256} == lasting(expected) and report["memory_mib"] == 512
    assert set(expected) - set(report) == {"peak_rss_mb"}
    for again in (dict(out=SLIDE), dict(out=tmp_path / "c.tif", gpudirect="on"), dict(out=tmp_path / "c.tif", memory=8)):
        with pytest.raises(hr.UsageError):
            hr.process(SLIDE, operation="sobel", **again)
    assert not (tmp_path / "c.tif").exists()


@pytest.mark.parametrize("options, words", [
    (dict(codec="blosc-zst"), ["codec", "'blosc-zst'", "Did you mean 'blosc-zstd'"]),
    (dict(objects=["cel"]), ["objects[0]", "Did you mean 'cell'"]),
    (dict(classes="tumour"), ["classes", "expected a list", "'tumour'"]),
    (dict(jobs=1.5), ["jobs", "expected a whole number", "'1.5'"]),
    (dict(mpp=float("nan")), ["mpp", "expected a number"]),
    (dict(table=object()), ["expected text, a number"]),
    (dict(chunk=100), ["chunk 100", "multiple of 16"]),
])
def test_bad_options_are_refused_and_nothing_is_stored(tmp_path, options, words):
    with pytest.raises(hr.UsageError) as error:
        hr.ingest_slides(SLIDE, tmp_path / "s.zarr", **options)
    assert all(word in str(error.value) for word in words), str(error.value)
    assert isinstance(error.value, ValueError) and not (tmp_path / "s.zarr").exists()


def test_options_are_named_as_keyword_arguments(tmp_path):
    (tmp_path / "text.svs").write_text("not a slide")
    (tmp_path / "other.svs").write_text("not a slide")
    with pytest.raises(hr.Error) as error:
        hr.ingest_slides(tmp_path, tmp_path / "s.zarr")
    assert "--" not in str(error.value) and "text.svs" in str(error.value) and "other.svs" in str(error.value)


def test_bad_inputs_are_left_out_and_logged(tmp_path, caplog):
    (tmp_path / "text.svs").write_text("Dear colleague, the slide is in the other folder.")
    with caplog.at_level(logging.WARNING, logger="headrace"):
        report = hr.ingest_slides([SLIDE, tmp_path / "text.svs"], tmp_path / "s.zarr", on_error="skip")
    assert report["images"] == 1 and [Path(bad["input"]).name for bad in report["left_out"]] == ["text.svs"]
    lines = [record for record in caplog.records if record.name == "headrace" and "left out" in record.getMessage()]
    assert len(lines) == 1 and lines[0].levelno == logging.WARNING and "text.svs" in lines[0].getMessage()


def test_nothing_is_printed(tmp_path):
    (tmp_path / "text.svs").write_text("Dear colleague")
    done = run_python("import headrace, sys; headrace.ingest_slides(sys.argv[1:3], sys.argv[3], on_error='skip')",
                      SLIDE, tmp_path / "text.svs", tmp_path / "s.zarr")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_progress_is_told_on_the_calling_thread(tmp_path, large):
    states = []
    hr.process(large, tmp_path / "o.zarr", "gaussian", sigma=4, progress=lambda *state: states.append((threading.get_ident(), *state)))
    assert {state[0] for state in states} == {threading.get_ident()}
    done = [state[1] for state in states]
    assert done == sorted(done) and done[-1] == states[-1][2] == 64  # chunks of 512 pixels
    assert {state[3:] for state in states} == {("processing", "chunks")}


def test_several_threads_have_their_own_progress(tmp_path):
    seen = {name: [] for name in "ab"}

    def work(name):
        hr.process(SLIDE, tmp_path / f"{name}.zarr", "sobel", chunk=512 if name == "a" else 1024, progress=lambda *s: seen[name].append(s[1]))

    threads = [threading.Thread(target=work, args=(name,)) for name in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert {name: set(totals) for name, totals in seen.items()} == {"a": {5 * 6}, "b": {3 * 3}}


def test_what_progress_raises_ends_the_work(tmp_path, large):
    def refuse(*_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        hr.process(large, tmp_path / "o.zarr", "gaussian", sigma=16, threads=1, progress=refuse)
    with pytest.raises(hr.CorruptError, match="was not finished"):
        hr.process(tmp_path / "o.zarr", tmp_path / "p.zarr", "save")
    assert hr.process(large, tmp_path / "o.zarr", "gaussian", sigma=16)["chunks"]["kept"] > 0


def test_tqdm_is_closed_with_its_work(tmp_path, monkeypatch):
    bars = []

    class Bar:
        def __init__(self, **options):
            self.options, self.n, self.closed = options, 0, False
            bars.append(self)

        def update(self, count):
            self.n += count

        def close(self):
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm", type(sys)("tqdm"))
    module = type(sys)("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    hr.process(SLIDE, tmp_path / "a.zarr", "sobel", progress=True)
    assert [(bar.n, bar.closed, bar.options["total"], bar.options["unit"]) for bar in bars] == [(30, True, 30, "chunks")]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as where it is not installed
    assert hr.process(SLIDE, tmp_path / "b.zarr", "sobel", progress=True)["chunks"]["written"] == 30
    assert len(bars) == 1


STOPPED = """
import headrace, os, signal, sys
states = []
def show(done, total, title, unit):
    states.append((done, total))
    if len(states) == 1:
        os.kill(os.getpid(), signal.SIGINT)
try:
    headrace.ingest_slides(sys.argv[1], sys.argv[2], codec="zstd", clevel=9, jobs=1, progress=show)
    print("not stopped")
except KeyboardInterrupt:
    print(states[-1][0] < states[-1][1], os.path.exists(sys.argv[2] + "/manifest.json"))
"""


def test_ctrl_c_ends_an_ingest_that_the_next_call_finishes(tmp_path, large):
    done = run_python(STOPPED, large, tmp_path / "s.zarr")
    assert done.stdout.split() == ["True", "False"], done.stdout + done.stderr
    expected = json_of("ingest", "slides", large, "--out", tmp_path / "a.zarr")
    assert hr.ingest_slides(large, tmp_path / "s.zarr")["dataset_hash"] == expected["dataset_hash"]


LEFT = """
import headrace, logging, sys, threading
logging.basicConfig(level=logging.DEBUG)
begun = threading.Event()
def work():
    headrace.process(sys.argv[1], sys.argv[2], "gaussian", sigma=32, threads=1, progress=lambda *_: begun.set())
threading.Thread(target=work, daemon=True).start()
assert begun.wait(120)
"""


def test_the_interpreters_end_ends_work_under_way(tmp_path, large):
    for run in range(3):
        done = run_python(LEFT, large, tmp_path / f"{run}.zarr")
        assert done.returncode == 0, done.stderr[-2000:]
        with pytest.raises(hr.CorruptError):
            hr.process(tmp_path / f"{run}.zarr", tmp_path / "p.zarr", "save")


def test_messages_are_the_programs(tmp_path):
    told = message_of(headrace("ingest", "slides", tmp_path / "gone.svs", "--out", tmp_path / "s.zarr", code=1))
    with pytest.raises(hr.NotFoundError) as error:
        hr.ingest_slides(tmp_path / "gone.svs", tmp_path / "s.zarr")
    assert told == f"headrace: {error.value}"
