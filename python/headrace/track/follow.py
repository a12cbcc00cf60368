"""Sends a run: all that is there, or also what comes while it trains."""

from __future__ import annotations

import errno
import os
import select
import shlex
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Optional, Protocol

from .. import _command
from .._core import NotFoundError, StorageError, UsageError
from .client import Lost, Refused, Unavailable
from .feed import Feed, Final
from .group import Group, group_of
from .journal import Journal, Lock
from .mlflow import MlflowSink
from .names import check_names
from .target import Target
from .tensorboard import TensorBoardSink
from .trained import is_trained
from .wandb import WandbSink

AT_ONCE = 100  # lines of one batch
LOOK_S = 2.0  # between two looks at the run folder
LONGEST_PAUSE_S = 60.0  # between two tries at a server that is down
TURN_S = 30.0  # to wait for another follower of the same target
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
AFTER_RUN_TURN_S = 120.0  # for one whose training has ended, and which finishes its call before it gives way


class Sink(Protocol):
    live: bool  # whether the tracker remembers what it got; else everything is written anew by each follower

    def open(self, started_ms: int) -> None: ...
    def put(self, points: list[dict[str, Any]], again: bool = False) -> None: ...
    def finish(self, final: Final, at_ms: int) -> None: ...
    def end(self, status: str, at_ms: Optional[int]) -> None: ...
    def place(self) -> str: ...
    def close(self) -> None: ...


