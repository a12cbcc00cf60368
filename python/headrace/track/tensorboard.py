"""To a folder that TensorBoard reads: one event file a run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Optional

from . import allowed, event_file, tables
from .feed import Feed, Final
from .group import Group
from .journal import Journal
from .own_folder import own_folder
from .target import Target


class TensorBoardSink:
    """A file remembers by itself what it has: every start writes what it lacks. One that has another end, or other rules, is replaced."""

    live = False

    def __init__(self, feed: Feed, target: Target, journal: Journal, group: Optional[Group]) -> None:
        self._feed, self._target, self._journal, self._group = feed, target, journal, group
        self._file: Optional[event_file.EventFile] = None
        self._folder = Path()

    def open(self, started_ms: int) -> None:
        """Errors: OSError."""
        if self._file is not None:  # the disk was full
            with suppress(OSError):
                self._file.close()
            self._file = None
        data = self._journal.data
        self._folder = own_folder(self._feed.run, self._target, self._group, self._journal)
        end = self._feed.final()
        if data.get("final") not in (None, end.digest if end is not None else None):
            data["replaced"] = data.pop("file")
            del data["final"]
        if "replaced" in data:
            (self._folder / data["replaced"]).unlink(missing_ok=True)
            del data["replaced"]
        data.setdefault("file", f"events.out.tfevents.{started_ms // 1000:010d}.headrace.{time.time_ns() // 1000:x}")
        data["closed"] = False
        self._journal.save()
        self._file = event_file.EventFile(self._folder / data["file"], started_ms / 1000)
        config = tables.Table(["key", "value"], [[key, value] for key, value in (self._feed.parameters() | self._feed.tags()).items()])
        self._file.write(started_ms / 1000, 0, {"config": event_file.text("config", tables.markdown(config))})

    def put(self, points: Iterable[Mapping[str, Any]], again: bool = False) -> None:
        del again  # the file knows
        assert self._file is not None
        for point in points:
            values = {allowed.plain_name(key): value for key, value in point["values"].items()}
            self._file.write(point["at_ms"] / 1000, point["step"], {tag: event_file.scalar(tag, value) for tag, value in values.items()})
        self._file.flush()

    def finish(self, final: Final, at_ms: int) -> None:
        assert self._file is not None
        self._journal.data["final"] = final.digest
        self._journal.save()
        self.put([{"step": final.step, "at_ms": at_ms, "values": final.values}])
        texts = {f"tables/{name}": tables.markdown(table) for name, table in final.tables.items()}
        facts = [[key, value] for key, value in self._feed.tags().items()] + [[name, digest] for name, digest in final.artefacts.items()]
        texts["artefacts"] = tables.markdown(tables.Table(["name", "value"], facts))
        self._file.write(at_ms / 1000, final.step, {tag: event_file.text(tag, text) for tag, text in texts.items()})
        for picture in final.pictures:
            tag = f"pictures/{picture.stem}"
            self._file.write(at_ms / 1000, final.step, {tag: event_file.image(tag, picture.read_bytes())})
        self._file.flush()

    def end(self, status: str, at_ms: Optional[int]) -> None:
        del status, at_ms
        assert self._file is not None
        self._file.close()
        self._journal.data["closed"] = True

    def place(self) -> str:
        return str(self._folder)

    def close(self) -> None:
        return
