"""Predictions and exports that are killed at any moment: what can be seen is whole, and the same command given again ends with the bytes of
an undisturbed one. HEADRACE_KILLS: how often each is killed."""
import json
import os
import random
import shutil
import signal
import subprocess
import time

import pytest
import zarr
from ct_inputs import STS
from driving import PROGRAM, headrace, json_of
from matrices import times
from predictions import slides_of, tree

KILLS = times(6, 3, "kills of predict and export", "HEADRACE_KILLS")
LIMIT_S = 300

@pytest.fixture(scope="module")
def inputs(cohort, tmp_path_factory):
    """A store of two slides, and files of three others."""
    files, store = slides_of(cohort)[:5], tmp_path_factory.mktemp("kills") / "two.zarr"
    headrace("ingest", "slides", *files[:2], "--out", store)
    return [store, *files[2:]]


def timed(*arguments):
    """Runs to the end; gives the seconds it took."""
    start = time.monotonic()
    headrace(*arguments)
    return time.monotonic() - start


def entries(folder):
    """How many files and folders lie there, hidden ones too; some may vanish meanwhile."""
    return sum(len(folders) + len(files) for _, folders, files in os.walk(folder))


def killed(arguments, seconds, moments, out=None):
    """Whether the program was killed: False where it ended before. At a random time, or, with OUT, when that has got a random number of files
    more: the moments between two files of a result are short. The whole process group is killed: no part survives."""
    after_s = moments.uniform(0.02, 1.0) * seconds
    count = entries(out) + moments.randrange(1, 40) if out and moments.random() < 0.6 else None
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    start = time.monotonic()
    while process.poll() is None:
        if time.monotonic() - start > (after_s if count is None else LIMIT_S) or (count and entries(out) >= count):
            os.killpg(process.pid, signal.SIGKILL)
            break
        time.sleep(0.001)
    code = process.wait(timeout=LIMIT_S)  # 0 where it ended before
    assert code in (0, -signal.SIGKILL)
    return code != 0


def visible(folder):
    """The files that have no part of their path hidden, with the hash of their bytes."""
    return {name: value for name, value in tree(folder).items() if not any(part.startswith(".") for part in name.split("/"))}


def unexpected(folder):
    """Names at the top of an output folder that docs/formats.md does not have for a prediction under way."""
    known = (".part-", ".tmp-")
    return [path.name for path in folder.iterdir() if path.name.startswith(".") and path.name not in (".work", ".inputs.json", ".lock")
            and not path.name.startswith(known)]


def times_of(folder):
    return {path: path.stat().st_mtime_ns for result in folder.glob("[!.]*/findings.json") for path in result.parent.rglob("*") if path.is_file()}


