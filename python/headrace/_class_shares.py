"""Figures that follow from the matrices of an evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def add_class_shares(result: dict[str, Any], spacings: list[Any]) -> None:
    """Puts sensitivity{} and precision{} beside dice{}, for each image and group, and of volumes volume_ml{} for each image.

    A group of slides has them of its pixels together, a group of volumes as means over volumes, as its Dice.
    """
    classes: list[str] = result["classes"]
    for image, spacing in zip(result["images"], spacings):
        matrix = _matrix(image)
        image.update(_shares(matrix, classes))
        if spacing is not None:
            ml = float(np.prod(spacing)) / 1000
            sums = zip(classes, matrix.sum(1), matrix.sum(0))
            image["volume_ml"] = {name: {"truth": int(true) * ml, "predicted": int(said) * ml} for name, true, said in sums}
    for group, images in _groups(result):
        if any(spacing is not None for spacing in spacings):
            group.update({figure: _means(images, figure, classes) for figure in ("sensitivity", "precision")})
        else:
            group.update(_shares(_matrix(group), classes))


def _matrix(of: dict[str, Any]) -> NDArray[np.uint64]:
    """Counts by truth (row) and prediction."""
    return np.array(of["matrix"], np.uint64)


def _shares(matrix: NDArray[np.uint64], classes: list[str]) -> dict[str, dict[str, float | None]]:
    def of(whole: NDArray[np.uint64]) -> dict[str, float | None]:
        return {name: int(matrix[c, c]) / int(whole[c]) if whole[c] else None for c, name in enumerate(classes)}

    return {"sensitivity": of(matrix.sum(1)), "precision": of(matrix.sum(0))}


def _means(images: list[dict[str, Any]], figure: str, classes: list[str]) -> dict[str, float | None]:
    out: dict[str, float | None] = {}
    for name in classes:
        defined = [image[figure][name] for image in images if image[figure][name] is not None]
        out[name] = sum(defined) / len(defined) if defined else None
    return out


def _groups(result: dict[str, Any]) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Every group of the result, with its images."""
    images: list[dict[str, Any]] = result["images"]
    out = [(result["overall"], images)]
    for kind in ("case", "cohort", "scanner", "phase"):
        for name, group in result.get(f"{kind}s", {}).items():
            # Volumes without a scanner, beside others that have one, are listed as such.
            also = "" if (kind, name) == ("scanner", "not stated") else name
            members = [image for image in images if image[kind] in (name, also)]
            out.append((group, members))
    return out
