"""160 patches of 512×512 RGB at seeded random positions of level 0, page cache warm. A subject gives reader(context) → read(y, x)."""
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from positions import positions

ITEMS, PATCH, EDGE = 160, 512, 20480
BYTES_PER_ITEM = PATCH * PATCH * 3
WHERE = positions(ITEMS, (EDGE, EDGE), (PATCH, PATCH), 101)


def reference(context):
    import openslide
    slide = openslide.OpenSlide(context.slide)
    return [np.asarray(slide.read_region((x, y), 0, (PATCH, PATCH)).convert("RGB")) for y, x in WHERE[:4]]


def check(read, context):
    for (y, x), expected in zip(WHERE, reference(context)):
        if not np.array_equal(np.asarray(read(y, x)), expected):
            raise SystemExit(f"pixels at {y},{x} differ from OpenSlide's")
    return "pixels equal OpenSlide's"


def prepare(subject, context):
    read = subject.reader(context)
    checked = check(read, context)
    if hasattr(subject, "run"):  # it has its own loop, over positions of the same kind
        return lambda: subject.run(context, ITEMS), checked
    pool = ThreadPoolExecutor(context.threads) if context.threads > 1 else None

    def run():
        for _ in pool.map(lambda p: read(*p), WHERE) if pool else map(lambda p: read(*p), WHERE):
            pass

    run()
    return run, checked
