"""headrace.augment and headrace.Transforms on arrays: against NumPy and SciPy, the loader, and themselves."""
import pickle
import threading

import numpy as np
import pytest
import torch
from batches import python
from scipy import ndimage

import headrace
from headrace import transforms as tf
from headrace._transform_keys import OPERATIONS

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


def on_255(images):
    return np.moveaxis(images, -1, 1).astype(np.float32)


def flipped(image, drawn, axes):
    for axis, name in zip(axes, ("flip_z", "flip_y", "flip_x")[-len(axes):]):
        if drawn[name]:
            image = np.flip(image, axis)
    return image


# ---- values ------------------------------------------------------------------------------------


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


# ---- the loader --------------------------------------------------------------------------------


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


# ---- batches, threads, memory ------------------------------------------------------------------


@pytest.fixture(params=["slides", "volumes"])
def work(request):
    """Transforms, a batch and its labels."""
    if request.param == "slides":
        return headrace.Transforms(SLIDE_CHAIN, mpp=0.5), *request.getfixturevalue("slides")
    return headrace.Transforms(VOLUME_CHAIN, spacing=(2, 1, 1)), *request.getfixturevalue("volumes")


def same(one, other):
    assert len(one) == len(other) == 2
    for a, b in zip(one, other):
        assert np.array_equal(np.asarray(a), np.asarray(b))


def test_threads_and_batches_do_not_change_a_sample(work):
    chain, images, labels = work
    whole = chain(images, labels, seed=3, index=100, threads=1)
    assert not np.array_equal(whole[0][0], chain(images, labels, seed=3, index=101, threads=1)[0][0])
    for threads in (0, 2, 7):
        same(chain(images, labels, seed=3, index=100, threads=threads), whole)
    for cuts in ([1, 2], [3]):
        parts = [chain(a, b, seed=3, index=100 + first) for a, b, first in
                 zip(np.split(images, cuts), np.split(labels, cuts), [0, *cuts])]
        same([np.concatenate(part) for part in zip(*parts)], whole)
    same(chain(list(images), list(labels), seed=3, index=100), whole)
    assert np.array_equal(chain(images, seed=3, index=100), whole[0])
    assert not np.array_equal(chain(images, seed=3, index=100, epoch=1), whole[0])


def test_eight_python_threads_at_once(work):
    chain, images, labels = work
    expected = [chain(images, labels, seed=seed, threads=1) for seed in range(8)]
    found, errors = [None] * 8, []

    def turn(seed):
        try:
            for _ in range(3):
                found[seed] = chain(images, labels, seed=seed, threads=1 + seed % 3)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=turn, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not errors and not any(thread.is_alive() for thread in threads)
    for one, other in zip(found, expected):
        same(one, other)


def test_sizes_may_differ_and_output_has_one(slides, volumes):
    images = [slides[0][0], slides[0][1][:40, :30], slides[0][2][5:, 7:]]
    made = headrace.augment(images, transforms=SLIDE_CHAIN, size=(32, 24), seed=8)
    assert made.shape == (3, 3, 32, 24)
    for i, image in enumerate(images):
        assert np.array_equal(made[i], headrace.augment(image[None], transforms=SLIDE_CHAIN, size=(32, 24), seed=8, index=i)[0])
    parts = [volumes[0][0], volumes[0][1][3:, :20, 5:]]
    made, labels = headrace.augment(parts, [volumes[1][0], None], spacing=1, size=(16, 40, 16))
    assert made.shape == (2, 1, 16, 40, 16) and (labels[1] == 255).all() and (labels[0][:, :3] == 255).all()
    assert (labels[0][:, 3:37] == volumes[1][0][2:18, :, 6:22]).mean() > 0.3
    with pytest.raises(headrace.UsageError, match=r"images\[1\] has \(40, 30\) pixels"):
        headrace.augment(images)


