"""128 augmented 512×512 patches (the chain of path_augment) in batches of 16 from the slide, two workers, warm cache.

A peer gives item(context, reference) → f(y, x) → float32 (3,512,512) and runs in a PyTorch DataLoader with two worker processes; ours
brings its own loop. CPU counts parent and workers. Patches lie anywhere on the slide, glass included.
"""
import sys
from pathlib import Path

from positions import positions

ITEMS, PATCH, EDGE, BATCH = 128, 512, 20480, 16
BYTES_PER_ITEM = PATCH * PATCH * 3
WHERE = positions(ITEMS, (EDGE, EDGE), (PATCH, PATCH), 606)


def prepare(subject, context):
    if hasattr(subject, "run"):
        return lambda: subject.run(context, ITEMS), "batches are hashed by `headrace batches`"
    import torch
    from measure import load
    reference = load(Path(__file__).parents[1] / "path_augment/work.py").patches(context)[16]
    item = subject.item(context, reference)

    class Patches(torch.utils.data.Dataset):
        def __len__(self):
            return ITEMS

        def __getitem__(self, i):
            return item(*WHERE[i])

    def run():
        loader = torch.utils.data.DataLoader(Patches(), batch_size=BATCH, num_workers=context.threads, shuffle=False,
                                             prefetch_factor=2, worker_init_fn=lambda _: torch.set_num_threads(1))
        shapes = [tuple(batch.shape) for batch in loader]
        if shapes != [(BATCH, 3, PATCH, PATCH)] * (ITEMS // BATCH):
            sys.exit(f"wrong batches: {shapes}")

    run()
    return run, "shape and number of batches"
