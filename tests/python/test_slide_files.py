"""Slides that Python's file objects, fsspec and servers give: the pixels of local files, Python's exceptions, no deadlock."""
import gc
import io
import multiprocessing
import pickle
import subprocess
import sys
import threading
import weakref
import zipfile
from concurrent.futures import ThreadPoolExecutor

import fsspec
import numpy as np
import pytest
from driving import SAMPLES
from slides import CMU, PYRAMID

import headrace as hr

SPECS = [((x, y), level, (200, 130)) for level in (0, 1) for x, y in ((0, 0), (150, 301), (-20, 900), (1100, 1290))]
JPEG2000 = SAMPLES / "slides/TCGA-CR-7395-01A-01-TS1.svs"
PLAIN = SAMPLES / "slides/derived/cmu-lzw-pred-256.tif"


@pytest.fixture(scope="module")
def expected():
    with hr.OpenSlide(PYRAMID) as slide:
        return slide.read_regions(SPECS)


@pytest.fixture
def in_memory():
    system = fsspec.filesystem("memory")
    system.pipe_file("/ward/a.svs", PYRAMID.read_bytes())
    yield "memory://ward/a.svs"
    system.rm("/ward", recursive=True)


def zipped(folder):
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.write(PYRAMID, "a.svs")
    return folder / "a.zip"


BY_PYTHON = {
    "bytes": lambda _: io.BytesIO(PYRAMID.read_bytes()),
    "a URL of memory": lambda _: "memory://ward/a.svs",
    "an OpenFile": lambda _: fsspec.open("memory://ward/a.svs"),
    "a file of a file system": lambda _: fsspec.filesystem("memory").open("/ward/a.svs"),
    "a file in an archive": lambda folder: fsspec.open(f"zip://a.svs::{zipped(folder)}"),
    "a chain of URLs": lambda folder: f"simplecache::file://{PYRAMID}",
}
BY_PATH = {
    "a file": lambda _: open(PYRAMID, "rb"),
    "a raw file": lambda _: open(PYRAMID, "rb", buffering=0),
    "a local OpenFile": lambda _: fsspec.open(str(PYRAMID)),
    "a local file of fsspec": lambda _: fsspec.filesystem("file").open(str(PYRAMID)),
    "a file URL": lambda _: f"file://{PYRAMID}",
}


@pytest.mark.parametrize("kind", BY_PYTHON)
def test_the_pixels_are_those_of_the_file(kind, expected, in_memory, tmp_path):
    with hr.OpenSlide(BY_PYTHON[kind](tmp_path)) as slide, hr.OpenSlide(PYRAMID) as local:
        assert slide.level_dimensions == local.level_dimensions and dict(slide.properties) == dict(local.properties)
        for threads in (1, 4):
            assert np.array_equal(slide.read_regions(SPECS, threads=threads), expected)
        assert all(np.array_equal(slide.read(*spec), region) for spec, region in zip(SPECS, expected, strict=True))
    assert hr.OpenSlide.detect_format(BY_PYTHON[kind](tmp_path)) == "aperio"


@pytest.mark.parametrize("kind", BY_PATH)
def test_a_file_of_this_machine_is_opened_by_its_path(kind, expected):
    given = BY_PATH[kind](None)
    with hr.OpenSlide(given, private=True) as slide:
        assert slide._path.endswith(str(PYRAMID)) and "label" not in slide.properties
        assert np.array_equal(slide.read_regions(SPECS), expected)
    if hasattr(given, "close") and not hasattr(given, "fs"):
        given.close()


def test_a_file_that_its_name_no_longer_leads_to_is_read_by_python(expected, tmp_path):
    path = tmp_path / "a.svs"
    path.write_bytes(PYRAMID.read_bytes())
    with open(path, "rb") as file:
        path.write_bytes(b"")
        path.unlink()
        path.write_bytes(b"another")
        with pytest.raises(hr.OpenSlideUnsupportedFormatError):
            hr.OpenSlide(file)
    path.write_bytes(PYRAMID.read_bytes())
    with open(path, "rb") as file:
        path.rename(tmp_path / "b.svs")
        path.write_bytes(b"another")
        with hr.OpenSlide(file) as slide:
            assert np.array_equal(slide.read_regions(SPECS), expected)


@pytest.mark.parametrize("path", [CMU, JPEG2000, PLAIN], ids=lambda path: path.name)
def test_other_codecs(path):
    with hr.OpenSlide(path) as local, hr.OpenSlide(io.BytesIO(path.read_bytes())) as slide:
        assert slide.level_dimensions == local.level_dimensions
        assert np.array_equal(slide.read((100, 100), 0, (700, 500)), local.read((100, 100), 0, (700, 500)))


def test_several_slides_of_several_places_in_one_call(in_memory):
    with hr.OpenSlide(PYRAMID) as local, hr.OpenSlide(in_memory) as remote, hr.OpenSlide(io.BytesIO(CMU.read_bytes())) as other:
        specs = [((local, remote, other)[k % 3], (37 * k, 23 * k), 0, (64, 48)) for k in range(30)]
        for (slide, *spec), region in zip(specs, hr.read_regions(specs), strict=True):
            assert np.array_equal(region, slide.read(*spec))


class Failing(io.BytesIO):
    """Raises from the read on that is told."""

    error, left = None, 0

    def read(self, size=-1):
        if self.error is not None:
            if self.left == 0:
                raise self.error
            self.left -= 1
        return super().read(size)


