"""A watched folder: each slide, volume and folder of DICOM is predicted when it is whole, and once, whatever is copied how, and whenever the
watch is killed; the results are those of a plain call. HEADRACE_KILLS: how often the watch is killed."""
import json
import random
import shutil
import signal
import subprocess
import tempfile
import time

import pytest
from ct_inputs import CT, STS
from driving import PROGRAM, headrace, message_of, rows_of
from matrices import times
from predictions import slides_of, tree

KILLS = times(6, 3, "kills of a watching predict", "HEADRACE_KILLS")
LIMIT_S = 300
QUICK = ["--interval", 0.2, "--settle", 1]
PATIENT = ["--interval", 0.3, "--settle", 6]  # copies of these tests do not pause that long


@pytest.fixture
def place(cohort, tmp_path):
    """The run, whole slides, and an empty folder to watch."""
    (tmp_path / "in").mkdir()
    return cohort / "run", slides_of(cohort)[:5], tmp_path / "in"


def words(run, folder, out, *options):
    return ["predict", "--run", run, "--watch", folder, "--out", out, *options]


def until_idle(run, folder, out, *options):
    """What a watch says until nothing comes any more."""
    done = headrace(*words(run, folder, out, *QUICK, "--until-idle", 1, "--json", *options))
    return [json.loads(line) for line in done.stdout.splitlines()]


