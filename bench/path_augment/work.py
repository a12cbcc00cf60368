"""Sixteen tissue patches, uint8 512×512×3 → float32 (16,3,512,512), through a whole augmentation chain.

  affine   rotate ±180°, scale 0.8 to 1.25, shear ±5°, translate ±10 %, bilinear
  elastic  about 3.3 pixels rms
  macenko  to a fixed reference: the peers estimate each patch's stain matrix, Headrace has each slide's from ingest
  hed      each of three stain concentrations times 1 ± 0.05 plus ± 0.05
  colour   brightness, contrast, saturation ± 20 %, hue ± 0.05
  noise    Gaussian, sigma 0.02 of full range
  norm     (x / 255 - mean) / std with the ImageNet figures
A subject gives augment(context, patches, reference) → run(), which returns the batch; random, so its spread is checked, not its bits.
"""
import numpy as np
from positions import positions

ITEMS, PATCH, EDGE = 16, 512, 20480
BYTES_PER_ITEM = PATCH * PATCH * 3
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def patches(context):
    """The first 17 of the positions of seed 303 that are tissue (mean under 215) to 60 %; the last is the stain reference."""
    kept = context.data / "patches.npy"
    if not kept.exists():
        import openslide
        slide, found = openslide.OpenSlide(context.slide), []
        for y, x in positions(2000, (EDGE, EDGE), (PATCH, PATCH), 303):
            pixels = np.asarray(slide.read_region((x, y), 0, (PATCH, PATCH)).convert("RGB"))
            if (pixels.mean(2) < 215).mean() >= 0.6:
                found.append(pixels)
            if len(found) == ITEMS + 1:
                break
        np.save(kept, np.stack(found))
    return np.load(kept)


def check(batch):
    if batch.shape != (ITEMS, 3, PATCH, PATCH) or str(batch.dtype) != "float32":
        raise SystemExit(f"expected float32 ({ITEMS},3,{PATCH},{PATCH}), got {batch.dtype} {batch.shape}")
    mean, std = float(batch.mean()), float(batch.std())
    if not (np.isfinite(batch).all() and 0.2 < mean < 2.2 and 0.4 < std < 1.6):
        raise SystemExit(f"implausible output: mean {mean}, spread {std}")
    return {"mean": round(mean, 3), "std": round(std, 3)}


def prepare(subject, context):
    if hasattr(subject, "run"):
        return lambda: subject.run(context, ITEMS), subject.checked(context)
    pixels = patches(context)
    run = subject.augment(context, pixels[:ITEMS], pixels[ITEMS])
    checked = check(np.asarray(run()))
    return run, checked
