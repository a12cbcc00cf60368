"""A training that is tracked and killed again and again, itself or its followers: at the end each figure is there once, in order."""
import json
import os
import random
import signal
import subprocess
import time
from collections import Counter

from driving import PROGRAM, headrace
from matrices import times
from test_track_files import accumulator, measured, scalars
from trackers import expected_points, lines_of, small_config

KILLS = times(5, 3, "kills of trackers", "HEADRACE_KILLS")  # SIGKILLs, of trainings and of followers


def kill_followers(run):
    found = subprocess.run(["pgrep", "-f", f"{run} --entry"], capture_output=True, text=True, timeout=30).stdout.split()
    for process in found:
        os.kill(int(process), signal.SIGKILL)
    return len(found)


def starts_of(run):
    return [json.loads(line)["step"] for line in (run / "starts.jsonl").read_text().splitlines()]


def resume(run):
    """Where every kill came before the training had begun, it begins."""
    return ["--resume"] if (run / "config.json").exists() else []


def untimed(points):
    return {point: value for point, value in points.items() if not point[0].startswith("time/")}


def test_killed_again_and_again(nuclei, mlflow, tmp_path):
    """Times are of the moment a line was made, and a resume makes lines again: they are there once, and not compared."""
    tracking = f"tracking:\n  - {{to: mlflow, url: \"{mlflow.url}\", experiment: kills, wait_s: 60}}\n  - {{to: tensorboard}}\n"
    config, run = small_config(tmp_path, nuclei, tracking, batches=60 * max(KILLS, 5)), tmp_path / "run"
    moments, kills = random.Random(20261124), Counter()
    while sum(kills.values()) < KILLS:
        with open(tmp_path / "said", "ab") as said:
            training = subprocess.Popen([PROGRAM, "train", "--config", config, "--out", run, *resume(run)], stdout=said, stderr=said)
        time.sleep(moments.uniform(0.1, 2.5))
        who = moments.choice(("training", "followers", "both"))
        if who != "training":
            kills["followers"] += kill_followers(run)
        if who == "followers":
            time.sleep(moments.uniform(0, 1))
        training.kill()
        assert training.wait(timeout=60) == -signal.SIGKILL, (tmp_path / "said").read_text()[-2000:] + "\nit ended by itself: give it more to do"
        kills["training"] += 1
    headrace("train", "--config", config, "--out", run, *resume(run))
    deadline = time.time() + 120
    while subprocess.run(["pgrep", "-f", f"{run} --entry"], capture_output=True, timeout=30).returncode == 0:
        assert time.time() < deadline, [log.read_text()[-1000:] for log in run.glob("tracking/*.log")]
        time.sleep(0.2)
    print(f"{dict(kills)}, {len(starts_of(run))} starts from steps {starts_of(run)}, {len(lines_of(run))} lines of figures")

    stored = mlflow.run("kills")
    history = [point for point in mlflow.history(stored) if point[0].split("/")[0] in ("train", "val", "time")]
    assert stored["info"]["status"] == "FINISHED" and max(Counter(point[:2] for point in history).values()) == 1
    got = {(name, step): value for name, step, value, _ in history}
    assert got.keys() == expected_points(run).keys() and untimed(got) == untimed(expected_points(run))
    for wanted in {name for name, _ in got}:
        in_order = [step for name, step, _, _ in history if name == wanted]
        assert in_order == sorted(in_order), wanted

    (file,) = (run / "tracking/tensorboard").iterdir()
    events = accumulator.EventAccumulator(str(file), size_guidance={"scalars": 0}, purge_orphaned_data=False)
    events.Reload()
    got = measured(scalars(events))
    assert got.keys() == expected_points(run).keys()
    for point, value in untimed(expected_points(run)).items():
        assert abs(got[point] - value) <= 1e-6 * abs(value), point  # of float32
    for name in {name for name, _ in got}:
        in_order = [event.step for event in events.Scalars(name)]
        assert in_order == sorted(in_order), name
