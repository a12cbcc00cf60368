"""Runs on a real MLflow server, read back by its REST interface and from its database."""
import fcntl
import hashlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter

from driving import PROGRAM, headrace, sentence_of
from headrace.track import trained
from killed_training import train_killed_and_resumed
from matrices import ALL, times
from promoted_runs import weights_identity
from trackers import Follower, MlflowServer, copied, entry, expected_points, flat, lines_of, long_lines, params_of, small_config, tags_of, track


def test_a_finished_run_once_and_in_order(trained_run, mlflow, tmp_path):
    run = copied(trained_run, tmp_path / "patient-smith")
    for _ in range(3):  # the second and third have nothing to send
        track(run, "--to", "mlflow", "--url", mlflow.url, "--experiment", "once")
    stored = mlflow.run("once")
    assert stored["info"]["status"] == "FINISHED"
    history = mlflow.history(stored)
    assert max(Counter((name, step) for name, step, _, _ in history).values()) == 1
    got = {(name, step): value for name, step, value, _ in history if name.split("/")[0] in ("train", "val", "time")}
    assert got == expected_points(run)
    for name in {name for name, _, _, _ in history}:
        steps = [step for key, step, _, _ in history if key == name]
        assert steps == sorted(steps)
    moments = {step: at for name, step, _, at in history if name == "train/loss"}
    assert moments == {line["step"]: round(1000 * line["time"]["at"]) for line in lines_of(run) if "loss" in line}
    evaluation = json.loads((run / "eval.json").read_text())
    final = {name: value for name, _, value, _ in history if name.startswith("final/")}
    for path in ("mean_dice", "dice", "iou", "accuracy"):
        for name, value in flat(evaluation["overall"][path], f"final/{path}").items():
            assert final[name] == value
    tags, facts = tags_of(stored), json.loads((run / "run.json").read_text())
    assert tags["headrace.config_hash"] == facts["config_hash"] and tags["headrace.dataset_hash"] == facts["dataset_hash"]
    assert tags["headrace.code_version"] == facts["code_version"]
    assert tags["headrace.weights_sha256"] == weights_identity(run / "final.safetensors")
    assert params_of(stored)["train.lr"] == "0.001" and params_of(stored)["patch.size"] == "64, 64"


def test_tables_on_the_server(trained_run, mlflow, tmp_path):
    run = copied(trained_run, tmp_path / "run")
    track(run, "--to", "mlflow", "--url", mlflow.url, "--experiment", "tables", "--pictures")
    stored = mlflow.run("tables")
    files = mlflow.files(stored)
    evaluation = json.loads((run / "eval.json").read_text())
    (confusion,) = [path for name, path in files.items() if name.startswith("tables/confusion-")]
    table = json.loads(confusion.read_text())
    assert [row[1:] for row in table["data"]] == evaluation["overall"]["matrix"] and table["columns"][1:] == ["called background", "called object"]
    (cohorts,) = [path for name, path in files.items() if name.startswith("tables/by_cohort-")]
    rows = {row[0]: row for row in json.loads(cohorts.read_text())["data"]}
    assert set(rows) == {"all", *(f"cohort-{n}" for n in range(1, len(rows)))}
    assert rows["all"][2] == evaluation["overall"]["mean_dice"]
    pictures = sorted(path.read_bytes() for name, path in files.items() if name.startswith("pictures/"))
    assert pictures == sorted(set(path.read_bytes() for path in run.glob("montage/eval-*.png"))) and pictures
    assert {name.split("/")[0] for name in files} == {"tables", "pictures"}, "artefacts are named, not copied"
    listed = json.loads(tags_of(stored)["mlflow.loggedArtifacts"])
    assert {one["path"] for one in listed} == {name for name in files if name.startswith("tables/")}


def test_names_stay_unless_they_are_asked_for(trained_run, mlflow, tmp_path):
    """Ids, paths and names of groups: looked for in all that the server has."""
    run = copied(trained_run, tmp_path / "run")
    evaluation = json.loads((run / "eval.json").read_text())
    ids = {str(image["image"] if "image" in image else image["id"]) for image in evaluation["images"]} | set(evaluation["cases"])
    cohorts = {name for name in evaluation["cohorts"]}
    track(run, "--to", "mlflow", "--url", mlflow.url, "--experiment", "closed")
    track(run, "--to", "mlflow", "--url", mlflow.url, "--experiment", "open", "--name", "open", "--fields", "cohorts")

    def said(experiment):
        stored = mlflow.run(experiment)
        tables = "".join(path.read_text() for path in mlflow.files(stored).values())
        return json.dumps(stored) + json.dumps(mlflow.history(stored)) + tables

    closed, opened = said("closed"), said("open")
    store = json.loads((run / "run.json").read_text())["store"]
    for word in {*ids, *cohorts, store, str(run.parent)}:
        assert word not in closed, word
    assert ids and all(word not in opened for word in {*ids, store}) and all(f"final/cohorts/{name}/" in opened for name in cohorts)


