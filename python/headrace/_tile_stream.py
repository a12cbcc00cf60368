"""Patches of many slides as one stream of batches, read and converted by threads while the network computes."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Union

from . import _core
from ._core import Cancelled, DeviceError, Error, InternalError, OutOfMemoryError
from ._patch_list import PatchList
from ._patch_reader import PatchReader, Run
from ._slide_sources import SlideSource
from ._tile_grid import SlideLevels, TileGrid, TileSettings, listed_grid, tile_grid

_AHEAD = 2  # slides and batches that are ready before they are asked for
_LOOK_S = 0.1  # how often a wait hears that it is over


@dataclass(eq=False)
class Planned:
    """An open slide and its patches."""

    source: SlideSource
    slide: _core.Slide
    size: tuple[int, int]
    """(width, height) of level 0."""
    mpp: tuple[float, float]
    """Micrometres a pixel of level 0, (y, x)."""
    grid: TileGrid
    failed: bool = False


class Batch(NamedTuple):
    input: Any
    """A tensor (batch, 3, y, x), or what the caller's transform made; beyond the runs' patches it is filled up with zeros."""
    runs: list[Run]
    """Whose patches these are, in order."""


class Failed(NamedTuple):
    source: SlideSource
    error: Exception


Event = Union[Planned, Batch, Failed]


@dataclass
class Times:
    """Seconds that the threads took."""

    plan: float = 0.0
    read: float = 0.0
    convert: float = 0.0


@dataclass
class TileStream:
    """For each slide: Planned, then the Batches of its patches (with those of its neighbours), or Failed, also after some of them.

    One thread opens slides and finds tissue, another reads and converts. `close` ends both, at once where they wait, else as
    soon as the tiles at hand are decoded.
    """

    sources: Sequence[SlideSource]
    settings: TileSettings
    patches: PatchList | None
    """Has some of each source; None: those of the grid are read."""
    slide_mpp: float | None
    reader: PatchReader
    batch: int
    threads: int
    times: Times = field(default_factory=Times)

    def __post_init__(self) -> None:
        self._stop, self._cancel = threading.Event(), _core.CancelRequest()
        self._slides: queue.Queue[Any] = queue.Queue(_AHEAD)
        self._events: queue.Queue[Any] = queue.Queue(_AHEAD)
        works = {"headrace-plan": (self._plan, self._slides), "headrace-read": (self._read, self._events)}
        self._threads = [
            threading.Thread(target=self._guarded, args=(work, to), name=name, daemon=True) for name, (work, to) in works.items()
        ]

    def __enter__(self) -> TileStream:
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:  # Ctrl-C, too: `with` calls __exit__ only after __enter__
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._cancel.ask()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def __iter__(self) -> Iterator[Event]:
        return self._items(self._events)

    def _guarded(self, work: Callable[[], None], to: queue.Queue[Any]) -> None:
        """Runs a thread's work; what it raises comes out where its queue is read."""
        try:
            work()
            self._put(to, None)
        except Exception as error:
            self._put(to, error)

    def _put(self, to: queue.Queue[Any], item: Any) -> None:
        while not self._stop.is_set():
            try:
                to.put(item, timeout=_LOOK_S)
                return
            except queue.Full:
                continue

    def _items(self, of: queue.Queue[Any]) -> Iterator[Any]:
        while not self._stop.is_set():
            try:
                item = of.get(timeout=_LOOK_S)
            except queue.Empty:
                continue
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            yield item

    def _plan(self) -> None:
        for source in self.sources:
            if self._stop.is_set():
                return
            start = time.perf_counter()
            try:
                item: Event = self._planned(source)
            except Error as error:
                item = _of_slide(source, error)
            self.times.plan += time.perf_counter() - start
            self._put(self._slides, item)

    def _planned(self, source: SlideSource) -> Planned:
        slide = source.open()
        levels = source.levels(slide, self.slide_mpp)
        height, width = levels.sizes[0]
        return Planned(source, slide, (width, height), levels.mpp, self._grid(source, slide, levels))

    def _grid(self, source: SlideSource, slide: _core.Slide, levels: SlideLevels) -> TileGrid:
        if self.patches is not None:
            return listed_grid(levels, self.settings, source.name, self.patches)
        tissue = None
        if self.settings.tissue is not None:
            tissue = source.tissue(slide, self.slide_mpp, self.threads, self._cancel)
        return tile_grid(levels, self.settings, tissue)

    def _read(self) -> None:
        waiting: list[Run] = []
        for item in self._items(self._slides):
            self._put(self._events, item)
            if isinstance(item, Failed):
                continue
            first, count = 0, len(item.grid.coords)
            while first < count and not item.failed and not self._stop.is_set():
                taken = min(count - first, self.batch - sum(run.length for run in waiting))
                waiting.append(Run(item, first, taken))
                first += taken
                if sum(run.length for run in waiting) == self.batch:
                    waiting = self._send(waiting)
        while waiting and not self._stop.is_set():
            waiting = self._send(waiting)

    def _send(self, runs: list[Run]) -> list[Run]:
        """Makes a batch of these; where a slide can't be read, gives back the runs of the others instead."""
        start = time.perf_counter()
        try:
            pixels = self.reader.pixels(runs, self.batch, self._stop.is_set)
        except Error:
            good = [run for run in runs if self._readable(run)]
            if len(good) == len(runs):
                raise
            return good
        read = time.perf_counter()
        batch = Batch(self.reader.network_input(pixels, sum(run.length for run in runs)), runs)
        self.times.read += read - start
        self.times.convert += time.perf_counter() - read
        self._put(self._events, batch)
        return []

    def _readable(self, run: Run) -> bool:
        if run.slide.failed:
            return False
        try:
            self.reader.pixels([run], run.length, self._stop.is_set)
        except Error as error:
            run.slide.failed = True
            self._put(self._events, _of_slide(run.slide.source, error))
            return False
        return True


def _of_slide(source: SlideSource, error: Error) -> Failed:
    """Errors: itself, where it says nothing about the slide."""
    if isinstance(error, (OutOfMemoryError, Cancelled, DeviceError, InternalError)):
        raise error
    return Failed(source, error)
