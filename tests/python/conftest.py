"""Tests of the Python package; the program is driven as in tests/cli."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import pytest  # noqa: E402
from driving import PROGRAM  # noqa: E402

PACKAGE = str(PROGRAM.parent / "python")  # of the same build, also for programs that tests start
sys.path.insert(0, PACKAGE)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [PACKAGE, os.environ.get("PYTHONPATH")]))
from batches import make_ct  # noqa: E402


@pytest.fixture(scope="session")
def ct(tmp_path_factory):
    """A store of one annotated CT, in train; nothing may write into it."""
    return make_ct(tmp_path_factory.mktemp("ct"))
