"""Figures of eval.json and of the validations in metrics.jsonl, by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

WORST = {"worst_cohort": "cohorts", "worst_scanner": "scanners"}
OVER = ("overall", *WORST)


def figures_of(group: Mapping[str, Any], before: str = "") -> dict[str, float | None]:
    """Every number of a group of images by its path, joined by dots; null is an undefined figure."""
    found: dict[str, float | None] = {}
    for name, value in group.items():
        if name == "interval_95" and not before:
            continue
        path = f"{before}.{name}" if before else name
        if isinstance(value, Mapping):
            found |= figures_of(value, path)
        elif value is None or isinstance(value, (int, float)) and not isinstance(value, bool):
            found[path] = value
    return found


def figure_of(evaluation: Mapping[str, Any], figure: str, over: str, smaller: bool) -> float | None:
    """The figure over all images, or the worst of a kind of group; None where it is undefined, also in one of the groups."""
    if over == "overall":
        return figures_of(evaluation["overall"]).get(figure)
    values = [figures_of(group).get(figure) for group in evaluation.get(WORST[over], {}).values()]
    known = [value for value in values if value is not None]
    if not values or len(known) < len(values):
        return None
    return max(known) if smaller else min(known)


class Validations:
    """The validations of a run in their order, read from metrics.jsonl as it grows. A line is read once it is whole. A resume takes lines back
    that it makes again, the same ones; so each step counts once."""

    def __init__(self, file: Path) -> None:
        self._file, self._at, self._last = file, 0, -1
        self._before = b""  # the line that ends at _at: where it is another one, lines were taken back

    def new(self) -> list[tuple[int, dict[str, float | None]]]:
        """(step, figures) of the validations that came since the last call."""
        try:
            with open(self._file, "rb") as file:
                file.seek(self._at - len(self._before))
                if file.read(len(self._before)) != self._before:
                    file.seek(0)
                    self._at = 0
                text = file.read()
        except FileNotFoundError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        lines = whole.splitlines(keepends=True)
        self._at += len(whole)
        self._before = lines[-1] if lines else self._before
        entries = [json.loads(line) for line in lines if b'"validation"' in line]
        found = [(entry["step"], figures_of(entry["validation"])) for entry in entries if entry["step"] > self._last]
        self._last = max([self._last, *(step for step, _ in found)])
        return found