def test_killed_at_any_moment(trained_run, mlflow, tmp_path):
    """Kills of the follower and three of the server while a run grows, is killed itself and goes on: each point is there once, in order."""
    run = copied(trained_run, tmp_path / "run")
    ends = {name: (run / name).read_bytes() for name in ("summary.json", "eval.json")}
    lines = long_lines(trained_run)
    for name in ("metrics.jsonl", *ends):
        (run / name).unlink()
    moments = random.Random(20261123)

    def grow():
        written, resumes = 0, [97, 211]
        while written < len(lines):
            with open(run / "metrics.jsonl", "a") as file:
                text = json.dumps(lines[written]) + "\n"
                cut = moments.randrange(len(text))  # a reader may see half a line
                file.write(text[:cut])
                file.flush()
                file.write(text[cut:])
            written += 1
            time.sleep(0.03)
            if written in resumes:  # killed and resumed: lines are made again, at other times
                resumes.remove(written)
                written -= 30
                again = [{**line, "time": {**line["time"], "at": line["time"]["at"] + 1e4}} for line in lines[:written]]
                (run / "part").write_text("".join(json.dumps(line) + "\n" for line in again))
                (run / "part").rename(run / "metrics.jsonl")

    growing = threading.Thread(target=grow)
    growing.start()
    keys = entry(url=mlflow.url, experiment="killed", wait_s=60)
    kills, servers = times(12, 4, "kills of a follower"), (3, 6, 9) if ALL else (1, 2, 3)
    for kill in range(kills):
        follower = Follower(run, keys)
        time.sleep(moments.uniform(0.2, 1.5))
        if kill in servers:
            mlflow.kill()
            time.sleep(moments.uniform(0, 0.5))
        follower.kill()
        if kill in servers:
            mlflow.start()
    growing.join(timeout=120)
    assert not growing.is_alive()
    for name, content in ends.items():
        (run / name).write_bytes(content)
    assert Follower(run, keys).finish() == 0, (run / "follower.log").read_text()[-2000:]
    stored = mlflow.run("killed")
    history = [point for point in mlflow.history(stored) if point[0].split("/")[0] in ("train", "val", "time")]
    assert max(Counter((name, step) for name, step, _, _ in history).values()) == 1
    assert {(name, step): value for name, step, value, _ in history} == expected_points(run)
    for wanted in ("train/loss", "val/mean_dice"):
        steps = [step for name, step, _, _ in history if name == wanted]
        assert steps == sorted(steps) and len(steps) == (300 if wanted == "train/loss" else 6)
    assert stored["info"]["status"] == "FINISHED"


def wait_for(run, words):
    """Until the follower's log has so many of its last words."""
    log, deadline = run / "tracking/mlflow.log", time.time() + 60
    while log.read_text().count("sent to mlflow") < words:
        assert time.time() < deadline, log.read_text()
        time.sleep(0.1)


def test_a_training_that_is_killed_and_resumed(nuclei, mlflow, tmp_path):
    """By `tracking:` in its config. The follower of the killed training ends too, that of the resumed one goes on."""
    tracking = f"tracking:\n  - {{to: mlflow, url: \"{mlflow.url}\", experiment: resumed, wait_s: 30}}\n"
    config, run = small_config(tmp_path, nuclei, tracking, batches=6), tmp_path / "run"
    train_killed_and_resumed(config, run)
    wait_for(run, 2)
    stored = mlflow.run("resumed")
    history = [point for point in mlflow.history(stored) if point[0].split("/")[0] in ("train", "val")]
    assert max(Counter((name, step) for name, step, _, _ in history).values()) == 1
    assert {(name, step): value for name, step, value, _ in history} == {
        point: value for point, value in expected_points(run).items() if not point[0].startswith("time/")}
    assert stored["info"]["status"] == "FINISHED"


def test_follow_by_hand(nuclei, mlflow, tmp_path):
    config, run = small_config(tmp_path, nuclei, batches=20), tmp_path / "run"
    training = subprocess.Popen([PROGRAM, "train", "--config", config, "--out", run, "--quiet"])
    deadline = time.time() + 60
    while not (run / "config.json").exists():
        assert time.time() < deadline and training.poll() is None
        time.sleep(0.02)
    track(run, "--follow", "--to", "mlflow", "--url", mlflow.url, "--experiment", "followed")
    assert training.wait(timeout=60) == 0
    assert mlflow.run("followed")["info"]["status"] == "FINISHED"
    assert len({step for name, step, _, _ in mlflow.history(mlflow.run("followed")) if name == "train/loss"}) == 40


