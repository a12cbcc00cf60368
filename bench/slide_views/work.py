"""192 samples of two global and six local crops, as DINOv2 takes them, of 256×256 places on tissue of the slide; one thread, warm cache.

Each crop by itself: a window of 32 to 100 % (local: 5 to 32 %) of the place's area to 224×224 (96×96) pixels, flips and quarter turns (ours: any
angle), HED jitter of 0.05. A subject gives run(context, items), which makes them and returns how often it saw which shape; ours measures itself.
"""
import sys

ITEMS = 192
BYTES_PER_ITEM = (2 * 224 * 224 + 6 * 96 * 96) * 3
EXPECTED = {(224, 224, 3): 2 * ITEMS, (96, 96, 3): 6 * ITEMS}


def prepare(subject, context):
    if hasattr(subject, "bench"):
        return lambda: subject.bench(context, ITEMS), "batches are hashed by `headrace batches`"

    def run():
        found = subject.run(context, ITEMS)
        if found != EXPECTED:
            sys.exit(f"wrong crops: {found}")

    run()
    return run, "shape and number of crops"
