"""Every situation again, by other commands than `ingest`: labels that come later are the same labels, and what `ingest` refuses, `predict` does too."""
import json
import os
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pydicom
import pytest
import zarr
from driving import PROGRAM
from test_cases import CASES, function_named

IMAGES_ONLY = ("--labels", "--annotations", "--classes", "--coding", "--objects", "--structure-set", "--lesion-classes", "--class-sets")
NOT_OF_PREDICT = ("--table", "--columns", "--on-error")
LATER = ("--classes", "--coding", "--objects", "--structure-set", "--accept", "--table", "--columns")
FLAGS = ("--json", "--number-images", "--join-series", "--shared-frame")
OF_PREDICT = ("--mpp", "--irregular", "--rescale", "--acquisition", "--join-series", "--accept")
OF_DICOM = {"SEG", "RTSTRUCT"}
# What a store can't know later, and is refused with a sentence there.
AT_ONCE_ALONE = {"labels-no-area-stated": "its table names a folder, and a store has images", "labels-no-reference": "a store keeps no frame of reference"}


def program(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, timeout=300, env=os.environ | {"LC_ALL": "C.UTF-8"})
    said = done.stdout.decode("utf-8") + done.stderr.decode("utf-8")
    assert "unexpected failure" not in said and done.returncode >= 0, said
    return done.returncode, said


def first_step(folder):
    case = json.loads((folder / "case.json").read_text())
    return case, case["steps"][0]


def parts(words):
    """Inputs and options of a command: ["a"], {"--classes": ["x"]}."""
    inputs, options, i = [], {}, 2
    while i < len(words):
        if not words[i].startswith("--"):
            inputs.append(words[i])
        elif words[i] in FLAGS:
            options[words[i]] = []
        else:
            options[words[i]] = [words[i + 1]]
            i += 1
        i += 1
    return inputs, options


def given(options, names):
    return [word for name, values in options.items() if name in names for word in (name, *values)]


def dicom_labels(folder):
    """The files of a folder that are segmentations or structure sets."""
    found = []
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    kind = pydicom.dcmread(path, stop_before_pixels=True, specific_tags=["Modality"]).get("Modality", "")
                except (pydicom.errors.InvalidDicomError, OSError, ValueError, EOFError):
                    continue
            if kind in OF_DICOM:
                found.append(path)
    return found


def labels_of(store):
    """{(image, level): label values} of a store, each image with its one label group."""
    found = {}
    for group in sorted(Path(store).glob("images/*/labels/*")):
        for level in sorted(p for p in group.glob("*") if p.name.isdigit()):
            found[group.parent.parent.name, level.name] = zarr.open_array(str(level), mode="r")[:]
    return found


def with_labels(folder):
    case, step = first_step(folder)
    if folder.name in AT_ONCE_ALONE or step["run"][0] != "ingest" or "--on-error" in step["run"]:
        return False
    _, options = parts(step["run"])
    return "--annotations" in options or "--labels" in options or "--classes" in options


LABELLED = [folder for folder in CASES if with_labels(folder)]
REFUSED = [folder for folder in CASES if first_step(folder)[1]["run"][0] == "ingest" and first_step(folder)[1].get("exit", 0) in (1, 4)]


def kind(name):
    """What a situation is about: "slides/ome-um" is of slides' ome."""
    return name.split("-")[0]


def named(folders):
    return [f"{folder.parent.name}/{folder.name}" for folder in folders]


@pytest.mark.matrix(kind=kind)
@pytest.mark.parametrize("folder", LABELLED, ids=named(LABELLED))
def test_labels_that_come_later_are_the_same(folder, tmp_path):
    case, step = first_step(folder)
    places = {"in": tmp_path / "in", "out": tmp_path / "out.zarr", "work": tmp_path / "work"}
    places["in"].mkdir()
    function_named("makers", case["make"])(places["in"], **case.get("arguments", {}))
    words = [word.format(**places) for word in step["run"]]
    inputs, options = parts(words)
    if "--annotations" not in options and "--labels" not in options:
        moved = tmp_path / "later"
        for path in dicom_labels(places["in"]):
            to = moved / path.relative_to(places["in"])
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, to)
        if not moved.exists():
            pytest.skip("its labels are no files of their own")
        options["--labels"] = [moved]
    del options["--out"]
    bare = {name: values for name, values in options.items() if name not in IMAGES_ONLY and name != "--json"}
    key = []
    if words[1] == "volumes":  # names are pseudonyms by the key
        (tmp_path / "key").write_bytes(b"one key for both")
        key = ["--key-file", tmp_path / "key"]
    code, said = program(*words[:2], *inputs, *given(bare, bare), *key, "--out", tmp_path / "later.zarr")
    if code != 0:
        pytest.skip("the image itself is refused")
    folder_of_labels = options.get("--annotations") or options["--labels"]
    code, said = program("ingest", "labels", tmp_path / "later.zarr", "--labels", folder_of_labels[0], *given(options, LATER), *key)
    assert (code != 0) == (step.get("exit", 0) != 0), said
    if code != 0:
        assert code == step["exit"], said
        for text in step.get("says", []):
            assert text in said, f"'{text}' is not said:\n{said}"
        return
    if (tmp_path / "later").exists():
        for path in sorted((tmp_path / "later").rglob("*")):
            if path.is_file():
                shutil.move(path, places["in"] / path.relative_to(tmp_path / "later"))
    code, at_once = program(*words, *key)
    assert code == 0, at_once
    expected, found = labels_of(places["out"]), labels_of(tmp_path / "later.zarr")
    assert found.keys() == expected.keys(), said
    for key, values in expected.items():
        np.testing.assert_array_equal(found[key], values, err_msg=f"{key}\n{said}")


@pytest.mark.matrix(kind=lambda name: name.split("/")[0], few=11)  # each starts LibTorch
@pytest.mark.parametrize("folder", REFUSED, ids=named(REFUSED))
def test_predict_refuses_what_ingest_refuses(folder, tmp_path, request):
    case, step = first_step(folder)
    places = {"in": tmp_path / "in", "out": tmp_path / "out.zarr", "work": tmp_path / "work"}
    places["in"].mkdir()
    function_named("makers", case["make"])(places["in"], **case.get("arguments", {}))
    words = [word.format(**places) for word in step["run"]]
    inputs, options = parts(words)
    if Path(folder).name == "odd-mask-beside":
        pytest.skip("its mask is refused, and predict looks for none")
    if "--channels" in options:
        pytest.skip("the channels are those of the run, which has one")
    bare = {name: values for name, values in options.items() if name not in (*IMAGES_ONLY, *NOT_OF_PREDICT, "--json")}
    code, alone = program(*words[:2], *inputs, *given(bare, bare))
    if code != step["exit"] or not all(text in alone for text in step.get("says", [])):
        pytest.skip("its labels or its table are refused, not its image")
    run = request.getfixturevalue("cohort" if words[1] == "slides" else "ct_cohort") / "run"
    got, said = program("predict", "--run", run, *inputs, *given(options, OF_PREDICT), "--out", tmp_path / "results")
    assert got == step["exit"], said
    for text in step.get("says", []):
        assert text in said, f"'{text}' is not said:\n{said}"
