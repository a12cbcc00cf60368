"""A raw data set of nnU-Net from phantoms, planned, preprocessed and prepared: what both programs of this folder work on.

Usage: python data.py --headrace build/headrace --out FOLDER [--count 6] [--size 128] [--seed 11] [--patch 64,96,64] [--small]

Needs nnunetv2 and headrace in this Python. FOLDER gets nnUNet_raw, nnUNet_preprocessed and nnUNet_results. `--small`: a network
that a CPU can train.
"""
import argparse
import csv
import json
import os
import shutil
import subprocess
from pathlib import Path

NAME, NUMBER = "Dataset901_Phantom", 901
SMALL = {"n_stages": 4, "features_per_stage": [8, 16, 32, 32], "kernel_sizes": [[3, 3, 3]] * 4, "strides": [[1, 1, 1]] + [[2, 2, 2]] * 3,
         "n_conv_per_stage": [2] * 4, "n_conv_per_stage_decoder": [2] * 3}


def variables(folder):
    return {name: str(Path(folder) / name) for name in ("nnUNet_raw", "nnUNet_preprocessed", "nnUNet_results")} | {
        "nnUNet_def_n_proc": "1", "nnUNet_compile": "f", "OMP_NUM_THREADS": "1"}


def write_raw(headrace, folder, count, size, seed):
    phantoms = folder / "phantoms"
    subprocess.run([headrace, "phantom", "volumes", "--out", phantoms, "--count", str(count), "--size", str(size), "--seed", str(seed)], check=True)
    raw = folder / "nnUNet_raw" / NAME
    for part in ("imagesTr", "labelsTr"):
        (raw / part).mkdir(parents=True)
    for other in ("nnUNet_preprocessed", "nnUNet_results"):
        (folder / other).mkdir()
    with open(phantoms / "cases.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    for row in rows:
        shutil.copyfile(phantoms / row["file"], raw / "imagesTr" / f"{row['image']}_0000.nii.gz")
        write_labels(phantoms / row["file"], phantoms / row["labels"], raw / "labelsTr" / f"{row['image']}.nii.gz")
    (raw / "dataset.json").write_text(json.dumps({"channel_names": {"0": "CT"}, "labels": {"background": 0, "body": 1, "colon": 2, "lesion": 3},
                                                  "numTraining": len(rows), "file_ending": ".nii.gz"}))
    patients = sorted({row["case"] for row in rows})
    held = set(patients[-max(1, len(patients) // 4):])
    split = {"train": [row["image"] for row in rows if row["case"] not in held], "val": [row["image"] for row in rows if row["case"] in held]}
    (folder / "nnUNet_preprocessed" / NAME).mkdir()
    (folder / "nnUNet_preprocessed" / NAME / "splits_final.json").write_text(json.dumps([split]))


def write_labels(image, labels, out):
    """The phantom's colon and lesions, and, so that a short training learns something, whatever else is denser than -300 HU as body."""
    import SimpleITK as sitk
    scan, truth = sitk.ReadImage(str(image)), sitk.ReadImage(str(labels), sitk.sitkUInt8)
    own = sitk.GetArrayFromImage(truth)
    values = sitk.GetImageFromArray((own + (own > 0) + ((own == 0) & (sitk.GetArrayFromImage(scan) > -300))).astype("uint8"))
    values.CopyInformation(scan)
    sitk.WriteImage(values, str(out))


def plan(folder, patch, small):
    from nnunetv2.experiment_planning.plan_and_preprocess_api import extract_fingerprints, plan_experiments, preprocess
    extract_fingerprints([NUMBER], num_processes=1)
    plan_experiments([NUMBER])
    path = folder / "nnUNet_preprocessed" / NAME / "nnUNetPlans.json"
    plans = json.loads(path.read_text())
    full = plans["configurations"]["3d_fullres"]
    if patch:
        full["patch_size"] = patch
    if small:
        full["architecture"]["arch_kwargs"].update(SMALL)
    path.write_text(json.dumps(plans, indent=1))
    preprocess([NUMBER], configurations=["3d_fullres"], num_processes=[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--headrace", default="build/headrace")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--patch", help="of 3d_fullres instead of the planned one: z,y,x of the network")
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True)
    os.environ.update(variables(options.out))  # before nnunetv2 is imported
    write_raw(options.headrace, options.out, options.count, options.size, options.seed)
    plan(options.out, [int(edge) for edge in options.patch.split(",")] if options.patch else None, options.small)
    from headrace import nnunet
    nnunet.prepare(NUMBER, progress=False)
    nnunet.install(options.out / "trainers")


if __name__ == "__main__":
    main()