def assert_whole_results(out, undisturbed, ids):
    """Each result that can be seen has all of its files, and no other file has other bytes."""
    found = visible(out)
    assert {name: value for name, value in undisturbed.items() if name in found} == found
    seen = {path.name for path in out.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert seen <= set(ids)
    for name in seen:
        assert {file for file in found if file.startswith(f"{name}/")} == {file for file in undisturbed if file.startswith(f"{name}/")}
        assert zarr.open_group(out / name, mode="r")["0"][:].any()
    assert not unexpected(out)


def kill_and_go_on(arguments, out, seconds, seed, check):
    """KILLS kills at random moments; where it ended before, it begins from nothing."""
    moments, kills, ended = random.Random(seed), 0, 0
    while kills < KILLS:
        before = times_of(out)
        if killed(arguments, seconds, moments, out):
            kills += 1
        else:
            ended += 1
            assert ended < 20 * KILLS, "it is hardly ever killed: the moments lie after its end"
        if out.exists():
            check()
            assert before.items() <= times_of(out).items(), "a finished result was written again"
            if (out / "cases.csv").exists():
                shutil.rmtree(out)


def assert_goes_on(arguments, out, undisturbed, ids):
    """Run again it ends with the undisturbed bytes, once each, and a further call keeps them all."""
    done = json_of(*arguments)
    assert sorted(image["id"] for image in done["images"]) == ids
    assert tree(out) == undisturbed
    kept = json_of(*arguments)
    assert [image["kept"] for image in kept["images"]] == [True] * len(ids) and tree(out) == undisturbed


def test_a_killed_prediction_of_slides_goes_on(cohort, inputs, tmp_path):
    out, ids = tmp_path / "out", [path.stem for path in slides_of(cohort)[:5]]
    command = ["predict", "--run", cohort / "run", *inputs, "--out", out]
    seconds = timed(*command)
    undisturbed = tree(out)
    shutil.rmtree(out)
    kill_and_go_on(command, out, seconds, 4, lambda: assert_whole_results(out, undisturbed, ids))
    assert_goes_on(command, out, undisturbed, ids)


def test_a_killed_prediction_of_scans_goes_on(ct_run, tmp_path):
    """DICOM is de-identified: the patient keeps the pseudonym of the first call, whatever was interrupted."""
    out, key = tmp_path / "out", tmp_path / "out.key"
    command = ["predict", "--run", ct_run, STS, "--out", out]
    seconds = timed(*command)
    ids = [path.name for path in out.iterdir() if path.is_dir() and not path.name.startswith(".")]
    undisturbed, secret = tree(out), key.read_bytes()
    shutil.rmtree(out)
    kill_and_go_on(command, out, seconds, 5, lambda: assert_whole_results(out, undisturbed, ids))
    assert_goes_on(command, out, undisturbed, ids)
    assert key.read_bytes() == secret and sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.key"]


def export_killed(old, new, out, seed):
    """Kills exports that replace the files of others: each file is one of the old or of the new ones, whole; at last all are new."""
    timed(*old)
    before = tree(out)
    seconds = timed(*new)
    after = tree(out)
    assert before.keys() == after.keys() and any(before[name] != after[name] for name in before)
    moments, kills, ended = random.Random(seed), 0, 0
    while kills < KILLS:
        arguments = new if (kills + ended) % 2 else old
        if killed(arguments, seconds, moments):
            kills += 1
        else:
            ended += 1
            assert ended < 50 * KILLS, "it is hardly ever killed: the moments lie after its end"
        assert all(value in (before[name], after[name]) for name, value in visible(out).items())
        hidden = [path.name for path in out.rglob(".*")]
        assert all(name.startswith(".partial-") for name in hidden), hidden
    headrace(*new)
    assert tree(out) == after


def test_killed_exports_of_slides_leave_whole_files(cohort, inputs, tmp_path):
    headrace("predict", "--run", cohort / "run", *inputs, "--min-region-mm2", 0, "--out", tmp_path / "results")
    common = ["export", tmp_path / "results", "--as", "geojson,ome-tiff,csv", "--out", tmp_path / "out"]
    export_killed([*common, "--min-area-mm2", 0.001], [*common, "--tolerance", 6], tmp_path / "out", 6)


def test_killed_exports_of_scans_leave_whole_files(ct_run, tmp_path):
    """Of two predictions of one scan, which have the same name and other probabilities."""
    formats = "nifti,nifti-probability,nrrd,dicom-seg,dicom-seg-fractional,dicom-seg-labelmap,dicom-rtstruct,dicom-sr,csv"
    exports = []
    for name, options in (("plain", []), ("flips", ["--flips"])):
        done = json_of("predict", "--run", ct_run, STS, "--out", tmp_path / name, *options)
        exports.append(["export", done["images"][0]["folder"], "--as", formats, "--out", tmp_path / "out"])
        if not (tmp_path / "flips.key").exists():
            shutil.copy(tmp_path / "plain.key", tmp_path / "flips.key")  # so that both have the same pseudonym
    assert json.loads((tmp_path / "plain/predict.json").read_text())["flips"] is False
    export_killed(*exports, tmp_path / "out", 7)
