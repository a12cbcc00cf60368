"""Eleven threads in one process through the package, for a build of it under ThreadSanitizer (`make tsan-python`): right values, no report."""
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

import headrace
from headrace import transforms as tf

SAMPLES = Path(sys.argv[1])
SLIDE = SAMPLES / "slides/CMU-1-Small-Region.svs"
PLACES = [(int(y), int(x)) for y, x in np.random.default_rng(0).integers(0, 400, (40, 2))]
REGIONS = [((x, y), 0, (64, 64)) for y, x in PLACES]


def work(n, cohort, expected, slide, chain, images, labels, config, sums):
    for k in range(40):
        image, (y, x) = k % len(cohort), PLACES[(7 * n + k) % 40]
        assert np.array_equal(cohort[image].level(0)[y : y + 64, x : x + 64], expected[image][y : y + 64, x : x + 64])
        cohort[image].tissue_mask()
    with headrace.OpenSlide(SLIDE) as own:
        assert np.array_equal(own.read_regions(REGIONS, threads=3), slide.read_regions(REGIONS, threads=3))
    with headrace.Loader(config, as_="numpy", count=4, threads=3) as loader:
        sums[n] = [float(batch["image"].sum()) for batch in loader]
    assert np.array_equal(chain(images, labels, seed=n, threads=3)[0], chain(images, labels, seed=n, threads=1)[0])
    headrace.evaluate_segmentation(list(labels[:3]), list(labels[3:]), classes=["a", "b", "c"], threads=3)


def main(folder):
    store = folder / "s.zarr"
    headrace.ingest_slides(SAMPLES / "nuclei/images", store, table=SAMPLES / "nuclei/cases.csv", classes=["background", "nucleus"], jobs=3)
    cohort = headrace.open(store)
    expected = [np.asarray(image.level(0)) for image in cohort]
    config = {"task": "segmentation", "data": {"store": str(store)}, "patch": {"size": [64, 64], "mpp": 0.5},
              "sampling": {"seed": 7, "batch": 4, "batches_per_epoch": 12}, "transforms": ["affine", "hed_jitter"]}
    random = np.random.default_rng(1)
    images, labels = random.integers(0, 256, (6, 64, 64, 3), dtype=np.uint8), random.integers(0, 3, (6, 64, 64), dtype=np.uint8)
    chain = headrace.Transforms([tf.Affine(rotate_deg=(-180, 180), flip=True), tf.HedJitter(), tf.GaussianNoise()], mpp=0.5)
    errors, sums, taken = [], {}, []

    def guarded(function, *arguments):
        try:
            function(*arguments)
        except BaseException as error:
            errors.append(repr(error))

    with headrace.OpenSlide(SLIDE) as slide, headrace.Loader(config, as_="numpy", threads=2) as loader:
        batches = iter(loader)
        arguments = (cohort, expected, slide, chain, images, labels, config, sums)
        threads = [threading.Thread(target=guarded, args=(work, n, *arguments)) for n in range(8)]
        threads += [threading.Thread(target=guarded, args=(lambda: taken.extend(batch["meta"].index for batch in batches),)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not errors, errors
    assert len(sums) == 8 and all(one == sums[0] for one in sums.values()) and sorted(taken) == list(range(12))
    print("eleven threads: right values")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
