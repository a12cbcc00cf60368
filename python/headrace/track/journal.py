"""RUN/tracking/TARGET.json: what a tracker has of a run, written before it is sent."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any, Optional

from .._core import MalformedError, UsageError
from .target import Target

FORMAT = 1


class Journal:
    """The state of one target of one run. `data` is saved as a whole by save(); a kill leaves the old or the new one."""

    def __init__(self, folder: Path, target: Target) -> None:
        """Reads what is there. Errors: MalformedError, UsageError (it is of another tracker)."""
        self.path = folder / f"{target.file_name}.json"
        self.data: dict[str, Any] = {"format": FORMAT, "target": target.entry(), "sent": {}, "pending": None}
        if not self.path.exists():
            return
        try:
            there = json.loads(self.path.read_text(encoding="utf-8"))
            before = Target.read(there["target"], str(self.path))
            if there["format"] != FORMAT:
                raise ValueError
        except (ValueError, KeyError, TypeError) as error:
            raise MalformedError(f"{self.path}: is not a state that headrace track wrote. Move the file away to send all of the run anew.") from error
        if before.place != target.place:
            raise UsageError(f"{self.path}: this run went to {_text(before)} so far, now {_text(target)} is asked for. Give it another name "
                             "(--name), or move the file away.")
        self.data = {**there, "target": target.entry()}

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_name(f".{self.path.name}.part")
        with open(part, "w", encoding="utf-8") as file:
            json.dump(self.data, file, indent=1, sort_keys=True)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self.path)


class Lock:
    """Keeps a second follower of the same target away. One that waits says so, and one that only tries again after its run's end gives way."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path, self._wanted = folder / f".{name}.lock", folder / f".{name}.wanted"
        self._file: Optional[int] = None

    def take(self, seconds: float) -> bool:
        """Whether it was had within so many seconds."""
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        deadline = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._wanted.unlink(missing_ok=True)
                return True
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                self._wanted.touch()
                time.sleep(0.2)

    def wanted(self) -> bool:
        """Whether another follower waits for this one."""
        return self._wanted.exists()

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _text(target: Target) -> str:
    return f"{target.to} {target.url or target.folder or 'in its folder'}, experiment {target.experiment}"
