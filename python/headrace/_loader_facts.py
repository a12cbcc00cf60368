"""What a loader would make, without making it."""

from __future__ import annotations

from .loader import Loader


class LoaderFacts(Loader):
    """A loader that is asked for its classes, shapes and places, and makes no batch: it has no threads."""

    def _begin(self) -> None:
        pass