class Follower:
    """One run and one target."""

    def __init__(self, run: Path, target: Target, parent: Optional[int] = None, follow: bool = False) -> None:
        """`parent`: a pipe of which the training holds the other end, so that it ends with it. `follow`: go on until the training ends."""
        self._run, self._target, self._parent, self._follow = run, target, parent, follow
        self._folder = run / "tracking"
        self._feed = Feed(run, target)
        self._group = group_of(run)
        self._opened = self._said_held_back = False
        self._trouble = ""

    def run(self) -> bool:
        """Whether all was sent. Errors: UsageError, MalformedError, NotFoundError, StorageError, UnsupportedError."""
        self._place = _place(self._run)
        lock = Lock(self._folder, self._target.file_name)
        try:
            if not lock.take(AFTER_RUN_TURN_S if self._parent is not None else TURN_S):
                raise UsageError(f"{self._folder}: another headrace track sends this run to {self._target.file_name} already; wait for it.")
            self._journal = Journal(self._folder, self._target)
            if not self._journal.belongs_to(self._feed.config_hash()):
                _command.say(f"{self._run}: is another run, or judged by other rules, than what {self._target.to} has: sent as a run of its own")
            self._sink = _sink(self._feed, self._target, self._journal, self._group)
            self._sent: dict[str, Any] = self._journal.data["sent"] if self._sink.live else {}
            return self._send_all(lock)
        except OSError as error:
            self._check_there()
            raise StorageError(f"{error.filename or self._folder}: {error.strerror or error}.") from error
        finally:
            lock.release()

    def _send_all(self, lock: Lock) -> bool:
        if not self._follow and self._parent is None and self._journal.data.get("done") == self._feed.state():
            _command.say(f"{self._run}: {self._target.to} has all of it already")
            return True
        next_try, pause, deadline = 0.0, 1.0, float("inf")
        while True:
            self._check_there()
            over = self._is_over()  # before the files are read: nothing comes after it
            if over and deadline == float("inf"):
                deadline, next_try = time.monotonic() + self._target.wait_s, 0.0
            if time.monotonic() >= next_try:
                try:
                    self._send_new(over)
                    if over:
                        self._end()
                        return True
                    pause = 1.0
                    self._trouble_is_over()
                except (Unavailable, Refused) as error:
                    if isinstance(error, Lost):
                        self._begin_anew(lost=True)
                    self._note(" ".join(str(error).split()))
                    next_try, pause = time.monotonic() + pause, min(2 * pause, LONGEST_PAUSE_S)
                except OSError as error:
                    if error.errno not in NO_ROOM:
                        raise
                    self._begin_anew()
                    self._note(f"{error.filename or self._folder}: {error.strerror}")
                    next_try, pause = time.monotonic() + pause, min(2 * pause, LONGEST_PAUSE_S)
            if time.monotonic() >= deadline:
                self._give_up()
                return False
            if over and lock.wanted():
                _command.say(f"{self._run}: leaves the rest for {self._target.to} to the headrace track that waits")
                return False
            self._wait(min(LOOK_S, max(0.1, deadline - time.monotonic())), over)

    def _send_new(self, over: bool) -> None:
        """Opens, sends again what may not have come through, then what is new. The end waits until no training has the folder: it writes the report
        after its figures, and one that goes on has those of its last end still there. Errors: Unavailable, Refused."""
        data, final = self._journal.data, self._final_to_send() if over else None
        if not self._sink.live and final is not None and data.get("final", final.digest) != final.digest:
            self._begin_anew()  # the file has another end
        if not self._opened:
            if not over and self._feed.config_hash() is None:
                return  # the training has not said yet what it is
            check_names(self._feed, self._target, self._group)
            data.pop("done", None)  # files are changed from here on
            self._journal.save()
            self._sink.open(round(1000 * (self._feed.started() or time.time())))
            self._opened = True
        if self._sink.live and data["pending"] is not None:
            self._deliver(data["pending"], again=True)
        while points := self._feed.points(self._sent, AT_ONCE):
            now = round(1000 * time.time())
            self._deliver({"points": [
                {"kind": one.kind, "step": one.step, "at_ms": now if one.at is None else round(1000 * one.at), "values": one.values}
                for one in points]})
        if final is not None and self._sent.get("final") != final.digest:
            check_names(self._feed, self._target, self._group)  # its figures may have more of them
            at = final.at if final.at is not None else time.time()
            self._deliver({"final": final.digest, "at_ms": round(1000 * at)}, final)

    def _final_to_send(self) -> Optional[Final]:
        final = self._feed.final()
        if final is None or self._parent is not None or not is_trained(self._run):
            return final
        if not self._said_held_back:
            _say(f"{self._run}: a training has the folder, so the figures of its last end are not sent: headrace track does it once that has ended")
        self._said_held_back = True
        return None

    def _deliver(self, batch: dict[str, Any], final: Optional[Final] = None, again: bool = False) -> None:
        """`again`: some of it may have come through."""
        data = self._journal.data
        if self._sink.live and data["pending"] is None:
            data["pending"] = batch
            try:
                self._journal.save()
            except OSError:
                data["pending"] = None
                raise
        if "points" in batch:
            self._sink.put(batch["points"], again)
            for point in batch["points"]:
                self._sent[point["kind"]] = max(self._sent.get(point["kind"], -1), point["step"])
        else:
            final = final or self._feed.final()
            if final is not None and final.digest == batch["final"]:  # else it was judged anew since, and is sent as that
                self._sink.finish(final, batch["at_ms"])
                self._sent |= {"final": final.digest, "at_ms": batch["at_ms"]}
        if self._sink.live:
            data["pending"] = None
            self._journal.save()

    def _begin_anew(self, lost: bool = False) -> None:
        """After a write that had no room, of a file, which then gets what it lacks. A tracker keeps what it has, but where it is `lost`."""
        self._feed.rewind()
        if lost or not self._sink.live:
            self._opened = False
            self._sent.clear()
        if lost:
            self._journal.data["pending"] = None
            with suppress(OSError):  # no room: then it is saved with the next batch
                self._journal.save()

    def _end(self) -> None:
        """Errors: Unavailable, Refused."""
        finished = "final" in self._sent
        status = "FINISHED" if finished else "KILLED" if self._parent is not None or self._follow else "RUNNING"
        ended = self._sent.get("at_ms") or round(1000 * (self._feed.last_time() or time.time()))
        self._sink.end(status, None if status == "RUNNING" else ended)
        self._journal.data |= {"sent": self._sent, "done": {"train": 0, "validation": 0, "final": None} | {
            key: value for key, value in self._sent.items() if key != "at_ms"}}
        self._journal.save()
        self._sink.close()
        _command.say(f"{self._run}: sent to {self._target.to}, {self._sink.place()}")

    def _check_there(self) -> None:
        """Errors: NotFoundError: it was moved or removed, or another run has its place."""
        if _place(self._run) != self._place:
            raise NotFoundError(_GONE.format(self._run))

    def _is_over(self) -> bool:
        if self._parent is not None:
            readable, _, _ = select.select([self._parent], [], [], 0)
            return bool(readable) and os.read(self._parent, 1) == b""
        return not self._follow or not is_trained(self._run)

    def _wait(self, seconds: float, over: bool) -> None:
        if self._parent is not None and not over:
            select.select([self._parent], [], [], seconds)
        else:
            time.sleep(seconds)

    def _note(self, trouble: str) -> None:
        """Once, and not at every try."""
        if trouble != self._trouble:
            _say(f"{trouble}; tried again later", warning=True)
        self._trouble = trouble

    def _trouble_is_over(self) -> None:
        if self._trouble:
            _say(f"{self._run}: goes on, after: {self._trouble}")
        self._trouble = ""

    def _give_up(self) -> None:
        where = f"{self._target.to} at {self._target.url}" if self._target.url else self._target.to
        _say(f"{self._run}: {where} did not take all of it within {self._target.wait_s} s of the end ({self._trouble or 'it was slow'}). "
             f"What is missing is sent by: headrace track {shlex.quote(str(self._run))}", warning=True)


def _say(line: str, *, warning: bool = False) -> None:
    """Into a log that may be on the disk that is full: then it comes with the next line that has room."""
    with suppress(OSError):
        _command.say(line, warning=warning)


_GONE = "{}: the run folder is gone, so it is not followed any more. Where it was moved to, headrace track sends what is missing."


def _place(run: Path) -> tuple[int, int]:
    """Errors: NotFoundError."""
    try:
        facts = run.stat()
    except FileNotFoundError:
        raise NotFoundError(_GONE.format(run)) from None
    return facts.st_dev, facts.st_ino


def _sink(feed: Feed, target: Target, journal: Journal, group: Optional[Group]) -> Sink:
    kinds = {"mlflow": MlflowSink, "wandb": WandbSink, "tensorboard": TensorBoardSink}
    return kinds[target.to](feed, target, journal, group)  # type: ignore[no-any-return]
