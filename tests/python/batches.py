"""What the tests of batches share: configs and hashes of slides and volumes, and Python programs of their own process."""
import hashlib
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

from driving import SAMPLES, headrace

CHAIN = """transforms:
  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], flip: true}
  - hed_jitter: {sigma: 0.05}
  - gaussian_noise: {sigma: [0, 0.02], probability: 0.5}
"""
VOLUME_CHAIN = """transforms:
  - affine: {rotate_deg: [-20, 20], scale: [0.8, 1.25], flip: true}
  - window_hu: {low: -160, high: 240}
"""


def write_slides(path, store, batch=6, batches=3, patch=64, extra=""):
    path.write_text(f"task: segmentation\ndata: {{store: {store}}}\npatch: {{size: [{patch}, {patch}], mpp: 0.5}}\n"
                    f"sampling: {{seed: 7, batch: {batch}, batches_per_epoch: {batches}}}\neval: {{batch: 5}}\n"
                    f"loader: {{threads: 2}}\n{CHAIN}{extra}")
    return path


def write_volumes(path, store, batch=2, batches=3):
    path.write_text(f"task: segmentation\ndata: {{store: {store}}}\npatch: {{size: [16, 32, 32], spacing_mm: [3, 2.5, 2.5]}}\n"
                    f"sampling: {{seed: 7, batch: {batch}, batches_per_epoch: {batches}}}\nmodel: {{widths: [8, 16]}}\n"
                    f"loader: {{threads: 2}}\n{VOLUME_CHAIN}")
    return path


def make_ct(folder):
    """A store of one real CT with labels, in split train."""
    scan = SAMPLES / "ct/totalseg-abdomen"
    for kind, file in (("images", scan / "ct.nii.gz"), ("labels", scan / "seg.nii.gz")):
        (folder / kind).mkdir()
        (folder / kind / "abdomen.nii.gz").write_bytes(file.read_bytes())
    headrace("ingest", "volumes", folder / "images", "--labels", folder / "labels", "--val-fraction", 0, "--out", folder / "ct.zarr")
    return folder / "ct.zarr"


def sha256(tensor):
    return hashlib.sha256(bytes(memoryview(tensor.contiguous().numpy() if hasattr(tensor, "contiguous") else tensor).cast("B"))).hexdigest()


def fact(batch):
    """A batch as `headrace batches --json` lists it."""
    return {"epoch": batch["meta"].epoch, "batch": batch["meta"].index, "samples": len(batch["image"]),
            "images_sha256": sha256(batch["image"]), "labels_sha256": sha256(batch["label"]) if "label" in batch else None}


def by_sample(batch):
    """{(epoch, sample): hash of image and label}."""
    return {(batch["meta"].epoch, int(sample)): sha256(image) + sha256(label)
            for sample, image, label in zip(batch["meta"].samples, batch["image"], batch["label"])}


def python(program, *arguments, code=0, environment=None):
    """Runs a program in a Python process of its own; what it printed."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, env=child_environment(environment))
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}\n{done.stderr[-4000:]}"
    return done.stdout


def python_json(program, *arguments, **options):
    return json.loads(python(program, *arguments, **options))


def child_environment(more=None):
    """This one's, with the path on which `import headrace` and the modules of these tests are found."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)} | (more or {})


def in_session(session):
    """Living processes of a session."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, _, _, own = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:4]
        except OSError:
            continue
        if int(own) == session and state != "Z":
            found.append(pid)
    return found


def shared_memory(session):
    """Files of shared memory that its processes have mapped or open."""
    found = set()
    for pid in in_session(session):
        try:
            found |= {line.split()[-1] for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if line.split()[-1].startswith("/dev/shm/")}
            found |= {target for target in map(os.readlink, Path(f"/proc/{pid}/fd").iterdir()) if target.startswith("/dev/shm/")}
        except OSError:
            continue
    return found
