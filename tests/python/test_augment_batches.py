"""headrace.Transforms on batches: threads, memory, types, processes, places."""
import pickle
import threading

import numpy as np
import pytest
import torch
from augment_arrays import SLIDE_CHAIN, VOLUME_CHAIN, slides, volumes  # noqa: F401
from batches import python

import headrace
from headrace import transforms as tf


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
