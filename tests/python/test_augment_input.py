"""What headrace.augment asks for: errors with words, numbers of samples, statistics."""
import numpy as np
import pytest
import torch
from augment_arrays import MEAN, STD, slides, volumes  # noqa: F401

import headrace
from headrace import transforms as tf
from headrace._transform_keys import OPERATIONS


@pytest.mark.parametrize("call, words", [
    (lambda i, v: headrace.augment(i.astype(np.float32)), "images[0]: expected (height, width, 3) uint8, found (61, 83, 3) float32; give the bytes"),
    (lambda i, v: headrace.augment(i[0]), "for one alone give images[None]"),
    (lambda i, v: headrace.augment(np.moveaxis(i, -1, 1)), "colours come last"),
    (lambda i, v: headrace.augment(v), "expected (height, width, 3) uint8, found (21, 34, 29) int16"),
    (lambda i, v: headrace.augment("image.png"), "expected a NumPy array or a tensor, found str"),
    (lambda i, v: headrace.augment(i[:, :0]), "is empty"),
    (lambda i, v: headrace.augment(i[:0]), "an empty batch has no size"),
    (lambda i, v: headrace.augment(i, i[:2, ..., 0]), "labels: expected those of 6 images, found 2"),
    (lambda i, v: headrace.augment(i, i[:, 1:, :, 0]), "labels[0]: expected the image's (61, 83), found (60, 83) uint8"),
    (lambda i, v: headrace.augment(i, i[..., 0].astype(float)), "labels[0]: expected whole numbers (uint8), found float64"),
    (lambda i, v: headrace.augment(i, -i[..., 0].astype(int)), "labels[0]: expected values of 0 to 255"),
    (lambda i, v: headrace.augment(v + 0.5, spacing=1), "expected whole HU"),
    (lambda i, v: headrace.augment(v.astype(float) * 1e3, spacing=1), "of -32768 to 32767"),
    (lambda i, v: headrace.augment(np.where(v > 0, np.nan, v), spacing=1), "nan"),
    (lambda i, v: headrace.augment(v.astype(complex), spacing=1), "expected int16, found complex128"),
    (lambda i, v: headrace.augment(v[:, None].repeat(2, 1), spacing=1), "expected 1 channels, found 2"),
    (lambda i, v: headrace.augment(i, transforms=["stain_normalize"]), "colour=image.colour"),
    (lambda i, v: headrace.augment(i, transforms=["scanner_color"]), "cohort="),
    (lambda i, v: headrace.augment(i, transforms=[tf.StainNormalize(reference="x")]), "references= does not have"),
    (lambda i, v: headrace.augment(v, transforms=[tf.Normalize(method="zscore")], spacing=1), "patient=image.body"),
    (lambda i, v: headrace.augment(v, transforms=[tf.Normalize(method="foreground")], spacing=1), "foreground=headrace.estimate"),
    (lambda i, v: headrace.augment(i, colour=[1]), "colour: expected one for all 6 images"),
    (lambda i, v: headrace.augment(i, patient=[1]), "patient is for volumes"),
    (lambda i, v: headrace.augment(v, spacing=1, mpp=2), "mpp is for slides"),
    (lambda i, v: headrace.augment(v, spacing=(1, 2)), "spacing: expected a number, or one for each of 3 axes"),
    (lambda i, v: headrace.augment(i, mpp="half"), "mpp: expected a number, found 'half'"),
    (lambda i, v: headrace.augment(i, mpp=0), "micrometres a pixel above 0"),
    (lambda i, v: headrace.augment(i, image_mpp=-1), "image 0: a sample at"),
    (lambda i, v: headrace.augment(i, size=(3,)), "size: expected (height, width) in whole numbers above 0"),
    (lambda i, v: headrace.augment(i, size=(20000, 3)), "patch.size: expected 1 to 16384"),
    (lambda i, v: headrace.augment(i, centres=[(1, 2)]), "centres: expected (6, 2), found (1, 2)"),
    (lambda i, v: headrace.augment(i, seed=-1), "seed: expected 0 to 2^64 - 1, found -1"),
    (lambda i, v: headrace.augment(i, threads=-1), "threads: expected 0"),
    (lambda i, v: headrace.augment(i, threads="2"), "found '2'"),
    (lambda i, v: headrace.augment(i, out=np.zeros(3, np.float32)), "out: expected (6, 3, 61, 83) float32, found (3) float32"),
    (lambda i, v: headrace.augment(i, i[..., 0], out=np.zeros(3)), "out: expected a pair"),
    (lambda i, v: headrace.augment(i, out=np.zeros((6, 3, 61, 166), np.float32)[..., ::2]), "has no gaps"),
    (lambda i, v: headrace.Transforms([]).describe(), "size="),
    (lambda i, v: headrace.Transforms([], spacing=1, channels=["ct", "ct"]), "ct"),
])
def test_wrong_input_is_named(call, words, slides, volumes):
    with pytest.raises(headrace.UsageError) as error:
        call(slides[0], volumes[0])
    assert words in str(error.value), str(error.value)
    assert "\n" not in str(error.value)


