"""headrace.OpenSlide beside openslide-python on one JPEG slide, in one process, in turn: patches of 512², level 0, page cache warm.

Usage: PYTHONPATH=build/python python compare.py SLIDE.tif [--rounds 5] [--count 256] [--out results.jsonl]

SLIDE is that of make_slide.py. One at a time: read_region as a user writes it; a new object in each round, so nobody has tiles from the round
before. Many: a (count, 512, 512, 3) array of random patches, or of the cells of a grid that hold tissue. Pixels are compared first. A line has
CPU milliseconds a patch (user and system), the median of the rounds with least and most, and wall time. "new array" allocates its result each
time; "kept array" is out=.
"""
import argparse
import json
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import openslide

import headrace

EDGE = 512
SIZE = (EDGE, EDGE)


def random_places(slide, count):
    rng = np.random.Generator(np.random.PCG64(11))
    width, height = slide.dimensions
    return [(int(rng.integers(width - EDGE)), int(rng.integers(height - EDGE))) for _ in range(count)]


def tissue_places(slide, count):
    level = slide.level_count - 1
    scale = slide.level_downsamples[level]
    overview = np.asarray(slide.read_region((0, 0), level, slide.level_dimensions[level]).convert("L"))
    cell = int(EDGE / scale)
    places = [(x * EDGE, y * EDGE) for y in range(slide.dimensions[1] // EDGE) for x in range(slide.dimensions[0] // EDGE)
              if overview[y * cell:(y + 1) * cell, x * cell:(x + 1) * cell].mean() < 225]
    if len(places) < count:
        raise SystemExit(f"the slide has {len(places)} cells with tissue, {count} are needed; give a smaller --count")
    return places[:count]


def one_by_one(open_it):
    def run(path, places, out):
        with open_it(path) as slide:
            for place in places:
                slide.read_region(place, 0, SIZE)
    return run


def read_alone(path, places, out):
    with headrace.OpenSlide(path) as slide:
        for place in places:
            slide.read(place, 0, SIZE)


def fill(path, places, out):
    with openslide.OpenSlide(path) as slide:
        for place, to in zip(places, out, strict=True):
            to[:] = np.asarray(slide.read_region(place, 0, SIZE).convert("RGB"))


def fill_on_threads(path, places, out):
    threads = len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda k: fill(path, places[k::threads], out[k::threads]), range(threads)))


def regions(kept, threads=0):
    def run(path, places, out):
        with headrace.OpenSlide(path) as slide:
            slide.read_regions([(place, 0, SIZE) for place in places], out if kept else None, threads=threads)
    return run


ONE = {"openslide read_region": one_by_one(openslide.OpenSlide), "headrace read_region": one_by_one(headrace.OpenSlide),
       "headrace read": read_alone}
MANY = {"openslide, 1 thread": fill, "openslide, a handle a thread": fill_on_threads, "headrace read_regions, kept array": regions(True),
        "headrace read_regions, new array": regions(False), "headrace read_regions, kept array, 1 thread": regions(True, 1)}


def check(path, places):
    with openslide.OpenSlide(path) as theirs, headrace.OpenSlide(path) as ours:
        got = ours.read_regions([(place, 0, SIZE) for place in places[:8]])
        for place, region in zip(places, got):
            expected = theirs.read_region(place, 0, SIZE)
            if not np.array_equal(np.asarray(ours.read_region(place, 0, SIZE)), np.asarray(expected)):
                raise SystemExit(f"read_region at {place} differs from OpenSlide's")
            if not np.array_equal(region, np.asarray(expected.convert("RGB"))):
                raise SystemExit(f"read_regions at {place} differs from OpenSlide's")


def measure(run, path, places, out):
    before, start = os.times(), time.perf_counter()
    run(path, places, out)
    wall, after = time.perf_counter() - start, os.times()
    return after.user + after.system - before.user - before.system, wall


def compare(name, subjects, path, places, options):
    check(path, places)
    out = np.zeros((len(places), EDGE, EDGE, 3), np.uint8)
    times = {subject: [] for subject in subjects}
    for _ in range(options.rounds + 1):  # the first one warms up
        for subject, run in subjects.items():
            times[subject].append(measure(run, path, places, out))
    lines = []
    for subject, all_of in times.items():
        cpu, wall = (sorted(t[i] / len(places) * 1e3 for t in all_of[1:]) for i in (0, 1))
        lines.append({"work": f"python_slides: {name}", "subject": subject, "patches": len(places), "rounds": options.rounds,
                      "cpu_ms": round(statistics.median(cpu), 3), "cpu_ms_min": round(cpu[0], 3), "cpu_ms_max": round(cpu[-1], 3),
                      "wall_ms": round(statistics.median(wall), 3), "load": round(os.getloadavg()[0], 1)})
    for line in lines:
        ratio = [lines[0][key] / line[key] for key in ("cpu_ms", "wall_ms")]
        print(f"{name:12} {line['subject']:46} {line['cpu_ms']:7.2f} ms CPU ({line['cpu_ms_min']:.2f} to {line['cpu_ms_max']:.2f}, "
              f"{ratio[0]:.1f}x)  {line['wall_ms']:7.2f} ms wall ({ratio[1]:.1f}x)", flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("slide")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=256)
    parser.add_argument("--out", help="adds a JSON line for each subject")
    options = parser.parse_args()
    with openslide.OpenSlide(options.slide) as slide:
        random, tissue = random_places(slide, options.count), tissue_places(slide, options.count)
    lines = compare("one, random", ONE, options.slide, random, options) + compare("one, grid", ONE, options.slide, tissue, options)
    lines += compare("many, random", MANY, options.slide, random, options) + compare("many, grid", MANY, options.slide, tissue, options)
    if options.out:
        with open(options.out, "a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)


if __name__ == "__main__":
    main()
