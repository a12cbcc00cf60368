"""A trained run and an MLflow server for all tests of this folder; tests copy the run."""
import http.server
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from driving import PROGRAM, headrace  # noqa: E402
from liars import Liar  # noqa: E402
from made_once import made_once  # noqa: E402
from trackers import MlflowServer, small_config  # noqa: E402

sys.path.insert(0, str(PROGRAM.parent / "python"))  # the package that was built


@pytest.fixture(scope="session")
def trained_run(nuclei, tmp_path_factory):
    """A finished run of eight steps and two validations."""
    def make(folder):
        headrace("train", "--config", small_config(folder, nuclei), "--out", folder / "run")
    return made_once(tmp_path_factory, "tracked", make) / "run"


@pytest.fixture(scope="session")
def mlflow(tmp_path_factory):
    server = MlflowServer(tmp_path_factory.mktemp("mlflow"))
    yield server
    server.kill()


@pytest.fixture
def liar():
    handler = type("Handler", (Liar,), {"seen": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield handler, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
