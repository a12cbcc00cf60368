"""headrace.augment and headrace.Transforms on arrays: the values, against NumPy, SciPy and the loader."""
import numpy as np
import pytest
from augment_arrays import MEAN, SLIDE_CHAIN, STD, slides, volumes  # noqa: F401
from scipy import ndimage

import headrace
from headrace import transforms as tf


def on_255(images):
    return np.moveaxis(images, -1, 1).astype(np.float32)


def flipped(image, drawn, axes):
    for axis, name in zip(axes, ("flip_z", "flip_y", "flip_x")[-len(axes):]):
        if drawn[name]:
            image = np.flip(image, axis)
    return image


def test_without_transforms_values_are_the_bytes_from_0_to_1(slides, volumes):
    assert np.array_equal(headrace.augment(slides[0]), on_255(slides[0]) * np.float32(1 / 255))
    made, labels = headrace.augment(*volumes, spacing=1)
    assert np.array_equal(made[:, 0], volumes[0].astype(np.float32)) and np.array_equal(labels, volumes[1])


def test_flips_and_normalisation_are_exact(slides):
    images, labels = slides
    chain = headrace.Transforms([tf.Affine(flip=True), tf.Normalize(mean=MEAN, std=STD)], images.shape[1:3])
    made, made_labels = chain(images, labels, seed=4)
    a = np.array([1 / (255 * std) for std in STD], np.float32)[:, None, None]
    b = np.array([-mean / std for mean, std in zip(MEAN, STD)], np.float32)[:, None, None]
    drawn = [chain.describe(4, i)[0]["affine"] for i in range(len(images))]
    assert len({(d["flip_y"], d["flip_x"]) for d in drawn}) > 1
    for i, d in enumerate(drawn):
        assert np.array_equal(made[i], flipped(on_255(images)[i], d, (1, 2)) * a + b)
        assert np.array_equal(made_labels[i], flipped(labels[i], d, (0, 1)))


def test_windows_and_flips_of_volumes_are_exact(volumes):
    images, labels = volumes
    chain = headrace.Transforms([tf.Affine(flip=True), tf.WindowHu(low=-500, high=300)], images.shape[1:], spacing=(2, 1, 1))
    made, made_labels = chain(images, labels, seed=9)
    drawn = [chain.describe(9, i)[0]["affine"] for i in range(len(images))]
    for i, d in enumerate(drawn):
        windowed = np.clip((images[i].astype(np.float32) + 500) * np.float32(1 / 800), 0, 1)
        assert np.array_equal(made[i, 0], flipped(windowed, d, (0, 1, 2)))
        assert np.array_equal(made_labels[i], flipped(labels[i], d, (0, 1, 2)))


def positions(drawn, shape, size):
    """(2, height, width): where each pixel of the output lies in the image, by the definition of the affine."""
    turn, slant = np.deg2rad([drawn["rotate_deg"], drawn["shear_deg"]])
    turned = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    mirrored = np.diag([-1 if drawn[f"flip_{axis}"] else 1 for axis in "yx"]) / drawn["scale"]
    inverse = turned @ np.array([[1, 0], [np.tan(slant), 1]]) @ mirrored
    offset = np.array([drawn["translate_y_px"], drawn["translate_x_px"]])
    grid = np.stack(np.meshgrid(*(np.arange(n) + 0.5 - n / 2 for n in size), indexing="ij")).reshape(2, -1)
    centre = np.array(shape) / 2
    return ((inverse @ grid) + (offset + centre - 0.5)[:, None]).reshape(2, *size)


def test_affine_is_scipys(slides):
    images, labels = slides
    size = (48, 70)
    chain = headrace.Transforms([SLIDE_CHAIN[0]], size)
    made, made_labels = chain(images, labels, seed=1, index=10)
    pad = 100
    for i, image in enumerate(images):
        at = positions(chain.describe(1, 10 + i)[0]["affine"], image.shape[:2], size)
        padded = np.pad(image.astype(float), ((pad, pad), (pad, pad), (0, 0)), constant_values=255)
        expected = np.stack([ndimage.map_coordinates(padded[..., c], at + pad, order=1) for c in range(3)]) / 255
        assert np.abs(made[i] - expected).max() < 1e-3
        nearest = np.floor(at + 0.5).astype(int) + pad
        expected_labels = np.pad(labels[i], pad, constant_values=255)[nearest[0], nearest[1]]
        assert np.mean(made_labels[i] != expected_labels) < 1e-3
    assert (made_labels == 255).any()


