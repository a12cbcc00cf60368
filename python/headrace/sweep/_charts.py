"""Charts of a sweep as inline SVG. Text from data is escaped; colours are variables of the page's style sheet."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ._space import as_text, short

Trials = Sequence[Mapping[str, Any]]


def _svg(width: int, height: int, label: str, parts: Sequence[str]) -> str:
    return (f'<div class="scroll"><svg viewBox="0 0 {width} {height}" style="min-width:{width * 0.85:.0f}px;max-width:{width * 1.2:.0f}px" '
            f'role="img" aria-label="{html.escape(label)}">{"".join(parts)}</svg></div>')


def _text(x: float, y: float, text: str, anchor: str = "middle", kind: str = "tick") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{html.escape(text)}</text>'


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def words(trial: Mapping[str, Any], figure: str) -> str:
    """A trial in one line, for tooltips."""
    value = "" if trial["value"] is None else f", {figure} {short(trial['value'])}"
    return f"trial {trial['number']}, {trial['state']}{value}: " + ", ".join(f"{key} {short(v)}" for key, v in trial["params"].items())


def history(trials: Trials, figure: str, smaller: bool) -> str:
    """The figure of each trial in order, and the best so far as a line. Those that were stopped early are rings."""
    shown = [trial for trial in trials if trial["value"] is not None]
    if not shown:
        return ""
    width, height, left, right, top, bottom = 720, 260, 62, 14, 14, 40
    low, high = _span([trial["value"] for trial in shown])
    last: int = max(1, max(trial["number"] for trial in trials))

    def x(number: float) -> float:
        return left + (width - left - right) * number / last

    def y(value: float) -> float:
        return top + (height - top - bottom) * (high - value) / (high - low)

    parts = []
    for i in range(5):
        value = low + (high - low) * i / 4
        parts.append(f'<line class="grid" x1="{left}" x2="{width - right}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
                     + _text(left - 8, y(value) + 4, f"{value:.3g}", "end"))
    for number in sorted({round(last * i / min(last, 8)) for i in range(min(last, 8) + 1)}):
        parts.append(_text(x(number), height - 20, str(number)))
    parts.append(_text((left + width - right) / 2, height - 3, "trial"))
    best: float | None = None
    path: list[str] = []
    for trial in shown:
        if trial["state"] != "complete":
            continue
        if best is None or (trial["value"] < best if smaller else trial["value"] > best):
            path += [] if best is None else [f"L{x(trial['number']):.1f} {y(best):.1f}"]
            best = trial["value"]
            path.append(f"{'L' if path else 'M'}{x(trial['number']):.1f} {y(best):.1f}")
    if best is not None:
        parts.append(f'<path class="best-line" d="{" ".join(path)} L{x(last):.1f} {y(best):.1f}"/>')
    for trial in shown:
        kind = "dot" if trial["state"] == "complete" else "ring"
        parts.append(f'<circle class="{kind}" cx="{x(trial["number"]):.1f}" cy="{y(trial["value"]):.1f}" r="4">'
                     f"<title>{html.escape(words(trial, figure))}</title></circle>")
    return _svg(width, height, f"{figure} by trial", parts)


class _Axis:
    """One key's values from the bottom (0) to the top (1) of its line."""

    def __init__(self, allowed: Mapping[str, Any]) -> None:
        self.choices = [as_text(value) for value in allowed["choices"]] if "choices" in allowed else None
        self.low, self.high, self.log = 0.0, 1.0, False
        if self.choices is None:
            (kind, ends), = [(kind, ends) for kind, ends in allowed.items() if kind not in ("step", "points")]
            self.log = kind in ("log", "int_log")
            self.low, self.high = ends

    def place(self, value: Any) -> float:
        if self.choices is not None:
            return 0.5 if len(self.choices) == 1 else self.choices.index(as_text(value)) / (len(self.choices) - 1)
        if self.log:
            return float(math.log(value / self.low) / math.log(self.high / self.low))
        return float((value - self.low) / (self.high - self.low))

    def ticks(self) -> list[tuple[float, str]]:
        if self.choices is not None:
            shown = self.choices if len(self.choices) <= 12 else [self.choices[0], self.choices[-1]]
            return [(self.place(json.loads(choice)), short(json.loads(choice))) for choice in shown]
        middle = math.sqrt(self.low * self.high) if self.log else (self.low + self.high) / 2
        return [(0, short(self.low)), (0.5, f"{middle:.3g}"), (1, short(self.high))]


def parallel(trials: Trials, search: Mapping[str, Any], figure: str, smaller: bool, best: int | None) -> str:
    """A line for each complete or early stopped trial through its values; the better the figure, the more colour. The last axis is the figure."""
    shown = [trial for trial in trials if trial["value"] is not None]
    if not shown:
        return ""
    low, high = _span([trial["value"] for trial in shown])
    keys, step, top, bottom, left = list(search), 170, 50, 270, 80
    width = left * 2 + step * len(keys)
    axes = {key: _Axis(search[key]) for key in keys}
    parts = []
    rank = sorted(shown, key=lambda trial: (trial["value"] * (-1 if smaller else 1), trial["number"] == best))  # the best on top
    for trial in rank:
        places = [axes[key].place(trial["params"][key]) for key in keys] + [(trial["value"] - low) / (high - low)]
        good = 1 - places[-1] if smaller else places[-1]
        points = " ".join(f"{left + step * i:.1f},{bottom - (bottom - top) * place:.1f}" for i, place in enumerate(places))
        kind = "best-line" if trial["number"] == best else "way" if trial["state"] == "complete" else "way early"
        opacity = "" if trial["number"] == best else f' style="opacity:{0.15 + 0.7 * good:.2f}"'
        parts.append(f'<polyline class="{kind}" points="{points}"{opacity}><title>{html.escape(words(trial, figure))}</title></polyline>')
    for i, key in enumerate([*keys, figure]):
        x = left + step * i
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>' + _text(x, top - 14 - 18 * (i % 2), key, kind="name"))
        ticks = axes[key].ticks() if i < len(keys) else [(0, f"{low:.3g}"), (1, f"{high:.3g}")]
        parts += [_text(x + 6, bottom - (bottom - top) * place + 4, text, "start", "tick over") for place, text in ticks]
    return _svg(width, bottom + 16, "parameters and figure of each trial", parts)


def bars(importance: Mapping[str, float]) -> str:
    rows = [f'<tr><td>{html.escape(key)}</td><td class="n">{share:.2f}</td>'
            f'<td><span class="bar"><i style="width:{100 * share:.0f}%"></i></span></td></tr>'
            for key, share in sorted(importance.items(), key=lambda one: (-one[1], one[0]))]
    return f'<div class="scroll"><table><tr><th>key</th><th class="n">share</th><th></th></tr>{"".join(rows)}</table></div>'
