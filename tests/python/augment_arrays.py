"""Chains, and arrays with smooth values, for the tests of headrace.augment."""
import numpy as np
import pytest
from scipy import ndimage

from headrace import transforms as tf

SLIDE_CHAIN = [
    tf.Affine(rotate_deg=(-180, 180), scale=(0.8, 1.25), shear_deg=(-5, 5), translate=0.1, flip=True),
    tf.Elastic(grid=5, magnitude_um=4),
    tf.HedJitter(sigma=0.05),
    tf.ColorJitter(brightness=0.2, contrast=0.2, saturation=0.2, hue=0.05),
    tf.GaussianNoise(sigma=(0, 0.05)),
    tf.Blur(sigma=(0, 1), probability=0.5),
    tf.Normalize(mean=(0.7, 0.55, 0.7), std=(0.2, 0.22, 0.18)),
]
VOLUME_CHAIN = [tf.WindowHu(), tf.Elastic(grid=4, magnitude_mm=3), tf.Preset("nnunet")]
MEAN, STD = (0.7, 0.55, 0.6), (0.2, 0.3, 0.25)


def smooth(shape, seed, edge=5):
    """Noise without steps, so that a small error of place is a small error of value."""
    values = np.random.default_rng(seed).normal(size=shape)
    values = ndimage.gaussian_filter(values, [edge if axis > 8 else 0 for axis in shape])
    return (values - values.min()) / (values.max() - values.min())


@pytest.fixture(scope="module")
def slides():
    """(n, h, w, 3) uint8 and labels."""
    images = np.round(smooth((6, 61, 83, 3), 1) * 255).astype(np.uint8)
    return images, np.random.default_rng(2).integers(0, 5, images.shape[:3], dtype=np.uint8)


@pytest.fixture(scope="module")
def volumes():
    """(n, d, h, w) int16 HU and labels."""
    images = np.round(smooth((4, 21, 34, 29), 3) * 1400 - 1000).astype(np.int16)
    return images, np.random.default_rng(4).integers(0, 3, images.shape, dtype=np.uint8)
