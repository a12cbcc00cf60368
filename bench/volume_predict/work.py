"""A CT from its file to a class map on its own grid, 200×512×512 int16 of 0.84×0.592×0.715 mm as .nii.gz: voxels to 2 mm, 64³ windows that share a
quarter of their edge, probabilities of 3 classes blended by Gaussian weights (sigma an eighth of the edge) and brought back to the file's grid, the
class with the highest, connected lesions (26 neighbours) of class bone, the map written as .nii.gz. Two threads, page cache warm.

The network is the same for all: a trained unet3d of widths 8, 8 with kernels of one voxel, which takes little time but tells soft tissue and bone
apart. So what is measured is everything around it, and the class maps can be compared: with the labels, and with each other.

A subject gives predictor(context) → f(folder) → (path of the class map, number of lesions).

Usage: python work.py --headrace build/headrace --out bench-out [--data DIR] [--pairs 5] [--ct SCAN.nii.gz]
runs all subjects in turn, each in a process of its own, and prints the CPU seconds a study and the median of the pairs' ratios as JSON. `run.py
--works volume_predict` makes a line of `make bench` of it.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

DATA = "volume"
ITEMS, SLICES, THREADS = 1, 200, 2
BYTES_PER_ITEM = SLICES * 512 * 512 * 2
SPACING_MM, PATCH, OVERLAP, WINDOW_HU = 2.0, 64, 0.25, (-160, 240)
CLASSES, LESION = ("background", "soft", "bone"), 2
# Shares of voxels, below which a subject is wrong. Two differ by some percent here: ours smooths before it makes voxels three times as large, Spacing
# does not, and the CT is as noisy as a scanner's.
RIGHT, ALIKE = 0.8, 0.9
CONFIG = f"""task: colorectal
data: {{{{store: {{store}}, train: train, val: val}}}}
patch: {{{{size: [{PATCH}, {PATCH}, {PATCH}], spacing_mm: [{SPACING_MM}, {SPACING_MM}, {SPACING_MM}]}}}}
sampling: {{{{seed: 7, batch: 2, batches_per_epoch: 60, foreground: 0.8, balance: class}}}}
transforms:
  - window_hu: {{{{low: {WINDOW_HU[0]}, high: {WINDOW_HU[1]}}}}}
model: {{{{name: unet3d, widths: [8, 8], strides: [[1, 1, 1], [2, 2, 2]], kernels: [[1, 1, 1], [1, 1, 1]]}}}}
train: {{{{epochs: 1, lr: 2.0e-2, threads: 1, validate_every: 0}}}}
eval: {{{{overlap: {OVERLAP}, batch: 4, lesion_classes: [{CLASSES[LESION]}], lesion_min_mm3: 50}}}}
loader: {{{{threads: {THREADS}}}}}
"""


def save_nifti(array, path):
    import make_volume
    if not path.exists():
        make_volume.save_nifti(np.ascontiguousarray(array), path)


def study(context):
    """The CT's first 200 slices, made once."""
    folder = context.data / "volume-predict"
    folder.mkdir(exist_ok=True)
    save_nifti(np.load(context.data / "ct.npy", mmap_mode="r")[:SLICES], folder / "study.nii.gz")
    return folder / "study.nii.gz"


