"""How notebooks show cohorts and images. Everything from a store is escaped; nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._image import Image
    from .store import Cohort

_LONGEST_PX = 320  # of a thumbnail as shown


def cohort_html(cohort: Cohort) -> str:
    """A table of the images by cohort and split."""
    groups: dict[tuple[str, str], list[Image]] = {}
    for image in cohort:
        groups.setdefault((image.cohort, image.split), []).append(image)
    unit = "mm (z, y, x)" if cohort.kind == "volume" else "µm/pixel"
    rows = [_group_row(names, images) for names, images in sorted(groups.items())]
    facts = [("kind", cohort.kind), ("images", len(cohort)), ("classes", ", ".join(cohort.classes) or "none")]
    facts += [(f"'{name}' is one of", ", ".join(classes)) for name, classes in cohort.class_sets.items()]
    facts += [("channels", ", ".join(cohort.channels))] if cohort.channels else []
    facts += [("dataset hash", cohort.dataset_hash[:12])]
    head = ("cohort", "split", "images", "level 0", unit, "labels")
    return f"<div><b>{escape(cohort.path)}</b>{_list(facts)}{_table(head, rows)}</div>"


def image_html(image: Image) -> str:
    """Its facts beside a thumbnail."""
    facts: list[tuple[str, Any]] = [("case", image.case), ("cohort", image.cohort), ("split", image.split)]
    facts += [(name, value) for name, value in (("scanner", image.scanner), ("phase", image.phase)) if value]
    grades = ("grade_group", "primary", "secondary")
    facts += [(name.replace("_", " "), getattr(image, name)) for name in grades if getattr(image, name) is not None]
    facts += [("level 0", _size(image)), ("µm/pixel" if image.kind == "slide" else "mm (z, y, x)", _spacing(image))]
    facts += [("levels", len(image._record.levels)), ("codec", image.codec), ("labels", ", ".join(image.label_names) or "none")]
    return (
        f'<div style="display:flex;gap:1em"><div>{_thumbnail_html(image)}</div>'
        f"<div><b>{escape(image.id)}</b>{_list(facts)}</div></div>"
    )


def thumbnail(image: Image) -> NDArray[np.uint8]:
    """The smallest level of a slide, (y, x, rgb); of a volume the middle axial slice, (y, x), in its usual window,
    as radiologists see it: stored x grows to the patient's left, y to the back."""
    level = image.level(len(image._record.levels) - 1)
    if image.kind == "slide":
        pixels: NDArray[np.uint8] = level[...]
        return pixels
    _, per_unit, (black, white) = image._store.unit(0)
    values = level[level.shape[0] // 2].astype(np.float64) / per_unit
    grey = np.clip((values - black) / (white - black) * 255 + 0.5, 0, 255)
    return grey.astype(np.uint8)


def _thumbnail_html(image: Image) -> str:
    png = base64.b64encode(_core.png_of(thumbnail(image))).decode()
    spacing = image.spacing or image.mpp or (1.0, 1.0)
    height, width = (n * edge for n, edge in zip(image.shape[-2:], spacing[-2:]))
    scale = _LONGEST_PX / max(height, width)
    edges = f'width="{max(round(width * scale), 1)}" height="{max(round(height * scale), 1)}"'
    return f'<img alt="{escape(image.id)}" {edges} src="data:image/png;base64,{png}">'


def _group_row(names: tuple[str, str], images: list[Image]) -> tuple[Any, ...]:
    sets = sorted({name for image in images for name in image.label_names})
    labels = ", ".join(f"{name}: {sum(name in image.label_names for image in images)}" for name in sets)
    sizes = _ends(map(_size, sorted(images, key=lambda image: float(np.prod(image.shape, dtype=float)))))
    spacings = _ends(map(_spacing, sorted(images, key=lambda image: image.spacing or image.mpp or ())))
    return (*names, len(images), sizes, spacings, labels or "none")


def _ends(texts: Iterable[str]) -> str:
    """The first and the last of sorted texts, or the only one."""
    different = list(dict.fromkeys(texts))
    return different[0] if len(different) == 1 else f"{different[0]} … {different[-1]}"


def _size(image: Image) -> str:
    return " × ".join(map(str, image.shape))


def _spacing(image: Image) -> str:
    if image.spacing is not None:
        return ", ".join(f"{edge:.4g}" for edge in image.spacing)
    return "not known" if image.mpp is None else f"{image.mpp[0]:.4g}"


def _list(facts: Sequence[tuple[str, Any]]) -> str:
    return _table((), facts)


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = ["<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows]
    return f"<table>{f'<tr>{cells}</tr>' if head else ''}{''.join(lines)}</table>"
