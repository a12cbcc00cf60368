"""Tables of an evaluation: figures by cohort, scanner and phase with intervals, confusion of classes and grades, FROC, calibration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import allowed


@dataclass
class Table:
    columns: list[str]
    rows: list[list[Any]]  # text, numbers, None for what is not defined


def of_evaluation(evaluation: Mapping[str, Any], names: Mapping[str, Mapping[str, str]]) -> dict[str, Table]:
    """By name. `names`: what cohorts, scanners and phases are called outside of the run folder."""
    out: dict[str, Table] = {}
    overall = evaluation.get("overall", {})
    for kind, singular in allowed.GROUPS.items():
        groups = evaluation.get(kind)
        if groups:
            rows = {"all": overall} | {names[kind][name]: group for name, group in sorted(groups.items())}
            out[f"by_{singular}"] = _figures(singular, rows)
    labels = [str(name) for name in evaluation.get("labels") or evaluation.get("classes") or []]
    if isinstance(overall.get("matrix"), list):
        out["confusion"] = _matrix(overall["matrix"], labels)
    gleason = overall.get("gleason")
    if isinstance(gleason, Mapping) and isinstance(gleason.get("matrix"), list):
        out["grade_groups"] = _matrix(gleason["matrix"], [str(grade) for grade in range(len(gleason["matrix"]))])
    lesion = overall.get("lesion")
    if isinstance(lesion, Mapping) and isinstance(lesion.get("curve"), list):
        out["froc"] = _points(lesion["curve"])
    return {name: table for name, table in out.items() if table.rows}


def _figures(singular: str, rows: Mapping[str, Any]) -> Table:
    found = {name: dict(_cells(group)) for name, group in rows.items()}
    keys = list(dict.fromkeys(key for cells in found.values() for key in cells))
    return Table([singular, "images", *keys],
                 [[name, rows[name].get("images"), *(cells.get(key) for key in keys)] for name, cells in found.items()])


def main_figures(group: Mapping[str, Any], prefix: str) -> dict[str, float]:
    """The figures of a table's row, without their intervals, by names as of allowed.figures."""
    return dict(pair for path in allowed.COLUMNS for pair in allowed.numbers(_at(group, path), f"{prefix}/{path.replace('.', '/')}"))


def _cells(group: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Figures with the ends of their 95 % intervals."""
    intervals = group.get("interval_95") or {}
    for path in allowed.COLUMNS:
        value, interval = _at(group, path), _at(intervals, path)
        for name, one in ({path: value} if not isinstance(value, Mapping) else {f"{path}.{key}": inner for key, inner in value.items()}).items():
            if isinstance(one, bool) or not isinstance(one, (int, float)):
                continue
            yield name, _number(one)
            ends = interval.get(name.rsplit(".", 1)[-1]) if isinstance(value, Mapping) and isinstance(interval, Mapping) else interval
            if isinstance(ends, list) and len(ends) == 2:
                yield f"{name} low", _number(ends[0])
                yield f"{name} high", _number(ends[1])


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _matrix(matrix: list[Any], labels: list[str]) -> Table:
    """Rows are the truth."""
    width = len(matrix[0]) if matrix else 0
    called = [labels[index] if index < len(labels) else str(index) for index in range(max(width, len(matrix)))]
    return Table(["truth", *(f"called {name}" for name in called[:width])], [[called[index], *map(_number, row)] for index, row in enumerate(matrix)])


def _points(curve: list[Any]) -> Table:
    if curve and isinstance(curve[0], Mapping):
        keys = [key for key, value in curve[0].items() if isinstance(value, (int, float))]
        return Table(keys, [[_number(point.get(key)) for key in keys] for point in curve])
    width = len(curve[0]) if curve else 0
    return Table(["false_positives_per_scan", "sensitivity", "threshold"][:width], [[_number(one) for one in point] for point in curve])


def _number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) else None


def markdown(table: Table) -> str:
    def cell(value: Any) -> str:
        text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
        return "".join("&#%d;" % ord(one) if one in "|<>&*_`[]" else one for one in text)

    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    return "\n".join("| " + " | ".join(cell(one) if row is not lines[1] else str(one) for one in row) + " |" for row in lines)
