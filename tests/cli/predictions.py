"""Short training runs on phantom slides and on CT, and what is read of their predictions: for the tests of several files."""
import hashlib
import json
from pathlib import Path

import zarr
from ct_inputs import CT
from driving import headrace, write_table

_SLIDES = """task: gleason
data: {{store: {store}, train: train, val: val}}
patch: {{size: [64, 64], mpp: 4.0}}
sampling: {{seed: {seed}, batch: 4, batches_per_epoch: {batches}}}
transforms:
  - stain_normalize: {{}}
model: {{name: unet2d, widths: {widths}}}
train: {{epochs: {epochs}, lr: 4.0e-3, threads: 1, validate_every: 0}}
eval: {{overlap: 0.25, batch: 4}}
loader: {{threads: 1, prefetch: 2}}
"""
_NUCLEI = """task: segmentation
data: {{store: {store}}}
patch: {{size: [64, 64], mpp: 0.5}}
sampling: {{seed: 3, batch: 4, batches_per_epoch: 40}}
transforms:
  - stain_normalize: {{}}
model: {{name: unet2d, widths: [8, 16]}}
train: {{epochs: 1, lr: 4.0e-3, threads: 1, validate_every: 0}}
loader: {{threads: 1, prefetch: 2}}
{more}"""
_SCANS = """task: colorectal
data: {{store: {store}}}
patch: {{size: [16, 32, 32], spacing_mm: {spacing_mm}}}
sampling: {{seed: 7, batch: 2, batches_per_epoch: {batches}, foreground: 0.7}}
transforms:
  - window_hu: {{low: -160, high: 240}}
model: {{name: unet3d, widths: [8, 16]}}
train: {{epochs: 2, lr: 3.0e-3, threads: 1, validate_every: 0}}
loader: {{threads: 1, prefetch: 2}}
eval: {{{lesions}, lesion_min_mm3: 100}}
"""


def slide_config(store, seed=5, batches=40, widths=(16, 32), epochs=2):
    """Of a network for phantom slides; it finds their glands."""
    return _SLIDES.format(store=store, seed=seed, batches=batches, widths=list(widths), epochs=epochs)


def nuclei_config(store, more=""):
    """Of a network for the store `nuclei`, of the classes background and object. more: further lines."""
    return _NUCLEI.format(store=store, more=more)


def sarcoma_config(store, batches=20):
    """Of a network for CT with tumours; many places are lesions to it."""
    return _SCANS.format(store=store, batches=batches, spacing_mm=[4, 4, 4], lesions="lesion_lowest: 0.05, lesion_classes: [tumour]")


def phantom_scan_config(store):
    """Of a network for phantom scans."""
    return _SCANS.format(store=store, batches=10, spacing_mm=[16, 8, 8], lesions="lesion_classes: [lesion]")


def trained(folder, name, config, *options, environment=None):
    """The folder of a run of this configuration."""
    (folder / f"{name}.yaml").write_text(config)
    headrace("train", "--config", folder / f"{name}.yaml", "--out", folder / name, *options, environment=environment)
    return folder / name


def slide_cohort(folder):
    """Phantom slides, a lossless store of them, and two runs trained on it."""
    headrace("phantom", "slides", "--out", folder / "in", "--count", 6, "--size", 1500, "--scanners", 1, "--seed", 3)
    headrace("ingest", "slides", folder / "in/slides", "--table", folder / "in/cases.csv", "--codec", "blosc-zstd", "--out", folder / "s.zarr")
    for name, epochs in (("run", 2), ("fold1", 1)):
        trained(folder, name, slide_config(folder / "s.zarr", epochs=epochs))


def sarcoma_cohort(folder):
    """CT with tumours in a store, and a run trained on it."""
    rows = [{"file": str(CT / f"sarcoma/{name}.nii.gz"), "image": name, "split": split, "labels": str(CT / f"sarcoma/{name}-gtv.nii.gz")}
            for name, split in (("sts-012", "val"), ("sts-018", "train"), ("sts-024", "train"))]
    table = write_table(folder / "cases.csv", rows)
    headrace("ingest", "volumes", CT / "sarcoma", "--table", table, "--classes", "background,tumour", "--out", folder / "ct.zarr")
    trained(folder, "run", sarcoma_config(folder / "ct.zarr"))


def slides_of(cohort):
    return sorted(path for path in (cohort / "in/slides").iterdir())


def tree(folder, source=True):
    """Every file of an output folder with the hash of its bytes; without the place that the image came from."""
    out = {}
    for path in sorted(Path(folder).rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if not source and path.name == "zarr.json" and b'"prediction"' in data:
            group = json.loads(data)
            group["attributes"]["headrace"]["facts"].pop("source")
            data = json.dumps(group).encode()
        out[str(path.relative_to(folder))] = hashlib.sha256(data).hexdigest()
    return out


def maps_of(folder):
    group = zarr.open_group(folder, mode="r")
    return group["labels/classes/0"][:], group["0"][:]


def findings_of(folder):
    return json.loads((folder / "findings.json").read_text())
