"""A folder for the files of one run, which no other run writes into or removes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from .group import Group
from .journal import Journal
from .names import name_of
from .target import Target


def own_folder(run: Path, target: Target, group: Optional[Group], journal: Journal) -> Path:
    """In the run folder, which may be moved; or the one of the target's folder that the state names, which is new, and named as the run: with a
    number where another run has that name. Errors: OSError, UsageError."""
    data = journal.data
    if target.folder and "own_folder" not in data:
        data["own_folder"] = str(_new(run, target, group).resolve())
        journal.save()
    folder = Path(data["own_folder"]) if target.folder else (run / "tracking" / target.file_name).resolve()
    folder.mkdir(parents=bool(target.folder), exist_ok=True)  # a run folder that is gone is not made again
    return folder


def _new(run: Path, target: Target, group: Optional[Group]) -> Path:
    root = Path(target.folder).expanduser()
    wanted = root / name_of(group.folder, target) / group.member if group is not None else root / name_of(run, target)
    wanted.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        try:
            os.mkdir(folder)
            return folder
        except FileExistsError:
            number += 1
