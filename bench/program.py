"""Runs the program and reads what it measured of itself."""
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np


def bench(context, what, config, count):
    """{"cpu_s", "wall_s"} of `count` items, without the program's start-up."""
    return measured(context, count, what, "--config", str(config))


def bench_read(context, store, image, size, seed, count):
    """The same of patches at the positions of positions.py."""
    return measured(context, count, "read", "--store", str(store), "--image", image, "--size", str(size), "--seed", str(seed))


def measured(context, count, *arguments):
    done = subprocess.run([context.headrace, "bench", *arguments, "--count", str(count), "--threads", str(context.threads), "--json"],
                          capture_output=True, text=True)
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


def read_volume(context, store, image, origin, size):
    with tempfile.NamedTemporaryFile(suffix=".npy") as out:
        subprocess.run([context.headrace, "read", str(store), image, "--origin", ",".join(map(str, origin)), "--size",
                        ",".join(map(str, size)), "--out", out.name], check=True, capture_output=True)
        return np.load(out.name)


def prepare(context, what, out, rounds):
    """bench_volume_prepare, which `make bench` builds beside the program."""
    tool = Path(context.headrace).parent / "bench_volume_prepare"
    done = subprocess.run([tool, what, context.data / "ct.npy", out, str(rounds)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def prepare_array(context, what):
    shape, dtype = ((334, 274, 274), np.float32) if what == "resample" else ((200, 512, 512), np.uint8)
    with tempfile.NamedTemporaryFile(suffix=".raw") as out:
        prepare(context, what, out.name, 1)
        return np.fromfile(out.name, dtype).reshape(shape)


def prepare_times(context, what):
    times = prepare(context, what, "-", 3)
    return {name: sorted(values)[1] for name, values in times.items()}
