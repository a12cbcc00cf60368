"""A sweep on disk: DIR/sweep.json, and for each trial DIR/trials/NNNN with trial.json, run.yaml, log.txt and the run folder `run`."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import _core
from ._definition import MAY_CHANGE, Definition, deciding
from ._space import as_text

FORMAT = 1
ENDED = ("complete", "pruned", "failed")


@dataclass
class Trial:
    """One training. `state`: `chosen` (its parameters), then one of ENDED."""

    number: int
    params: dict[str, Any]
    seed: int  # sampling.seed, where neither search nor config says one
    state: str = "chosen"
    value: float | None = None  # of a pruned one that of its last validation
    step: int | None = None  # of a pruned one: at which it was
    why: str = ""  # of a failed one: the sentence of the program
    validations: list[tuple[int, float | None]] = field(default_factory=list)  # [step, value]
    rungs: dict[str, float] = field(default_factory=dict)  # what hyperband noted
    time: dict[str, float] = field(default_factory=dict)

    def ended(self) -> bool:
        return self.state in ENDED


def write_whole(path: Path, text: str) -> None:
    """Replaces a file; whatever kills this process, the old text or the new one is there. Errors: StorageError, with the old one kept."""
    aside = path.with_name(f".{path.name}.new")
    try:
        with open(aside, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise _core.StorageError(f"{path} can't be written: {error.strerror or error}.") from error
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_json(path: Path) -> dict[str, Any]:
    """Errors: FileNotFoundError, MalformedError."""
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:  # no UTF-8 either
        raise _core.MalformedError(f"{path}: is no JSON ({error}).") from None
    if not isinstance(found, dict):
        raise _core.MalformedError(f"{path}: expected a JSON object.")
    return found


def json_text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def yaml_text(config: Mapping[str, Any], comment: str) -> str:
    """A run config as YAML: one line for each section, its value as JSON, which is YAML too."""
    return "".join([f"# {comment}\n", *(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in config.items())])


class Folder:
    """The folder of a sweep, held by this process alone until it ends. Errors: UsageError (held by another; no sweep), NotFoundError."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise _core.UsageError(f"--out {path}: is a file: expected a folder")
        if self.path.is_dir() and not (self.path / "sweep.json").exists() and any(one.name not in (".lock", "trials") for one in self.path.iterdir()
                                                                                if not one.name.startswith(".sweep.json")):
            raise _core.UsageError(f"--out {path}: the folder is not empty, and no sweep is in it: name a new folder")
        self._lock: int | None = None

    def stored(self) -> dict[str, Any] | None:
        """What sweep.json says, None before a sweep began. Errors: MalformedError."""
        try:
            found = read_json(self.path / "sweep.json")
        except FileNotFoundError:
            return None
        if found.get("format") != FORMAT:
            raise _core.MalformedError(f"{self.path / 'sweep.json'}: expected format {FORMAT}; it was written by another version of headrace.")
        return found

    def hold(self) -> None:
        """Refuses a second process in this folder."""
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise _core.UsageError(f"{self.path}: another headrace sweep works in this folder: wait for it, or name another folder.") from None

    def of(self, trial: int) -> Path:
        return self.path / "trials" / f"{trial:04d}"

    def put_config(self, trial: int, text: str) -> None:
        """run.yaml, also where a loss of power left half of it."""
        path = self.of(trial) / "run.yaml"
        if not path.exists() or path.read_bytes() != text.encode():
            write_whole(path, text)

    def save_trial(self, trial: Trial) -> None:
        write_whole(self.of(trial.number) / "trial.json", json_text(asdict(trial)))

    def load_trial(self, number: int) -> Trial | None:
        """A trial whose parameters are chosen; None before. Errors: MalformedError."""
        path = self.of(number) / "trial.json"
        try:
            found = read_json(path)
            return Trial(**(found | {"validations": [(step, value) for step, value in found["validations"]]}))
        except FileNotFoundError:
            return None
        except (KeyError, TypeError, ValueError):
            raise _core.MalformedError(f"{path}: is not what a sweep writes. Without {path.parent} the trial is trained again.") from None


def check_same_sweep(stored: Mapping[str, Any], definition: Definition, optuna: str, folder: Path) -> None:
    """Refuses to go on with another sweep than the folder's, or with another Optuna, which would draw otherwise. Keys of the run config that decide
    nothing may be others. Errors: UsageError."""
    before, now = ({**one, "config": deciding(one["config"])} for one in (stored["definition"], definition.to_json()))
    for key in before:
        if key not in MAY_CHANGE and before[key] != now[key]:
            inner = key
            old, new = before[key], now[key]
            while isinstance(old, dict) and isinstance(new, dict):  # the first key in it that differs
                name = next(one for one in [*old, *new] if old.get(one) != new.get(one))
                inner, old, new = f"{inner}.{name}", old.get(name), new.get(name)
            raise _core.UsageError(f"{folder} holds a sweep with another {inner}: {as_text(old)} there, {as_text(new)} now. Put it back, or name "
                                   "a new folder.")
    if before["trials"] > now["trials"]:
        raise _core.UsageError(f"{folder} holds a sweep of {before['trials']} trials, and {now['trials']} are asked for now: give at least as many.")
    if stored["optuna"] != optuna:
        raise _core.UsageError(f"{folder} was begun with optuna {stored['optuna']}, and {optuna} is installed, which may draw otherwise: "
                               f"pip install optuna=={stored['optuna']}, or name a new folder.")
