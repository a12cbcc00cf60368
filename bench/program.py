"""Runs the program and reads what it measured of itself."""
import json
import subprocess
import tempfile

import numpy as np


def bench(context, what, config, count):
    """{"cpu_s", "wall_s"} of `count` items, without the program's start-up."""
    done = subprocess.run([context.headrace, "bench", what, "--config", str(config), "--count", str(count),
                           "--threads", str(context.threads), "--json"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    result = json.loads(done.stdout)
    if result["items"] != count:
        raise SystemExit(f"asked for {count} items, measured {result['items']}")
    return {"cpu_s": result["cpu_ms_per_item"] * count / 1e3, "wall_s": result["wall_ms_per_item"] * count / 1e3}


def read(context, store, y, x, size=512, level=0):
    with tempfile.NamedTemporaryFile(suffix=".npy") as out:
        subprocess.run([context.headrace, "read", str(store), "slide20k", "--level", str(level), "--origin", f"{y},{x}",
                        "--size", f"{size},{size}", "--out", out.name], check=True, capture_output=True)
        pixels = np.load(out.name)
    return pixels.transpose(1, 2, 0) if pixels.shape[0] == 3 else pixels
