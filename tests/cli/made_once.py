"""Folders that take long to make: one for all workers of a test run (pytest-xdist), which nothing may write into."""
import fcntl
import os
import shutil


def made_once(factory, name, make):
    """The folder `name` of this test run. The first worker that asks for it makes it by make(folder), the others wait."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = base / name, base / f"{name}.made"
    with open(base / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what is left of a worker that failed
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
