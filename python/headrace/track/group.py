"""Runs that belong together: the folds of a cross-validation (DIR/fold-0 …) and the trials of a sweep (DIR/trials/0000/run …)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from .._core import NotFoundError


@dataclass(frozen=True)
class Group:
    """The group of a run, and what the run is called in it."""

    folder: Path
    member: str

    def all_finished(self) -> bool:
        """Whether every run of the group that was begun has ended."""
        return all((run / "summary.json").exists() for run in members(self.folder))


def holds_run(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def group_of(run: Path) -> Optional[Group]:
    """By the folder's place: fold-N, or trials/NNNN/run."""
    place = run.resolve()
    if re.fullmatch(r"fold-\d+", place.name):
        return Group(place.parent, place.name)
    if place.name == "run" and place.parent.name.isdigit() and place.parent.parent.name == "trials":
        return Group(place.parent.parent.parent, f"trial-{place.parent.name}")
    return None


def members(folder: Path) -> list[Path]:
    """Runs in a folder of folds or of a sweep, in the order of their numbers."""
    folds = [path for path in folder.glob("fold-*") if path.name[5:].isdigit()]
    trials = [path / "run" for path in folder.glob("trials/*") if path.name.isdigit()]
    found = sorted(folds, key=lambda path: int(path.name[5:])) + sorted(trials, key=lambda path: int(path.parent.name))
    return [run for run in found if holds_run(run)]


def runs_in(folder: Path) -> list[Path]:
    """The run itself, or the group's. Errors: NotFoundError."""
    if holds_run(folder):
        return [folder]
    found = members(folder)
    if not found:
        raise NotFoundError(f"{folder}: holds no run: there is neither config.json, nor fold-0 …, nor trials/… in it. Give the folder of headrace "
                            "train --out, of --folds, or of a sweep.")
    return found
