"""Where tests find what they share, and predictions that several files read; nothing may write into these."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("cli", "learn/handover")]
from ct_inputs import STS  # noqa: E402
from driving import SAMPLES, few_nuclei, headrace  # noqa: E402
from made_once import made_once  # noqa: E402
from matrices import Matrices  # noqa: E402
from predictions import sarcoma_cohort, slide_cohort  # noqa: E402


def pytest_configure(config):
    config.pluginmanager.register(Matrices(config), "matrices")


@pytest.fixture(scope="session")
def nuclei(tmp_path_factory):
    """A lossless store of six annotated images, four in train and two in val."""
    return made_once(tmp_path_factory, "nuclei", lambda folder: headrace(
        "ingest", "slides", SAMPLES / "nuclei/images", "--table", few_nuclei(folder), "--out", folder / "nuclei.zarr",
        "--codec", "blosc-zstd")) / "nuclei.zarr"


@pytest.fixture(scope="session")
def cohort(tmp_path_factory):
    """Phantom slides (`in`), a lossless store of them (`s.zarr`), and two runs trained on it (`run`, `fold1`)."""
    return made_once(tmp_path_factory, "cohort", slide_cohort)


@pytest.fixture(scope="session")
def predicted(cohort, tmp_path_factory):
    """The results of the cohort's run for all of its store."""
    return made_once(tmp_path_factory, "predicted",
                     lambda folder: headrace("predict", "--run", cohort / "run", cohort / "s.zarr", "--out", folder / "out")) / "out"


@pytest.fixture(scope="session")
def ct_cohort(tmp_path_factory):
    """CT with tumours in a store (`ct.zarr`), and a run trained on it (`run`)."""
    return made_once(tmp_path_factory, "ct-cohort", sarcoma_cohort)


@pytest.fixture(scope="session")
def ct_run(ct_cohort):
    return ct_cohort / "run"


@pytest.fixture(scope="session")
def predicted_ct(ct_run, tmp_path_factory):
    """The result for a DICOM series that was never ingested."""
    out = made_once(tmp_path_factory, "predicted-ct", lambda folder: headrace("predict", "--run", ct_run, STS, "--out", folder / "out")) / "out"
    (result,) = [path for path in out.iterdir() if path.is_dir() and not path.name.startswith(".")]
    return result


@pytest.fixture(scope="session")
def predicted_ct_val(ct_cohort, tmp_path_factory):
    """The results for the validation images of the CT store."""
    return made_once(tmp_path_factory, "predicted-ct-val", lambda folder: headrace(
        "predict", "--run", ct_cohort / "run", ct_cohort / "ct.zarr", "--split", "val", "--out", folder / "out")) / "out"


@pytest.fixture
def small_disk(tmp_path):
    """Makes a file system of so many MiB; called again, changes its size. Mounting takes root: others skip, for root it must work."""
    if os.geteuid() != 0:
        pytest.skip("not run: mounting a small disk takes root")
    disk = tmp_path / "disk"

    def sized(mib):
        if disk.exists():
            subprocess.run(["mount", "-o", f"remount,size={mib}m", disk], check=True, timeout=60)
        else:
            disk.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", disk], check=True, timeout=60)
        return disk

    yield sized
    if os.path.ismount(disk):
        subprocess.run(["umount", disk], check=True, timeout=60)