def trained_run(context):
    """A run of two boxes from the other slices, made once."""
    folder = context.data / "volume-predict-run"
    if (folder / "run/final.safetensors").exists():
        return folder / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    rows = ["file,labels,split"]
    for split, first in (("train", SLICES), ("val", SLICES + 100)):
        box = slice(first, first + 100), slice(96, 416), slice(96, 416)
        for name in ("ct", "label"):
            save_nifti(np.load(context.data / f"{name}.npy", mmap_mode="r")[box], folder / f"{split}-{name}.nii.gz")
        rows.append(f"{split}-ct.nii.gz,{split}-label.nii.gz,{split}")
    (folder / "cases.csv").write_text("\n".join(rows) + "\n")
    (folder / "run.yaml").write_text(CONFIG.format(store=folder / "s.zarr"))
    for arguments in (["ingest", "volumes", folder / "train-ct.nii.gz", folder / "val-ct.nii.gz", "--table", folder / "cases.csv", "--classes",
                       ",".join(CLASSES), "--lesion-classes", CLASSES[LESION], "--out", folder / "s.zarr"],
                      ["train", "--config", folder / "run.yaml", "--out", folder / "run"]):
        subprocess.run([context.headrace, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)
    return folder / "run"


def class_map(path):
    import nibabel
    return np.asarray(nibabel.load(path).dataobj).transpose(2, 1, 0)


def check(path, context, name):
    """Against the labels, and against the maps of the subjects that were prepared before."""
    import nibabel
    found, expected = class_map(path), np.load(context.data / "label.npy", mmap_mode="r")[:SLICES]
    if found.shape != expected.shape or not np.allclose(nibabel.load(path).affine, nibabel.load(study(context)).affine):
        raise SystemExit(f"the map has shape {found.shape} or another place than the study")
    shares = {"right": float((found == expected).mean())}
    kept = context.data / "volume-predict"
    for other in sorted(kept.glob("map-*.npy")):
        if other.stem != f"map-{name}":
            shares[f"as {other.stem[4:]}"] = float((found == np.load(other, mmap_mode="r")).mean())
    np.save(kept / f"map-{name}.npy", found)
    if shares["right"] < RIGHT or any(share < ALIKE for share in list(shares.values())[1:]):
        raise SystemExit(f"shares of equal voxels: {shares}")
    return {key: round(share, 4) for key, share in shares.items()}


def prepare(subject, context):
    out = context.data / f"predicted-{subject.__name__}"
    study(context)
    predict = subject.predictor(context)

    def once():
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        return predict(out)

    path, lesions = once()
    checked = check(path, context, subject.__name__.removeprefix("bench_volume_predict_"))

    def run():
        once()
    return run, checked | {"lesions": lesions}


def main():
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here.parent))
    import run as bench
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headrace", default="build/headrace", type=lambda path: Path(path).resolve())
    parser.add_argument("--out", default="bench-out", type=lambda path: Path(path).resolve())
    parser.add_argument("--data", type=lambda path: Path(path).resolve(), help="where the CT, the run and results go (default: OUT/data)")
    parser.add_argument("--pairs", default=5, type=int)
    parser.add_argument("--ct", type=Path, help="the CT that the volume is made from (default: one of samples/)")
    options = parser.parse_args()
    options.data = options.data or options.out / "data"
    options.data.mkdir(parents=True, exist_ok=True)
    options.out.mkdir(parents=True, exist_ok=True)
    bench.make_data([here.name], options)
    names = sorted(path.stem for path in here.glob("*.py") if path.stem != "work")
    subjects = [bench.Subject(here.name, name, False, THREADS, options) for name in names]
    missing = [subject.log.name for subject in subjects if not subject.about]
    if missing:
        raise SystemExit(f"did not run: {', '.join(f'{log}: {bench.last_line(log)}' for log in missing)}")
    for turn in range(options.pairs):
        for subject in subjects:
            subject.go()
        print(f"pair {turn + 1} of {options.pairs}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    cpu_s = {subject.name: [round(turn["cpu_s"], 2) for turn in subject.runs] for subject in subjects}
    print(json.dumps({
        "cpu_s": cpu_s, "median_cpu_s": {name: statistics.median(values) for name, values in cpu_s.items()},
        "wall_s": {subject.name: [round(turn["wall_s"], 1) for turn in subject.runs] for subject in subjects},
        "times_ours": {name: round(statistics.median(b / a for a, b in zip(cpu_s["headrace"], values)), 2)
                       for name, values in cpu_s.items() if name != "headrace"},
        "peak_rss_mb": {subject.name: max(turn["peak_rss_mb"] for turn in subject.runs) for subject in subjects},
        "about": {subject.name: subject.about for subject in subjects}, "host": bench.host()}, indent=1))
    for subject in subjects:
        subject.end()


if __name__ == "__main__":
    main()