def test_images_are_resampled_about_a_centre(slides):
    image = slides[0][0]
    made = headrace.augment([image], size=(20, 24), mpp=0.5, image_mpp=(0.4, 0.3), centres=[(31.25, 40.5)])[0]
    y = 31.25 - 0.5 + (np.arange(20) + 0.5 - 10) * 0.5 / 0.4
    x = 40.5 - 0.5 + (np.arange(24) + 0.5 - 12) * 0.5 / 0.3
    at = np.stack(np.meshgrid(y, x, indexing="ij"))
    expected = np.stack([ndimage.map_coordinates(image[..., c].astype(float), at, order=1) for c in range(3)]) / 255
    assert np.abs(made - expected).max() < 1e-4


def test_volumes_are_resampled_and_end_as_their_last_voxels(volumes):
    image = volumes[0][0]
    made = headrace.augment(image[None], spacing=(2, 1, 1), image_spacing=(2.5, 0.8, 0.9), size=(30, 40, 16))[0, 0]
    axes = [n / 2 - 0.5 + (np.arange(m) + 0.5 - m / 2) * a / b
            for n, m, a, b in zip(image.shape, made.shape, (2, 1, 1), (2.5, 0.8, 0.9))]
    expected = ndimage.map_coordinates(image.astype(float), np.stack(np.meshgrid(*axes, indexing="ij")), order=1, mode="nearest")
    assert np.abs(made - expected).max() < 0.05


def test_normalisation_by_statistics_of_patient_and_training_set(volumes):
    images, labels = volumes
    patients = [headrace.estimate_intensities(image, image > -500) for image in images]
    made = headrace.augment(images, transforms=[tf.Normalize(method="zscore")], spacing=1, patient=patients)[:, 0]
    for image, one in zip(images, made):
        body = image[image > -500]
        assert np.allclose(one, (image - body.mean()) / body.std(), atol=1e-4)
    foreground = headrace.estimate_intensities(list(images), [one > 0 for one in labels])
    made = headrace.augment(images, transforms=[tf.Normalize(method="foreground")], spacing=1, foreground=foreground)[:, 0]
    under = images[labels > 0]
    low, high = np.percentile(under, [0.5, 99.5])
    assert np.allclose(made, (np.clip(images, low, high) - under.mean()) / under.std(), atol=1e-4)


