"""Our speed beside the peers': every subject in a process of its own, all of a work taking turns, so that none meets a quieter machine.

Usage: python run.py --headrace build/headrace --out bench-out [--rounds 5] [--works slide_read,…] [--only headrace,…] [--data DIR] [--ct SCAN.nii.gz]

Writes OUT/results.jsonl (one line a subject) and OUT/table.md, and prints the table. The main figure is CPU milliseconds an item (user and
system, children counted), the median over the rounds: wall time moves with the machine's other load.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import measure

HERE = Path(__file__).resolve().parent
# work -> threads, whether peers also run with freed memory kept by glibc (page faults on large temporaries are much of their cost)
WORKS = {"slide_read": (1, False), "path_augment": (1, True), "slide_loader": (2, True), "slide_views": (1, True), "slide_ingest": (2, False),
         "slide_process": (2, False), "slide_predict": (2, False),
         "volume_read": (1, False), "volume_augment": (1, True), "volume_loader": (2, True), "volume_resample": (1, True),
         "volume_body_mask": (1, True)}
THREAD_VARIABLES = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "BLOSC_NTHREADS",
                    "RAYON_NUM_THREADS", "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS", "TIFFFILE_NUM_THREADS", "IMAGECODECS_NUM_THREADS"]
KEEP = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(8 << 30), "MALLOC_TOP_PAD_": str(256 << 20)}


class Subject:
    """A running measure.py."""

    def __init__(self, work, name, keep, threads, options):
        self.name, self.keep, self.runs = name, keep, []
        per_process = 1 if work.endswith("_loader") else threads  # the DataLoader's workers are its threads
        environment = os.environ | {v: str(per_process) for v in THREAD_VARIABLES} | (KEEP if keep else {}) | {
            "NO_ALBUMENTATIONS_UPDATE": "1", "PYTHONWARNINGS": "ignore", "CUDA_VISIBLE_DEVICES": "", "OMP_WAIT_POLICY": "PASSIVE",
            "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0", "CUFILE_LOGFILE_PATH": str(options.data / "cufile.log")}
        command = [sys.executable, HERE / "measure.py", work, name, options.data, options.headrace, str(threads)]
        self.log = open(options.out / f"{work}.{name}.log", "w")
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        text=True)
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        got = self.answer()
        if got:
            self.runs.append(got)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


def host():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    memory = next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemTotal")) // 1024
    return {"cpu": model, "cores": os.cpu_count(), "gpu": None, "ram_mb": memory}


def commit():
    done = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or None


def line_of(work, module, subject, threads, where):
    items = module.ITEMS
    cpu = [r["cpu_s"] / items * 1e3 for r in subject.runs]
    wall = [r["wall_s"] / items * 1e3 for r in subject.runs]
    return {"work": work, "subject": subject.name, "version": subject.about["version"], "malloc": "keep" if subject.keep else "default",
            **where, "data": data_of(module), "threads": threads, "cache": "warm", "items": items, "times_s": [round(r["wall_s"], 4) for r in subject.runs],
            "cpu_ms_per_item": round(statistics.median(cpu), 3), "cpu_ms_per_item_min": round(min(cpu), 3),
            "cpu_ms_per_item_max": round(max(cpu), 3), "wall_ms_per_item": round(statistics.median(wall), 3),
            "mb_per_s": round(module.BYTES_PER_ITEM / statistics.median(wall) / 1e3, 1),
            "items_per_s": round(1e3 / statistics.median(wall), 2), "peak_rss_mb": max(r["peak_rss_mb"] for r in subject.runs),
            "check": subject.about["check"], "note": subject.about["note"], "loadavg": round(os.getloadavg()[0], 2)}


def data_of(module):
    if getattr(module, "DATA", "slide") == "slide":
        return {"name": "slide20k.tif", "shape": [20480, 20480, 3], "dtype": "uint8"}
    return {"name": "ct.npy", "shape": [400, 512, 512], "dtype": "int16"}


def make_data(works, options):
    """In processes of their own: a child inherits its parent's peak memory, and these take 1.5 GB."""
    kinds = {getattr(measure.load(HERE / work / "work.py"), "DATA", "slide") for work in works}
    if "slide" in kinds:
        subprocess.run([sys.executable, HERE / "make_slide.py", options.data / "slide20k.tif"], check=True)
    if "volume" in kinds:
        subprocess.run([sys.executable, HERE / "make_volume.py", options.data, *([options.ct] if options.ct else [])], check=True)


