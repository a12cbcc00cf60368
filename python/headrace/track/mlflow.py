"""To an MLflow server: a run, and the run of its folds or sweep that it is nested under."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Optional

from .. import _command
from . import allowed
from .client import Client, Refused, Unavailable
from .feed import Feed, Final
from .group import Group
from .journal import Journal, Lock
from .mlflow_run import LONGEST, MlflowRun, by_content
from .names import name_of
from .target import Target


class MlflowSink(MlflowRun):
    """A run folder's."""

    live = True

    def __init__(self, feed: Feed, target: Target, journal: Journal, group: Optional[Group], client: Optional[Client] = None) -> None:
        super().__init__(client or Client(target.url, target.ca_file), target, journal)
        self._feed, self._group = feed, group

    def open(self, started_ms: int) -> None:
        """Finds or makes experiment and run, and sends config and hashes. May be called again. Errors: Unavailable, Refused."""
        data = self.journal.data
        if "run_id" not in data:
            tags = self._feed.tags()
            if self._group is not None:
                name = name_of(self._group.folder, self._target)
                with group_run(self._group, self._target, self._client) as parent:
                    tags["mlflow.parentRunId"] = parent.make(name, started_ms, {"headrace.group": name})
                tags["headrace.group"] = name
            self.make(self._group.member if self._group is not None else name_of(self._feed.run, self._target), started_ms, tags)
        if not data.get("described"):
            parameters = [{"key": allowed.plain_name(key), "value": value[:LONGEST]} for key, value in self._feed.parameters().items()]
            try:
                self.log({"params": parameters})
            except Refused as refused:  # it keeps the first value: sent before a kill, and changed by a resume
                _command.say(f"{refused}; the run's parameters there are not all as they are now", warning=True)
            self.tag(self._feed.tags())
            data["described"] = True
            self.journal.save()
        self.set_status("RUNNING", None)

    def finish(self, final: Final, at_ms: int) -> None:
        """Figures, tables, pictures and artefacts of the run's end. May be called again. Errors: Unavailable, Refused."""
        self.put([{"step": final.step, "at_ms": at_ms, "values": final.values}], again=True)
        shown = self.upload_tables(final.tables)
        for picture in final.pictures:
            content = picture.read_bytes()
            self.upload(by_content("pictures", picture.stem, content, "png"), content)
        self.tag(self._feed.tags() | {f"headrace.sha256.{name}": digest for name, digest in final.artefacts.items()} | shown)

    def end(self, status: str, at_ms: Optional[int]) -> None:
        """FINISHED or KILLED; RUNNING leaves it open. Errors: Unavailable, Refused."""
        self.drop_twins()
        self.set_status(status, at_ms)
        if self._group is not None and status == "FINISHED" and self._group.all_finished():
            with group_run(self._group, self._target, self._client) as parent:
                parent.set_status(status, at_ms)

    def close(self) -> None:
        self._client.close()


@contextmanager
def group_run(group: Group, target: Target, client: Client) -> Iterator[MlflowRun]:
    """The run that holds the group's, for one follower at a time. Errors: Unavailable."""
    folder = group.folder / "tracking"
    lock = Lock(folder, target.file_name)
    try:
        if not lock.take(60):
            raise Unavailable(f"{folder}: another follower is at the group's run")
        yield MlflowRun(client, target, Journal(folder, target))
    finally:
        lock.release()
