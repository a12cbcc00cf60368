"""Figures of predictions on arrays of one's own."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from . import _core
from ._class_shares import add_class_shares
from ._core import UsageError
from ._evaluated_images import Grade, facts, pairs
from ._plain import plain
from ._threads import thread_count
from ._work import Progress, _shown

_LESIONS = ("lesion_classes", "lesion_probability", "lesion_lowest", "lesion_min_mm3", "lesion_overlap", "lesion_diameters_mm")
_RULES = ("surface_tolerance_mm", "tumour_classes", "specificity", "grading", "min_cancer", "min_area", "min_higher")


def evaluate_segmentation(
    prediction: Any,
    truth: Any,
    *,
    classes: Sequence[str],
    spacing: Any = None,
    task: str | None = None,
    lesion_scores: Any = None,
    body: Any = None,
    names: Sequence[str] | None = None,
    cases: Sequence[str] | None = None,
    cohorts: Sequence[str] | None = None,
    scanners: Sequence[str] | None = None,
    phases: Sequence[str] | None = None,
    affines: Sequence[Any] | None = None,
    grades: Sequence[Grade] | None = None,
    class_sets: Mapping[str, Iterable[str]] | None = None,
    surface_tolerance_mm: float | None = None,
    lesion_classes: Iterable[str] | None = None,
    lesion_probability: float | None = None,
    lesion_lowest: float | None = None,
    lesion_min_mm3: float | None = None,
    lesion_overlap: float | None = None,
    lesion_diameters_mm: Iterable[float] | None = None,
    tumour_classes: Iterable[str] | None = None,
    specificity: float | None = None,
    grading: str | None = None,
    min_cancer: float | None = None,
    min_area: float | None = None,
    min_higher: float | None = None,
    bootstrap: int = 0,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = False,
    **unknown: Any,
) -> dict[str, Any]:
    """The figures of ``headrace eval``, for predictions and truth in memory: of slides (y, x), or with ``spacing`` of volumes (z, y, x).

    prediction     one array or a list: classes, uint8 of truth's shape, on slides also 255 where nothing was predicted; or
                   probabilities, (classes, y, x) or (classes, z, y, x) float32, 1 in all at each place (on slides also 0 in all: nothing
                   was predicted; in volumes give class 0 there). The class of the highest probability counts, the lower of equals
    truth          as many: uint8 classes, then class sets by the order of their names; 255: not annotated, takes no part
    classes        names by label value; 0 is background, and not in means
    spacing        mm a voxel (z, y, x), of all volumes or for each
    task           as in a run config: "segmentation"; "grading" for grades of slides, with classes whose names end in 3, 4 or 5;
                   "lesions" for lesions in volumes. None: "lesions" where a lesion's keyword is given, else "segmentation"
    lesion_scores  volumes: (z, y, x) float32, the probability of a lesion, 0 to 1, where prediction has classes; a detector's
                   findings are painted with their scores. None: from the probabilities; of classes alone every lesion has the
                   score 1, and FROC a single threshold
    body           volumes: (z, y, x), true where calibration and AUC of voxels count; None: everywhere
    names, cases   of each image; of one case are images of one patient, and intervals draw cases. None: "0", "1" …, each its own case
    cohorts, scanners, phases   of each image: figures are given for each of these groups as well
    affines        volumes: (4, 4), voxel (x, y, z) to LPS mm, as `Image.affine`: centres of lesions are then given in LPS mm, else in
                   voxels (z, y, x), the middle of the first one being 0.5
    grades         slides, grading: what is known of each slide: None, an ISUP grade group, or two Gleason patterns. None: by its annotation
    class_sets     labels after the classes that stand for several of them: {"cancer": ["pattern3", "pattern4"]}
    bootstrap      resamples of the cases for 95 % intervals, in interval_95; 0: none. seed: of their draws, sampling.seed of a run
    threads        images at once; 0: as many as there are cores
    progress       True: a bar of tqdm; or a callable, as `ingest_slides`

    The other keywords are those of ``eval:`` in a run config (runbook), with their defaults and limits.

    Returns a dict with the names and the numbers of eval.json (docs/formats.md): classes, labels, class_sets, images[], overall, cohorts{},
    scanners{}, cases{}, of volumes phases{}. Figures that are not defined are None. Beside them images and groups have matrix (truth,
    prediction), sensitivity{} and precision{} by class, images of volumes volume_ml{} {truth, predicted} of the annotated voxels.
    Calibration, Brier score and AUC of pixels need probabilities, and are None without. Surface Dice and HD95 are those of DeepMind's
    surface-distance: surface elements by their area, the larger of both directions; other tools define HD95 otherwise.

    Arrays without gaps are read where they are; Torch's on the CPU too. Voxels are counted in 64 bits. Memory beside the arrays, for
    each image at hand: of slides a few rows; of volumes 4 bytes a voxel with probabilities, 2 with lesions of classes; 12 bytes a voxel
    of the box around a class. Python's lock is released, Ctrl-C ends it; safe from any thread.

    Errors: UsageError (what does not fit together), MalformedError (values: with image and place), UnsupportedError (a tensor on a GPU).
    """
    for name in unknown:
        known = [one for one in inspect.signature(evaluate_segmentation).parameters if one != "unknown"]
        nearest = _core.nearest_name(name, known)
        raise UsageError(f"unknown keyword '{name}'" + (f": did you mean '{nearest}'?" if nearest else f": there are {', '.join(known)}"))
    own = locals()
    names_of_classes = _class_names(classes)
    sets = _class_sets(class_sets)
    volumes = spacing is not None
    _refuse_other_kind(volumes, own)
    lesions = lesion_scores is not None or any(own[name] is not None for name in _LESIONS)
    rules = {name: own[name] for name in (*_LESIONS, *_RULES)}
    config = {
        "task": task or ("lesions" if lesions else "segmentation"),
        "data": {"store": "arrays"},
        "patch": {"size": [16, 16, 16], "spacing_mm": [1, 1, 1]} if volumes else {"size": [16, 16], "mpp": 1},
        "sampling": {"seed": seed},
        "eval": {"bootstrap": bootstrap, **{name: value for name, value in rules.items() if value is not None}},
    }
    images = pairs(prediction, truth, lesion_scores, body, len(names_of_classes), 3 if volumes else 2)
    stated = facts(len(images), names, cases, {"cohort": cohorts, "scanner": scanners, "phase": phases}, spacing, affines, grades)
    request = {
        "config": config,
        "classes": names_of_classes,
        "class_sets": sets,
        "images": stated,
        "threads": thread_count(threads),
    }
    text = json.dumps(request, default=plain, ensure_ascii=False)
    with _shown(progress) as show:
        result: dict[str, Any] = json.loads(_core.evaluate(text, images, show))
    result["task"] = _task(str(config["task"]))
    add_class_shares(result, [one["spacing"] for one in stated])
    return result


def _task(name: str | None) -> str | None:
    """The name that a task has now; two were named by the first organs that they were for."""
    return {"gleason": "grading", "colorectal": "lesions"}.get(name or "", name)


def _class_names(classes: Any) -> list[str]:
    if isinstance(classes, (str, bytes, Set, Mapping)) or not isinstance(classes, Iterable):  # a set has no order
        raise UsageError(f"classes: expected the names of the classes by label value, background first, found {classes!r}")
    names = list(classes)
    if len(names) < 2 or not all(isinstance(one, str) and one for one in names) or len(set(names)) != len(names):
        raise UsageError(f"classes: expected the different names of two classes or more, background first, found {names!r}")
    if len(names) > 255:
        raise UsageError(f"classes: expected at most 255, found {len(names)}; label 255 is what is not annotated")
    return names


def _class_sets(given: Any) -> dict[str, list[str]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or any(isinstance(members, str) or not isinstance(members, Iterable) for members in given.values()):
        raise UsageError(f"class_sets: expected a mapping from names to lists of classes, found {given!r}")
    return {name: list(members) for name, members in given.items()}


def _refuse_other_kind(volumes: bool, given: Mapping[str, Any]) -> None:
    """What would be without effect."""
    for name in ("grades",) if volumes else ("lesion_scores", "body", "phases", "affines", *_LESIONS):
        if given[name] is not None:
            here = "these are volumes, since spacing= is given" if volumes else "these are slides; give spacing= for volumes"
            raise UsageError(f"{name} is for {'slides' if volumes else 'volumes'}, and {here}")
    if _task(given["task"]) == ("grading" if volumes else "lesions"):
        here = "grades slides: leave spacing= out, and give arrays (y, x)" if volumes else "reads volumes: give spacing="
        raise UsageError(f"task {given['task']!r} {here}")
    if given["lesion_scores"] is not None and _task(given["task"]) not in (None, "lesions"):
        raise UsageError(f"lesion_scores: task {given['task']!r} has no lesions; leave it out, or give 'lesions'")
    if given["grades"] is not None and _task(given["task"]) != "grading":
        raise UsageError("grades: give task='grading', which compares grades")
