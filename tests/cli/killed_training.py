"""A training that is killed, and goes on."""
import signal
import subprocess
import tempfile
import time

from driving import PROGRAM, headrace


def train_killed_and_resumed(config, run, cwd=None):
    """Kills a training in the middle, and resumes it. Fails where it ended by itself before: that would show nothing."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([PROGRAM, "train", "--config", config, "--out", run], stderr=said, cwd=cwd)
        deadline = time.time() + 300
        try:
            while process.poll() is None and not in_the_middle(run):
                assert time.time() < deadline, "300 s without three lines of metrics.jsonl and a checkpoint"
                time.sleep(0.002)
        finally:
            process.kill()  # does nothing to one that has ended
            process.wait(timeout=300)
        said.seek(0)
        ended = said.read().decode(errors="replace")
    assert process.returncode == -signal.SIGKILL, f"it ended by itself, with code {process.returncode}: {ended}"
    assert not (run / "final.safetensors").exists(), "its last step was done: give it more to do"
    headrace("train", "--config", config, "--out", run, "--resume", cwd=cwd)


def in_the_middle(run):
    """Whether it has something to go on from, and some steps beyond that may be done again."""
    metrics = run / "metrics.jsonl"
    return metrics.exists() and metrics.read_bytes().count(b"\n") >= 3 and any(run.glob("checkpoints/step-*.safetensors"))
