"""A run config from a file, a mapping and keyword arguments."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Union

from . import _core
from ._first_guesses import check_config
from ._plain import path_text, plain

Config = Union[str, "os.PathLike[str]", Mapping[str, Any], None]


@functools.lru_cache(maxsize=1)
def section_names() -> tuple[str, ...]:
    """What may stand at the top of RUN.yaml."""
    return tuple(dict.fromkeys(key.split(".")[0] for key in _core.run_config_keys()))


def check_keywords(given: Iterable[str], own: Iterable[str]) -> None:
    """Errors: UsageError, with the nearest name, where one is neither a section of RUN.yaml nor in `own`."""
    known = [*section_names(), *own]
    for name in given:
        if name in known:
            continue
        nearest = _core.nearest_name(name, known)
        hint = f"did you mean '{nearest}'?" if nearest else f"there are {', '.join(known)}"
        raise _core.UsageError(f"unknown keyword '{name}': {hint}")


def overlaid(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`below` with the values of `above`; mappings key by key, all else whole."""
    out = dict(below)
    for key, value in above.items():
        under = out.get(key)
        both = isinstance(value, Mapping) and isinstance(under, Mapping)
        out[key] = overlaid(under, value) if both else value  # type: ignore[arg-type]
    return out


def read_run_config(config: Config, sections: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The whole config with its defaults, and its name for errors. `sections` lie over `config`.

    Errors: UsageError as for RUN.yaml, with the key and the nearest valid one; NotFoundError (no such file).
    """
    check_config(config)
    below: Mapping[str, Any] = {}
    if isinstance(config, Mapping):
        below = config
    elif config is not None:
        below = json.loads(_core.load_run_config(path_text(config)))
    # What comes from a file has no errors any more.
    name = "config" if isinstance(config, Mapping) and not sections else "keyword arguments"
    text = json.dumps(overlaid(below, sections), default=plain, ensure_ascii=False)
    return json.loads(_core.parse_run_config(text, name)), name