def test_a_gpus_memory_is_refused():
    class OnGpu:
        shape = (1, 8, 8, 3)

        def __dlpack_device__(self):
            return 2, 0

        def __dlpack__(self, **options):
            raise AssertionError("not to be asked for")

    with pytest.raises(headrace.UnsupportedError, match="on a GPU"):
        headrace.augment(OnGpu())
    with pytest.raises(headrace.UnsupportedError, match="on device meta"):
        headrace.augment(torch.zeros((1, 8, 8, 3), dtype=torch.uint8, device="meta"))


def test_the_same_draw_for_every_batch_is_refused(slides):
    images, _ = slides
    chain = headrace.Transforms([tf.Affine(flip=True), tf.Normalize(mean=MEAN, std=STD)])
    with pytest.raises(headrace.UsageError, match="the same index draws the same"):
        chain(images)
    assert np.array_equal(chain(images, seed=0), chain(images, index=0))
    chain(images, random=False)


def test_what_says_that_it_draws_nothing_draws_nothing(slides):
    kinds = tf.Transform._classes
    assert {name for name, kind in kinds.items() if not kind.draws} == {
        "stain_normalize", "scanner_color", "normalize", "window_hu", "window_suv", "clip_percentiles"}
    wide = {"affine": {"flip": True}, "elastic": {"probability": 0.5}, "hed_jitter": {}, "color_jitter": {"hue": 0.1}, "blur": {"sigma": (0, 2)},
            "brightness": {"factor": (0.5, 2)}, "contrast": {"factor": (0.5, 2)}, "gamma": {"gamma": (0.5, 2)}, "low_resolution": {"scale": (0.5, 1)}}
    assert wide.keys() | {"gaussian_noise"} == {name for name, kind in kinds.items() if kind.draws}
    for name, options in wide.items():
        flat = name in OPERATIONS["slides"]
        chain = headrace.Transforms([{name: options}], (16, 16) if flat else (16, 16, 16), **({} if flat else {"spacing": 1}))
        assert any(chain.describe(index=i) != chain.describe(index=0) for i in range(1, 100)), name
    noise = headrace.Transforms([tf.GaussianNoise(sigma=(0.1, 0.2))])  # a value for each pixel, none that is described
    assert not np.array_equal(noise(slides[0], index=0), noise(slides[0], index=10))


def test_statistics_of_channels_are_those_of_all_images(volumes):
    """image.body: a list with one for each channel."""
    images, _ = volumes
    body = headrace.estimate_intensities(images[0], images[0] > -500)
    zscore = [tf.Normalize(method="zscore")]
    one = headrace.augment(images, transforms=zscore, spacing=1, patient=body)
    assert np.array_equal(headrace.augment(images, transforms=zscore, spacing=1, patient=[body]), one)
    pair = headrace.augment(np.stack([images, images], 1), transforms=zscore, spacing=1, channels=["native", "portal"], patient=[body, body])
    assert np.array_equal(pair, np.concatenate([one, one], 1))
