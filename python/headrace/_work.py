"""Long work on whole data sets: ingest, verify, process."""

from __future__ import annotations

import importlib
import json
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import Any, Iterator, Union

from . import _core
from ._plain import path_text, plain

Path = Union[str, "os.PathLike[str]"]
Inputs = Union[Path, Iterable[Path]]
Progress = Union[bool, Callable[[int, int, str, str], object]]

# As libraries do: without a handler of the program's own, Python would print warnings itself.
logging.getLogger("headrace").addHandler(logging.NullHandler())


class _Bars:
    """One bar of tqdm for each title that is shown."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._title = ""

    def __call__(self, done: int, total: int, title: str, unit: str) -> None:
        if self._bar is None or title != self._title:
            self.close()
            self._title = title
            self._bar = self._tqdm(total=total or None, desc=title, unit=unit, unit_scale=unit == "B")
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextmanager
def _shown(progress: Progress) -> Iterator[Callable[[int, int, str, str], object] | None]:
    if callable(progress):
        yield progress
        return
    if not progress:
        yield None
        return
    try:
        bars = _Bars(importlib.import_module("tqdm.auto").tqdm)
    except ImportError:
        yield None
        return
    try:
        yield bars
    finally:
        bars.close()


def _paths(inputs: Inputs) -> list[str]:
    if isinstance(inputs, (str, bytes, os.PathLike)):
        return [path_text(inputs)]
    return [path_text(one) for one in inputs]


def _run(function: Callable[[str, Any], str], progress: Progress, options: dict[str, object]) -> dict[str, Any]:
    given = {name: value for name, value in options.items() if value is not None}
    text = json.dumps(given, default=plain, ensure_ascii=False)
    with _shown(progress) as show:
        report: dict[str, Any] = json.loads(function(text, show))
    return report


def ingest_slides(
    inputs: Inputs,
    out: Path,
    *,
    table: Path | None = None,
    annotations: Path | None = None,
    columns: Iterable[str] | None = None,
    classes: Iterable[str] | None = None,
    class_sets: Iterable[str] | None = None,
    coding: str | None = None,
    objects: Iterable[str] | None = None,
    val_fraction: float | None = None,
    mpp: float | None = None,
    pixels: str | None = None,
    codec: str | None = None,
    chunk: int | None = None,
    shard: int | None = None,
    align: int | None = None,
    clevel: int | None = None,
    drop_glass: bool = False,
    jobs: int | None = None,
    on_error: str | None = None,
    accept: Iterable[str] | None = None,
    device: str | None = None,
    progress: Progress = False,
) -> dict[str, Any]:
    """Turns slides and images of tissue, with masks, into an OME-Zarr store, as ``headrace ingest slides``.

    An interrupted run is finished by calling it again. ``None`` means the default of the command line.

    :param inputs: slides, images, and folders of them; URLs of slides, or one below which the table's names lie; one or several.
    :param out: the store, a folder ending in .zarr.
    :param table: cohort table (CSV): file, image, case, cohort, scanner, split, …, annotation, coding, mpp.
    :param annotations: folder of masks (PNG, TIFF) and QuPath GeoJSON, named as the images or with _mask after it.
    :param columns: further columns of the table that are kept with the images: age_group, site, …
    :param classes: class names by label value; from the annotations.
    :param class_sets: labels that stand for several classes: ``"cancer=pattern3+pattern4"``.
    :param coding: what values of mask images mean: classes (default), panda-radboud, panda-karolinska, instances.
    :param objects: which objects of QuPath's GeoJSON are painted: annotation (default), detection, cell, tile.
    :param val_fraction: share of the cases that the table puts in no split that go to val; 0.2.
    :param mpp: micrometres a pixel, for files that do not say.
    :param pixels: copy (default): into the store; reference: the files of SVS and tiled TIFF keep them, and must stay.
    :param codec: auto (default; copies JPEG and JPEG 2000 tiles where it can), blosc-zstd, zstd, jpeg, jpeg2k.
    :param chunk: edge of a chunk in pixels; the codec's default, or the source's tiles.
    :param shard: edge of a shard (one file) in pixels; near 4096.
    :param align: chunks begin at multiples of this many bytes of their file, a power of two; anywhere.
    :param clevel: effort of the compressor, 0 to 9.
    :param drop_glass: chunks wholly outside the tissue become white.
    :param jobs: threads; 0 (default): every core. The store is the same for any number.
    :param on_error: stop (default): bad inputs end the run before anything is stored, and all are named; skip: they are
        left out, and listed in the result's ``left_out``.
    :param accept: what is refused as more likely an error than meant, and is meant here: unmatched, outside, no-area, …
    :param device: where masks and statistics are computed: cpu (default), cuda, auto.
    :param progress: True: a bar of tqdm, where that is installed; a callable gets ``(done, total, title, unit)`` on the
        calling thread, at most ten times a second; what it raises cancels the work.
    :return: what ``--json`` prints: dataset_hash, images, reused, left_out, sizes in bytes, seconds, …
    :raises headrace.Error: UsageError (options, table), MalformedError and UnsupportedError (inputs), CorruptError
        (a damaged input), StorageError (disk full), …

    Safe to call from several threads, not for one store at a time. It runs without the GIL. Ctrl-C ends it as soon as the
    tiles at hand are done; whole images stay, and the next call goes on with the others.
    """
    options = dict(locals(), inputs=_paths(inputs))
    return _run(_core.ingest_slides, options.pop("progress"), options)


def ingest_volumes(
    inputs: Inputs,
    out: Path,
    *,
    table: Path | None = None,
    labels: Path | None = None,
    columns: Iterable[str] | None = None,
    classes: Iterable[str] | None = None,
    class_sets: Iterable[str] | None = None,
    lesion_classes: Iterable[str] | None = None,
    structure_set: str | None = None,
    number_images: bool = False,
    channels: Iterable[str] | None = None,
    missing_channels: str | None = None,
    shared_frame: bool = False,
    val_fraction: float | None = None,
    key_file: Path | None = None,
    irregular: str | None = None,
    rescale: tuple[float, float] | None = None,
    acquisition: str | None = None,
    join_series: bool = False,
    codec: str | None = None,
    chunk: int | None = None,
    shard: int | None = None,
    align: int | None = None,
    clevel: int | None = None,
    jobs: int | None = None,
    on_error: str | None = None,
    accept: Iterable[str] | None = None,
    device: str | None = None,
    progress: Progress = False,
) -> dict[str, Any]:
    """Turns CT volumes, with labels, into an OME-Zarr store, as ``headrace ingest volumes``.

    Of DICOM no name, identifier, date or text enters the store. ``None`` means the default of the command line.

    :param inputs: files, folders and trees of DICOM, NIfTI, NRRD, MetaImage; nnU-Net's and the Decathlon's folders.
    :param out: the store, a folder ending in .zarr.
    :param table: cohort table (CSV): file, image, case, cohort, scanner, split, phase, negative, series, channel, labels.
    :param labels: folder of label files, named as the volumes.
    :param columns: further columns of the table that are kept with the images: age_group, site, …
    :param classes: class names by label value, with ``NAME=TEXT|TEXT`` for texts of DICOM and ``NAME=1+2`` for values of masks;
        from the inputs.
    :param class_sets: labels that stand for several classes: ``"lesion=cyst+tumour"``.
    :param lesion_classes: classes whose components are lesions; all but the first.
    :param structure_set: several structure sets, segmentations or masks of one image with the same class: refuse (default),
        newest, all.
    :param number_images: images of files are named image-0001, … and not by their files.
    :param channels: names of the series of one study that become channels of one volume, in order.
    :param missing_channels: images that lack a channel other than the first: refuse (default), zero.
    :param shared_frame: files of one image lie in one world: channels on other grids are resampled onto the first's.
    :param val_fraction: share of the cases that nothing puts in a split that go to val; 0.2.
    :param key_file: secret of the site for pseudonyms, at least 16 bytes; one is made and kept beside the store.
    :param irregular: missing, doubled or unevenly spaced slices and gantry tilt: refuse (default), resample.
    :param rescale: slope and intercept that make Hounsfield units of CT whose DICOM headers state none, and of the values of
        other files.
    :param acquisition: of DICOM series that hold several of the same places: a number, first, last, all, together.
    :param join_series: DICOM series of one study with one number whose slices fit each other are one.
    :param codec: blosc-lz4 (default; read faster), blosc-zstd (smaller), zstd; all without loss.
    :param chunk: edge of a chunk in voxels.
    :param shard: edge of a shard (one file) in voxels; near 192.
    :param align: chunks begin at multiples of this many bytes of their file, a power of two; anywhere.
    :param clevel: effort of the compressor, 0 to 9 (zstd: 22); the codec's own.
    :param jobs: threads; 0 (default): every core. The store is the same for any number.
    :param on_error: stop (default) or skip, as in :func:`ingest_slides`.
    :param accept: as in :func:`ingest_slides`.
    :param device: where statistics are computed: cpu (default), cuda, auto.
    :param progress: as in :func:`ingest_slides`.
    :return: what ``--json`` prints: dataset_hash, images, reused, skipped, left_out, notes, sizes in bytes, seconds, …
    :raises headrace.Error: as :func:`ingest_slides`; threads and Ctrl-C too are as there.
    """
    options = dict(locals(), inputs=_paths(inputs))
    return _run(_core.ingest_volumes, options.pop("progress"), options)


def ingest_labels(
    store: Path,
    *,
    table: Path | None = None,
    annotations: Path | None = None,
    set: str | None = None,
    columns: Iterable[str] | None = None,
    classes: Iterable[str] | None = None,
    structure_set: str | None = None,
    objects: Iterable[str] | None = None,
    coding: str | None = None,
    withdraw: Iterable[str] | None = None,
    message: str | None = None,
    key_file: Path | None = None,
    accept: Iterable[str] | None = None,
    jobs: int | None = None,
    progress: Progress = False,
) -> dict[str, Any]:
    """Gives a store other annotations, classes, splits or columns, as a new version, as ``headrace ingest labels``.

    Versions before stay, and runs on them go on undisturbed. No source of pixels is read again.

    :param store: the store's folder.
    :param table: CSV with the column image (or file), and those to change.
    :param annotations: folder of label files named as the images, or with _mask after it.
    :param set: the label set that they are of: a reader, a round; annotation (default).
    :param columns: further columns of the table that are kept with the images: age_group, site, …
    :param classes: class names by label value: those of the store, and new ones after them.
    :param structure_set: as in :func:`ingest_volumes`.
    :param objects: as in :func:`ingest_slides`.
    :param coding: as in :func:`ingest_slides`.
    :param withdraw: images whose labels of the set go; ``["all"]``: of every image.
    :param message: what the log of versions says of it.
    :param key_file: file of the site's key, for DICOM labels; the one beside the store.
    :param accept: as in :func:`ingest_slides`.
    :param jobs: threads; 0 (default): every core.
    :param progress: as in :func:`ingest_slides`.
    :return: what ``--json`` prints: before, dataset_hash, changed, added, replaced, withdrawn, unchanged, notes, …
    :raises headrace.Error: UsageError (no such image, class or set), NotFoundError, MalformedError, StorageError.

    Stopped at any moment, by Ctrl-C too, the store has the version before or the new one.
    """
    options = dict(locals())
    return _run(_core.ingest_labels, options.pop("progress"), options)


def verify(
    store: Path, *, version: str | None = None, jobs: int | None = None, progress: Progress = False
) -> dict[str, Any]:
    """Reads every object of a store's versions and compares it with their lists, as ``headrace verify``.

    Every name and text of a store of volumes is also held against the list of what may stand there.

    :param store: the store's folder.
    :param version: one version: a dataset hash, or its first digits; all.
    :param jobs: threads; 0 (default): every core.
    :param progress: as in :func:`ingest_slides`.
    :return: what ``--json`` prints: ok (False where anything is damaged, missing or foreign, or may identify a patient),
        damage (key, kind, detail), phi, versions, unreferenced, dataset_hash. Damage raises nothing: look at ``ok``.
    :raises headrace.Error: NotFoundError (no such store), UsageError (no such version), StorageError.

    Safe to call from several threads; Ctrl-C ends it as soon as the objects at hand are read.
    """
    options = dict(locals())
    return _run(_core.verify, options.pop("progress"), options)


def process(
    source: Path,
    out: Path,
    operation: str,
    *,
    image: str | None = None,
    level: int | None = None,
    mode: str | None = None,
    tile: int | None = None,
    memory: int | None = None,
    threads: int | None = None,
    device: str | None = None,
    device_memory: int | None = None,
    gpudirect: str | None = None,
    decode: str | None = None,
    chunk: int | None = None,
    codec: str | None = None,
    codec_level: int | None = None,
    dtype: str | None = None,
    sigma: float | None = None,
    stains: str | None = None,
    overwrite: bool = False,
    progress: Progress = False,
) -> dict[str, Any]:
    """Runs an operation over a whole image, from file to file, in bounded memory, as ``headrace process``.

    :param source: a slide or image file, an OME-Zarr image or Zarr array, or a store.
    :param out: a folder (OME-Zarr image), or a file ending in .tif.
    :param operation: save, sobel, gaussian, stain-separate, tissue-mask, normalize.
    :param image: name of an image, where the source is a store.
    :param level: level of the pyramid; 0 (default) is the largest.
    :param mode: tilewise (default; bounded memory), global (all in memory). The stored bytes are the same.
    :param tile: edge in pixels of what is processed at a time, 16 to 8192; the chunk's.
    :param memory: MiB that a tilewise run may take; 256, without Python's own.
    :param threads: 0 (default): every core.
    :param device: auto and cpu: the CPU; cuda: a GPU.
    :param device_memory: MiB of the GPU's memory that a tilewise run may take; 1024.
    :param gpudirect: off (default), auto, on: files go to the GPU's memory and back without the CPU.
    :param decode: of JPEG tiles: auto (default), cpu, gpu.
    :param chunk: edge of the output's chunks or TIFF tiles: 256, 512 (default), 1024, 2048.
    :param codec: of a Zarr output: none (default), blosc-zstd, zstd.
    :param codec_level: 1 (default) to 9.
    :param dtype: of the output: uint8, uint16, float32; the operation's own.
    :param sigma: gaussian: in pixels, 0.1 to 32; 1.
    :param stains: stain-separate: ruifrok (default), macenko.
    :param overwrite: replace an output that is finished.
    :param progress: as in :func:`ingest_slides`.
    :return: what ``--json`` prints, without peak_rss_mb: height, width, seconds, chunks, stored_bytes, …
    :raises headrace.Error: UsageError, OutOfMemoryError (``memory`` is too small; says how much is needed), CorruptError
        (a tile of the source; names it), StorageError, DeviceError.

    Safe to call from several threads. Ctrl-C ends it as soon as the tiles at hand are done; the output stays marked as
    incomplete, and the same call goes on with it.
    """
    options = dict(locals())
    return _run(_core.process, options.pop("progress"), options)