class Watch:
    """A watch that goes on; ended with its test."""

    def __init__(self, *command):
        self.printed = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([PROGRAM, *map(str, command), "--json"], stdout=self.printed, stderr=subprocess.DEVNULL)
        self.said = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(timeout=LIMIT_S)
        self.read()
        self.printed.close()

    def read(self):
        self.printed.seek(0)
        self.said = [json.loads(line) for line in self.printed.read().split("\n")[:-1]]
        return self.said

    def wait_for(self, count):
        """Until it has said so many things."""
        end = time.monotonic() + LIMIT_S
        while len(self.read()) < count:
            assert self.process.poll() is None and time.monotonic() < end, self.said
            time.sleep(0.05)
        return self.said

    def end(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        assert self.process.wait(timeout=LIMIT_S) == 0
        return self.read()


def copy_slowly(source, target, pieces=8):
    data = source.read_bytes()
    with open(target, "wb", buffering=0) as file:
        for i in range(pieces):
            file.write(data[len(data) * i // pieces:len(data) * (i + 1) // pieces])
            time.sleep(0.3)


def of_plain_call(run, inputs, out):
    headrace("predict", "--run", run, *inputs, "--out", out)
    return results(out)


def results(out):
    """Every file but the record of inputs, in which folders stand by themselves."""
    return {name: value for name, value in tree(out).items() if name != ".inputs.json"}


def test_copies_are_taken_when_they_are_whole(place, tmp_path):
    run, slides, folder = place
    (folder / "deep/er").mkdir(parents=True)
    names = ["slow.tiff", "deep/er/renamed.tiff", "beside.tiff", "hidden.tiff"]
    with Watch(*words(run, folder, tmp_path / "out", *PATIENT)) as watch:
        copy_slowly(slides[0], folder / names[0])
        copy_slowly(slides[1], folder / "deep/er/renamed.tiff.filepart")
        (folder / "deep/er/renamed.tiff.filepart").rename(folder / names[1])
        # A browser keeps an empty file of the final name beside the one that grows.
        (folder / names[2]).touch()
        copy_slowly(slides[2], folder / f"{names[2]}.part")
        assert {line["input"]: line["news"] for line in watch.wait_for(3)}[names[2]] == "waiting"
        assert f"{names[2]}.part" in next(line["reason"] for line in watch.said if line["news"] == "waiting")
        (folder / f"{names[2]}.part").rename(folder / names[2])
        copy_slowly(slides[3], folder / ".hidden.tiff.x7Yq")
        (folder / ".hidden.tiff.x7Yq").rename(folder / names[3])
        (folder / "notes.txt").write_text("not a slide")
        said = [line for line in watch.wait_for(5) if line["news"] != "waiting"]
        watch.end(signal.SIGINT)
    assert len(watch.said) == 5 and sorted(line["input"] for line in said) == sorted(names)
    assert all(line["news"] == "predicted" and line["folder"].endswith(line["id"]) and line["summary"] for line in said), said
    assert results(tmp_path / "out") == of_plain_call(run, [folder / name for name in names], tmp_path / "plain")
    assert {row["case"] for row in rows_of(tmp_path / "out/cases.csv")} == {"slow", "renamed", "beside", "hidden"}
    assert not (tmp_path / "out/.work").exists()
    assert until_idle(run, folder, tmp_path / "out") == []  # each was said by the call that finished it


def test_a_file_that_cannot_be_read_is_said_once(place, tmp_path):
    run, slides, folder = place
    (folder / "cut.tiff").write_bytes(slides[0].read_bytes()[:5000])
    with Watch(*words(run, folder, tmp_path / "out", *QUICK)) as watch:
        first = watch.wait_for(1)[0]
        assert (first["input"], first["news"]) == ("cut.tiff", "left-out") and "truncated or damaged" in first["reason"]
        shutil.copy(slides[1], folder / "next.tiff")
        assert [line["input"] for line in watch.wait_for(2)] == ["cut.tiff", "next.tiff"]
        shutil.copy(slides[0], folder / "copy")  # in two steps, so that no half of it is seen
        (folder / "copy").rename(folder / "cut.tiff")
        assert [(line["input"], line["news"]) for line in watch.wait_for(3)][2] == ("cut.tiff", "predicted")
        watch.end()
    assert len(watch.said) == 3
    assert results(tmp_path / "out") == of_plain_call(run, [folder / "cut.tiff", folder / "next.tiff"], tmp_path / "plain")


def test_two_slides_of_one_name(place, tmp_path):
    run, slides, folder = place
    for i, name in enumerate(("a", "b")):
        (folder / name).mkdir()
        shutil.copy(slides[i], folder / name / "slide.tiff")
    said = until_idle(run, folder, tmp_path / "out")
    assert [(line["input"], line["news"]) for line in said] == [("a/slide.tiff", "predicted"), ("b/slide.tiff", "left-out")]
    assert str(folder / "a/slide.tiff") in said[1]["reason"] and str(folder / "b/slide.tiff") in said[1]["reason"]
    assert results(tmp_path / "out") == of_plain_call(run, [folder / "a/slide.tiff"], tmp_path / "plain")


def test_a_file_that_changed_is_left_alone(place, tmp_path):
    run, slides, folder = place
    shutil.copy(slides[0], folder / "slide.tiff")
    with Watch(*words(run, folder, tmp_path / "out", *QUICK)) as watch:
        watch.wait_for(1)
        before = results(tmp_path / "out/slide")
        shutil.copy(slides[1], folder / "copy")
        (folder / "copy").rename(folder / "slide.tiff")
        said = watch.wait_for(2)[1]
        watch.end()
    assert said["news"] == "left-out" and "has changed since it was predicted" in said["reason"]
    assert [line["reason"] for line in until_idle(run, folder, tmp_path / "out")] == [said["reason"]]
    assert results(tmp_path / "out/slide") == before


def test_killed_at_any_moment_each_is_predicted_once(place, tmp_path):
    run, slides, folder = place
    for slide in slides:
        shutil.copy(slide, folder)
    whole, moments, said = of_plain_call(run, slides_in(folder), tmp_path / "plain"), random.Random(8), []
    for _ in range(KILLS):
        with Watch(*words(run, folder, tmp_path / "out", "--interval", 0.1, "--settle", 0.1)) as watch:
            time.sleep(moments.uniform(0.1, 3))
        finished = list((tmp_path / "out").glob("[!.]*/findings.json"))
        for found in finished:
            name = found.parent.name + "/"
            assert tree(found.parent) == {key[len(name):]: value for key, value in whole.items() if key.startswith(name)}
        said += watch.said
        if len(finished) == len(slides):  # the next kills need something to do
            once(said)
            said = []
            shutil.rmtree(tmp_path / "out")
    said += until_idle(run, folder, tmp_path / "out")
    assert results(tmp_path / "out") == whole and not (tmp_path / "out/.work").exists()
    assert not [p for p in (tmp_path / "out").iterdir() if p.name.startswith(".part")]
    once(said)
    assert until_idle(run, folder, tmp_path / "out") == []


def once(said):
    ids = [line["id"] for line in said if line["news"] == "predicted"]
    assert len(ids) == len(set(ids)) and {line["news"] for line in said} <= {"predicted", "kept"}


def slides_in(folder):
    return sorted(folder.iterdir())


def test_asked_to_stop_it_goes_on_later(place, tmp_path):
    run, slides, folder = place
    for slide in slides:
        shutil.copy(slide, folder)
    said = []
    for end in (signal.SIGTERM, signal.SIGINT):
        with Watch(*words(run, folder, tmp_path / "out", *QUICK)) as watch:
            watch.wait_for(1)
            said += watch.end(end)
        assert not [p for p in (tmp_path / "out").iterdir() if p.name.startswith(".part")]
        assert {row["case"] for row in rows_of(tmp_path / "out/cases.csv")} == {line["id"] for line in said}
    said += until_idle(run, folder, tmp_path / "out")
    assert sorted(line["input"] for line in said) == [slide.name for slide in slides]
    assert results(tmp_path / "out") == of_plain_call(run, slides_in(folder), tmp_path / "plain")


@pytest.mark.parametrize("name", ["{}.dcm", "IM{}"])
def test_a_series_that_arrives_file_by_file(ct_run, tmp_path, name):
    """With an ending and without one; a volume beside it; DICOM without a folder of its own is said."""
    folder, out = tmp_path / "in", tmp_path / "out"
    (folder / "patient/series").mkdir(parents=True)
    slices = sorted(STS.glob("*.dcm"))
    with Watch(*words(ct_run, folder, out, *PATIENT)) as watch:
        for i, file in enumerate(slices):
            shutil.copy(file, folder / "patient/series" / name.format(i))
            time.sleep(0.05)
        shutil.copy(CT / "sarcoma/sts-012.nii.gz", folder / "patient/sts-012.nii.gz")
        shutil.copy(slices[0], folder / name.format("stray"))
        (folder / "patient/report.txt").write_text("no volume")
        said = {line["input"]: line for line in watch.wait_for(3)}
        watch.end()
    assert len(watch.said) == 3
    assert said["patient/series"]["news"] == said["patient/sts-012.nii.gz"]["news"] == "predicted"
    assert "into a folder of its own" in said[name.format("stray")]["reason"]
    shutil.copy(tmp_path / "out.key", tmp_path / "plain.key")
    assert results(out) == of_plain_call(ct_run, [folder / "patient/series", folder / "patient/sts-012.nii.gz"], tmp_path / "plain")
    # Another slice of the series: what was predicted is not of this volume.
    data = (folder / "patient/series" / name.format(len(slices) - 1)).rename(tmp_path / "last").read_bytes()
    (line,) = [line for line in until_idle(ct_run, folder, out) if line["input"] == "patient/series"]
    assert line["news"] == "left-out" and "has changed since it was predicted" in line["reason"]
    (folder / "patient/series" / name.format(len(slices) - 1)).write_bytes(data)
    assert "patient/series" not in {line["input"] for line in until_idle(ct_run, folder, out) if line["news"] == "left-out"}


def test_what_is_refused(place, tmp_path):
    run, slides, folder = place
    shutil.copy(slides[0], folder / "slide.tiff")

    def said(*command):
        return message_of(headrace("predict", "--run", run, *command, code=2))

    assert "lies in the input" in said("--watch", folder, "--out", folder / "results")
    assert "--watch takes no other inputs" in said("--watch", folder, slides[0], "--out", tmp_path / "out")
    assert "a folder to --watch" in said("--out", tmp_path / "out")
    assert "--images and --split choose images of a store" in said("--watch", folder, "--split", "val", "--out", tmp_path / "out")
    assert "--settle requires --watch" in said(slides[0], "--settle", 1, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert "there is no such folder" in message_of(headrace(*words(run, folder / "no", tmp_path / "out"), code=1))
    with Watch(*words(run, folder, tmp_path / "out", *QUICK)) as watch:
        watch.wait_for(1)
        assert "another run is writing here" in message_of(headrace(*words(run, folder, tmp_path / "out"), code=1))
        watch.end()
    assert rows_of(tmp_path / "out/cases.csv")[0]["case"] == "slide"
