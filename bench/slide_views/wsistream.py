"""Its own pipeline, in one process; its tissue mask and the opening of the slide are in the work, as its user has them."""
from collections import Counter

PACKAGES = ("wsistream", "openslide-python", "opencv-python-headless")
NOTE = "PatchPipeline on OpenSlide"


def run(context, items):
    from wsistream import (ComposeTransforms, HEDColorAugmentation, OpenSlideBackend, PatchPipeline, RandomFlipRotate, RandomResizedCrop, RandomSampler,
                           ViewConfig)

    def view(name, size, scale, count):
        colours = ComposeTransforms([RandomFlipRotate(), HEDColorAugmentation(sigma=0.05)])
        return ViewConfig(name, crop=RandomResizedCrop(size, scale), transforms=colours, count=count)

    pipeline = PatchPipeline(slide_paths=[context.slide], backend=OpenSlideBackend(), sampler=RandomSampler(patch_size=256, level=0), pool_size=1,
                             patches_per_slide=items, seed=606, views=[view("global", 224, (0.32, 1.0), 2), view("local", 96, (0.05, 0.32), 6)])
    return Counter(crop.shape for sample in pipeline for crop in sample.views.values())
