"""What a run folder has to tell: lines of metrics.jsonl as they come, and at its end the figures of its evaluation. Reads; writes nothing."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from . import allowed, tables
from .target import Target

LATEST_S = 1e11  # seconds since 1970: what no clock says
Marks = dict[str, int]  # the last step that was sent, of training lines and of validations


@dataclass
class Point:
    """Figures of one step."""

    kind: str  # "train" or "validation"
    step: int
    at: Optional[float]  # seconds since 1970; of runs from before it was recorded None
    values: dict[str, float]


@dataclass
class Final:
    """What there is once a run has ended and is judged."""

    digest: str
    step: int
    at: Optional[float]
    values: dict[str, float]
    tables: dict[str, tables.Table]
    artefacts: dict[str, str]  # name in the run folder to SHA-256
    pictures: list[Path] = field(default_factory=list)


class Feed:
    """One run, for one target."""

    def __init__(self, run: Path, target: Target) -> None:
        self.run, self._target = run, target
        self._offset, self._inode, self._before = 0, -1, b""
        self._final: Optional[Final] = None
        self._final_facts: tuple[Any, ...] = ()

    def _json(self, name: str) -> dict[str, Any]:
        """A file of the folder; empty where it is not there (yet)."""
        try:
            value = json.loads((self.run / name).read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    def config_hash(self) -> Optional[str]:
        """What the run is; None where run.json is not there (yet)."""
        value = self._json("run.json").get("config_hash")
        return value if isinstance(value, str) else None

    def parameters(self) -> dict[str, str]:
        return allowed.parameters(self._json("config.json"))

    def tags(self) -> dict[str, str]:
        """Hashes and counts that tell what a result depends on."""
        run = self._json("run.json")
        tags = {f"headrace.{key}": str(run[key]) for key in allowed.TAGS if run.get(key) is not None}
        runtime = run.get("runtime")
        if isinstance(runtime, Mapping):
            tags |= {f"headrace.runtime.{key}": str(runtime[key]) for key in ("torch", "device", "cpu_capability", "threads") if key in runtime}
        init = run.get("init")
        if isinstance(init, Mapping) and "sha256" in init:  # weights_sha256: not in runs of earlier versions
            tags["headrace.init_sha256"] = str(init.get("weights_sha256", init["sha256"]))
        weights = self._json("summary.json").get("weights_sha256")
        return tags | ({"headrace.weights_sha256": str(weights)} if weights else {})

    def split_names(self) -> list[str]:
        data = self._json("config.json").get("data")
        return [str(data[key]) for key in ("train", "val") if data.get(key)] if isinstance(data, Mapping) else []

    def class_names(self) -> list[str]:
        """With those of class sets, once it is judged."""
        return [str(name) for name in {**dict.fromkeys(self._json("run.json").get("classes") or []),
                                       **dict.fromkeys(self._json("eval.json").get("labels") or [])}]

    def group_names(self, kind: str) -> list[str]:
        """Of cohorts, scanners or phases."""
        return sorted({*self._json("eval.json").get(kind, {}), *(self._json("run.json").get(kind) or [])})

    def rewind(self) -> None:
        """Lines are read from the first on again: some of those that were read did not get where they should."""
        self._inode = -1

    def points(self, after: Marks, limit: int) -> list[Point]:
        """Lines that were not read before, of steps after those marks: a resume makes lines again, equal but for their times. At most `limit`."""
        found: list[Point] = []
        try:
            file = open(self.run / "metrics.jsonl", "rb")
        except FileNotFoundError:
            return found
        with file:
            self._go_on(file)
            marks = dict(after)
            while len(found) < limit:
                line = file.readline()
                if not line.endswith(b"\n"):
                    break  # nothing, or a line that is being written
                self._offset, self._before = file.tell(), line
                point = _point(line)
                if point is not None and point.step > marks.get(point.kind, -1):
                    marks[point.kind] = point.step
                    found.append(point)
        return found

    def _go_on(self, file: Any) -> None:
        """To where the last call ended, or to the start of a file that was written anew since."""
        facts = os.fstat(file.fileno())
        start = self._offset - len(self._before)
        if facts.st_ino == self._inode and facts.st_size >= self._offset:
            file.seek(start)
            if file.read(len(self._before)) == self._before:
                return
        self._inode, self._offset, self._before = facts.st_ino, 0, b""
        file.seek(0)

    def final(self) -> Optional[Final]:
        """None until the run has ended, as what run.json says that it is: figures by other rules are not its own. Files are read again where they have
        changed."""
        facts = tuple(_stamp(self.run / name) for name in ("summary.json", "eval.json", "run.json"))
        if None in facts:
            return None
        if facts != self._final_facts:
            self._final, self._final_facts = self._read_final(), facts
        return self._final

    def _read_final(self) -> Optional[Final]:
        summary, evaluation = self._json("summary.json"), self._json("eval.json")
        run = self._json("run.json")
        if not summary or not evaluation or summary.get("config_hash") != run.get("config_hash"):
            return None
        names = {kind: allowed.group_names(self.group_names(kind), kind, self._target.fields) for kind in allowed.GROUPS}
        values = allowed.figures(evaluation.get("overall", {}), "final")
        for kind, called in names.items():
            for name, group in evaluation.get(kind, {}).items():
                values |= tables.main_figures(group, f"final/{kind}/{called[name]}")
        baseline = evaluation.get("baseline")
        if isinstance(baseline, Mapping):
            values |= tables.main_figures(baseline.get("overall", {}), "baseline")
        pictures = sorted(self.run.glob("montage/eval-*.png")) if self._target.pictures else []
        facts = {"summary": {key: value for key, value in summary.items() if key != "time"}, "pictures": [picture.name for picture in pictures],
                 "fields": sorted(self._target.fields),
                 "evaluation": hashlib.sha256(json.dumps(_without_time(evaluation), sort_keys=True).encode()).hexdigest()}
        return Final(
            hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest(), int(summary.get("steps", 0)), self.last_time(), values,
            tables.of_evaluation(evaluation, names), self._artefacts(), pictures,
        )

    def _lines(self) -> Iterator[Point]:
        """All whole lines, apart from points()."""
        with suppress(FileNotFoundError), open(self.run / "metrics.jsonl", "rb") as file:
            yield from (point for line in file if line.endswith(b"\n") and (point := _point(line)) is not None)

    def started(self) -> Optional[float]:
        """When the first line was written."""
        return next((point.at for point in self._lines()), None)

    def last_time(self) -> Optional[float]:
        """When the last line was written: the same whenever it is asked for."""
        return max((point.at for point in self._lines() if point.at is not None), default=None)

    def state(self) -> dict[str, Any]:
        """What there is to send, in short."""
        final = self.final()
        return {"train": 0, "validation": 0} | {point.kind: point.step for point in self._lines()} | {"final": final.digest if final else None}

    def _artefacts(self) -> dict[str, str]:
        return {name: sha256_of(self.run / name) for name in allowed.ARTEFACTS if (self.run / name).is_file()}


def _stamp(path: Path) -> Optional[tuple[int, int, int]]:
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _point(line: bytes) -> Optional[Point]:
    """A line as figures. None for one that is none, as after a fault of the disk."""
    try:
        value = json.loads(line)
        step = int(value["step"])
    except (ValueError, KeyError, TypeError, OverflowError):
        return None
    if not 0 <= step < 1 << 53:
        return None
    times = value.get("time") if isinstance(value.get("time"), Mapping) else {}
    at = times.get("at")
    moment = float(at) if isinstance(at, (int, float)) and 0 <= at < LATEST_S else None
    if "validation" in value:
        return Point("validation", step, moment, allowed.figures(value["validation"], "val"))
    values = dict(pair for key in allowed.LINE if key in value for pair in allowed.numbers(value[key], f"train/{key}"))
    values |= dict(pair for key in allowed.TIMES if key in times for pair in allowed.numbers(times[key], f"time/{key}"))
    return Point("train", step, moment, values)


def _without_time(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_time(inner) for key, inner in value.items() if key != "time"}
    return [_without_time(inner) for inner in value] if isinstance(value, list) else value
