"""Predictions and truth of images on their way into the evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from ._batch_arrays import as_labels, as_numpy, described, exactly_int16
from ._core import UsageError

Pair = tuple[NDArray[Any], NDArray[np.uint8], Union[NDArray[np.float32], None], Union[NDArray[np.uint8], None]]
Grade = Union[int, Sequence[Union[int, None]], None]

_AXES = {2: "(y, x)", 3: "(z, y, x)"}


def image_list(value: Any, name: str) -> tuple[list[NDArray[Any]], bool]:
    """The arrays of a list, or one array; and whether it was a list."""
    if isinstance(value, (list, tuple)):
        if not value:
            raise UsageError(f"{name}: expected at least one image, found an empty list")
        return [_array(one, f"{name}[{i}]") for i, one in enumerate(value)], True
    return [_array(value, name)], False


def _array(value: Any, name: str) -> NDArray[Any]:
    array = as_numpy(value, name)
    if isinstance(array, np.ma.MaskedArray):  # what lies under the mask would be read as if it were not there
        raise UsageError(f"{name}: found a masked array, whose mask is not read; in truth give 255 for what takes no part: array.filled(255)")
    return array


def pairs(prediction: Any, truth: Any, lesion_scores: Any, body: Any, classes: int, axes: int) -> list[Pair]:
    """Arrays without gaps, of one shape for each image. Errors: UsageError, with the image's number."""
    truths, several = image_list(truth, "truth")
    optional = {"lesion_scores": lesion_scores, "body": body}
    predictions, also = image_list(prediction, "prediction")
    if also != several or len(predictions) != len(truths):
        raise UsageError(f"prediction: expected as many as truth, {_count(truths, several)}, found {_count(predictions, also)}")
    given = {name: _optional_list(value, name, len(truths), several) for name, value in optional.items()}
    out = []
    for i, one in enumerate(truths):
        at = f"[{i}]" if several else ""
        labels = _truth(one, f"truth{at}", axes)
        predicted = _prediction(predictions[i], f"prediction{at}", labels.shape, classes)
        scores, inside = given["lesion_scores"][i], given["body"][i]
        if scores is not None and predicted.dtype == np.float32:
            raise UsageError(f"lesion_scores{at}: prediction has probabilities, from which the scores of lesions are taken; leave them out")
        if scores is None and lesion_scores is not None and predicted.dtype == np.uint8:
            # Its lesions would have the score 1, among those of others.
            raise UsageError(f"lesion_scores{at}: expected those of each image whose prediction has classes, found None; give 0 where none is found")
        out.append(
            (
                predicted,
                labels,
                None if scores is None else _scores(as_numpy(scores, f"lesion_scores{at}"), f"lesion_scores{at}", labels.shape),
                None if inside is None else np.ascontiguousarray(as_labels(as_numpy(inside, f"body{at}"), f"body{at}", labels.shape)),
            )
        )
    return out


def facts(
    count: int,
    names: Sequence[str] | None,
    cases: Sequence[str] | None,
    groups: Mapping[str, Sequence[str] | None],
    spacing: Any,
    affines: Any,
    grades: Sequence[Grade] | None,
) -> list[dict[str, Any]]:
    """What is stated about each image. Errors: UsageError."""
    ids = [str(i) for i in range(count)] if names is None else _texts(names, "names", count)
    if len(set(ids)) != count:
        twice = next(one for one in ids if ids.count(one) > 1)
        raise UsageError(f"names: '{twice}' is there twice; give each image a name of its own, and say with cases= what belongs together")
    columns: dict[str, Sequence[Any]] = {"id": ids, "case": ids if cases is None else _texts(cases, "cases", count)}
    for name, values in groups.items():
        columns[name] = [None] * count if values is None else _texts(values, f"{name}s", count)
    columns["spacing"] = [None] * count if spacing is None else _spacings(spacing, count)
    columns["affine"] = [None] * count if affines is None else _affines(affines, count)
    for i, (mm, affine) in enumerate(zip(columns["spacing"], columns["affine"])):
        _refuse_reversed(mm, affine, i)
    patterns = [_grade(one, f"grades[{i}]") for i, one in enumerate(_of_each(grades, "grades", count))] if grades is not None else [{}] * count
    blank = {"primary": None, "secondary": None, "grade_group": None}
    return [{**blank, **patterns[i], **{name: values[i] for name, values in columns.items()}} for i in range(count)]


def _count(arrays: list[NDArray[Any]], several: bool) -> str:
    return f"a list of {len(arrays)}" if several else "one array"


