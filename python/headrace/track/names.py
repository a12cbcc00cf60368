"""Names that go out with a run, none of which may tell a patient."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

from .. import _core
from .._core import UsageError
from . import allowed
from .feed import Feed
from .group import Group
from .target import Target


def name_of(folder: Path, target: Target) -> str:
    """What a run, or a group of runs, is called outside: as its folder, or, where that name may tell a patient, as the target's `name`.
    Errors: UsageError."""
    name = folder.resolve().name
    why = _core.why_identifying(name)
    if why is None:
        return name
    if not target.name or _core.why_identifying(target.name) is not None:
        raise UsageError(f"{folder}: the folder's name looks like {why}, and would be sent as the name of the run. Rename the folder, or give a name "
                         "that tells nobody: --name, or name in tracking.")
    return target.name


def check_names(feed: Feed, target: Target, group: Optional[Group]) -> None:
    """Those of experiment, run, group, classes, splits, and of what `fields` lists. Errors: UsageError, before any of them is sent."""
    if target.to != "tensorboard":
        _check(target.experiment, "experiment", "give another one (--experiment, or experiment in tracking)")
    if target.to != "tensorboard" or target.folder:
        name_of(group.folder if group is not None else feed.run, target)
    for name in feed.split_names():
        _check(name, f"{feed.run}: the split", "rename it in the store")
    for name in feed.class_names():
        _check(name, f"{feed.run}: the class", "rename it in the store (headrace ingest labels)")
    for kind in target.fields:
        for name in feed.group_names(kind):
            _check(name, f"{feed.run}: the {allowed.GROUPS[kind]}", f"leave {kind} out of fields: then they are numbered")


def _check(name: str, what: str, remedy: str) -> None:
    why = _core.why_identifying(name)
    if why is not None:
        raise UsageError(f"{what} '{name}' looks like {why}, and would be sent: {remedy}.")
