"""64 patches of 96×96×96 int16 at seeded random positions of a 400×512×512 CT, page cache warm.

A subject gives reader(context) → read(z, y, x), and may give stored_mb(context), what its copy of the CT takes on disk. One that opens a
whole file for each patch may say READS, how many patches stand for all 64.
"""
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from positions import positions

DATA = "volume"
ITEMS, PATCH, SHAPE = 64, 96, (400, 512, 512)
BYTES_PER_ITEM = PATCH**3 * 2
WHERE = positions(ITEMS, SHAPE, (PATCH,) * 3, 404)


def box(z, y, x):
    return slice(z, z + PATCH), slice(y, y + PATCH), slice(x, x + PATCH)


def check(read, context, count):
    ct = np.load(context.data / "ct.npy", mmap_mode="r")
    for where in WHERE[:count]:
        if not np.array_equal(np.asarray(read(*where)).reshape((PATCH,) * 3), ct[box(*where)]):
            raise SystemExit(f"voxels at {where} differ from the CT's")
    return "voxels equal the CT's"


def prepare(subject, context):
    read, count = subject.reader(context), getattr(subject, "READS", ITEMS)
    checked = {"voxels": check(read, context, min(count, 4))}
    if hasattr(subject, "stored_mb"):
        checked["stored_mb"] = subject.stored_mb(context)
    if hasattr(subject, "run"):  # it has its own loop, over the same positions
        return lambda: subject.run(context, ITEMS), checked
    pool = ThreadPoolExecutor(context.threads) if context.threads > 1 else None

    def run():
        import measure
        import time
        cpu, wall = measure.usage_s(), time.perf_counter()
        for _ in pool.map(lambda p: read(*p), WHERE[:count]) if pool else map(lambda p: read(*p), WHERE[:count]):
            pass
        times = ITEMS / count
        return {"cpu_s": (measure.usage_s() - cpu) * times, "wall_s": (time.perf_counter() - wall) * times}

    run()
    return run, checked