def test_statistics_are_numpys(volumes):
    images, labels = volumes
    values = images[labels == 1]
    found = headrace.estimate_intensities(list(images), list(labels == 1))
    assert found.voxels == values.size
    assert np.allclose(found[1:], [values.mean(), values.std(), *np.percentile(values, [0.5, 99.5])], rtol=1e-12)
    assert headrace.estimate_intensities(images[0] // 4 + 300, unit="SUV").mean == pytest.approx((images[0] // 4 + 300).mean() / 100)
    with pytest.raises(headrace.UsageError, match="no voxel counts"):
        headrace.estimate_intensities(images[0], np.zeros(images[0].shape, bool))


def test_colour_is_that_of_stained_pixels_and_normalises_to_itself(nuclei):
    pixels = headrace.open(nuclei)[0].level(0)[:]
    colour = headrace.estimate_colour(pixels)
    density = -np.log10((pixels.reshape(-1, 3).astype(float) + 1) / 256)
    stained = density[density.max(1) > 0.15]
    assert colour.pixels == len(stained)
    assert np.allclose(colour.od_mean, stained.mean(0), atol=1e-4) and np.allclose(colour.od_std, stained.std(0), atol=1e-4)
    assert np.allclose(np.linalg.norm(colour.stain_od, axis=0), 1, atol=1e-6)
    own = headrace.augment(pixels[None], transforms=[tf.StainNormalize(reference="own")], references={"own": colour}, colour=colour)
    # Only what the two stains can't express is lost.
    plane = colour.stain_od @ np.linalg.pinv(colour.stain_od)
    kept = np.clip(256 * 10 ** -(density @ plane.T) - 1, 0, 255).reshape(pixels.shape) / 255
    assert np.abs(np.moveaxis(own[0], 0, -1) - kept).max() < 2e-3
    other = headrace.augment(pixels[None], transforms=[tf.StainNormalize()], colour=colour)
    assert np.abs(other - own).mean() > 0.02
    white = headrace.estimate_colour(np.full((64, 64, 3), 250, np.uint8))
    assert white.pixels == 0 and white.stain_od is None
    with pytest.raises(headrace.UsageError, match="image 1: .*stain"):
        headrace.augment(pixels[None].repeat(2, 0), transforms=["stain_normalize"], colour=[colour, white])


def test_scanner_color_brings_a_scanners_colours_to_the_cohorts(nuclei):
    pixels = headrace.open(nuclei)[0].level(0)[:]
    colour = headrace.estimate_colour(pixels)
    target = colour._replace(od_mean=colour.od_mean + 0.1, od_std=colour.od_std * 1.5)
    made = headrace.augment(pixels[None], transforms=["scanner_color"], colour=colour, cohort=target)[0]
    density = -np.log10((np.moveaxis(pixels, -1, 0) + 1.0) / 256)
    wanted = (density - colour.od_mean[:, None, None]) * 1.5 + target.od_mean[:, None, None]
    expected = np.clip(256 * 10**-wanted - 1, 0, 255) / 255
    assert np.abs(made - expected).max() < 2e-3


def test_the_same_bytes_as_the_loaders_slides(nuclei):
    chain = [*SLIDE_CHAIN[:2], tf.StainNormalize(), *SLIDE_CHAIN[2:]]
    config = {"task": "segmentation", "data": {"store": str(nuclei)}, "patch": {"size": [96, 128], "mpp": None},
              "sampling": {"seed": 7, "batch": 6, "batches_per_epoch": 2}, "transforms": [one.to_config() for one in chain]}
    cohort = headrace.open(nuclei)
    own = headrace.Transforms(chain, (96, 128))
    compared = 0
    with headrace.Loader(config, as_="numpy", threads=2) as loader:
        for _ in range(2):
            for batch in loader:
                meta = batch["meta"]
                for i, name in enumerate(meta.images):
                    image = cohort[name]
                    made, labels = own([image.level(0)[:]], [image.labels("annotation").level(0)[:]], seed=7, epoch=meta.epoch,
                                       index=int(meta.samples[i]), centres=[meta.places[i]], colour=image.colour)
                    assert np.array_equal(made[0], batch["image"][i][0]) and np.array_equal(labels[0], batch["label"][i])
                    compared += 1
    assert compared == 24


def test_the_same_bytes_as_the_loaders_volumes(ct):
    chain = [tf.Affine(rotate_deg=(-20, 20), scale=(0.8, 1.25), flip=True), tf.Elastic(), tf.Normalize(method="zscore"),
             tf.GaussianNoise(sigma=0.1)]
    config = {"task": "segmentation", "data": {"store": str(ct)}, "patch": {"size": [24, 40, 32], "spacing_mm": None},
              "sampling": {"seed": 5, "batch": 3, "batches_per_epoch": 2}, "transforms": [one.to_config() for one in chain],
              "model": {"widths": [8, 16]}}
    image = headrace.open(ct)[0]
    voxels, values = image.level(0)[:], image.labels("annotation").level(0)[:]
    own = headrace.Transforms(chain, (24, 40, 32), spacing=1)
    with headrace.Loader(config, as_="numpy", threads=2) as loader:
        for batch in loader:
            meta = batch["meta"]
            first = int(meta.samples[0])
            assert list(meta.samples) == list(range(first, first + 3))
            made, labels = own([voxels] * 3, [values] * 3, seed=5, epoch=meta.epoch, index=first, centres=meta.places,
                               patient=image.body[0])
            assert np.array_equal(made, batch["image"]) and np.array_equal(labels, batch["label"])