@pytest.mark.parametrize("threads", [1, 4])
def test_what_python_raises_comes_out(threads):
    file = Failing(PYRAMID.read_bytes())
    with hr.OpenSlide(file) as slide:
        file.error, file.left = RuntimeError("the ward's disk is away"), 1
        with pytest.raises(hr.StorageError, match="RuntimeError: the ward's disk is away") as raised:
            slide.read_regions(SPECS, threads=threads)
        assert raised.value.__cause__ is file.error
        with pytest.raises(hr.OpenSlideError, match="the ward's disk is away"):
            slide.read_region((0, 0), 0, (2000, 2000))
        file.error = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            slide.read_regions(SPECS, threads=threads)
        file.error = None
        assert slide.read_regions(SPECS).any() and slide.read_region((0, 0), 0, (300, 300)).getbbox()
        file.close()
        with pytest.raises(hr.StorageError, match="closed file"):
            slide.read((700, 700), 0, (90, 90))
    file = Failing(PYRAMID.read_bytes())
    file.error = OSError("no")
    with pytest.raises(hr.OpenSlideError, match="OSError: no"):
        hr.OpenSlide(file)


def test_a_file_that_has_changed_is_no_other_pixels():
    file = io.BytesIO(PYRAMID.read_bytes())
    with hr.OpenSlide(file) as slide:
        file.truncate(1000)
        with pytest.raises(hr.CorruptError, match="were asked for"):
            slide.read((0, 0), 0, (2000, 2000))


def test_the_way_to_open_a_slide_is_said():
    with pytest.raises(hr.NotFoundError, match="headrace.OpenSlide"):
        hr.open(CMU)


def test_what_is_no_slide_is_said(in_memory, tmp_path):
    for given, kind, words in [
            (io.BytesIO(b"a letter"), hr.OpenSlideUnsupportedFormatError, "letter"), (io.StringIO("text"), hr.UsageError, "'rb'"),
            ("memory://ward/none.svs", hr.NotFoundError, "none.svs"), (fsspec.open("memory://ward/none.svs"), hr.OpenSlideUnsupportedFormatError, "none.svs"),
            ("nowhere://a/b.svs", hr.UsageError, "nowhere"), ({}, hr.UsageError, "a path, a URL or a file"),
            (tmp_path, hr.OpenSlideUnsupportedFormatError, str(tmp_path))]:
        with pytest.raises(kind, match=words):
            hr.OpenSlide(given)
    with pytest.raises(hr.UsageError, match="files of this machine"):
        hr.OpenSlide(in_memory, private=True)
    assert hr.OpenSlide.detect_format(io.BytesIO(b"a letter")) is None


def test_a_secret_in_a_url_is_in_no_sentence():
    for url in ("https://127.0.0.1:1/b.svs?signature=secret", "https://ward:secret@127.0.0.1:1/b.svs", "zip://a.svs::https://ward:secret@127.0.0.1:1/b.zip",
                "simplecache::https://127.0.0.1:1/b.svs?signature=secret", "nosuch://a.svs::https://ward:secret@127.0.0.1:1/b"):
        with pytest.raises(hr.Error, match="127.0.0.1:1/b") as raised:
            hr.OpenSlide(url)
        error = raised.value
        while error is not None:
            assert "secret" not in str(error)
            error = error.__cause__


def test_threads_share_a_slide_and_slides_share_a_file(expected):
    file = io.BytesIO(PYRAMID.read_bytes())
    with hr.OpenSlide(file) as one, hr.OpenSlide(file) as other, ThreadPoolExecutor(8) as pool:
        def read(k):
            slide = (one, other)[k % 2]
            return np.array_equal(slide.read(*SPECS[k % len(SPECS)]), expected[k % len(SPECS)]) and np.array_equal(slide.read_regions(SPECS), expected)

        assert all(pool.map(read, range(48), timeout=120))


def test_nothing_holds_a_file_after_its_slide():
    file = io.BytesIO(PYRAMID.read_bytes())
    dead = weakref.ref(file)
    slide = hr.OpenSlide(file)
    slide.read_regions(SPECS)
    thread = threading.Thread(target=slide.close)  # whichever thread lets go of it
    thread.start()
    thread.join(60)
    del file, slide
    gc.collect()
    assert dead() is None


def test_slides_of_fsspec_are_pickled(in_memory, expected):
    with hr.OpenSlide(fsspec.open(in_memory)) as slide, pickle.loads(pickle.dumps(slide)) as again:
        assert np.array_equal(again.read_regions(SPECS), expected)


def test_a_forked_process_reads_on(expected):
    with hr.OpenSlide(io.BytesIO(PYRAMID.read_bytes())) as slide:
        slide.read_regions(SPECS, threads=2)
        context = multiprocessing.get_context("fork")
        answers = context.SimpleQueue()
        child = context.Process(target=lambda: answers.put(np.array_equal(slide.read_regions(SPECS, threads=2), expected)))
        child.start()
        child.join(60)
        assert child.exitcode == 0 and answers.get()


def test_the_interpreter_ends_while_threads_read():
    script = f"""
import io, threading, time
import headrace
slide = headrace.OpenSlide(io.BytesIO(open({str(PYRAMID)!r}, "rb").read()))
def work():
    while True:
        slide.read_regions([((x, 0), 0, (256, 256)) for x in range(0, 2000, 100)], threads=2)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_paths_need_no_fsspec():
    script = ("import sys; sys.modules['fsspec'] = None\n"
              "import headrace\n"
              f"assert headrace.OpenSlide({str(PYRAMID)!r}).read((5, 5), 0, (40, 30)).any()\n"
              f"assert headrace.OpenSlide(open({str(PYRAMID)!r}, 'rb')).read((5, 5), 0, (40, 30)).any()\n"
              "try: headrace.OpenSlide('memory://a.svs')\n"
              "except headrace.UnsupportedError as error: assert 'pip install fsspec' in str(error)\n"
              "else: raise SystemExit('a URL without fsspec')")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