def test_tensors_come_back_as_tensors(work):
    chain, images, labels = work
    expected = chain(images, labels, seed=6)
    made = chain(torch.from_numpy(images), torch.from_numpy(labels), seed=6)
    assert all(isinstance(one, torch.Tensor) for one in made)
    same(made, expected)
    assert made[0].dtype == torch.float32 and made[1].dtype == torch.uint8
    assert isinstance(chain([torch.from_numpy(one) for one in images], seed=6), torch.Tensor)

    class Foreign:
        """Memory of another library, by DLPack alone."""

        def __init__(self, array):
            self.__dlpack__, self.array = array.__dlpack__, array

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

    del Foreign.__init__
    foreign = Foreign()
    foreign.array = torch.from_numpy(images)
    same(chain(foreign, labels, seed=6), expected)


def test_views_with_gaps_are_read_as_they_are(slides, volumes):
    images, labels = slides
    for view in (lambda a: a[:, ::-1], lambda a: a[:, 5:40, 7:60], lambda a: a[::2, :, ::3], lambda a: np.asfortranarray(a),
                 lambda a: np.broadcast_to(a[:1], a.shape)):
        made = headrace.augment(view(images), view(labels), SLIDE_CHAIN, index=0)
        same(made, headrace.augment(np.ascontiguousarray(view(images)), np.ascontiguousarray(view(labels)), SLIDE_CHAIN, index=0))
    channels_first = torch.from_numpy(np.ascontiguousarray(np.moveaxis(images, -1, 1)))
    assert np.array_equal(headrace.augment(channels_first.permute(0, 2, 3, 1), transforms=SLIDE_CHAIN, index=0),
                          headrace.augment(images, transforms=SLIDE_CHAIN, index=0))
    for view in (lambda a: a[:, ::-1], lambda a: a[:, 2:15, 5:30, 3:20], lambda a: a.transpose(0, 2, 1, 3), lambda a: a[..., ::2]):
        made = headrace.augment(view(volumes[0]), view(volumes[1]), VOLUME_CHAIN, spacing=1, index=0)
        plain = [np.ascontiguousarray(view(one)) for one in volumes]
        same(made, headrace.augment(*plain, VOLUME_CHAIN, spacing=1, index=0))


def test_results_go_into_given_memory(work):
    chain, images, labels = work
    expected = chain(images, labels, seed=2)
    out = np.full_like(expected[0], np.nan), np.zeros_like(expected[1])
    assert chain(images, labels, seed=2, out=out) is out
    same(out, expected)
    tensor = torch.zeros(expected[0].shape)
    assert chain(images, seed=2, out=tensor) is tensor
    assert np.array_equal(tensor.numpy(), expected[0])


def test_results_stay_as_they_are_while_somebody_holds_them(slides):
    images = np.tile(slides[0], (2, 4, 4, 1))
    chain = headrace.Transforms(SLIDE_CHAIN)
    held = [chain(images, seed=seed) for seed in range(3)]
    copies = [one.copy() for one in held]
    assert len({one.ctypes.data for one in held}) == 3
    tensor = chain(torch.from_numpy(images), seed=3)
    for seed in range(4, 8):  # into memory that nobody holds
        assert chain(images, seed=seed).ctypes.data not in {one.ctypes.data for one in held}
    del chain
    for one, copy in zip(held, copies):
        assert np.array_equal(one, copy)
    assert np.array_equal(tensor.numpy(), headrace.augment(images, transforms=SLIDE_CHAIN, seed=3))


def test_types_that_hold_the_same_values(volumes):
    images, labels = volumes
    expected = headrace.augment(images, labels, VOLUME_CHAIN, spacing=1, index=0)
    for dtype in (np.float32, np.float64, np.int32, np.int64):
        same(headrace.augment(images.astype(dtype), labels.astype(np.int64), VOLUME_CHAIN, spacing=1, index=0), expected)
    masks = np.abs(images) % 200
    same(headrace.augment(masks.astype(np.uint8), labels > 0, spacing=1), headrace.augment(masks, (labels > 0).astype(np.uint8), spacing=1))


