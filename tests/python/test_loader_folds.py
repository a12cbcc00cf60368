"""The batches of a fold: from Python as in training."""
from itertools import islice

import headrace

CONFIG = {"task": "segmentation", "patch": {"size": [64, 64], "mpp": 0.5}, "sampling": {"batch": 8, "batches_per_epoch": 20}}


def images_of(config, split):
    """Of one epoch of a split's tiles, or of training samples."""
    loader = headrace.Loader(config, split=split)
    return {image for batch in islice(loader, loader.batches_per_epoch) for image in batch["meta"].images}


def test_tiles_are_of_the_fold_and_samples_of_the_others(nuclei):
    all_images = {image.id for image in headrace.open(nuclei).images}
    judged = []
    for fold in range(3):
        config = CONFIG | {"data": {"store": str(nuclei), "folds": 3, "fold": fold}}
        of_fold = images_of(config, "val")
        assert images_of(config, None) == all_images - of_fold
        assert images_of(config | {"sampling": CONFIG["sampling"] | {"seed": 5}}, None) == all_images - of_fold
        judged += of_fold
    assert sorted(judged) == sorted(all_images) and len(judged) == 6
