"""From a stream of batches to finished files: patches through the network, rows to their slides, a file when a slide is complete."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import Error, UsageError
from ._feature_files import FeatureFolder, SlideFacts, places_sha256
from ._feature_network import FeatureNetwork, Features
from ._patch_list import PatchList
from ._patch_reader import PatchReader, Run
from ._slide_sources import SlideSource
from ._tile_grid import TileSettings
from ._tile_stream import Batch, Failed, Planned, TileStream

Show = Callable[[int, int, str, str], object]
_SHOW_S = 0.1


@dataclass
class FeatureReport:
    """What a call has done so far."""

    skip: bool
    total: int
    show: Show | None
    finished: int = 0
    kept: int = 0
    patches: int = 0
    skipped: list[dict[str, str]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    shown: float = -1.0

    def bad(self, source: SlideSource, error: Exception) -> None:
        """Lists a slide that is left out. Errors: its own, where that ends the call."""
        if not self.skip:
            raise error
        self.skipped.append({"slide": source.label, "reason": str(error)})
        self.tell()

    def tell(self, last: bool = False) -> None:
        """Shows progress, at most ten times a second and at the end."""
        now = time.monotonic()
        if self.show is not None and (last or now - self.shown >= _SHOW_S):
            self.shown = now
            self.show(self.finished + self.kept + len(self.skipped), self.total, "features", "slide")


@dataclass
class _Table:
    """Features of a slide as they come."""

    rows: NDArray[np.float32]
    left: int


class FeatureWork:
    """Runs a stream through a network into a folder."""

    def __init__(
        self,
        network: FeatureNetwork,
        reader: PatchReader,
        folder: FeatureFolder,
        settings: TileSettings,
        patches: PatchList | None,
        report: FeatureReport,
    ) -> None:
        self._network, self._reader, self._folder, self._settings, self._report = network, reader, folder, settings, report
        self._patches = patches
        self._tables: dict[Planned, _Table] = {}
        self._width: int | None = None
        self.seconds = {"network": 0.0, "stalled": 0.0, "write": 0.0}

    def waiting(self, slides: list[SlideSource]) -> list[SlideSource]:
        """Those whose features are not there yet."""
        waiting = []
        for slide in slides:
            try:
                if not self._folder.finished(slide.name, self._facts(slide)):
                    waiting.append(slide)
                    continue
            except Error as error:
                self._report.bad(slide, error)
                continue
            self._report.kept += 1
            self._report.files[slide.name] = self._folder.file_of(slide.name)
        return waiting

    def run(self, stream: TileStream) -> None:
        """Until the stream's end. Errors: those of slides that end the call, of the network, of writing."""
        before: tuple[list[Run], Features] | None = None
        events = iter(stream)
        while True:
            start = time.perf_counter()
            event = next(events, None)
            self.seconds["stalled"] += time.perf_counter() - start
            if isinstance(event, Batch):
                # A GPU begins this batch before the last one's features are taken from it.
                now = event.runs, self._through(event.input)
                if before is not None:
                    self._take(*before)
                before = now
            elif isinstance(event, Planned):
                if len(event.grid.coords) == 0:
                    self._write_empty(event, stream.batch)
            elif isinstance(event, Failed):
                self._report.bad(event.source, event.error)
                self._tables = {slide: table for slide, table in self._tables.items() if not slide.failed}
            else:
                break
            self._report.tell()
        if before is not None:
            self._take(*before)

    def _through(self, patches: Any) -> Features:
        start = time.perf_counter()
        made = self._network(patches)
        self.seconds["network"] += time.perf_counter() - start
        return made

    def _take(self, runs: list[Run], made: Features) -> None:
        """Hands each slide its rows; writes those that are complete."""
        start = time.perf_counter()
        values = made.values()
        self.seconds["network"] += time.perf_counter() - start
        if values.shape[1] != (self._width or values.shape[1]):
            raise UsageError(f"the encoder made {values.shape[1]} features of a patch, and {self._width} before: expected as many of each batch")
        self._width = values.shape[1]
        at = 0
        for run in runs:
            if not run.slide.failed:
                self._fill(run, values[at : at + run.length])
            at += run.length

    def _fill(self, run: Run, values: NDArray[np.float32]) -> None:
        finite = np.isfinite(values).all(1)
        if not finite.all():
            x, y = run.slide.grid.coords[run.first + int(np.argmin(finite))]
            run.slide.failed = True
            self._tables.pop(run.slide, None)
            text = f"{run.slide.source.label}: the encoder made NaN or infinite features of the patch at x {x}, y {y}: expected finite ones"
            self._report.bad(run.slide.source, UsageError(f"{text}; where they come of autocast='float16', take 'bfloat16' or none"))
            return
        if run.slide not in self._tables:
            count = len(run.slide.grid.coords)
            self._tables[run.slide] = _Table(np.empty((count, values.shape[1]), np.float32), count)
        table = self._tables[run.slide]
        table.rows[run.first : run.first + run.length] = values
        table.left -= run.length
        if table.left == 0:
            self._write(run.slide, self._tables.pop(run.slide).rows)

    def _write_empty(self, slide: Planned, batch: int) -> None:
        """A slide without tissue: the number of features is known from those before it, else from a batch of zeros."""
        if self._width is None:  # not put off until a batch tells: a thousand such slides would stay open
            zeros = np.zeros((batch, self._settings.patch, self._settings.patch, 3), np.uint8)
            self._width = self._through(self._reader.network_input(zeros, 0)).values().shape[1]
        self._write(slide, np.empty((0, self._width), np.float32))

    def _write(self, slide: Planned, rows: NDArray[np.float32]) -> None:
        start = time.perf_counter()
        source = slide.source
        self._folder.write(source.name, rows, slide.grid.coords, self._facts(source), _attributes(slide, self._settings))
        self._report.files[source.name] = self._folder.file_of(source.name)
        self._report.finished += 1
        self._report.patches += len(rows)
        self.seconds["write"] += time.perf_counter() - start

    def _facts(self, slide: SlideSource) -> SlideFacts:
        return SlideFacts(slide.bytes, None if self._patches is None else places_sha256(self._patches.places[slide.name]))


def _attributes(slide: Planned, settings: TileSettings) -> dict[str, Any]:
    """Of `coords`, by the names that TRIDENT and CLAM give them."""
    own, grid = slide.mpp[1], slide.grid
    nominal = _magnification(own)
    attributes: dict[str, Any] = {
        "patch_size": settings.patch,
        "patch_size_level0": round(settings.patch * grid.downsample[1]),
        "level0_magnification": nominal,
        "target_magnification": nominal / grid.downsample[1],
        "name": slide.source.name,
        "level0_width": slide.size[0],
        "level0_height": slide.size[1],
        "level0_mpp": own,
        "mpp": own * grid.downsample[1],
    }
    if settings.step is not None:
        attributes["overlap"] = settings.patch - settings.step
    if grid.exact and slide.source.is_file:  # CLAM reads pixels of the file by it
        attributes["patch_level"] = grid.level
    return attributes


def _magnification(mpp: float) -> float:
    """The usual name of a pixel size, as TRIDENT has it; by their definition (10 / µm) where there is none."""
    usual = {0.16: 80, 0.2: 60, 0.3: 40, 0.6: 20, 1.2: 10, 2.4: 5}
    return next((power for below, power in usual.items() if mpp < below), 10 / mpp)