def test_channels_share_the_geometry_and_draw_values_on_their_own(volumes):
    images, labels = volumes
    both = np.stack([images, images], 1)
    chain = headrace.Transforms([tf.Affine(rotate_deg=(-30, 30)), tf.WindowHu(channel="a"), tf.GaussianNoise(sigma=5, channel="b")],
                                images.shape[1:], spacing=1, channels=["a", "b"])
    made, made_labels = chain(both, labels, seed=1)
    turned = headrace.augment(images, labels, [tf.Affine(rotate_deg=(-30, 30))], spacing=1, seed=1)
    assert np.allclose(made[:, 0], np.clip((turned[0][:, 0] + 160) / 400, 0, 1), atol=1e-6)
    noise = made[:, 1] - turned[0][:, 0]
    assert 4.8 < noise.std() < 5.2 and abs(noise.mean()) < 0.1
    assert np.array_equal(made_labels, turned[1])
    drawn = chain.describe(1, 0)
    assert list(drawn) == ["a", "b"] and drawn["a"][0] == drawn["b"][0]
    with pytest.raises(headrace.UsageError, match="channels"):
        chain(images, index=0)


def test_validation_leaves_out_what_is_random(slides):
    images, labels = slides
    chain = headrace.Transforms(SLIDE_CHAIN, images.shape[1:3], mpp=0.5)
    made = chain(images, labels, random=False)
    plain = headrace.augment(images, labels, [SLIDE_CHAIN[-1]])
    same(made, plain)
    assert chain.describe(random=False)[0] == {"affine": {}}


def test_transforms_can_be_sent_to_another_process(work):
    chain, images, labels = work
    same(pickle.loads(pickle.dumps(chain))(images, labels, seed=1), chain(images, labels, seed=1))
    assert repr(chain).startswith("Transforms([")


def test_nothing_behind_an_array_is_read():
    """Arrays that end where a page ends that may not be read, with windows that end just there."""
    python("""
        import ctypes, mmap
        import numpy as np
        import headrace
        from headrace import transforms as tf

        def at_the_end(values):
            size = -(-values.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
            memory = mmap.mmap(-1, size + mmap.PAGESIZE)
            start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + size), mmap.PAGESIZE, 0) == 0
            array = np.frombuffer(memory, values.dtype, values.size, size - values.nbytes).reshape(values.shape)
            array[...] = values
            return array

        rng = np.random.default_rng(0)
        image, label = (at_the_end(rng.integers(0, 255, shape, dtype=np.uint8)) for shape in ((1, 64, 64, 3), (1, 64, 64)))
        volume, mask = at_the_end(rng.integers(-9, 9, (1, 24, 24, 24), dtype=np.int16)), at_the_end(np.ones((1, 24, 24, 24), np.uint8))
        for chain in ([], [tf.Affine(rotate_deg=(-90, 90), flip=True), tf.Elastic(grid=3)]):
            for end in range(0, 12):
                headrace.augment(image, label, chain, size=(16, 16), centres=[(64 - 8 - end, 64 - 8 - end / 2)], index=end)
                headrace.augment(volume, mask, chain, size=(8, 8, 8), spacing=1, centres=[(20 - end / 2,) * 3], index=end)
                headrace.augment(volume, mask, chain, size=(8, 8, 8), spacing=2, image_spacing=0.9, index=end)
    """)


# ---- errors ------------------------------------------------------------------------------------


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
    (lambda i, v: headrace.augment(i, mpp=0), "micrometres a pixel above 0"),
    (lambda i, v: headrace.augment(i, image_mpp=-1), "image 0: a sample at"),
    (lambda i, v: headrace.augment(i, size=(3,)), "size: expected (height, width) in whole numbers above 0"),
    (lambda i, v: headrace.augment(i, size=(20000, 3)), "patch.size: expected 1 to 16384"),
    (lambda i, v: headrace.augment(i, centres=[(1, 2)]), "centres: expected (6, 2), found (1, 2)"),
    (lambda i, v: headrace.augment(i, seed=-1), "seed: expected 0 to 2^64 - 1, found -1"),
    (lambda i, v: headrace.augment(i, threads=-1), "threads: expected 0"),
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
