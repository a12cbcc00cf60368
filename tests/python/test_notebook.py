"""examples/first_steps.ipynb, run anew in a folder of its own: no cell fails, and what must be the same is what is stored.

`python tests/python/test_notebook.py` stores the outputs of such a run in the notebook; look at its pictures then.
"""
import base64
import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat
import numpy as np
import pytest
from PIL import Image
from traitlets.config import Config

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples/first_steps.ipynb"
MOST_BYTES = 600_000
VARIES = "varies"  # tag of cells whose figures depend on the kind of CPU: on PyTorch's kernels


def executed(folder):
    """The notebook after a run in `folder`, which has a copy of it beside the samples. Errors: CellExecutionError, CellTimeoutError."""
    (folder / "examples").mkdir()
    (folder / "samples").symlink_to(ROOT / "samples")
    shutil.copy(NOTEBOOK, folder / "examples")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    environment = {"OMP_NUM_THREADS": "1", "JUPYTER_RUNTIME_DIR": str(folder / "runtime"), "IPYTHONDIR": str(folder / "ipython")}
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    sockets = tempfile.mkdtemp(prefix="headrace-")  # a socket's path is at most 107 bytes; no port is opened
    try:
        nbclient.NotebookClient(notebook, timeout=250, kernel_name="python3", resources={"metadata": {"path": str(folder / "examples")}},
                                config=Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}})).execute()
    finally:
        shutil.rmtree(sockets)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return notebook


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(cell):
    """What it prints and shows as text or HTML. On standard error a new machine may say that fonts are looked for."""
    printed = "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
    shown = [output.data[kind] for output in cell.outputs for kind in ("text/plain", "text/html") if kind in output.get("data", {})]
    return printed, shown


def pictures(cell):
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(output.data["image/jpeg"]))), float)
            for output in cell.outputs if "image/jpeg" in output.get("data", {})]


@pytest.fixture(scope="module")
def stored():
    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    return executed(tmp_path_factory.mktemp("notebook"))


def test_the_stored_notebook_is_whole_and_small(stored):
    nbformat.validate(stored)
    assert NOTEBOOK.stat().st_size < MOST_BYTES
    counts = [cell.execution_count for cell in code_cells(stored)]
    assert counts == list(range(1, len(counts) + 1))  # run once, from the top
    assert sum(len(pictures(cell)) for cell in code_cells(stored)) >= 8
    assert not [output for cell in code_cells(stored) for output in cell.outputs if output.output_type == "error" or output.get("name") == "stderr"]
    assert not [line for line in NOTEBOOK.read_text().splitlines() if re.search(r"/(home|root|tmp)/", line)]


def test_it_runs_and_prints_the_same(stored, again):
    for before, after in zip(code_cells(stored), code_cells(again), strict=True):
        if VARIES not in before.metadata.get("tags", []):
            assert texts(after) == texts(before), before.source


def test_its_pictures_are_those_that_are_stored(stored, again):
    """Up to how a JPEG's encoder rounds; of what varies their number."""
    for before, after in zip(code_cells(stored), code_cells(again), strict=True):
        assert len(pictures(after)) == len(pictures(before)), before.source
        if VARIES not in before.metadata.get("tags", []):
            for old, new in zip(pictures(before), pictures(after)):
                assert old.shape == new.shape and abs(old - new).mean() < 2, before.source


def test_its_network_learns(again):
    """Dice above the baseline that is printed beside it."""
    (line,) = [texts(cell)[0] for cell in code_cells(again) if texts(cell)[0].startswith("Dice of nuclei")]
    dice, baseline = (float(word.split(" ")[-1]) for word in line.strip().replace("images: ", "images ").split(", "))
    assert dice > baseline + 0.1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        made = executed(Path(scratch))
    for one in made.cells:
        one.metadata.pop("execution", None)  # times
    made.metadata.language_info = {"name": "python"}
    nbformat.write(made, NOTEBOOK)
    sys.exit(f"{NOTEBOOK}: {NOTEBOOK.stat().st_size} bytes, {MOST_BYTES} allowed" if NOTEBOOK.stat().st_size >= MOST_BYTES else 0)
