"""TIAToolbox's SemanticSegmentor with two DataLoader workers and its own tissue mask: probabilities and classes as Zarr. It is not among
requirements-bench.txt, since its pins exclude others' there; without it this subject does not run."""
import logging

import numpy as np

PACKAGES = ("tiatoolbox", "torch", "openslide-python")
NOTE = "tissue by its own mask; probabilities and class map as Zarr; means of overlapping patches"


def predict(context, out):
    import torch
    from measure import HERE, load
    from tiatoolbox.models.engine.io_config import IOSegmentorConfig
    from tiatoolbox.models.engine.semantic_segmentor import SemanticSegmentor
    from tiatoolbox.models.models_abc import ModelABC
    logging.getLogger().setLevel(logging.ERROR)
    work = load(HERE / "slide_predict/work.py")
    tile = np.ascontiguousarray(work.probabilities().transpose(1, 2, 0))
    seen = []

    class FreeNetwork(ModelABC):
        def forward(self, image):
            return image

        @staticmethod
        def infer_batch(model, batch_data, *, device):
            seen.append(len(batch_data))
            return np.broadcast_to(tile, (len(batch_data), *tile.shape)).copy()

        @staticmethod
        def postproc(image):
            return np.argmax(image, -1)

    torch.set_num_threads(1)
    own = [{"units": "mpp", "resolution": work.MPP}]
    config = IOSegmentorConfig(input_resolutions=own, output_resolutions=own, save_resolution=own[0],
                               patch_input_shape=(work.PATCH, work.PATCH), patch_output_shape=(work.PATCH, work.PATCH),
                               stride_shape=(work.STRIDE, work.STRIDE))
    segmentor = SemanticSegmentor(model=FreeNetwork(), batch_size=8, num_workers=context.threads, device="cpu", verbose=False)
    segmentor.run(images=[context.slide], patch_mode=False, ioconfig=config, save_dir=out, output_type="zarr", return_probabilities=True,
                  auto_get_mask=True, overwrite=True)
    return {"patches": sum(seen)}