def run_work(work, options, where):
    threads, keep_too = WORKS[work]
    module = measure.load(HERE / work / "work.py")
    names = sorted(p.stem for p in (HERE / work).glob("*.py") if p.stem != "work")
    names = [n for n in names if not options.only or any(o in n for o in options.only.split(","))]
    subjects = []
    for name in names:
        for keep in (False, True) if keep_too and not name.startswith("headrace") else (False,):
            print(f"{work}: preparing {name}{' (memory kept)' if keep else ''}", file=sys.stderr, flush=True)
            subject = Subject(work, name, keep, threads, options)
            if subject.about:
                subjects.append(subject)
            else:
                subject.end()
                print(f"{work}: {name} did not run: {last_line(subject.log.name)}", file=sys.stderr, flush=True)
    for turn in range(options.rounds):
        for subject in subjects:
            subject.go()
        print(f"{work}: round {turn + 1} of {options.rounds}", file=sys.stderr, flush=True)
    for subject in subjects:
        subject.end()
    return [line_of(work, module, s, threads, where) for s in subjects if len(s.runs) == options.rounds]


def last_line(path):
    lines = Path(path).read_text().strip().splitlines()
    return lines[-1] if lines else "no message"


def table(lines):
    out = []
    for work in dict.fromkeys(line["work"] for line in lines):
        rows = sorted((line for line in lines if line["work"] == work), key=lambda r: r["cpu_ms_per_item"])
        ours = [r["cpu_ms_per_item"] for r in rows if r["subject"].startswith("headrace")]
        out += [f"\n### {work} ({rows[0]['threads']} thread{'s' * (rows[0]['threads'] > 1)})\n",
                "| subject | CPU ms an item | min to max | wall ms | MB/s | items/s | peak MB | times ours |", "|---|---|---|---|---|---|---|---|"]
        for r in rows:
            mine = r["subject"].startswith("headrace")
            name = f"**{r['subject']}**" if mine else r["subject"] + (" [malloc keep]" if r["malloc"] == "keep" else "")
            times = "" if mine or not ours else f"{r['cpu_ms_per_item'] / min(ours):.1f}"
            out.append(f"| {name} | {r['cpu_ms_per_item']:.2f} | {r['cpu_ms_per_item_min']:.2f} to {r['cpu_ms_per_item_max']:.2f} "
                       f"| {r['wall_ms_per_item']:.2f} | {r['mb_per_s']} | {r['items_per_s']} | {r['peak_rss_mb']:.0f} | {times} |")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headrace", default="build/headrace", type=Path)
    parser.add_argument("--out", default="bench-out", type=Path)
    parser.add_argument("--data", type=Path, help="where slide, volume and stores go (default: OUT/data; about 5 GB)")
    parser.add_argument("--ct", type=Path, help="the CT that the volume is made from (default: one of samples/)")
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--works", default=",".join(WORKS))
    parser.add_argument("--only", default="", help="comma-separated parts of subject names")
    options = parser.parse_args()
    options.out, options.headrace = options.out.resolve(), options.headrace.resolve()
    options.data = (options.data or options.out / "data").resolve()
    options.data.mkdir(parents=True, exist_ok=True)
    options.out.mkdir(parents=True, exist_ok=True)
    make_data(options.works.split(","), options)
    where = {"date": time.strftime("%Y-%m-%d"), "commit": commit(), "host": host()}
    lines = []
    for work in options.works.split(","):
        lines += run_work(work, options, where)
        (options.out / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = table(lines)
    (options.out / "table.md").write_text(text)
    print(text)
    return 0 if lines else 1


if __name__ == "__main__":
    sys.exit(main())
