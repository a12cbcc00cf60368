"""Runs volume_tool, the program through which these tests drive Headrace's volume readers (tests/imaging/volume_tool.cpp)."""

import json
import os
import pathlib
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
CT = ROOT / "samples" / "ct"


def program() -> str:
    """The program beside the headrace that is tested: $HEADRACE, or build/headrace."""
    headrace = pathlib.Path(os.environ.get("HEADRACE", ROOT / "build" / "headrace"))
    tool = headrace.resolve().parent / "volume_tool"
    assert tool.exists(), f"{tool} is missing: build the target volume_tool, or set HEADRACE"
    return str(tool)


def run(*arguments) -> dict:
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(*arguments) -> str:
    """The one sentence (or few) that the readers say; they must fail by an error, not by a signal."""
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2, 4), (done.returncode, done.stdout[:200], done.stderr)
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def read(folder, *arguments) -> tuple[np.ndarray, dict]:
    """Voxels and facts. `arguments` as volume_tool's, with OUT for the file it writes into `folder`."""
    out = pathlib.Path(folder) / "out.npy"
    facts = run(*[out if a == "OUT" else a for a in arguments])
    return np.load(out), facts
