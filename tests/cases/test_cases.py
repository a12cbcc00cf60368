"""Situations of real data, each with the outcome that is expected (README.md): no value, label or place goes wrong without a word."""
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from driving import PROGRAM

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
CASES = sorted(path.parent for path in HERE.glob("*/*/case.json"))
RUNS = {"slide_run": "cohort", "volume_run": "ct_cohort"}  # trained once for all tests: fixtures of tests/conftest.py
KEYS = {"about", "report", "make", "arguments", "steps"}
STEP_KEYS = {"run", "exit", "says", "not_says", "json", "check"}


def function_named(kind, name):
    module, function = name.split(":")
    return getattr(importlib.import_module(f"{kind}.{module}"), function)


def value_at(found, path):
    for part in path.split("."):
        found = found[int(part)] if isinstance(found, list) else found[part]
    return found


def run_step(step, places):
    words = [word.format(**places) for word in step["run"]]
    done = subprocess.run([PROGRAM, *words], capture_output=True, timeout=300, env=os.environ | {"LC_ALL": "C.UTF-8"})
    said = done.stdout.decode("utf-8") + done.stderr.decode("utf-8")  # both must be UTF-8, whatever the inputs hold
    assert done.returncode == step.get("exit", 0), f"exit code {done.returncode}\n{said}"
    assert "unexpected failure" not in said
    for text in step.get("says", []):
        assert text in said, f"'{text}' is not said:\n{said}"
    for text in step.get("not_says", []):
        assert text not in said, f"'{text}' is said:\n{said}"
    for path, expected in step.get("json", {}).items():
        assert value_at(json.loads(done.stdout), path) == expected, f"{path}\n{said}"
    if "check" in step:
        function_named("checks", step["check"])(Path(places["out"]), Path(places["in"]))


@pytest.mark.parametrize("folder", CASES, ids=[f"{case.parent.name}/{case.name}" for case in CASES])
def test_case(folder, tmp_path, request):
    case = json.loads((folder / "case.json").read_text())
    assert case.keys() <= KEYS and case["about"] and case["steps"], "keys are those of README.md"
    places = {"in": tmp_path / "in", "out": tmp_path / "out.zarr", "work": tmp_path / "work"}
    for name in ("in", "work"):
        places[name].mkdir()
    for name, fixture in RUNS.items():
        if name in json.dumps(case["steps"]):
            places[name] = request.getfixturevalue(fixture) / "run"
    function_named("makers", case["make"])(places["in"], **case.get("arguments", {}))
    for step in case["steps"]:
        assert step.keys() <= STEP_KEYS, "keys are those of README.md"
        run_step(step, places)