def _of_each(values: Any, name: str, count: int) -> list[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise UsageError(f"{name}: expected a list with one for each of {count} images, found {values!r}")
    found = list(values)
    if len(found) != count:
        raise UsageError(f"{name}: expected one for each of {count} images, found {len(found)}")
    return found


def _optional_list(value: Any, name: str, count: int, several: bool) -> list[Any]:
    if value is None:
        return [None] * count
    if not several:
        if isinstance(value, (list, tuple)):
            raise UsageError(f"{name}: expected one array, as truth is, found a list")
        return [value]
    return _of_each(value, name, count)


def _texts(values: Any, name: str, count: int) -> list[str]:
    found = _of_each(values, name, count)
    for one in found:
        if not isinstance(one, str):
            raise UsageError(f"{name}: expected texts, found {one!r}")
    return found


def _truth(array: NDArray[Any], name: str, axes: int) -> NDArray[np.uint8]:
    if array.ndim != axes:
        hint = "; without spacing= arrays are slides (y, x): for volumes give it in mm, for several slides a list" if axes == 2 else ""
        hint = "; for several volumes give a list" if axes == 3 < array.ndim else hint
        raise UsageError(f"{name}: expected {_AXES[axes]}, found {described(array)}{hint}")
    if array.size == 0:
        raise UsageError(f"{name}: {described(array)} is empty")
    return np.ascontiguousarray(as_labels(_whole(array, name), name, array.shape))


def _prediction(array: NDArray[Any], name: str, shape: tuple[int, ...], classes: int) -> NDArray[Any]:
    """Classes as uint8, or probabilities as float32."""
    if array.shape == shape:
        return np.ascontiguousarray(as_labels(_whole(array, name), name, shape))
    if array.shape != (classes, *shape):
        raise UsageError(f"{name}: expected classes {shape} as truth has, or probabilities {(classes, *shape)}, found {described(array)}")
    if array.dtype.kind != "f":
        raise UsageError(f"{name}: expected probabilities as float32, found {described(array)}")
    return np.ascontiguousarray(array, np.float32)


def _whole(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Floats that are whole numbers as such: readers of NIfTI give label maps so."""
    if array.dtype.kind != "f":
        return array
    return exactly_int16(array, name, "classes 0 to 255 as uint8; probabilities have the classes as their first axis")


def _scores(array: NDArray[Any], name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    if array.shape != shape or array.dtype.kind != "f":
        raise UsageError(f"{name}: expected the lesions' probability at each voxel, {shape} float32, found {described(array)}")
    return np.ascontiguousarray(array, np.float32)


def _spacings(value: Any, count: int) -> list[list[float]]:
    """(z, y, x) in mm for each image: one for all, or a list of them."""
    try:
        numbers = np.array(value, np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape == (3,):
        numbers = np.broadcast_to(numbers, (count, 3))
    if numbers.shape != (count, 3) or not np.isfinite(numbers).all() or not (numbers > 0).all():
        raise UsageError(
            f"spacing: expected three numbers above 0, (z, y, x) in mm, or a list with three for each of {count} volumes, "
            f"found {' '.join(repr(value).split())}"
        )
    return [[float(one) for one in row] for row in numbers]


def _affines(values: Any, count: int) -> list[list[float] | None]:
    out: list[list[float] | None] = []
    for i, one in enumerate(_of_each(values, "affines", count)):
        if one is None:
            out.append(None)
            continue
        try:
            matrix = np.array(one, np.float64)
        except (TypeError, ValueError):
            matrix = np.empty(0)
        if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
            raise UsageError(f"affines[{i}]: expected (4, 4) numbers, voxel (x, y, z) to LPS mm, found {' '.join(repr(one).split())}")
        out.append([float(number) for number in matrix.ravel()])
    return out


def _refuse_reversed(spacing: list[float], affine: list[float] | None, i: int) -> None:
    """SimpleITK and nibabel have spacing as (x, y, z): taken as (z, y, x) no distance is right, and nothing fails."""
    if affine is None:
        return
    of_affine = np.linalg.norm(np.reshape(affine, (4, 4))[:3, :3], axis=0)  # x, y, z
    if np.allclose(spacing, of_affine, rtol=0.01) and not np.allclose(spacing, of_affine[::-1], rtol=0.01):
        raise UsageError(f"spacing: {spacing} is (x, y, z) by affines[{i}]; expected (z, y, x): {spacing[::-1]}")


def _grade(value: Grade, name: str) -> dict[str, int]:
    """An ISUP grade group, or a pair of Gleason patterns."""
    numbers: list[Any] = list(value) if isinstance(value, Iterable) else [value]
    if numbers in ([None], [None, None]):  # the latter: `(image.primary, image.secondary)` of a store
        return {}
    whole = all(isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in numbers)
    if whole and len(numbers) == 1 and 0 <= numbers[0] <= 5:
        return {"grade_group": int(numbers[0])}
    none = whole and len(numbers) == 2 and list(numbers) == [0, 0]
    if whole and len(numbers) == 2 and (none or all(3 <= one <= 5 for one in numbers)):
        return {"primary": int(numbers[0]), "secondary": int(numbers[1])}
    raise UsageError(f"{name}: expected an ISUP grade group of 0 to 5, two Gleason patterns of 3 to 5 ((0, 0): benign), or None, found {value!r}")
