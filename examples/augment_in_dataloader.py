"""Headrace's transforms in a Dataset of one's own, without a store.  python augment_in_dataloader.py [IMAGES MASKS [WORKERS]]"""
import sys
from pathlib import Path

import headrace
import numpy as np
import torch
from headrace import transforms as tf
from PIL import Image

IMAGES, MASKS = map(Path, sys.argv[1:3] if len(sys.argv) > 2 else ("samples/nuclei/images", "samples/nuclei/instances"))
WORKERS = int(sys.argv[3]) if len(sys.argv) > 3 else 2
SEED, EPOCHS, BATCH = 7, 2, 8
chain = headrace.Transforms([tf.Affine(rotate_deg=(-180, 180), scale=(0.8, 1.25), flip=True), tf.Elastic(magnitude_um=3, probability=0.5),
                             tf.HedJitter(sigma=0.1), tf.Normalize(mean=(0.7, 0.55, 0.7), std=(0.2, 0.22, 0.18))], (224, 224), mpp=0.5)


class Nuclei(torch.utils.data.Dataset):
    def __init__(self, images, masks):
        self.pairs, self.epoch = [(image, masks / image.name) for image in sorted(images.glob("*.png"))], 0

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, number):
        image, mask = map(Image.open, self.pairs[number])
        image, mask = np.asarray(image.convert("RGB")), np.asarray(mask)
        # The sample's number decides what is drawn, not a generator of the worker: no two workers draw the same, and any number of
        # them gives the same samples. threads=1, since each worker has a core of its own.
        image, mask = chain([image], [(mask > 0).astype(np.uint8)], seed=SEED, epoch=self.epoch, index=number, threads=1)
        return torch.from_numpy(image[0]), torch.from_numpy(mask[0]).long()


if __name__ == "__main__":
    dataset = Nuclei(IMAGES, MASKS)
    order = torch.Generator().manual_seed(SEED)
    loader = torch.utils.data.DataLoader(dataset, BATCH, shuffle=True, num_workers=WORKERS, generator=order)
    for epoch in range(EPOCHS):
        dataset.epoch = epoch  # workers begin anew with each epoch and get it; with persistent_workers a Sampler would have to bring it
        for step, (image, mask) in enumerate(loader):
            inside = (mask == 1).sum() / (mask != 255).sum()
            print(f"epoch {epoch} step {step}: {tuple(image.shape)}, mean {image.mean():+.4f}, deviation {image.std():.4f}, nuclei {inside:.2%}")
        print(f"sample 5 drew: {chain.describe(SEED, 5, epoch=epoch)[0]}")
