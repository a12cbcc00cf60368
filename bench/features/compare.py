"""headrace.features beside a loop of openslide-python and DataLoader, with one small network: CPU of all processes, page cache warm.

Usage: PYTHONPATH=build/python python compare.py WORK [--rounds 3] [--edge 6144] [--slides 3] [--out results.jsonl]

WORK is a folder for slides of make_slides (made where they are missing) and results. Patches of 256² at level 0 that are tissue by our mask, the
same for all: finding them is in our figure and not in the peers'. torch has one thread. The network is the same, and so small (one convolution of
squares of 16 × 16 to 8 features) that data dominate; `network` is its own share, measured on patches in memory. Features are compared first. Each
subject is a process of its own, and all take turns. A line has CPU milliseconds a patch (user and system, children included, without the start of
Python and torch), the median of the rounds.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

PATCH, BATCH = 256, 64
SUBJECTS = ("headrace", "openslide + DataLoader, 0 workers", "openslide + DataLoader, 2 workers", "network")


def network():
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 16, 16), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())


def make_slides(work, count, edge):
    """Cut from the slide of make_slide.py: JPEG tiles of 256, 0.5 µm, with a pyramid."""
    import tifffile

    slides = [work / f"slide{k}-{edge}.tif" for k in range(count)]
    if all(path.exists() for path in slides):
        return slides
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import make_slide

    make_slide.EDGE = edge
    for k, path in enumerate(slides):
        make_slide.SEED = 2026 + k
        if not path.exists():
            make_slide.make(str(path))
    assert all(tifffile.TiffFile(path).pages[0].tile == (256, 256) for path in slides)
    return slides


def cpu_s():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def run(subject, slides, coords, out):
    """Runs in a process of its own; gives what it measured."""
    import torch

    torch.set_num_threads(1)
    net = network()
    with torch.inference_mode():
        net(torch.zeros(BATCH, 3, PATCH, PATCH))  # torch's own start
    if subject == "headrace":
        import headrace

        headrace.features  # noqa: B018  (imports what it needs)
    else:
        sys.path.insert(0, str(Path(__file__).parent))
        import peer
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    count = sum(map(len, coords.values()))
    begun, wall = cpu_s(), time.perf_counter()
    if subject == "headrace":
        report = headrace.features(slides, net, out, patch=PATCH, mpp=0.5, tissue=0.1, batch=BATCH)
        assert report["slides"] == len(slides)
    elif subject == "network":
        patches = torch.rand(BATCH, 3, PATCH, PATCH)
        with torch.inference_mode():
            for _ in range(-(-count // BATCH)):
                net(patches)
    else:
        peer.extract(slides, coords, net, out, PATCH, BATCH, int(subject.split()[-2]))
    return {"cpu_ms": (cpu_s() - begun) / count * 1e3, "wall_ms": (time.perf_counter() - wall) / count * 1e3}


def read_coords(slides, out):
    import h5py

    coords = {}
    for path in slides:
        with h5py.File(out / f"{path.stem}.h5") as file:
            coords[path.stem] = file["coords"][:]
    return coords


def in_process(subject, slides, work):
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import compare; compare.child(sys.argv[1], sys.argv[2], sys.argv[3:])"
    done = subprocess.run([sys.executable, "-c", code, subject, str(work), *map(str, slides)], capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def child(subject, work, names):
    slides, work = [Path(name) for name in names], Path(work)
    print(json.dumps(run(subject, slides, read_coords(slides, work / "coords"), work / subject.replace(" ", "-"))))


def check(slides, work):
    """Features of the peer are ours."""
    import h5py

    in_process(SUBJECTS[0], slides, work)
    in_process(SUBJECTS[1], slides, work)
    for path in slides:
        with h5py.File(work / SUBJECTS[0] / f"{path.stem}.h5") as ours, h5py.File(work / SUBJECTS[1].replace(" ", "-") / f"{path.stem}.h5") as theirs:
            worst = np.abs(ours["features"][:] - theirs["features"][:]).max()
            if not np.array_equal(ours["coords"][:], theirs["coords"][:]) or worst > 1e-6:
                raise SystemExit(f"{path.stem}: features differ by {worst}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--edge", type=int, default=6144)
    parser.add_argument("--slides", type=int, default=3)
    parser.add_argument("--out", help="adds a JSON line for each subject")
    options = parser.parse_args()
    import headrace

    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    slides = make_slides(work, options.slides, options.edge)
    shutil.rmtree(work / "coords", ignore_errors=True)
    headrace.features(slides, network(), work / "coords", patch=PATCH, mpp=0.5, tissue=0.1, batch=BATCH)
    check(slides, work)
    times = {subject: [] for subject in SUBJECTS}
    for _ in range(options.rounds):
        for subject in SUBJECTS:
            times[subject].append(in_process(subject, slides, work))
    count = sum(map(len, read_coords(slides, work / "coords").values()))
    median = {subject: statistics.median(one["cpu_ms"] for one in all_of) for subject, all_of in times.items()}
    for subject, all_of in times.items():
        cpu = sorted(one["cpu_ms"] for one in all_of)
        line = {"work": "features", "subject": subject, "slides": len(slides), "edge": options.edge, "patches": count, "rounds": options.rounds,
                "cpu_ms": round(median[subject], 3), "cpu_ms_min": round(cpu[0], 3), "cpu_ms_max": round(cpu[-1], 3),
                "wall_ms": round(statistics.median(one["wall_ms"] for one in all_of), 3), "load": round(os.getloadavg()[0], 1)}
        print(f"{subject:36} {line['cpu_ms']:7.3f} ms CPU ({line['cpu_ms_min']:.3f} to {line['cpu_ms_max']:.3f}, "
              f"{median[subject] / median['headrace']:.2f} times ours)  {line['wall_ms']:7.3f} ms wall", flush=True)
        if options.out:
            with open(options.out, "a") as file:
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
