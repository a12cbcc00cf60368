"""To an MLflow server by its REST interface.

The same (key, timestamp, step, value) sent twice is stored once there, and so are parameters and tags, so a batch whose fate is not known is sent
again as it was. A run is not: it is made with a key of ours as a tag, and looked for by that key before another one is made.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Optional

from .. import _command
from . import allowed
from .client import Client, Refused, Unavailable
from .feed import Feed, Final
from .group import Group
from .journal import Journal, Lock
from .target import Target

METRICS, PAIRS = 900, 100  # of one request; the server takes 1000 and 100
KEY = "headrace.run_key"
LONGEST = 5000  # characters of a tag or parameter, which older servers cut at 6000
ARTIFACTS = "mlflow-artifacts:"


class MlflowSink:
    """One run of a server."""

    live = True

    def __init__(self, feed: Feed, target: Target, journal: Journal, group: Optional[Group], client: Optional[Client] = None) -> None:
        self._feed, self._target, self._journal, self._group = feed, target, journal, group
        self._client = client or Client(target.url, target.ca_file)

    def open(self, started_ms: int) -> None:
        """Finds or makes experiment and run, and sends config and hashes. May be called again. Errors: Unavailable, Refused."""
        data = self._journal.data
        if "run_id" not in data:
            data.setdefault("run_key", uuid.uuid4().hex)
            data.setdefault("started_ms", started_ms)
            self._journal.save()
            tags = self._feed.tags()
            if self._group is not None:
                tags["mlflow.parentRunId"] = self._parent(data["started_ms"])
                tags["headrace.group"] = self._group.name
            data["experiment_id"] = experiment_id(self._client, self._target.experiment)
            name = self._group.member if self._group is not None else self._feed.run.resolve().name
            data["run_id"] = self._find_or_make(data["run_key"], name, data["started_ms"], tags)
            self._journal.save()
        if not data.get("described"):
            parameters = [{"key": allowed.plain_name(key), "value": value[:LONGEST]} for key, value in self._feed.parameters().items()]
            try:
                self._log({"params": parameters}, PAIRS)
            except Refused as refused:  # it keeps the first value: sent before a kill, and changed by a resume
                _command.say(f"{refused}; the run's parameters there are not all as they are now", warning=True)
            self._log({"tags": _pairs(self._feed.tags())}, PAIRS)
            data["described"] = True
            self._journal.save()
        self._status("RUNNING", None)

    def _parent(self, started_ms: int) -> str:
        """The run that holds the group's; the first of its runs makes it."""
        assert self._group is not None
        folder = self._group.folder / "tracking"
        lock = Lock(folder, self._target.file_name)
        if not lock.take(60):
            raise Unavailable(f"{folder}: another follower makes the group's run")
        try:
            journal = Journal(folder, self._target)
            data = journal.data
            if "run_id" not in data:
                data.setdefault("run_key", uuid.uuid4().hex)
                data.setdefault("started_ms", started_ms)
                journal.save()
                data["experiment_id"] = self._journal.data["experiment_id"] = experiment_id(self._client, self._target.experiment)
                data["run_id"] = self._find_or_make(data["run_key"], self._group.name, data["started_ms"], {"headrace.group": self._group.name})
                journal.save()
            return str(data["run_id"])
        finally:
            lock.release()

    def _find_or_make(self, key: str, name: str, started_ms: int, tags: Mapping[str, str]) -> str:
        found = self._search(key)
        if not found:
            every = {**tags, KEY: key, "mlflow.runName": name, "mlflow.source.name": "headrace", "mlflow.user": "headrace"}
            self._client.call("POST", "/api/2.0/mlflow/runs/create", {
                "experiment_id": self._journal.data["experiment_id"], "start_time": started_ms, "run_name": name, "tags": _pairs(every)})
            found = self._search(key)
            if not found:
                raise Unavailable(f"{self._client.url}: does not have the run that it has just made")
        return found[0]

    def _search(self, key: str) -> list[str]:
        answer = self._client.call("POST", "/api/2.0/mlflow/runs/search", {
            "experiment_ids": [self._journal.data["experiment_id"]], "filter": f"tags.`{KEY}` = '{key}'", "run_view_type": "ACTIVE_ONLY"})
        return sorted(_field(run, "info", "run_id") for run in answer.get("runs", []))

    def _drop_twins(self) -> None:
        """Runs that a call made whose answer a killed follower didn't live to see, while the next one made its own."""
        for run_id in self._search(self._journal.data["run_key"]):
            if run_id != self._journal.data["run_id"]:
                self._client.call("POST", "/api/2.0/mlflow/runs/delete", {"run_id": run_id})

    def put(self, points: Iterable[Mapping[str, Any]]) -> None:
        """Figures of steps: `step`, `at_ms`, `values`. Errors: Unavailable, Refused."""
        self._log({"metrics": [{"key": allowed.plain_name(key), "value": value, "timestamp": point["at_ms"], "step": point["step"]}
                               for point in points for key, value in point["values"].items()]}, METRICS)

    def finish(self, final: Final, at_ms: int) -> None:
        """Figures, tables, pictures and artefacts of the run's end. May be called again. Errors: Unavailable, Refused."""
        self.put([{"step": final.step, "at_ms": at_ms, "values": final.values}])
        tags = self._feed.tags() | {f"headrace.sha256.{name}": digest for name, digest in final.artefacts.items()}
        logged = []
        for name, table in final.tables.items():
            content = json.dumps({"columns": table.columns, "data": table.rows}).encode()
            path = _by_content("tables", name, content, "json")
            if self._upload(path, content):
                logged.append({"path": path, "type": "table"})
        for picture in final.pictures:
            content = picture.read_bytes()
            self._upload(_by_content("pictures", picture.stem, content, "png"), content)
        for name in self._target.upload:
            file = self._feed.run / name
            if file.is_file():
                self._upload(name, file.read_bytes())
        if logged:
            tags["mlflow.loggedArtifacts"] = json.dumps(logged)
        self._log({"tags": _pairs(tags)}, PAIRS)

    def _upload(self, path: str, content: bytes) -> bool:
        """Into the run's artefacts, by the server itself. False where it sends its clients to another place for them."""
        data = self._journal.data
        if "artifact_uri" not in data:
            run = self._client.call("GET", "/api/2.0/mlflow/runs/get", query={"run_id": data["run_id"]})
            data["artifact_uri"] = _field(run, "run", "info", "artifact_uri")
            self._journal.save()
        if not data["artifact_uri"].startswith(ARTIFACTS):
            return False
        folder = re.sub(r"^mlflow-artifacts:(//[^/]*)?/+", "", data["artifact_uri"])
        self._client.call("PUT", f"/api/2.0/mlflow-artifacts/artifacts/{folder}/{path}", content)
        return True

    def end(self, status: str, at_ms: Optional[int]) -> None:
        """FINISHED or KILLED; RUNNING leaves it open. Errors: Unavailable, Refused."""
        self._drop_twins()
        self._status(status, at_ms)
        if self._group is not None and status == "FINISHED" and self._group.all_finished():
            parent = Journal(self._group.folder / "tracking", self._target).data
            self._client.call("POST", "/api/2.0/mlflow/runs/update", {"run_id": parent["run_id"], "status": "FINISHED", "end_time": at_ms})

    def _status(self, status: str, at_ms: Optional[int]) -> None:
        data = self._journal.data
        if data.get("status") == status:
            return
        change = {"run_id": data["run_id"], "status": status, **({"end_time": at_ms} if at_ms else {})}
        self._client.call("POST", "/api/2.0/mlflow/runs/update", change)
        data["status"] = status
        self._journal.save()

    def _log(self, lists: Mapping[str, list[Any]], at_once: int) -> None:
        for kind, entries in lists.items():
            for start in range(0, len(entries), at_once):
                self._client.call("POST", "/api/2.0/mlflow/runs/log-batch",
                                  {"run_id": self._journal.data["run_id"], kind: entries[start:start + at_once]})

    def place(self) -> str:
        """Where a person finds it."""
        data = self._journal.data
        return f"{self._target.url}/#/experiments/{data['experiment_id']}/runs/{data['run_id']}"

    def close(self) -> None:
        self._client.close()


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


def _pairs(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value[:LONGEST]} for key, value in tags.items()]


def _by_content(folder: str, name: str, content: bytes, suffix: str) -> str:
    """A name that differs where the content does: sent again, it takes its own place."""
    return f"{folder}/{name}-{hashlib.sha256(content).hexdigest()[:12]}.{suffix}"
