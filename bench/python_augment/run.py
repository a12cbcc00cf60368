"""CPU milliseconds of a batch: headrace.augment beside the C++ chain and the peers, all on one thread, taking turns.

Usage: python run.py --chain build/bench/python_augment/bench_python_augment [--rounds 5] [--out results.jsonl]

slides    16 tissue patches of 512², uint8 → float32 (16, 3, 512, 512): affine, elastic, HED, colour jitter, noise, normalisation; beside
          albumentations 2.0.8, and with Macenko normalisation in front beside albumentations behind torchstain, which estimates the
          stains of each patch (we take the slide's, estimated once)
volumes   2 patches of a CT of 96³ with labels: window, turn, scale and flip, elastic, noise, brightness, contrast, gamma, each done to every
          patch; beside batchgeneratorsv2 0.3.6

The chains are those of bench/path_augment and bench/volume_augment. The C++ chain has its windows cut before the clock starts, and writes
into memory that it keeps. Needs the package headrace, and for the peers:
    pip install albumentations==2.0.8 opencv-python-headless torchstain==1.4.1 batchgeneratorsv2==0.3.6 torch
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "samples"
sys.path.insert(0, str(HERE.parent))
from measure import load  # noqa: E402

SLIDES = [
    {"affine": {"rotate_deg": [-180, 180], "scale": [0.8, 1.25], "shear_deg": [-5, 5], "translate": 0.1}},
    {"elastic": {"grid": 21, "magnitude_um": 3}},
    {"hed_jitter": {"sigma": 0.05}},
    {"color_jitter": {"brightness": 0.2, "contrast": 0.2, "saturation": 0.2, "hue": 0.05}},
    {"gaussian_noise": {"sigma": 0.02}},
    {"normalize": {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}},
]
STAINED = [*SLIDES[:2], {"stain_normalize": {}}, *SLIDES[2:]]
VOLUMES = [
    {"window_hu": {"low": -160, "high": 240}},
    {"affine": {"rotate_deg": [-15, 15], "scale": [0.9, 1.1], "flip": True}},
    {"elastic": {"grid": 7, "magnitude_mm": 8}},
    {"gaussian_noise": {"sigma": 0.05}},
    {"brightness": {"factor": [0.8, 1.2], "bg": True}},
    {"contrast": {"factor": [0.8, 1.2], "bg": True}},
    {"gamma": {"gamma": [0.7, 1.5], "retain_stats": True, "bg": True}},
]


def tissue(count=16, edge=512):
    """The darkest patches of a real slide."""
    import openslide
    slide = openslide.OpenSlide(SAMPLES / "slides/CMU-1-Small-Region.svs")
    width, height = slide.dimensions
    corners = [(x, y) for y in range(0, height - edge, 200) for x in range(0, width - edge, 200)]
    patches = [np.asarray(slide.read_region(corner, 0, (edge, edge)).convert("RGB")) for corner in corners]
    return np.stack(sorted(patches, key=lambda patch: float(patch.mean()))[:count])


def volumes(edge=96):
    """Two patches of a real CT and its labels; mirrored where it ends."""
    import nibabel
    scan = SAMPLES / "ct/totalseg-abdomen"
    found = []
    for name, dtype in (("ct", np.int16), ("seg", np.uint8)):
        array = np.asarray(nibabel.load(scan / f"{name}.nii.gz").dataobj).astype(dtype)
        array = np.pad(array, [(0, max(0, edge - n)) for n in array.shape], mode="symmetric")
        found.append(np.ascontiguousarray(np.stack([array[:edge, :edge, :edge], array[-edge:, -edge:, -edge:]])))
    return found


class Chain:
    """The C++ program; it measures itself."""

    def __init__(self, program, entries, images, labels, folder):
        list_file, image_file, label_file = (Path(folder) / name for name in ("list.json", "images.raw", "labels.raw"))
        list_file.write_text(json.dumps({"transforms": entries}))
        images.tofile(image_file)
        self.command = [program, list_file, image_file, str(len(images)), str(images.shape[1]), "5"]
        if labels is not None:
            labels.tofile(label_file)
            self.command.append(label_file)

    def __call__(self):
        done = subprocess.run(self.command, capture_output=True, text=True, timeout=300, check=True)
        return statistics.median(json.loads(done.stdout))


def clocked(work, times=1):
    def measure():
        begin = time.process_time()
        for _ in range(times):
            work()
        return (time.process_time() - begin) * 1e3 / times

    work()
    return measure


def own(entries, images, labels, colour=None):
    import headrace
    transforms = headrace.Transforms(entries, **({"mpp": 0.5} if labels is None else {"spacing": 1}))
    return {"headrace.augment": clocked(lambda: transforms(images, labels, seed=7, threads=1, colour=colour), 5)}


def works(program, folder):
    """{work: {subject: measure}}; the first subject is what the others are compared to."""
    import headrace
    import torch
    torch.set_num_threads(1)
    patches, (hu, labels) = tissue(), volumes()
    path, volume = HERE.parent / "path_augment", HERE.parent / "volume_augment"
    colour = headrace.estimate_colour(np.concatenate(list(patches)))
    chain = load(path / "albumentations.py").chain()
    normal = load(path / "albumentations_torchstain.py").normalizer(patches[0])
    one = load(volume / "batchgeneratorsv2.py").augment(hu.astype(np.float32), labels)

    def prepared(name, *arguments):
        place = Path(folder) / name
        place.mkdir()
        return Chain(program, *arguments, place)

    return {
        "slides": own(SLIDES, patches, None) | {
            "C++ chain": prepared("slides", SLIDES, patches, None),
            "albumentations": clocked(lambda: torch.stack([chain(image=p)["image"] for p in patches]))},
        "stained": own(STAINED, patches, None, colour) | {
            "C++ chain": prepared("stained", STAINED, patches, None),
            "albumentations, torchstain": clocked(lambda: torch.stack([chain(image=normal(p))["image"] for p in patches]))},
        "volumes": own(VOLUMES, hu, labels) | {
            "C++ chain": prepared("volumes", VOLUMES, hu, labels),
            "batchgeneratorsv2": clocked(lambda: [one(i) for i in range(len(hu))])},
    }


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--chain", required=True, type=Path)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        all_works = works(given.chain.resolve(), folder)
        times = {work: {subject: [] for subject in subjects} for work, subjects in all_works.items()}
        for _ in range(given.rounds):
            for work, subjects in all_works.items():
                for subject, measure in subjects.items():
                    times[work][subject].append(measure())
    for work, subjects in times.items():
        first = statistics.median(next(iter(subjects.values())))
        for subject, ms in subjects.items():
            line = {"work": f"python_augment/{work}", "subject": subject, "threads": 1, "rounds": given.rounds,
                    "cpu_ms_per_batch": round(statistics.median(ms), 2), "cpu_ms_per_batch_min": round(min(ms), 2),
                    "cpu_ms_per_batch_max": round(max(ms), 2), "times_ours": round(statistics.median(ms) / first, 2),
                    "loadavg": round(os.getloadavg()[0], 2)}
            print(json.dumps(line), flush=True)
            if given.out:
                with given.out.open("a") as file:
                    file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
