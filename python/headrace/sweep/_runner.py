"""The process of one trial: `headrace train` on the cores or GPU of its lease, followed by its validations."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from .. import _core
from ._leases import Lease, locked

KILLED_AT_MOST = 3  # times that others may end a trial's process, such as for memory, before the trial counts as failed
_PR_SET_PDEATHSIG = 1


def _with_parent(parent: int, cores: list[int]) -> Callable[[], None]:
    """For the child before it becomes the program: its cores, and SIGTERM when the sweep dies, at which it writes a checkpoint and ends."""
    prctl = ctypes.CDLL(None).prctl

    def prepare() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
        os.sched_setaffinity(0, cores)

    return prepare


class Training:
    """A trial's training, begun or gone on with. `folder`: the trial's."""

    def __init__(self, command: list[str], folder: Path, lease: Lease) -> None:
        self.folder, self.lease = folder, lease
        self._stopped: float | None = None
        lock = locked(folder / ".lock")  # inherited: free when the process of a killed sweep has ended, too
        if lock is None:
            raise BlockingIOError(f"{folder}: the training of an earlier sweep has not ended yet")
        run = folder / "run"
        resumes = any((run / "checkpoints").glob("step-*.safetensors"))
        if not resumes and run.exists():
            shutil.rmtree(run)  # it was killed before the first checkpoint: nothing to go on from
        environment = dict(os.environ)
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(lease.gpus)
        self._log = folder / "log.txt"
        with open(self._log, "ab") as log:
            self._log_begins = log.tell()
            try:
                self._process = subprocess.Popen(
                    [*command, "train", "--config", str(folder / "run.yaml"), "--out", str(run), *(["--resume"] if resumes else [])],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True,
                    pass_fds=[lock, *lease.descriptors], preexec_fn=_with_parent(os.getpid(), lease.cores))
            finally:
                os.close(lock)

    def ended(self) -> int | None:
        """The exit code, below 0 of a process that was killed by that signal; None while it runs."""
        return self._process.poll()

    def stop(self) -> None:
        """Asks the training to write a checkpoint and end; again after a minute, for one that was only starting."""
        if self._stopped is None or time.monotonic() - self._stopped > 60:
            self._signal(signal.SIGINT)
            self._stopped = time.monotonic()

    def asked_to_stop(self) -> bool:
        return self._stopped is not None

    def kill(self) -> None:
        self._stopped = time.monotonic()  # whoever kills it means to stop it
        self._signal(signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """Gives the lease back; the process has ended."""
        self._process.wait()
        self.lease.close()

    def interrupted(self) -> str:
        """The signal by which somebody else ended it, empty where none did. One that had the time to write a checkpoint says so itself."""
        code = self._process.returncode
        if code < 0:
            return signal.strsignal(-code) or f"signal {-code}"
        said = re.match(r"Stopped by (SIG[A-Z]+) ", self.sentence()) if code == 1 else None
        return said.group(1) if said else ""

    def sentence(self) -> str:
        """The program's own sentence on why it failed, else what is known."""
        with open(self._log, "rb") as log:
            log.seek(self._log_begins)
            lines = log.read().decode(errors="replace").splitlines()
        said = [line[len("headrace: "):] for line in lines if line.startswith("headrace: ")]
        code = self._process.returncode
        if said:
            return said[-1]
        return f"killed by signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"exit code {code}; see {self._log}"

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def check_trains(program: str) -> None:
    """Refuses a program that can't train. Errors: UnsupportedError."""
    if not Path(program).resolve().with_name("headrace-torch").exists():
        raise _core.UnsupportedError(f"{program} was built without LibTorch, and can't train: build Headrace itself (its README says how), and run "
                                     "build/headrace sweep.")
