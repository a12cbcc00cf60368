"""Whether a store holds the cases of a raw folder of nnU-Net: same voxels in the same place, same labels. Needs SimpleITK."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._core import MalformedError, NotFoundError, UsageError
from ._image import Image
from ._level import Level
from ._nnunet_plan import Axes
from ._nnunet_raw import LabelValues, RawCase
from ._work import Progress, _shown
from .store import Cohort

_LABELS = "annotation"
_SLAB = 16  # slices that are compared at a time
_OFF = 0.05  # how far voxels may lie apart, as a part of the smallest spacing


@dataclass(frozen=True)
class CheckedCase:
    """What the trainer needs to know of a case of the store."""

    axes: Axes
    """Of the file's array, as SimpleITK reads it: (z, y, x) of the file's own order."""
    labels_sha256: str
    """Of the label file."""


def check_cases(cohort: Cohort, cases: list[RawCase], values: LabelValues, voxels: bool, jobs: int, progress: Progress) -> dict[str, CheckedCase]:
    """Compares every case with the image of its name; `voxels`: also each voxel of the images, not of the labels alone.

    Errors: UsageError with the case's name (missing, other geometry, other voxels, other labels, or other classes of the store).
    """
    if cohort.kind != "volume":
        raise UsageError(f"{cohort.path}: a store of slides, expected one of volumes")
    if tuple(cohort.classes) != values.names:
        raise UsageError(f"{cohort.path}: its classes are {', '.join(cohort.classes)}, those of dataset.json {', '.join(values.names)}, by value. "
                         "Ingest the raw folder, by leaving out --store")
    images = {image.id: image for image in cohort.images}
    missing = [case.name for case in cases if case.name not in images]
    if missing:
        others = f" and {len(missing) - 1} others" if len(missing) > 1 else ""
        raise UsageError(f"{cohort.path}: lacks case '{missing[0]}'{others} of the raw folder. "
                         "Cases and images must have the same names: ingest the raw folder, by leaving out --store")
    found = {}
    with _shown(progress) as show, ThreadPoolExecutor(jobs) as pool:
        checked = pool.map(lambda case: _check_case(images[case.name], len(cohort.channels), case, values, voxels), cases)
        try:
            for done, (case, facts) in enumerate(zip(cases, checked), start=1):
                found[case.name] = facts
                if show is not None:
                    show(done, len(cases), "compare", "cases")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def _check_case(image: Image, named_channels: int, case: RawCase, values: LabelValues, voxels: bool) -> CheckedCase:
    if len(case.images) != max(named_channels, 1):
        raise UsageError(f"case '{case.name}': dataset.json has {len(case.images)} channels, the store {max(named_channels, 1)}")
    if _LABELS not in image.label_names:
        raise UsageError(f"case '{case.name}': the store has no labels '{_LABELS}' of it. Ingest it with its labels")
    truth, affine = _read(case.labels)
    axes = axes_in_store(image, truth.shape, affine, case.labels)
    for channel, path in enumerate(case.images):
        if voxels or channel == 0:
            _check_image(image, channel, path, axes, voxels)
    if values.ignore is not None:
        truth = np.where(truth == values.ignore, 255, truth)
    other = _first_difference(image.labels(_LABELS).level(0), in_store(truth, axes), 1, 0)
    if other is not None:
        raise UsageError(f"case '{case.name}': {other.voxels} voxels have another label in the store than in {case.labels}; the first at (z, y, x) "
                         f"{other.at} of the store: {other.stored:g} instead of {other.expected:g}. Bring the file's labels into the store "
                         "(headrace ingest labels), or ingest the raw folder anew")
    return CheckedCase(axes, hashlib.sha256(case.labels.read_bytes()).hexdigest())


def _check_image(image: Image, channel: int, path: Path, axes: Axes, voxels: bool) -> None:
    raw, affine = _read(path, voxels)
    shape = raw.shape if voxels else _shape(path)
    if axes_in_store(image, shape, affine, path) != axes:
        raise UsageError(f"case '{image.id}': {path} has its axes in another order than its labels")
    if not voxels:
        return
    level = image.level(0, channel)
    other = _first_difference(level, in_store(raw, axes), level.per_unit, 0.5 + 1e-3)
    if other is not None:
        raise UsageError(f"case '{image.id}': {other.voxels} voxels of the store differ from {path} by more than rounding; the first at (z, y, x) "
                         f"{other.at}: {other.stored / level.per_unit:g} instead of {other.expected / level.per_unit:g} {level.unit}. "
                         "It is another image")


class _Difference(NamedTuple):
    voxels: int
    at: tuple[int, int, int]
    """Of the first one, (z, y, x)."""
    stored: float
    expected: float


def _first_difference(level: Level, expected: NDArray[Any], per_unit: float, most: float) -> _Difference | None:
    """Where stored values differ by more than `most` from expected ones times `per_unit`; slab by slab, so that little memory is needed."""
    count, first = 0, None
    for low in range(0, level.shape[0], _SLAB):
        stored = level[low:low + _SLAB].astype(np.float32)
        wanted = expected[low:low + _SLAB] * np.float32(per_unit)
        off = np.abs(stored - wanted) > most
        if first is None and off.any():
            z, y, x = (int(i) for i in np.argwhere(off)[0])
            first = (low + z, y, x), float(stored[z, y, x]), float(wanted[z, y, x])
        count += int(off.sum())
    return None if first is None else _Difference(count, *first)


def axes_in_store(image: Image, shape: tuple[int, ...], affine: NDArray[np.float64], path: object) -> Axes:
    """How a file's array (z, y, x) lies in an image of a store. affine: (4, 4), its index (x, y, z) to LPS millimetres.

    Errors: UsageError (the voxels are others: sizes, or places by more than a twentieth of the smallest spacing).
    """
    assert image.affine is not None and image.spacing is not None
    to_store = np.linalg.inv(image.affine) @ affine
    turn = np.rint(to_store[:3, :3])
    stored_xyz = np.array(image.shape[::-1])
    if len(shape) == 3 and (np.abs(turn).sum(0) == 1).all() and (np.abs(turn).sum(1) == 1).all():
        file_xyz = np.array(shape[::-1])
        ends = np.stack(np.meshgrid(*[(0, edge - 1) for edge in file_xyz], indexing="ij"), -1).reshape(-1, 3)
        exact = ends @ turn.T + np.where(turn.sum(1) < 0, stored_xyz - 1, 0)
        apart = ((ends @ to_store[:3, :3].T + to_store[:3, 3]) - exact) * np.array(image.spacing[::-1])
        if (np.abs(turn) @ file_xyz == stored_xyz).all() and np.abs(apart).max() <= _OFF * min(image.spacing):
            along = [int(np.abs(turn[:, 2 - axis]).argmax()) for axis in range(3)]
            mirrored = [bool(turn[:, 2 - axis].sum() < 0) for axis in range(3)]
            return Axes((2 - along[0], 2 - along[1], 2 - along[2]), (mirrored[0], mirrored[1], mirrored[2]))
    spacing = [round(float(edge), 5) for edge in np.linalg.norm(affine[:3, :3], axis=0)[::-1]]
    raise UsageError(f"case '{image.id}': {path} has {tuple(shape)} voxels of {tuple(spacing)} mm (z, y, x), and the store's image {image.shape} of "
                     f"{image.spacing} mm, or they lie elsewhere. It must be the same volume, in any order of its voxels")


def in_store(array: NDArray[Any], axes: Axes) -> NDArray[Any]:
    """A view of a file's array in the store's (z, y, x)."""
    order = [axes.store.index(axis) for axis in range(3)]
    return np.flip(array.transpose(order), tuple(axis for axis in range(3) if axes.mirrored[order[axis]]))


def _itk() -> Any:
    try:
        import SimpleITK
    except ImportError:
        raise ImportError("headrace.nnunet reads the raw folder by SimpleITK, which is not installed: pip install SimpleITK") from None
    return SimpleITK


def _reader(path: Path) -> Any:
    itk = _itk()
    if not path.is_file():
        raise NotFoundError(f"{path}: not there")
    reader = itk.ImageFileReader()
    reader.SetFileName(str(path))
    return reader


def _shape(path: Path) -> tuple[int, ...]:
    reader = _reader(path)
    reader.ReadImageInformation()
    return tuple(reader.GetSize())[::-1]


def _read(path: Path, voxels: bool = True) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Its array (z, y, x), empty without `voxels`, and (4, 4) from an index (x, y, z) to LPS millimetres."""
    reader, itk = _reader(path), _itk()
    try:
        if voxels:
            image = reader.Execute()
        else:
            reader.ReadImageInformation()
            image = reader
    except RuntimeError as error:
        raise MalformedError(f"{path}: SimpleITK can't read it: {str(error).strip().splitlines()[-1]}") from None
    axes = len(image.GetSpacing())
    if axes != 3:
        raise UsageError(f"{path}: has {axes} axes, expected 3")
    affine = np.eye(4)
    affine[:3, :3] = np.array(image.GetDirection()).reshape(3, 3) * np.array(image.GetSpacing())
    affine[:3, 3] = image.GetOrigin()
    return (itk.GetArrayFromImage(image) if voxels else np.empty((0, 0, 0))), affine
