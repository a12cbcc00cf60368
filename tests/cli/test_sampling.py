"""Where samples lie, by the real programs from files to tensors: ten patients, one with a lesion of 65 ml and nine with polyps of 8 mm, as CT
and as slides; each image has a grey of its own, so that a patch tells which one it is of."""
import numpy as np
import pytest
from ct_inputs import write_volume
from driving import headrace, json_of, write_table
from PIL import Image
from scipy.stats import chisquare

PATIENTS, BATCHES, SIZE = 10, 30, 10  # batches of ten samples


def patches(tmp_path, config):
    """Images and labels of all samples."""
    json_of("batches", "--config", config, "--count", BATCHES, "--out", tmp_path / "out")
    return [np.concatenate([np.load(tmp_path / f"out/batch-0-{b}-{what}.npy") for b in range(BATCHES)]) for what in ("images", "labels")]


def check_draws(patient_of_sample, labels):
    counts = np.bincount(patient_of_sample, minlength=PATIENTS)
    assert counts.sum() == BATCHES * SIZE and len(counts) == PATIENTS
    assert chisquare(counts).pvalue > 1e-6, counts
    middle = labels[(slice(None), *(slice(n // 4, n - n // 4) for n in labels.shape[1:]))]
    held = (middle == 1).any(axis=tuple(range(1, labels.ndim)))
    print(f"draws by patient {counts}, chi-square p {chisquare(counts).pvalue:.3f}, class in the central half {held.mean():.4f}")
    assert held.mean() >= 0.99, held.mean()


@pytest.mark.parametrize("keep_inside", ["true", "false"])
def test_ct_of_ten_patients(tmp_path, keep_inside):
    spacing, shape = np.array([2.5, 1.25, 1.25]), (40, 88, 88)
    at = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), -1) * spacing
    rows = []
    for i in range(PATIENTS):
        centre, radius = ((50, 55, 55), 24.94) if i == 0 else ((5 + 10 * i, 20 + 8 * i, 12), 4)  # the first polyp lies at the lower end
        lesion = (((at - centre) ** 2).sum(-1) <= radius**2).astype(np.uint8)
        assert i > 0 or abs(lesion.sum() * np.prod(spacing) / 65000 - 1) < 0.02
        write_volume(tmp_path / f"ct/p{i}.nii.gz", np.full(shape, 20 * i, np.int16), tuple(spacing[::-1]))
        write_volume(tmp_path / f"ct/p{i}_seg.nii.gz", lesion, tuple(spacing[::-1]))
        rows.append({"file": f"ct/p{i}.nii.gz", "labels": f"ct/p{i}_seg.nii.gz", "split": "train"})
    headrace("ingest", "volumes", tmp_path / "ct", "--table", write_table(tmp_path / "cases.csv", rows), "--classes", "background,lesion", "--accept", "values",
             "--out", tmp_path / "ct.zarr")
    config = tmp_path / "run.yaml"
    config.write_text(f"task: segmentation\ndata: {{store: {tmp_path}/ct.zarr}}\npatch: {{size: [16, 24, 24], spacing_mm: [2.5, 1.25, 1.25]}}\n"
                      f"sampling: {{seed: 5, batch: {SIZE}, foreground: 1, keep_inside: {keep_inside}}}\nmodel: {{widths: [8, 16]}}\n"
                      "transforms: [{normalize: {method: fixed, mean: 0, std: 20}}]\n")
    images, labels = patches(tmp_path, config)
    check_draws(np.rint(images[:, 0].mean(axis=(1, 2, 3))).astype(int), labels)


def test_slides_of_ten_patients(tmp_path):
    shape, rows = (700, 900), []
    y, x = np.mgrid[:shape[0], :shape[1]]
    (tmp_path / "slides").mkdir()
    for i in range(PATIENTS):
        centre, radius = ((350, 450), 250) if i == 0 else ((60 + 65 * i, 5 + 80 * i), 6)  # the first small one lies at the left edge
        tumour = ((y - centre[0]) ** 2 + (x - centre[1]) ** 2 <= radius**2).astype(np.uint8)
        tint = np.broadcast_to(np.array([120 + 10 * i, 60, 140], np.uint8), (*shape, 3))
        Image.fromarray(tint).save(tmp_path / f"slides/p{i}.png")
        Image.fromarray(tumour).save(tmp_path / f"slides/p{i}_mask.png")
        rows.append({"file": f"slides/p{i}.png", "annotation": f"slides/p{i}_mask.png", "split": "train", "mpp": 0.5})
    headrace("ingest", "slides", tmp_path / "slides", "--table", write_table(tmp_path / "cases.csv", rows), "--classes", "background,tumour",
             "--out", tmp_path / "slides.zarr")
    config = tmp_path / "run.yaml"
    config.write_text(f"task: segmentation\ndata: {{store: {tmp_path}/slides.zarr}}\npatch: {{size: [96, 96], mpp: 0.5}}\n"
                      f"sampling: {{seed: 5, batch: {SIZE}, foreground: 1}}\nmodel: {{widths: [8, 16]}}\n")
    images, labels = patches(tmp_path, config)
    red = images[:, 0, 0, 48, 48] * 255
    check_draws(np.rint((red - 120) / 10).astype(int), labels)
