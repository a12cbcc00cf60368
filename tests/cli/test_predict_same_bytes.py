"""A prediction has the same bytes for any batch and threads, from a store or the file itself: copied JPEG tiles and pixels without loss,
runs with contexts, mirror images, means of runs, and CT."""
import pytest
from ct_inputs import CT
from driving import SAMPLES, headrace
from predictions import tree

CONFIG = """task: segmentation
data: {{store: {store}}}
patch: {{size: [64, 64], mpp: 2.0, context: [1, 2]}}
sampling: {{seed: {seed}, batch: 4, batches_per_epoch: 6}}
transforms:
  - stain_normalize: {{}}
model: {{name: unet2d, widths: [8, 16]}}
train: {{epochs: 1, lr: 4.0e-3, threads: 1, validate_every: 0}}
eval: {{overlap: 0.25, batch: 8}}
loader: {{threads: 1, prefetch: 2}}
"""
CT_CONFIG = """task: segmentation
data: {{store: {store}}}
patch: {{size: [8, 32, 32], spacing_mm: {spacing}}}
sampling: {{seed: 7, batch: 2, batches_per_epoch: 2}}
transforms:
  - window_hu: {{low: -160, high: 240}}
model: {{name: unet3d, widths: [8, 16]}}
train: {{epochs: 1, threads: 1, validate_every: 0}}
loader: {{threads: 1, prefetch: 2}}
"""
DERIVED = SAMPLES / "slides/derived"
SLIDES = {"jpeg": DERIVED / "cmu-aperio-style-4level.svs", "lossless": DERIVED / "cmu-bigtiff-deflate-512.tif"}
# Every number of both appears, with tiles from the store and from the file.
WAYS = [("store", 3, 2), ("store", 16, 7), ("file", 1, 7), ("file", 16, 1), ("file", 3, 2)]


@pytest.fixture(scope="module")
def runs(nuclei, tmp_path_factory):
    """Two runs whose patches have a context: each tile reads two levels."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (1, 2):
        (folder / f"{seed}.yaml").write_text(CONFIG.format(store=nuclei, seed=seed))
        headrace("train", "--config", folder / f"{seed}.yaml", "--out", folder / f"run{seed}")
    return [folder / "run1", folder / "run2"]


def assert_same(options, file, store, folder, ways=WAYS):
    """Batches of one and one thread, from the store, against the other ways."""
    def result_of(name, source, batch, threads):
        headrace("predict", *options, source, "--batch", batch, "--threads", threads, "--out", folder / name)
        (result,) = [path for path in (folder / name).iterdir() if path.is_dir()]
        return tree(result, source=False)

    expected = result_of("one", store, 1, 1)
    assert len(expected) > 5
    for source, batch, threads in ways:
        assert result_of(f"{source}-{batch}-{threads}", store if source == "store" else file, batch, threads) == expected


@pytest.mark.parametrize("kind", sorted(SLIDES))
def test_slides(runs, tmp_path, kind):
    headrace("ingest", "slides", SLIDES[kind], "--out", tmp_path / "s.zarr")
    assert_same(["--run", runs[0]], SLIDES[kind], tmp_path / "s.zarr", tmp_path)


def assert_same_where_the_model_is(options, store, folder):
    """Blended by the tensors that would lie on a GPU, against the host."""
    found = {}
    for where in ("host", "model"):
        headrace("predict", *options, store, "--batch", 3, "--threads", 2, "--out", folder / where, environment={"HEADRACE_BLEND": where})
        found[where] = tree(folder / where)
    assert len(found["host"]) > 5 and found["model"] == found["host"]


def test_slides_blended_where_the_model_is(runs, tmp_path):
    headrace("ingest", "slides", *SLIDES.values(), "--out", tmp_path / "s.zarr")
    assert_same_where_the_model_is(["--run", runs[0], "--flips"], tmp_path / "s.zarr", tmp_path)


def test_scans_blended_where_the_model_is(ct_run, tmp_path):
    """Several scans with lesions, which are resampled, scored and rounded there."""
    headrace("ingest", "volumes", *[CT / f"sarcoma/sts-{number}.nii.gz" for number in ("002", "012", "018")], "--out", tmp_path / "s.zarr")
    assert_same_where_the_model_is(["--run", ct_run, "--flips"], tmp_path / "s.zarr", tmp_path)


@pytest.mark.parametrize("spacing", ["[5.1, 1.7, 0.8]", "null"])
def test_scans_without_lesions_blended_where_the_model_is(ct_cohort, tmp_path, spacing):
    """Finer and coarser than the scans along their axes, and their own grid."""
    (tmp_path / "run.yaml").write_text(CT_CONFIG.format(store=ct_cohort / "ct.zarr", spacing=spacing))
    headrace("train", "--config", tmp_path / "run.yaml", "--out", tmp_path / "run")
    headrace("ingest", "volumes", CT / "sarcoma/sts-012.nii.gz", "--out", tmp_path / "s.zarr")
    assert_same_where_the_model_is(["--run", tmp_path / "run"], tmp_path / "s.zarr", tmp_path)


def test_means_of_runs_and_mirror_images(runs, tmp_path):
    headrace("ingest", "slides", SLIDES["jpeg"], "--out", tmp_path / "s.zarr")
    assert_same(["--run", runs[0], "--run", runs[1], "--flips"], SLIDES["jpeg"], tmp_path / "s.zarr", tmp_path, [("file", 3, 7), ("store", 16, 2)])


def test_means_of_runs_blended_where_the_models_are(runs, ct_run, tmp_path):
    """Three runs, whose mean is not a matter of halves, one of them twice; scans with lesions."""
    headrace("ingest", "slides", *SLIDES.values(), "--out", tmp_path / "s.zarr")
    options = [word for run in (*runs, runs[0]) for word in ("--run", run)]
    assert_same_where_the_model_is(options, tmp_path / "s.zarr", tmp_path / "slides")
    headrace("ingest", "volumes", CT / "sarcoma/sts-012.nii.gz", CT / "sarcoma/sts-018.nii.gz", "--out", tmp_path / "ct.zarr")
    assert_same_where_the_model_is(["--run", ct_run, "--run", ct_run, "--run", ct_run], tmp_path / "ct.zarr", tmp_path / "scans")


def test_scans(ct_run, tmp_path):
    scan = CT / "sarcoma/sts-012.nii.gz"
    headrace("ingest", "volumes", scan, "--out", tmp_path / "s.zarr")
    assert_same(["--run", ct_run], scan, tmp_path / "s.zarr", tmp_path)
