"""Stores and runs that several tests read; nothing may write into them, but into `registry` and `run`, which each test has of its own."""
import shutil

import pytest
from driving import SAMPLES, headrace
from made_once import made_once
from promoted_runs import promotable_runs, promote


@pytest.fixture(scope="session")
def slide(tmp_path_factory):
    """A finished store of one JPEG pyramid, its tiles copied."""
    folder = tmp_path_factory.mktemp("slide")
    headrace("ingest", "slides", SAMPLES / "slides/derived/cmu-aperio-style-4level.svs", "--out", folder / "slide.zarr")
    return folder / "slide.zarr"


@pytest.fixture(scope="session")
def promotable(tmp_path_factory):
    """A store and two runs that pass their gates (promoted_runs.py)."""
    return made_once(tmp_path_factory, "promotable", promotable_runs)


@pytest.fixture
def registry(promotable, tmp_path):
    """One in which `gleason` is run `a`."""
    promote(promotable / "a", tmp_path / "registry", "--message", "first", "--by", "anna")
    return tmp_path / "registry"


@pytest.fixture
def run(promotable, tmp_path):
    """A copy of run `b`."""
    return shutil.copytree(promotable / "b", tmp_path / "b")
