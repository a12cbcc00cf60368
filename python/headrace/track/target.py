"""Where a run is sent, and what of it: one entry of `tracking:` in a run config, or the options of the command."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from .._core import UsageError

KINDS = ("mlflow", "wandb", "tensorboard")
FIELDS = ("cohorts", "scanners", "phases")


@dataclass(frozen=True)
class Target:
    """One tracker. The keys are those of `tracking:` (docs/runs.md)."""

    to: str
    url: str = ""
    folder: str = ""
    experiment: str = "headrace"
    name: str = ""
    fields: tuple[str, ...] = ()
    pictures: bool = False
    ca_file: str = ""
    wait_s: int = 600

    @classmethod
    def read(cls, entry: Mapping[str, Any], where: str = "tracking") -> Target:
        """An entry, checked. Errors: UsageError."""
        known = {key: value for key, value in entry.items() if value is not None}
        if "to" not in known:
            raise UsageError(f"{where}: to is missing, one of {', '.join(KINDS)}.")
        wrong = [key for key in known if key not in cls.__dataclass_fields__]
        if wrong:
            raise UsageError(f"{where}: unknown key '{wrong[0]}'; there are {', '.join(cls.__dataclass_fields__)}.")
        if "fields" in known:
            known["fields"] = tuple(str(one) for one in known["fields"])
        target = cls(**known)
        target._check(where)
        return target

    def _check(self, where: str) -> None:
        if self.to not in KINDS:
            raise UsageError(f"{where}: to is '{self.to}', expected one of {', '.join(KINDS)}.")
        if self.url:
            check_url(self.url, where)
        if self.to == "mlflow" and not self.url:
            raise UsageError(f"{where}: mlflow needs a url, such as http://127.0.0.1:5000.")
        if self.to == "tensorboard" and self.url:
            raise UsageError(f"{where}: tensorboard writes files: give a folder in place of the url {self.url}, or neither (RUN/tracking).")
        if self.to == "mlflow" and self.folder:
            raise UsageError(f"{where}: mlflow takes a url, not a folder.")
        for value in self.fields:
            if value not in FIELDS:
                raise UsageError(f"{where}: '{value}' in fields is none of {', '.join(FIELDS)}.")
        if self.name and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", self.name):
            raise UsageError(f"{where}: name '{self.name}' must consist of letters, digits, - and _ (it names files in RUN/tracking).")
        if not self.experiment.strip() or len(self.experiment) > 128:
            raise UsageError(f"{where}: experiment must have 1 to 128 characters.")
        if not 0 <= self.wait_s <= 86400:
            raise UsageError(f"{where}: wait_s is {self.wait_s}, expected 0 to 86400.")

    @property
    def file_name(self) -> str:
        """What its files in RUN/tracking are called."""
        return self.name or self.to

    @property
    def place(self) -> dict[str, str]:
        """What may not change while a run is sent: the rest of it would go elsewhere."""
        return {"to": self.to, "url": self.url, "folder": self.folder, "experiment": self.experiment}

    def entry(self) -> dict[str, Any]:
        """As `read` takes it."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def check_url(url: str, where: str) -> None:
    """Errors: UsageError: not http or https, no host, or with a name, password or query in it, which is not said back."""
    if any(one in url for one in "@?#"):
        raise UsageError(f"{where}: the url holds @, ? or #, so perhaps a user's name, password or token. Give the server's address alone, and those "
                         "by the environment: MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, MLFLOW_TRACKING_TOKEN, or WANDB_API_KEY.")
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise UsageError(f"{where}: url '{url}' is not one of a server, such as https://mlflow.example.org or http://127.0.0.1:5000.")
