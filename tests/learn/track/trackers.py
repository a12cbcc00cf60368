"""Runs to be tracked, a real MLflow server, and the command."""
import importlib.util
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from driving import PROGRAM, headrace, write_config

SMALL = """model: {name: unet2d, widths: [8, 16]}
train: {epochs: 2, lr: 1.0e-3, checkpoint_every: 2, threads: 1, log_every: 1}
loader: {threads: 1, prefetch: 2}
"""
SERVER = Path(sys.prefix) / "mlflow"  # where tools/deps/install.sh unpacks it


def wandb_reader():
    """The module of W&B's own reader of offline runs, of the last release that has it."""
    path = Path(sys.prefix) / "wandb-reader/wandb/sdk/internal/datastore.py"  # where tools/deps/install.sh unpacks it
    if not path.exists():
        pytest.skip(f"not run: no reader of W&B's offline runs in {path}; tools/deps/install.sh test installs it")
    spec = importlib.util.spec_from_file_location("wandb_datastore", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def small_config(folder, store, extra="", batches=4):
    return write_config(folder / "run.yaml", store, extra=SMALL + extra, batches=batches)


def copied(run, folder):
    """A run of its own, never sent anywhere."""
    shutil.copytree(run, folder)
    shutil.rmtree(folder / "tracking", ignore_errors=True)
    return folder


def lines_of(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def flat(value, name):
    """Numbers of nested mappings by their path, written apart from the package's own."""
    if isinstance(value, dict):
        return {path: number for key, inner in value.items() for path, number in flat(inner, f"{name}/{key}").items()}
    return {name: value} if isinstance(value, (int, float)) and not isinstance(value, bool) else {}


def expected_points(run):
    """{(name, step): value} of training lines and validations, straight from metrics.jsonl."""
    points = {}
    for line in lines_of(run):
        if "validation" in line:
            figures = flat(line["validation"], "val")
        else:
            figures = {f"train/{key}": line[key] for key in ("epoch", "loss", "cross_entropy", "soft_dice", "learning_rate", "gradient_norm")}
            figures |= {f"time/{key}": line["time"][key] for key in ("patches_per_s", "stall_fraction")}
        for name, value in figures.items():
            assert (name, line["step"]) not in points
            points[name, line["step"]] = value
    return points


def long_lines(run, count=300, seed=5):
    """Training lines and, after each 50th, a validation, in the form of the run's own; `at` rises by a second."""
    lines = lines_of(run)
    step_line = next(line for line in lines if "validation" not in line)
    validation = next(line for line in lines if "validation" in line)
    numbers = random.Random(seed)
    out = []
    for step in range(1, count + 1):
        out.append({**step_line, "step": step, "loss": numbers.random(), "time": {**step_line["time"], "at": 1.7e9 + step}})
        if step % 50 == 0:
            out.append({**validation, "step": step, "validation": {"mean_dice": numbers.random(), "dice": {"nucleus": numbers.random()}},
                        "time": {"wall_s": 1.0, "at": 1.7e9 + step + 0.5}})
    return out


def track(*words, code=0, environment=None, seconds=120):
    return headrace("track", *words, code=code, environment=environment, seconds=seconds)


class Follower:
    """A follower as `headrace train` starts it: it knows the training's end by its standard input."""

    def __init__(self, run, entry):
        self._ours, theirs = os.pipe()[::-1]
        self.log = open(run / "follower.log", "ab")
        self.process = subprocess.Popen([PROGRAM, "track", run, "--entry", json.dumps(entry)], stdin=theirs, stdout=self.log, stderr=self.log)
        os.close(theirs)
        theirs = None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)
        self._close()

    def finish(self, seconds=120):
        """The training ends; gives the exit code."""
        self._close()
        return self.process.wait(timeout=seconds)

    def _close(self):
        if self._ours is not None:
            os.close(self._ours)
            self._ours = None
            self.log.close()


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class MlflowServer:
    """`mlflow server` on loopback, with SQLite or a folder of files; kill() and start() as often as wanted."""

    def __init__(self, folder, files=False):
        if not (SERVER / "mlflow").is_dir():
            pytest.skip(f"not run: no MLflow server in {SERVER}; tools/deps/install.sh test installs it")
        self.folder, self.port, self.store = folder, free_port(), folder / "mlruns" if files else f"sqlite:///{folder}/m.db"
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        own = {"PYTHONPATH": str(SERVER), "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
               "MLFLOW_ALLOW_FILE_STORE": "true"}
        command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(self.port), "--workers", "1",
                   "--backend-store-uri", str(self.store), "--artifacts-destination", str(self.folder / "artifacts")]
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log, start_new_session=True)
        deadline = time.time() + 90
        while not self._answers():
            assert self.process.poll() is None and time.time() < deadline, (self.folder / "server.log").read_text()[-2000:]
            time.sleep(0.1)

    def _answers(self):
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=30)

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/2.0/mlflow/{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def runs(self, experiment):
        found = self.ask(f"experiments/get-by-name?experiment_name={experiment}")["experiment"]["experiment_id"]
        return self.ask("runs/search", {"experiment_ids": [found], "max_results": 100}).get("runs", [])

    def run(self, experiment):
        (run,) = self.runs(experiment)
        return run

    def history(self, run):
        """Every stored point in the order in which the server got them: (name, step, value, timestamp)."""
        import sqlite3
        with sqlite3.connect(f"file:{self.folder}/m.db?mode=ro", uri=True) as base:
            return list(base.execute("select key, step, value, timestamp from metrics where run_uuid = ? order by rowid", [run["info"]["run_id"]]))

    def lines(self, run):
        """The same of a store of files, by name: (name, step, value, timestamp)."""
        (folder,) = (self.folder / "mlruns").glob(f"*/{run['info']['run_id']}/metrics")
        points = [(str(file.relative_to(folder)), line.split()) for file in sorted(folder.rglob("*")) if file.is_file()
                  for line in file.read_text().splitlines()]
        return [(name, int(step), float(value), int(at)) for name, (at, value, step) in points]

    def files(self, run):
        folder = self.folder / "artifacts" / run["info"]["experiment_id"] / run["info"]["run_id"] / "artifacts"
        return {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}


def tags_of(run):
    return {tag["key"]: tag["value"] for tag in run["data"].get("tags", [])}


def params_of(run):
    return {one["key"]: one["value"] for one in run["data"].get("params", [])}


def entry(**keys):
    """As `headrace train` gives it to the follower."""
    return {"to": "mlflow", "experiment": "headrace", "wait_s": 30, **keys}