def test_folds_and_trials_are_nested(trained_run, mlflow, tmp_path):
    for place in ("five/fold-0", "five/fold-1", "search/trials/0000/run", "search/trials/0001/run"):
        copied(trained_run, tmp_path / place)
    for name in ("five", "search"):
        track(tmp_path / name, "--to", "mlflow", "--url", mlflow.url, "--experiment", name)
        runs = {run["info"]["run_name"]: run for run in mlflow.runs(name)}
        parent = runs.pop(name)
        assert sorted(runs) == (["fold-0", "fold-1"] if name == "five" else ["trial-0000", "trial-0001"])
        assert {tags_of(run)["mlflow.parentRunId"] for run in runs.values()} == {parent["info"]["run_id"]}
        assert {run["info"]["status"] for run in [parent, *runs.values()]} == {"FINISHED"}


def test_a_state_of_another_tracker_is_not_taken(trained_run, mlflow, tmp_path):
    run = copied(trained_run, tmp_path / "run")
    track(run, "--to", "mlflow", "--url", mlflow.url, "--experiment", "one")
    said = sentence_of(track(run, "--to", "mlflow", "--url", mlflow.url, "--experiment", "two", code=2))
    assert "tracking/mlflow.json" in said and "--name" in said


def test_what_is_asked_for_later_is_sent(trained_run, mlflow, tmp_path):
    run = copied(trained_run, tmp_path / "run")
    where = ("--to", "mlflow", "--url", mlflow.url, "--experiment", "more")
    track(run, *where)
    track(run, *where, "--fields", "cohorts")
    cohorts = json.loads((run / "eval.json").read_text())["cohorts"]
    named = {name.split("/")[2] for name, _, _, _ in mlflow.history(mlflow.run("more")) if name.startswith("final/cohorts/")}
    assert cohorts and named >= set(cohorts)


def test_a_run_that_is_judged_otherwise(trained_run, mlflow, tmp_path):
    """Its validations are made anew, of steps that were sent: it gets a run of its own, and that of before stays as it was. Until it has an end by
    the new rules, the one by the old ones is not taken for it."""
    run = copied(trained_run, tmp_path / "run")
    where = ("--to", "mlflow", "--url", mlflow.url, "--experiment", "otherwise")
    track(run, *where)
    before = mlflow.run("otherwise")
    history = mlflow.history(before)
    facts = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**facts, "config_hash": "0" * 64}))
    lines = [line if "validation" not in line else {**line, "validation": {"mean_dice": 0.125}} for line in lines_of(run)]
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    track(run)
    (after,) = [one for one in mlflow.runs("otherwise") if one["info"]["run_id"] != before["info"]["run_id"]]
    assert after["info"]["status"] == "RUNNING" and not [name for name, _, _, _ in mlflow.history(after) if name.startswith("final/")]
    (run / "summary.json").write_text(json.dumps({**json.loads((run / "summary.json").read_text()), "config_hash": "0" * 64}))
    track(run)
    (after,) = [one for one in mlflow.runs("otherwise") if one["info"]["run_id"] != before["info"]["run_id"]]
    assert after["info"]["status"] == "FINISHED" and [name for name, _, _, _ in mlflow.history(after) if name.startswith("final/")]
    got = {(name, step): value for name, step, value, _ in mlflow.history(after) if name.split("/")[0] in ("train", "val", "time")}
    assert got == expected_points(run) and mlflow.history(before) == history
    assert tags_of(after)["headrace.config_hash"] == "0" * 64


