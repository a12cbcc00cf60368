"""sweep.html: one file without outside resources, from what sweep.json says."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

from . import _charts
from ._space import short

FEW = 30  # complete trials below which importance says little
CAUTION = """It was chosen by its figure on the images that it is shown for, so this figure is too good: judge it on others, by headrace eval
with a split that no trial saw."""
ORDER = {"complete": 0, "pruned": 1, "failed": 2}
# The look of a run's report (learn/report/style_sheet.cpp).
STYLE = """
:root { color-scheme:light dark; --ink:#1c2530; --soft:#5d6b7a; --line:#e3e8ee; --paper:#fff; --ground:#f4f6f9; --accent:#1f6f9f;
  --good:#14805e; --bad:#b4462f; }
@media screen and (prefers-color-scheme: dark) {
:root { --ink:#e4e9ef; --soft:#9aa7b5; --line:#2c3642; --paper:#1a212a; --ground:#11161c; --accent:#6db3dc; --good:#5cc79d; --bad:#ee8f76; } }
* { box-sizing:border-box; }
body { margin:0; background:var(--ground); color:var(--ink); font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif; }
main { max-width:1120px; margin:0 auto; padding:28px 20px 60px; }
h1 { margin:0; font-size:28px; font-weight:650; overflow-wrap:anywhere; } header p { margin:4px 0 18px; color:var(--soft); overflow-wrap:anywhere; }
h2 { margin:0 0 12px; font-size:18px; font-weight:620; }
section { background:var(--paper); border:1px solid var(--line); border-radius:12px; padding:20px 22px; margin:0 0 18px; }
section p { margin:0 0 12px; color:var(--soft); max-width:85ch; overflow-wrap:anywhere; }
.tiles { display:grid; grid-template-columns:repeat(auto-fit,minmax(150px,1fr)); gap:12px; margin:0 0 18px; }
.tile { background:var(--paper); border:1px solid var(--line); border-radius:12px; padding:14px 16px; min-width:0; overflow-wrap:anywhere; }
.tile b { display:block; font-size:25px; font-weight:640; font-variant-numeric:tabular-nums; }
.tile span { color:var(--soft); font-size:13px; display:block; }
.scroll { overflow-x:auto; } table { border-collapse:collapse; width:100%; font-size:14px; }
th { text-align:left; font-weight:600; color:var(--soft); border-bottom:1px solid var(--line); padding:6px 10px; white-space:nowrap; }
td { border-bottom:1px solid var(--line); padding:6px 10px; white-space:nowrap; } tr:last-child td { border-bottom:0; }
td.n, th.n { text-align:right; font-variant-numeric:tabular-nums; }
p.why { margin:12px 0 0; }
a { color:var(--accent); } .good { color:var(--good); font-weight:600; } .bad { color:var(--bad); }
.bar { display:inline-block; width:150px; height:8px; border-radius:4px; background:var(--ground); overflow:hidden; vertical-align:middle; }
.bar i { display:block; height:100%; border-radius:4px; background:var(--accent); }
svg { width:100%; height:auto; display:block; } .grid { stroke:var(--line); } .axis { stroke:var(--soft); }
.tick { fill:var(--soft); font-size:11px; font-family:inherit; } .name { fill:var(--ink); font-size:12px; font-weight:600; font-family:inherit; }
.over { paint-order:stroke; stroke:var(--paper); stroke-width:3px; }
.dot { fill:var(--accent); } .ring { fill:none; stroke:var(--soft); stroke-width:1.5; }
.way { fill:none; stroke:var(--accent); stroke-width:1.6; } .early { stroke:var(--soft); stroke-dasharray:4 3; }
.best-line { fill:none; stroke:var(--good); stroke-width:2.6; }
details { margin:10px 0 0; } summary { cursor:pointer; color:var(--accent); }
pre { background:var(--ground); border-radius:8px; padding:14px; overflow:auto; font:12.5px/1.5 ui-monospace,Menlo,"DejaVu Sans Mono",monospace; }
@media (max-width:600px) { main { padding:16px 10px 40px; } section { padding:16px 12px; } td, th { padding:5px 7px; } }
@page { size:A4; margin:14mm 12mm; }
@media print { body { background:#fff; } main { max-width:none; padding:0; }
section { break-inside:avoid-page; border:0; border-top:1px solid var(--line); }
.scroll { overflow:visible; } table { font-size:8pt; } th, td { white-space:normal; } }
"""


def _tile(name: str, value: str) -> str:
    return f'<div class="tile"><b>{html.escape(value)}</b><span>{html.escape(name)}</span></div>'


def _section(title: str, *parts: str) -> str:
    return f"<section><h2>{html.escape(title)}</h2>{''.join(parts)}</section>"


def _state(trial: Mapping[str, Any], best: int | None) -> str:
    if trial["number"] == best:
        return '<span class="good">best</span>'
    return {"complete": "", "pruned": f"stopped at step {trial['step']}", "failed": '<span class="bad">failed</span>'}[trial["state"]]


def _table(trials: _charts.Trials, keys: list[str], figure: str, smaller: bool, best: int | None) -> str:
    rows = []
    for trial in sorted(trials, key=lambda one: (ORDER[one["state"]], (one["value"] or 0.0) * (1 if smaller else -1), one["number"])):
        name = str(trial["number"])
        if trial["state"] == "complete":  # the others have no report
            name = f'<a href="{trial["folder"]}/run/report.html">{name}</a>'
        value = "" if trial["value"] is None else f"{trial['value']:.4f}"
        cells = "".join(f'<td class="n">{html.escape(short(trial["params"][key]))}</td>' for key in keys)
        rows.append(f'<tr><td>{name}</td><td class="n">{value}</td>{cells}<td>{_state(trial, best)}</td></tr>')
    head = "".join(f'<th class="n">{html.escape(key)}</th>' for key in [figure, *keys])
    return f'<div class="scroll"><table><tr><th>trial</th>{head}<th></th></tr>{"".join(rows)}</table></div>{_failures(trials)}'


def _failures(trials: _charts.Trials) -> str:
    """Each sentence once, with the trials that failed by it."""
    numbers: dict[str, list[str]] = {}
    for trial in trials:
        if trial["state"] == "failed":
            numbers.setdefault(trial["why"], []).append(str(trial["number"]))
    return "".join(f'<p class="why">Failed: {", ".join(failed)}. {html.escape(why)}</p>' for why, failed in numbers.items())


def _importance(found: Mapping[str, float] | None, complete: int) -> str:
    if not found:
        return "<p>Too few complete trials, or all with one figure or the same values: nothing can be said.</p>"
    warning = (f"These are {complete} complete trials, which tell little: with so few, the order of keys can be chance. " if complete < FEW else "")
    return (f"<p>{warning}Each key's share of the figure's variance over the searched ranges, by functional ANOVA over random forests (Hutter et al. "
            "2014). Shares add up to 1, also where keys explain little: trials differ in their seed, too, which no key explains.</p>"
            + _charts.bars(found))


def page(found: Mapping[str, Any]) -> str:
    """`found`: sweep.json of a sweep that came to its end."""
    definition, trials = found["definition"], found["trials"]
    figure, smaller = definition["figure"], definition["direction"] == "minimize"
    name = figure if definition["over"] == "overall" else f"{figure}, {definition['over'].replace('_', ' ')}"
    count = {state: sum(trial["state"] == state for trial in trials) for state in ORDER}
    best = found["best"]["trial"] if found["best"] else None
    tiles = [_tile(f"best {name}", f"{found['best']['value']:.4f}"), _tile("best trial", str(best))] if found["best"] else []
    tiles += [_tile("complete", str(count["complete"]))]
    tiles += [_tile(words, str(count[state])) for state, words in (("pruned", "stopped early"), ("failed", "failed")) if count[state]]
    settings = "".join(_tile(key, short(value)) for key, value in (found["best"]["params"].items() if found["best"] else ()))
    keys = list(definition["search"])
    as_json = json.dumps(definition, indent=1, ensure_ascii=False)
    drawn = any(trial["value"] is not None for trial in trials)
    parts = [
        f'<header><h1>Sweep over {html.escape(", ".join(keys))}</h1><p>{html.escape(definition["method"])}, {len(trials)} trials, seed '
        f'{definition["seed"]}, {html.escape(name)} {"low" if smaller else "high"}er is better. For research.</p></header>',
        f'<div class="tiles">{"".join(tiles)}</div>',
        _section("Settings of the best trial", f'<div class="tiles">{settings}</div>', f"<p>{CAUTION}</p>") if settings else "",
        _section("Trials", _table(trials, keys, name, smaller, best)),
        _section("Parameters and figure", _charts.parallel(trials, definition["search"], name, smaller, best)) if drawn else "",
        _section("Importance of the parameters", _importance(found["importance"], count["complete"])),
        _section("In the order of the trials", _charts.history(trials, name, smaller)) if drawn else "",
        _section("The sweep", f"<p>headrace {html.escape(found['headrace'])}, optuna {html.escape(found['optuna'])}</p>",
                 f"<details><summary>SWEEP.yaml with its defaults</summary><pre>{html.escape(as_json)}</pre></details>"),
    ]
    title = html.escape(f"Sweep over {', '.join(keys)}")
    return ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            f"<title>{title}</title><style>{STYLE}</style></head><body><main>{''.join(parts)}</main></body></html>\n")
