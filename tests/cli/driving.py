"""Drives the built program as a user does. HEADRACE names another one than build/headrace."""
import csv
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
PROGRAM = Path(os.environ.get("HEADRACE", ROOT / "build/headrace")).resolve()


def run_tool(name, *arguments, codes=(0,), given=None, text=True):
    """Runs a program of the tests alone, which is built beside the one that is tested; gives what it printed. `given`: its standard input."""
    path = PROGRAM.parent / name
    assert path.exists(), f"{path} is missing: build the target {name}, or set HEADRACE"
    done = subprocess.run([path, *map(str, arguments)], input=given, capture_output=True, text=text, timeout=600)
    assert done.returncode in codes, f"{name}: exit code {done.returncode}, expected {codes}\n{done.stderr}{done.stdout[:200]}"
    return done


def headrace(*arguments, code=0, cwd=None, environment=None, seconds=600):
    """Runs the program, checks its exit code, and gives what it printed."""
    assert PROGRAM.exists(), f"{PROGRAM} is not there; run `make`, or set HEADRACE"
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=seconds,
                          env=os.environ | (environment or {}))
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}\n{done.stderr[-3000:]}{done.stdout[-500:]}"
    return done


def sentence_of(done):
    """The sentence on standard error; it must be one line that names the program."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("headrace: ")]
    assert len(lines) == 1, f"expected one sentence, found:\n{done.stderr}"
    return lines[0]


def message_of(done):
    """The same of a program that printed nothing else."""
    assert done.stdout == ""
    return sentence_of(done)


def version_of(store, version=None):
    """What a version of a store says, or the current one."""
    store = Path(store)
    return json.loads((store / f"versions/{version or json.loads((store / 'manifest.json').read_text())['dataset_hash']}.json").read_text())


def label_group(store, image, labels="annotation"):
    """The folder of an image's label image in the current version."""
    return f"images/{image}/labels/{version_of(store)['images'][image]['labels'][labels]['group']}"


def json_of(*arguments, **options):
    return json.loads(headrace(*arguments, "--json", **options).stdout)


def rows_of(table):
    with open(table, newline="") as file:
        return list(csv.DictReader(file))


def write_table(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def few_nuclei(folder, count_train=4, count_val=2):
    """A cohort table of a few of the annotated images, with absolute paths."""
    rows = rows_of(SAMPLES / "nuclei/cases.csv")
    chosen = [r for r in rows if r["split"] == "train"][:count_train] + [r for r in rows if r["split"] == "val"][:count_val]
    for row in chosen:
        row["file"], row["annotation"] = (str(SAMPLES / "nuclei" / row[key]) for key in ("file", "annotation"))
    return write_table(folder / "cases.csv", chosen)


CHAIN = """transforms:
  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}
  - elastic: {grid: 8, magnitude_um: 4, probability: 0.5}
  - stain_normalize: {method: macenko, reference: builtin}
  - hed_jitter: {sigma: 0.05}
  - color_jitter: {brightness: 0.25, contrast: 0.25, saturation: 0.25, hue: 0.04}
  - gaussian_noise: {sigma: [0, 0.02], probability: 0.5}
  - normalize: {mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}
"""


def write_config(path, store, patch=64, extra="", transforms=CHAIN, batches=3):
    path.write_text(f"task: segmentation\ndata: {{store: {store}}}\npatch: {{size: [{patch}, {patch}], mpp: 0.5}}\n"
                    f"sampling: {{seed: 7, batch: 4, batches_per_epoch: {batches}}}\n{transforms}{extra}")
    return path
