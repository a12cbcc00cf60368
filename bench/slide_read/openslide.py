"""What most training code does."""
import threading

import numpy as np

PACKAGES = ("openslide-python", "openslide-bin")
NOTE = "read_region().convert('RGB'); a handle a thread"


def reader(context):
    import openslide
    local = threading.local()

    def read(y, x):
        if not hasattr(local, "slide"):
            local.slide = openslide.OpenSlide(context.slide)
        return np.asarray(local.slide.read_region((x, y), 0, (512, 512)).convert("RGB"))
    return read