def test_the_end_waits_for_the_training(trained_run, mlflow, tmp_path):
    """summary.json is written before the report: what is sent while a training has the folder's lock has no end, which is said, and afterwards all."""
    run = copied(trained_run, tmp_path / "run")
    report = (run / "report.html").read_bytes()
    (run / "report.html").unlink()
    where = ("--to", "mlflow", "--url", mlflow.url, "--experiment", "ends")
    lock = os.open(run, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    assert "a training has the folder" in track(run, *where).stderr
    assert mlflow.run("ends")["info"]["status"] == "RUNNING"
    (run / "report.html").write_bytes(report)
    os.close(lock)
    track(run)
    stored = mlflow.run("ends")
    assert stored["info"]["status"] == "FINISHED" and tags_of(stored)["headrace.sha256.report.html"] == hashlib.sha256(report).hexdigest()


def test_the_lock_where_folders_have_none(tmp_path):
    """As on NFS: of the file alone."""
    assert not trained.is_trained(tmp_path)
    lock = os.open(tmp_path / ".lock", os.O_RDWR | os.O_CREAT)
    assert not trained.is_trained(tmp_path)
    fcntl.flock(lock, fcntl.LOCK_EX)
    assert trained.is_trained(tmp_path)
    os.close(lock)


def test_a_lock_of_another_file_system(tmp_path, monkeypatch):
    """Its folder has the number that the run's has here: told apart by the device."""
    run = tmp_path / "run"
    run.mkdir()
    lock = os.open(run, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    assert trained.is_trained(run)
    with open("/proc/locks") as locks:
        (line,) = [line for line in locks if f":{run.stat().st_ino} " in line]
    major, _, rest = line.split()[5].partition(":")
    (tmp_path / "locks").write_text(line.replace(line.split()[5], f"{int(major, 16) + 1:02x}:{rest}"))
    monkeypatch.setattr("builtins.open", lambda path, real=open, **how: real(tmp_path / "locks" if path == "/proc/locks" else path, **how))
    assert not trained.is_trained(run)
    os.close(lock)


class TestStoreOfFiles:
    """Whose server stores the same figure as often as it is sent."""

    PROGRAM = """
import os, sys
from headrace.track import client, mlflow_run, __main__
part, mlflow_run.PAGE = float(sys.argv.pop(1)), 7
real = client.Client.call
def call(self, method, path, body=None, query=None):
    if path.endswith("log-batch") and body.get("metrics"):
        real(self, method, path, {**body, "metrics": body["metrics"][:round(part * len(body["metrics"]))]}, query)
        os._exit(9)
    return real(self, method, path, body, query)
if part >= 0:
    client.Client.call = call
sys.exit(__main__.main())
"""

    def test_once_whatever_came_through(self, trained_run, tmp_path):
        """The follower ends when the server has a part of a batch, or all of it, and does not know: all points, half of them, those of the end."""
        server = MlflowServer(tmp_path, files=True)
        try:
            run = copied(trained_run, tmp_path / "run")
            for part in (0.4, 1, 1):  # the last: figures of the end
                self.sent(run, server, part, 9)
            self.sent(run, server, -1, 0)
            lines = server.lines(server.run("files"))
            points = {(name, step): value for name, step, value, _ in lines}
            assert len(points) == len(lines), [point for point, count in Counter(line[:2] for line in lines).items() if count > 1]
            assert {point: value for point, value in points.items() if point[0].split("/")[0] in ("train", "val", "time")} == expected_points(run)
            evaluation = json.loads((run / "eval.json").read_text())
            assert {value for (name, _), value in points.items() if name == "final/mean_dice"} == {evaluation["overall"]["mean_dice"]}
            assert server.run("files")["info"]["status"] == "FINISHED"
        finally:
            server.kill()

    def sent(self, run, server, part, code):
        done = subprocess.run([sys.executable, "-c", self.PROGRAM, str(part), run, "--to", "mlflow", "--url", server.url, "--experiment", "files"],
                              capture_output=True, text=True, timeout=120, env=os.environ | {"PYTHONPATH": str(PROGRAM.parent / "python")})
        assert done.returncode == code, done.stderr


def test_killed_while_it_is_judged_anew(trained_run, nuclei, mlflow, tmp_path):
    """By rules that a resume brought: figures by the old ones are gone when the run says that it goes by the new ones, and are sent as no run's."""
    run = copied(trained_run, tmp_path / "run")
    before = json.loads((run / "run.json").read_text())["config_hash"]
    config = small_config(tmp_path, nuclei, "eval: {overlap: 0.25}\n")
    resumed = subprocess.Popen([PROGRAM, "train", "--config", config, "--out", run, "--resume"], stderr=subprocess.DEVNULL)
    deadline = time.time() + 60
    while json.loads((run / "run.json").read_text())["config_hash"] == before:
        assert time.time() < deadline and resumed.poll() is None
        time.sleep(0.002)
    resumed.kill()
    resumed.wait(timeout=60)
    assert not (run / "summary.json").exists() and not (run / "eval.json").exists()
    track(run, "--to", "mlflow", "--url", mlflow.url, "--experiment", "anew")
    stored = mlflow.run("anew")
    assert stored["info"]["status"] == "RUNNING" and not [name for name, _, _, _ in mlflow.history(stored) if name.startswith("final/")]
    headrace("train", "--config", config, "--out", run, "--resume")
    track(run)
    stored = mlflow.run("anew")
    assert stored["info"]["status"] == "FINISHED"
    (final,) = [value for name, _, value, _ in mlflow.history(stored) if name == "final/mean_dice"]
    assert final == json.loads((run / "eval.json").read_text())["overall"]["mean_dice"]
