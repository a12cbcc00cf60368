"""Tells the library where pip's openslide-bin lies, so that slides open without an OpenSlide of the system.

HEADRACE_OPENSLIDE, which names another file, goes first.
"""

from __future__ import annotations

import importlib.util
import os

from . import _core


def suggest() -> None:
    """Finds the package without importing it; nothing happens where it is not installed."""
    found = importlib.util.find_spec("openslide_bin")
    if found is None or found.origin is None:
        return
    library = os.path.join(os.path.dirname(found.origin), "libopenslide.so.1")
    if os.path.exists(library):
        _core.suggest_openslide(library)


suggest()
