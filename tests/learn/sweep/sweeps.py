"""Sweeps of a tiny training, and what is compared between them."""
import json
import os
import signal
import subprocess
import time

from driving import PROGRAM, headrace

CONFIG = """task: segmentation
data: {{store: {store}}}
patch: {{size: [32, 32], mpp: 0.5}}
sampling: {{batch: 2, batches_per_epoch: {batches}}}
transforms:
  - affine: {{rotate_deg: [-180, 180], flip: true}}
  - normalize: {{mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}}
model: {{name: unet2d, widths: [8, 16]}}
train: {{epochs: {epochs}, lr: 1.0e-3, checkpoint_every: {batches}, log_every: 1}}
loader: {{threads: 1, prefetch: 2}}
eval: {{overlap: 0}}
"""
SEARCH = """config: run.yaml
search:
  train.lr: {log: [1.0e-4, 1.0e-2]}
  model.widths: [[8, 16], [16, 16]]
threads_per_trial: 1
"""


def write_sweep(folder, store, text, batches=2, epochs=1):
    folder.mkdir(exist_ok=True)
    (folder / "run.yaml").write_text(CONFIG.format(store=store, batches=batches, epochs=epochs))
    path = folder / "sweep.yaml"
    path.write_text(text)
    return path


def leases(folder):
    """Its own, so that a test waits for no other one."""
    return {"HEADRACE_LEASES": str(folder)}


def without_time(value):
    if isinstance(value, dict):
        return {key: without_time(one) for key, one in value.items() if key != "time"}
    return [without_time(one) for one in value] if isinstance(value, list) else value


def outcome(out):
    """All that a sweep found, without times."""
    return without_time(json.loads((out / "sweep.json").read_text()))


def sweep(path, out, *options, environment=None, **others):
    return headrace("sweep", path, "--out", out, *options, environment=environment or leases(path.parent / "leases"), **others)


def killed(path, out, ended, after_s, *options):
    """A sweep that gets SIGKILL so long after so many of its trials have ended, and one more is begun; gives whether it was still running."""
    process = subprocess.Popen([PROGRAM, "sweep", path, "--out", out, *map(str, options)], env=os.environ | leases(path.parent / "leases"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def states():
        return [json.loads(file.read_text())["state"] for file in out.glob("trials/*/trial.json")]
    deadline = time.time() + 120
    while process.poll() is None and not (sum(state != "chosen" for state in states()) >= ended and "chosen" in states()):
        assert time.time() < deadline
        time.sleep(0.01)
    time.sleep(after_s)
    process.kill()
    return process.wait(timeout=60) == -signal.SIGKILL


def trainings(out):
    return processes_of("train", out)


def processes_of(command, out):
    """Numbers of the processes that run this command for a sweep."""
    found = []
    for process in os.listdir("/proc"):
        try:
            words = open(f"/proc/{process}/cmdline", "rb").read().split(b"\0")
        except (OSError, NotADirectoryError):
            continue
        if command.encode() in words and any(word.startswith(os.fsencode(str(out))) for word in words):
            found.append(int(process))
    return found
