"""One run of an MLflow server, by its REST interface.

Parameters and tags that are sent twice are stored once. Figures are by a server with a database, and twice by one with a file store: of a
batch whose fate is not known only what the server lacks is sent again. A run is made with a key of ours as a tag, and looked for by that key before
another one is made.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Optional

from . import allowed
from .client import Client, Refused, Unavailable
from .journal import Journal
from .tables import Table
from .target import Target

METRICS, PAIRS = 900, 100  # of one request; the server takes 1000 and 100
PAGE, PAGES = 10_000, 10_000  # figures of one answer, and answers, of a key's history
KEY = "headrace.run_key"
LONGEST = 5000  # characters of a tag or parameter, which older servers cut at 6000
ARTIFACTS = "mlflow-artifacts:"


class MlflowRun:
    """What the journal says of it decides which one it is. Errors of all calls: Unavailable, Refused."""

    def __init__(self, client: Client, target: Target, journal: Journal) -> None:
        self._client, self._target, self.journal = client, target, journal

    def make(self, name: str, started_ms: int, tags: Mapping[str, str]) -> str:
        """Its id: of the one that there is, or of a new one."""
        data = self.journal.data
        if "run_id" not in data:
            data.setdefault("run_key", uuid.uuid4().hex)
            data.setdefault("started_ms", started_ms)
            self.journal.save()
            data["experiment_id"] = experiment_id(self._client, self._target.experiment)
            data["run_id"] = self._find_or_make(data["run_key"], name, data["started_ms"], tags)
            self.journal.save()
        return str(data["run_id"])

    def _find_or_make(self, key: str, name: str, started_ms: int, tags: Mapping[str, str]) -> str:
        found = self._search(key)
        if not found:
            every = {**tags, KEY: key, "mlflow.runName": name, "mlflow.source.name": "headrace", "mlflow.user": "headrace"}
            self._client.call("POST", "/api/2.0/mlflow/runs/create", {
                "experiment_id": self.journal.data["experiment_id"], "start_time": started_ms, "run_name": name, "tags": _pairs(every)})
            found = self._search(key)
            if not found:
                raise Unavailable(f"{self._client.url}: does not have the run that it has just made")
        return found[0]

    def _search(self, key: str) -> list[str]:
        answer = self._client.call("POST", "/api/2.0/mlflow/runs/search", {
            "experiment_ids": [self.journal.data["experiment_id"]], "filter": f"tags.`{KEY}` = '{key}'", "run_view_type": "ACTIVE_ONLY"})
        return sorted(_field(run, "info", "run_id") for run in _list(answer, "runs"))

    def drop_twins(self) -> None:
        """Runs that a call made whose answer a killed follower didn't live to see, while the next one made its own."""
        for run_id in self._search(self.journal.data["run_key"]):
            if run_id != self.journal.data["run_id"]:
                self._client.call("POST", "/api/2.0/mlflow/runs/delete", {"run_id": run_id})

    def put(self, points: Iterable[Mapping[str, Any]], again: bool = False) -> None:
        """Figures of steps: `step`, `at_ms`, `values`. `again`: the server may have some of them."""
        metrics = [{"key": allowed.plain_name(key), "value": value, "timestamp": point["at_ms"], "step": point["step"]}
                   for point in points for key, value in point["values"].items()]
        self.log({"metrics": self._missing(metrics) if again else metrics})

    def _missing(self, metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those that the server lacks. Histories are read of keys alone whose last step shows that it may have some."""
        run = self._client.call("GET", "/api/2.0/mlflow/runs/get", query={"run_id": self.journal.data["run_id"]})
        data = _mapping(_mapping(run.get("run")).get("data"))
        last = {str(one.get("key")): _place(one)[0] for one in map(_mapping, _list(data, "metrics"))}
        first: dict[str, int] = {}
        for one in metrics:
            first[one["key"]] = min(first.get(one["key"], one["step"]), one["step"])
        there = {key: self._history(key) for key, step in first.items() if last.get(key, -1) >= step}
        return [one for one in metrics if (one["step"], one["value"]) not in there.get(one["key"], ())]

    def _history(self, key: str) -> set[tuple[int, float]]:
        """(step, value) of all that the server has of a key."""
        found: set[tuple[int, float]] = set()
        query = {"run_id": self.journal.data["run_id"], "metric_key": key, "max_results": str(PAGE)}
        for _ in range(PAGES):
            answer = self._client.call("GET", "/api/2.0/mlflow/metrics/get-history", query=query)
            found |= {_place(one) for one in map(_mapping, _list(answer, "metrics"))}
            token = answer.get("next_page_token")
            if not token:
                return found
            query["page_token"] = str(token)
        raise Unavailable(f"{self._client.url}: its history of {key} has no end")

    def upload_tables(self, tables: Mapping[str, Table]) -> dict[str, str]:
        """The tag by which the server shows them."""
        logged = []
        for name, table in tables.items():
            content = json.dumps({"columns": table.columns, "data": table.rows}).encode()
            path = by_content("tables", name, content, "json")
            if self.upload(path, content):
                logged.append({"path": path, "type": "table"})
        return {"mlflow.loggedArtifacts": json.dumps(logged)} if logged else {}

    def upload(self, path: str, content: bytes) -> bool:
        """Into the run's artefacts, by the server itself. False where it sends its clients to another place for them."""
        data = self.journal.data
        if "artifact_uri" not in data:
            run = self._client.call("GET", "/api/2.0/mlflow/runs/get", query={"run_id": data["run_id"]})
            data["artifact_uri"] = _field(run, "run", "info", "artifact_uri")
            self.journal.save()
        if not data["artifact_uri"].startswith(ARTIFACTS):
            return False
        folder = re.sub(r"^mlflow-artifacts:(//[^/]*)?/+", "", data["artifact_uri"])
        self._client.call("PUT", f"/api/2.0/mlflow-artifacts/artifacts/{folder}/{path}", content)
        return True

    def set_status(self, status: str, at_ms: Optional[int]) -> None:
        data = self.journal.data
        if data.get("status") == status and at_ms is None:
            return
        change = {"run_id": data["run_id"], "status": status, **({"end_time": at_ms} if at_ms else {})}
        self._client.call("POST", "/api/2.0/mlflow/runs/update", change)
        data["status"] = status
        self.journal.save()

    def log(self, lists: Mapping[str, list[Any]]) -> None:
        """`lists`: what the server's log-batch takes: metrics, params, tags."""
        for kind, entries in lists.items():
            at_once = METRICS if kind == "metrics" else PAIRS
            for start in range(0, len(entries), at_once):
                self._client.call("POST", "/api/2.0/mlflow/runs/log-batch",
                                  {"run_id": self.journal.data["run_id"], kind: entries[start:start + at_once]})

    def tag(self, tags: Mapping[str, str]) -> None:
        self.log({"tags": _pairs(tags)})

    def place(self) -> str:
        """Where a person finds it."""
        data = self.journal.data
        return f"{self._target.url}/#/experiments/{data['experiment_id']}/runs/{data['run_id']}"


def experiment_id(client: Client, name: str) -> str:
    """Found or made. Errors: Unavailable, Refused."""
    try:
        found = client.call("GET", "/api/2.0/mlflow/experiments/get-by-name", query={"experiment_name": name})
        return _field(found, "experiment", "experiment_id")
    except Refused as refused:
        if refused.code != "RESOURCE_DOES_NOT_EXIST":
            raise
    try:
        return _field(client.call("POST", "/api/2.0/mlflow/experiments/create", {"name": name}), "experiment_id")
    except Refused as refused:
        if refused.code == "RESOURCE_ALREADY_EXISTS":  # made by another follower meanwhile
            raise Unavailable(str(refused)) from None
        raise


def _field(answer: Any, *path: str) -> str:
    """Text at this path. Errors: Unavailable: a server that answers something else."""
    for key in path:
        answer = answer.get(key) if isinstance(answer, Mapping) else None
    if not isinstance(answer, str) or not answer:
        raise Unavailable(f"the answer has no {'.'.join(path)}")
    return answer


def _list(answer: Mapping[str, Any], key: str) -> list[Any]:
    """Empty where the answer has none. Errors: Unavailable."""
    found = answer.get(key, [])
    if not isinstance(found, list):
        raise Unavailable(f"the answer's {key} is not a list")
    return found


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _place(metric: Mapping[str, Any]) -> tuple[int, float]:
    """Step and value. Errors: Unavailable."""
    try:
        return int(metric.get("step", 0)), float(metric.get("value", "nan"))
    except (TypeError, ValueError, OverflowError):
        raise Unavailable("the answer has a figure that is none") from None


def _pairs(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value[:LONGEST]} for key, value in tags.items()]


def by_content(folder: str, name: str, content: bytes, suffix: str) -> str:
    """A name that differs where the content does: sent again, it takes its own place."""
    return f"{folder}/{name}-{hashlib.sha256(content).hexdigest()[:12]}.{suffix}"
