"""32 augmented 96³ patches of a CT with their labels (the chain of volume_augment) in batches of 2, from storage to batch, two workers, warm.

A peer gives items(context) → (dataset, collate or None), a torch map-style dataset of ITEMS patches, and runs in a PyTorch DataLoader with
two worker processes; it may say PATCHES, how many patches of one item come of it. Ours brings its own loop. CPU counts parent and workers.
"""
import sys

import numpy as np
from positions import positions

DATA = "volume"
ITEMS, PATCH, SHAPE, BATCH = 32, 96, (400, 512, 512), 2
BYTES_PER_ITEM = PATCH**3 * 4
WHERE = positions(ITEMS, SHAPE, (PATCH,) * 3, 607)


def boxes():
    return [tuple(slice(i, i + PATCH) for i in p) for p in WHERE]


def prepare(subject, context):
    if hasattr(subject, "run"):
        return lambda: subject.run(context, ITEMS), "batches are hashed by `headrace batches`"
    import torch
    made = getattr(subject, "MADE", ITEMS)  # fewer, where one pass of all would take minutes
    item, batch, collate = subject.items(context, boxes())

    class Patches(torch.utils.data.Dataset):
        def __len__(self):
            return made if collate is None else made // subject.PATCHES

        def __getitem__(self, i):
            return item(i)

    def run():
        import measure
        import time
        cpu, wall = measure.usage_s(), time.perf_counter()
        loader = torch.utils.data.DataLoader(Patches(), batch_size=batch, num_workers=context.threads, collate_fn=collate, prefetch_factor=2,
                                             worker_init_fn=lambda _: torch.set_num_threads(1))
        count = sum(patches_of(found) for found in loader)
        if count != made:
            sys.exit(f"{count} patches came, expected {made}")
        return {"cpu_s": (measure.usage_s() - cpu) * ITEMS / made, "wall_s": (time.perf_counter() - wall) * ITEMS / made}

    run()
    return run, "shape and number of patches"


def patches_of(found):
    pairs = [(p["image"], p["label"]) for p in found] if isinstance(found, list) and isinstance(found[0], dict) else [found]
    for image, label in pairs:
        if np.prod(image.shape[-3:]) != PATCH**3 or np.prod(label.shape[-3:]) != PATCH**3:
            sys.exit(f"wrong patches: {tuple(image.shape)}, {tuple(label.shape)}")
    return sum(int(np.prod(image.shape)) // PATCH**3 for image, _ in pairs)
