"""Stores that several tests read; nothing may write into them."""
import os
import subprocess

import pytest
from driving import SAMPLES, few_nuclei, headrace


@pytest.fixture(scope="session")
def nuclei(tmp_path_factory):
    """A finished store of six annotated images."""
    folder = tmp_path_factory.mktemp("nuclei")
    table = few_nuclei(folder)
    headrace("ingest", "slides", SAMPLES / "nuclei/images", "--table", table, "--out", folder / "nuclei.zarr", "--codec", "blosc-zstd")
    return folder / "nuclei.zarr"


@pytest.fixture(scope="session")
def slide(tmp_path_factory):
    """A finished store of one JPEG pyramid, its tiles copied."""
    folder = tmp_path_factory.mktemp("slide")
    headrace("ingest", "slides", SAMPLES / "slides/derived/cmu-aperio-style-4level.svs", "--out", folder / "slide.zarr")
    return folder / "slide.zarr"


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
