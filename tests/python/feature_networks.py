"""Encoders and references for the tests of features."""
import h5py
import numpy as np
import openslide
import torch
from slides import on_white

MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])  # ImageNet's


def small_network(seed=0):
    """Convolutions, normalisation and pooling, (n, 3, y, x) to (n, 32)."""
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 7, 4), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Dropout(0.5),
                               torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten())


class Pixels(torch.nn.Module):
    """The input itself: exact whatever else is in the batch."""

    def forward(self, patches):
        return patches.flatten(1)


def read_h5(path):
    """(features, coords, attributes of coords), as TRIDENT's and CLAM's readers take them."""
    with h5py.File(path) as file:
        return file["features"][:], file["coords"][:], dict(file["coords"].attrs)


def level0(path):
    """All of a slide by openslide-python, (y, x, 3) uint8 on white."""
    with openslide.OpenSlide(path) as slide:
        return on_white(slide.read_region((0, 0), 0, slide.dimensions))


def padded(pixels, margin):
    """With white around it."""
    return np.pad(pixels, ((margin, margin), (margin, margin), (0, 0)), constant_values=255)


def all_places(width, height, step):
    """x, y of a grid of this step, row after row."""
    return [(x, y) for y in range(0, height, step) for x in range(0, width, step)]


def tissue_places(places, mask, downsample, edge, least):
    """Those of which at least this share is tissue, by counting the mask's pixels under each pixel of level 0."""
    fine = np.repeat(np.repeat(mask, int(downsample), 0), int(downsample), 1)
    return [(x, y) for x, y in places if fine[y:y + edge, x:x + edge].sum() / edge**2 >= max(least, 1e-9)]


def plain_loop(path, network, places, edge, level=0):
    """What a loop of openslide-python and torch makes, one patch at a time."""
    rows = []
    with openslide.OpenSlide(path) as slide, torch.no_grad():
        for place in places:
            pixels = on_white(slide.read_region(place, level, (edge, edge))).astype(np.float32) / np.float32(255)
            rows.append(network.eval()(torch.from_numpy(((pixels - MEAN) / STD).transpose(2, 0, 1)[None]))[0].numpy())
    return np.stack(rows)


def as_bytes(features, edge):
    """The (n, y, x, 3) values 0 to 255 that Pixels saw, with mean=(0, 0, 0) and std=(1, 1, 1)."""
    return features.reshape(-1, 3, edge, edge).transpose(0, 2, 3, 1) * 255
