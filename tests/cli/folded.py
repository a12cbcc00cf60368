"""A small cross-validation of annotated nuclei, and what it is made of."""
from driving import SAMPLES, headrace, rows_of, write_table

FOLDS = 3
CONFIG = """task: segmentation
data: {{store: {store}}}
patch: {{size: [32, 32], mpp: 0.5}}
sampling: {{seed: 7, batch: 4, batches_per_epoch: {batches}}}
model: {{name: unet2d, widths: [8, 16]}}
train: {{epochs: 2, lr: 3.0e-3, checkpoint_every: 2, threads: 1, log_every: 1}}
loader: {{threads: 1}}
eval: {{overlap: 0}}
"""


def folds_store(folder):
    """`n.zarr`: seven patients of two cohorts in train and val, two with two images each, and one in test."""
    rows = [row for row in rows_of(SAMPLES / "nuclei/cases.csv") if row["cohort"] != "pink"][:10]
    for i, row in enumerate(rows):
        row["file"], row["annotation"] = (str(SAMPLES / "nuclei" / row[key]) for key in ("file", "annotation"))
        row["case"] = f"patient{i // 2 if i < 4 else i - 2}"
        row["split"] = "test" if i == 9 else "val" if i == 8 else "train"
    headrace("ingest", "slides", SAMPLES / "nuclei/images", "--table", write_table(folder / "cases.csv", rows), "--classes", "background,nucleus",
             "--out", folder / "n.zarr")
    return folder / "n.zarr"


def folds_config(path, store, batches=2):
    path.write_text(CONFIG.format(store=store, batches=batches))
    return path


def trained_folds(folder):
    """n.zarr, run.yaml and `five`, its folds."""
    config = folds_config(folder / "run.yaml", folds_store(folder))
    headrace("train", "--config", config, "--folds", FOLDS, "--out", folder / "five")
