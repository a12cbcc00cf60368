"""To Weights & Biases by its own package: an offline run in a folder, or, where a server is named, to that one."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Optional

from .. import _command
from . import allowed
from .client import Lost, Unavailable, bounded, certificates
from .feed import Feed, Final
from .group import Group
from .journal import Journal
from .names import name_of
from .own_folder import own_folder
from .target import Target
from .wandb_file import rows_in

CALL_S = 30.0  # the longest time, but for wait_s, of what the package does with a server: some of it would wait for ever
LEAST_ROOM = 1 << 20  # bytes; with less, what the package fails at is taken for a full disk
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class WandbSink:
    """An offline run is written anew at every start; a server keeps its history and is told what is new."""

    def __init__(self, feed: Feed, target: Target, journal: Journal, group: Optional[Group]) -> None:
        self._feed, self._target, self._journal, self._group = feed, target, journal, group
        self.live = bool(target.url)
        self._run: Any = None
        self._folder = Path()
        self._rows, self._last_step = 0, -1  # of the history

    def open(self, started_ms: int) -> None:
        """Errors: UnsupportedError (the package is not installed), UsageError (ca_file), Unavailable, OSError."""
        if self._run is not None:
            return
        data = self._journal.data
        data.setdefault("run_id", uuid.uuid4().hex[:12])
        data["closed"] = False
        self._journal.save()
        folder = self._folder = own_folder(self._feed.run, self._target, self._group, self._journal)
        if not self.live:
            shutil.rmtree(folder / "wandb", ignore_errors=True)
            self._rows, self._last_step = 0, -1
        for name in _PROXIES:
            os.environ.pop(name, None)
        for name in [name for name in os.environ if name.startswith("WANDB_") and name != "WANDB_API_KEY"]:
            del os.environ[name]
        places = {f"WANDB_{kind}_DIR": str(folder / "wandb" / ".own") for kind in ("CACHE", "CONFIG", "DATA", "ARTIFACT")}  # not the home folder
        os.environ |= {**places, "WANDB_ERROR_REPORTING": "false", "WANDB_SILENT": "true", "WANDB_MODE": "online" if self.live else "offline"}
        if not self.live:
            os.environ.pop("WANDB_API_KEY", None)
        if self.live and self._target.ca_file:
            certificates(self._target.ca_file)  # of a file that is none the package says nothing
            os.environ |= {"SSL_CERT_FILE": str(Path(self._target.ca_file).resolve()), "SSL_CERT_DIR": os.devnull}  # which its process goes by
        wandb = _command.needed("wandb", "track")
        settings = {"base_url": self._target.url, "init_timeout": CALL_S, "finish_timeout": max(1.0, float(self._target.wait_s)),
                    "finish_timeout_raises": True} if self.live else {}
        group = self._group
        try:
            self._run = wandb.init(
                project=allowed.plain_name(self._target.experiment).replace("/", "_"), id=data["run_id"], dir=str(folder),
                name=group.member if group is not None else name_of(self._feed.run, self._target),
                group=name_of(group.folder, self._target) if group is not None else None,
                mode="online" if self.live else "offline", resume="allow" if self.live else None,
                config={**self._feed.parameters(), **self._feed.tags()},
                settings=wandb.Settings(disable_git=True, save_code=False, disable_code=True, x_disable_stats=True, x_disable_meta=True,
                                        x_disable_machine_info=True, x_save_requirements=False, console="off", silent=True, host="", **settings),
            )
        except Exception as error:  # the package's own errors have no common class that tells them from faults here
            if not self.live:
                self._check_room()
                raise
            raise Unavailable(f"{self._target.url}: {error}") from error

    def put(self, points: Iterable[Mapping[str, Any]], again: bool = False) -> None:
        """Lines of one step are one row of the history. Errors: Lost."""
        del again  # the package leaves out steps that the server has
        with self._or_lost():
            for point in points:
                self._count_row(point["step"])
                self._run.log({**{allowed.plain_name(key): value for key, value in point["values"].items()}, "_timestamp": point["at_ms"] / 1000},
                              step=point["step"])

    def finish(self, final: Final, at_ms: int) -> None:
        """Errors: Lost."""
        wandb = _command.needed("wandb", "track")
        row: dict[str, Any] = {f"tables/{name}": wandb.Table(columns=table.columns, data=table.rows) for name, table in final.tables.items()}
        if final.pictures:
            row["pictures"] = [wandb.Image(str(picture), caption=picture.stem) for picture in final.pictures]
        self._count_row(final.step)
        with self._or_lost():
            self._run.log({**row, "_timestamp": at_ms / 1000}, step=final.step)
            self._run.summary.update({allowed.plain_name(key): value for key, value in final.values.items()})
            self._run.summary.update({**self._feed.tags(), **{f"sha256/{name}": digest for name, digest in final.artefacts.items()}})

    def end(self, status: str, at_ms: Optional[int]) -> None:
        """Errors: OSError, Lost."""
        del at_ms
        with self._or_lost():
            self._run.finish(exit_code=0 if status != "KILLED" else 1)
        self._run = None
        if not self.live:
            found = [rows_in(file) for file in self._folder.glob("wandb/offline-run-*/run-*.wandb")]
            if found != [self._rows]:
                self._check_room()
                raise OSError(errno.ENOSPC, f"{sum(found)} of {self._rows} rows were written, as on a disk that was full", str(self._folder))
        self._journal.data["closed"] = True

    @contextmanager
    def _or_lost(self) -> Iterator[None]:
        """Errors: Lost: the package does not tell what the server took before."""
        if not self.live:
            yield
            return
        try:
            with bounded(max(CALL_S, 2.0 * self._target.wait_s)):
                yield
        except Exception as error:  # as where it begins
            self._run = None
            _end_package()
            raise Lost(f"{self._target.url}: {error}") from error

    def _count_row(self, step: int) -> None:
        """Figures of one step are one row; the package leaves out a step that is before the last one."""
        if step > self._last_step:
            self._last_step, self._rows = step, self._rows + 1

    def _check_room(self) -> None:
        """Errors: OSError: there is none."""
        if shutil.disk_usage(self._folder).free < LEAST_ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder))

    def place(self) -> str:
        return self._target.url or str(self._folder)

    def close(self) -> None:
        return


def _end_package() -> None:
    """Ends the process that the package works in: left alone it would try on after this one has ended. The next wandb.init starts another."""
    for children in Path("/proc/self/task").glob("*/children"):
        for child in children.read_text().split():
            with suppress(OSError):
                if b"wandb-core" in Path(f"/proc/{child}/cmdline").read_bytes():
                    os.kill(int(child), signal.SIGKILL)
    with suppress(Exception, SystemExit), bounded(CALL_S):  # it would end this process by the code of that one
        _command.needed("wandb", "track").teardown(exit_code=1)
