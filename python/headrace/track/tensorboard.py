"""To a folder that TensorBoard reads: one event file a run, which is written anew where an earlier one was not ended."""

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
    """Files have no sender's memory: every start writes all of the run into a new file, after it removed the one that the state names."""

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
        if "file" in data:
            (self._folder / data["file"]).unlink(missing_ok=True)
        path = self._folder / f"events.out.tfevents.{started_ms // 1000:010d}.headrace.{time.time_ns() // 1000:x}"
        data["file"], data["closed"] = path.name, False
        self._journal.save()
        self._file = event_file.EventFile(path, started_ms / 1000)
        config = tables.Table(["key", "value"], [[key, value] for key, value in (self._feed.parameters() | self._feed.tags()).items()])
        self._file.write(started_ms / 1000, 0, [event_file.text("config", tables.markdown(config))])

    def put(self, points: Iterable[Mapping[str, Any]]) -> None:
        assert self._file is not None
        for point in points:
            self._file.write(point["at_ms"] / 1000, point["step"],
                             [event_file.scalar(allowed.plain_name(key), value) for key, value in point["values"].items()])
        self._file.flush()

    def finish(self, final: Final, at_ms: int) -> None:
        assert self._file is not None
        self.put([{"step": final.step, "at_ms": at_ms, "values": final.values}])
        texts = {f"tables/{name}": tables.markdown(table) for name, table in final.tables.items()}
        facts = [[key, value] for key, value in self._feed.tags().items()] + [[name, digest] for name, digest in final.artefacts.items()]
        texts["artefacts"] = tables.markdown(tables.Table(["name", "value"], facts))
        self._file.write(at_ms / 1000, final.step, [event_file.text(tag, text) for tag, text in texts.items()])
        for picture in final.pictures:
            self._file.write(at_ms / 1000, final.step, [event_file.image(f"pictures/{picture.stem}", picture.read_bytes())])
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
