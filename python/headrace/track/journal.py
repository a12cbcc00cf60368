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
            if there["format"] != FORMAT or not isinstance(there["sent"], dict) or not isinstance(there["pending"] or {}, dict):
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise MalformedError(f"{self.path}: is not a state that headrace track wrote. Move the file away to send all of the run anew.") from error
        if before.place != target.place:
            raise UsageError(f"{self.path}: this run went to {_text(before)} so far, now {_text(target)} is asked for. Give it another name "
                             "(--name), or move the file away.")
        self.data = {**there, "target": target.entry()}

    def belongs_to(self, config_hash: Optional[str]) -> bool:
        """Whether what was sent is of the run as it is now. If not (it is judged by other rules since, which made its validations anew, or another run
        has its folder), nothing counts as sent, and a tracker gets it as a run of its own; files are replaced."""
        before = self.data.get("config_hash", config_hash)
        if config_hash is not None:
            self.data["config_hash"] = config_hash
        if config_hash is None or before == config_hash:
            return True
        kept = ("format", "target", "config_hash", "own_folder")
        replaced = {"replaced": self.data["file"]} if "file" in self.data else {}
        self.data = {**{key: self.data[key] for key in kept if key in self.data}, **replaced, "sent": {}, "pending": None}
        return False

    def save(self) -> None:
        """Errors: OSError, also where the run folder is gone, which is not made again."""
        self.path.parent.mkdir(exist_ok=True)
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
        self._folder, self._path, self._wanted = folder, folder / f".{name}.lock", folder / f".{name}.wanted"
        self._file: Optional[int] = None

    def take(self, seconds: float) -> bool:
        """Whether it was had within so many seconds. Errors: OSError."""
        self._folder.mkdir(exist_ok=True)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        deadline = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._wanted.unlink(missing_ok=True)
                return True
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    self._wanted.unlink(missing_ok=True)  # another that waits makes it again
                    return False
                self._wanted.touch()
                time.sleep(0.2)

    def wanted(self) -> bool:
        """Whether another follower waits for this one: it says so again and again, so one that was killed is not believed for long."""
        try:
            return abs(time.time() - self._wanted.stat().st_mtime) < 5
        except FileNotFoundError:
            return False

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _text(target: Target) -> str:
    return f"{target.to} {target.url or target.folder or 'in its folder'}, experiment {target.experiment}"
