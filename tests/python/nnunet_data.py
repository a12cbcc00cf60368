"""A small raw data set of nnU-Net from phantoms: bodies that look different on the left and on the right, in the file orders of several scanners."""
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import SimpleITK as sitk
from batches import child_environment
from driving import headrace

NAME = "Dataset901_Phantom"


def phantoms(folder, count=2, seed=11, size=(40, 36, 56)):
    """Parts of CT of `headrace phantom volumes`, 6.25 x 6.25 x 3 mm: pairs of image and labels (background, colon, lesion). size: x, y, z.

    The part is not in the body's middle, so left and right, front and back differ.
    """
    headrace("phantom", "volumes", "--out", folder, "--count", count, "--size", 64, "--seed", seed)
    with open(folder / "cases.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    parts = []
    for row in rows:
        read = [sitk.ReadImage(str(folder / row[key])) for key in ("file", "labels")]
        corner = [min(6, whole - part) for whole, part in zip(read[0].GetSize(), size)]
        parts.append(tuple(sitk.RegionOfInterest(image, size, corner) for image in read))
    return parts


def write_dataset(root, pairs, orders=("LPS",), name=NAME, labels=None, channels=("CT",)):
    """nnUNet_raw/<name> below `root`; case i has its voxels in the order orders[i % len(orders)]. Returns its folder."""
    folder = Path(root) / "nnUNet_raw" / name
    for part in ("imagesTr", "labelsTr"):
        (folder / part).mkdir(parents=True)
    for number, (image, label) in enumerate(pairs):
        order = orders[number % len(orders)]
        for channel in range(len(channels)):
            sitk.WriteImage(sitk.DICOMOrient(image, order), str(folder / "imagesTr" / f"body_{number:03d}_{channel:04d}.nii.gz"))
        sitk.WriteImage(sitk.DICOMOrient(sitk.Cast(label, sitk.sitkUInt8), order), str(folder / "labelsTr" / f"body_{number:03d}.nii.gz"))
    text = {"channel_names": {str(number): channel for number, channel in enumerate(channels)},
            "labels": labels or {"background": 0, "colon": 1, "lesion": 2}, "numTraining": len(pairs), "file_ending": ".nii.gz"}
    (folder / "dataset.json").write_text(json.dumps(text))
    for other in ("nnUNet_preprocessed", "nnUNet_results"):
        (Path(root) / other).mkdir(exist_ok=True)
    return folder


def variables(root):
    """nnU-Net's environment for the folders below `root`; one process for whatever it starts processes for."""
    return {name: str(Path(root) / name) for name in ("nnUNet_raw", "nnUNet_preprocessed", "nnUNet_results")} | {
        "nnUNet_n_proc_DA": "1", "nnUNet_def_n_proc": "1", "nnUNet_compile": "f", "OMP_NUM_THREADS": "1"}


def run_nnunet(root, program, *arguments, code=0, **more):
    """A Python program in nnU-Net's environment, with `more` variables; what it printed."""
    done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, timeout=900,
                          env=child_environment({**variables(root), **more}), cwd=root)
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}\n{done.stdout[-3000:]}\n{done.stderr[-5000:]}"
    return done.stdout + done.stderr


PLAN = """
import sys
from nnunetv2.experiment_planning.plan_and_preprocess_api import extract_fingerprints, plan_experiments, preprocess
from nnunetv2.experiment_planning.plan_and_preprocess_api import *
import json, os
number = int(sys.argv[1])
changes = json.loads(sys.argv[2])
if __name__ == "__main__":
    extract_fingerprints([number], num_processes=1)
    plan_experiments([number])
    folder = next(p for p in os.listdir(os.environ["nnUNet_preprocessed"]) if p.startswith(f"Dataset{number:03d}_"))
    path = os.path.join(os.environ["nnUNet_preprocessed"], folder, "nnUNetPlans.json")
    plans = json.load(open(path))
    plans["configurations"]["3d_fullres"].update(changes)
    json.dump(plans, open(path, "w"), indent=1)
    preprocess([number], configurations=["3d_fullres"], num_processes=[1])
"""


def small_plan(root, number=901, **changes):
    """Plans and preprocesses 3d_fullres; `changes`: keys of the configuration, such as patch_size, before it is preprocessed."""
    return run_nnunet(root, PLAN, number, json.dumps(changes))
