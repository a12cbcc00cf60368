"""A training that is killed, and goes on."""
import signal
import subprocess
import time

from driving import PROGRAM, headrace


def train_killed_and_resumed(config, run, cwd=None):
    """Kills it after its third line of metrics.jsonl, or lets it end where it is faster; then resumes it."""
    process = subprocess.Popen([PROGRAM, "train", "--config", config, "--out", run], stderr=subprocess.DEVNULL, cwd=cwd)
    deadline = time.time() + 300
    while process.poll() is None and time.time() < deadline:
        if (run / "metrics.jsonl").exists() and (run / "metrics.jsonl").read_bytes().count(b"\n") >= 3:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.002)
    process.wait(timeout=300)
    headrace("train", "--config", config, "--out", run, "--resume", cwd=cwd)
