"""Runs volume_tool, the program through which these tests drive Headrace's volume readers (tests/imaging/volume_tool.cpp)."""
import json
import pathlib

import numpy as np
from driving import SAMPLES, run_tool

CT = SAMPLES / "ct"


def run(*arguments) -> dict:
    return json.loads(run_tool("volume_tool", *arguments).stdout)


def refused(*arguments) -> str:
    """The one sentence (or few) that the readers say; they must fail by an error, not by a signal."""
    said = run_tool("volume_tool", *arguments, codes=(1, 2, 4)).stderr
    assert said.startswith("error: ") and said.count("\n") == 1, said
    return said


def read(folder, *arguments) -> tuple[np.ndarray, dict]:
    """Voxels and facts. `arguments` as volume_tool's, with OUT for the file it writes into `folder`."""
    out = pathlib.Path(folder) / "out.npy"
    facts = run(*[out if a == "OUT" else a for a in arguments])
    return np.load(out), facts
