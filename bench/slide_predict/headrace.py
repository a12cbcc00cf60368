"""Ours: the slide is ingested aside, its tiles go through the loader, and a result is written, as `headrace predict` does; the network is
replaced by bench_predict_path, which `make bench` builds beside the program."""
import json
import shutil
import subprocess
import time
from pathlib import Path

from measure import usage_s

PACKAGES = ()
NOTE = "ingest of the file included; findings, class map with levels, and probabilities"

CONFIG = """task: gleason
data: {{store: {store}, train: train, val: val}}
patch: {{size: [256, 256], mpp: 0.5}}
sampling: {{seed: 5, batch: 2, batches_per_epoch: 2}}
transforms:
  - normalize: {{mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}}
model: {{name: unet2d, widths: [8, 8]}}
train: {{epochs: 1, lr: 4.0e-3, threads: 1, validate_every: 0}}
eval: {{overlap: 0.25, batch: 8}}
loader: {{threads: 1, prefetch: 4}}
"""


def trained_run(context):
    """A run of six classes, made once: only its config matters."""
    folder = context.data / "predict-run"
    if not (folder / "run/final.safetensors").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "run.yaml").write_text(CONFIG.format(store=folder / "s.zarr"))
        for arguments in (["phantom", "slides", "--out", folder / "in", "--count", "4", "--size", "1024"],
                          ["ingest", "slides", folder / "in/slides", "--table", folder / "in/cases.csv", "--out", folder / "s.zarr"],
                          ["train", "--config", folder / "run.yaml", "--out", folder / "run"]):
            subprocess.run([context.headrace, *arguments], check=True, capture_output=True)
    return folder / "run"


def predict(context, out):
    run, store = trained_run(context), Path(f"{out}.zarr")
    shutil.rmtree(store, ignore_errors=True)
    cpu, wall = usage_s(), time.perf_counter()
    subprocess.run([context.headrace, "ingest", "slides", context.slide, "--out", store, "--jobs", str(context.threads)], check=True,
                   capture_output=True)
    cpu, wall = usage_s() - cpu, time.perf_counter() - wall
    tool = Path(context.headrace).parent / "bench_predict_path"
    done = subprocess.run([tool, run, store, out, "1", str(context.threads)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    measured = json.loads(done.stdout)
    whole = measured["whole"]
    return {"patches": measured["tiles"], "cpu_s": cpu + whole["cpu_s"][0], "wall_s": wall + whole["wall_s"][0]}
