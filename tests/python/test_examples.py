"""The programs of examples/, each run as a user runs it, on stores and files of samples/."""
import filecmp
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import openslide
import pytest
import torch
from batches import child_environment
from driving import ROOT, SAMPLES, headrace, rows_of
from made_once import made_once
from PIL import Image
from ray_nodes import own_ray

import headrace as package

EXAMPLES, ORGANS, SLIDES = ROOT / "examples", SAMPLES / "ct/organs", SAMPLES / "slides"


def run(program, *arguments, cwd, seconds=300, code=0, environment=None):
    """What a program of Python prints; it must end in time."""
    # One thread of PyTorch: the same figures for any number of cores, and no waiting in circles where the cores are shared.
    done = subprocess.run([sys.executable, program, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=seconds,
                          env=child_environment({"OMP_NUM_THREADS": "1"} | (environment or {})))
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}\n{done.stdout[-1000:]}{done.stderr[-4000:]}"
    return done.stdout if code == 0 else done.stderr


def figures(line):
    """{class: figure} of "…: liver 0.73, spleen 0.60"."""
    return {name: float(number) for name, number in re.findall(r"(\w+) (\d\.\d\d)\b", line.rsplit(":", 1)[1])}


def dice_of_all(masks):
    """Dice of calling every pixel of these masks the class."""
    inside = sum(int(mask.sum()) for mask in masks)
    return 2 * inside / (inside + sum(mask.size for mask in masks))


@pytest.fixture(scope="module")
def all_nuclei(tmp_path_factory):
    """A store of every annotated image of stained tissue."""
    return made_once(tmp_path_factory, "all-nuclei", lambda folder: headrace(
        "ingest", "slides", SAMPLES / "nuclei/images", "--table", SAMPLES / "nuclei/cases.csv", "--classes", "background,nucleus",
        "--out", folder / "nuclei.zarr")) / "nuclei.zarr"


@pytest.fixture(scope="module")
def organs(tmp_path_factory):
    """A store of CT of two patients, one from DICOM for training, one from NIfTI for val."""
    return made_once(tmp_path_factory, "organs", lambda folder: headrace(
        "ingest", "volumes", ORGANS, "--table", ORGANS / "cases.csv", "--classes", "background,liver,spleen,back_muscles",
        "--out", folder / "organs.zarr")) / "organs.zarr"


@pytest.fixture(scope="module")
def phantoms(tmp_path_factory):
    """A store of 24 phantom slides with grade groups, half of them in val."""
    def make(folder):
        headrace("phantom", "slides", "--out", folder / "in", "--count", 24, "--size", 1024, "--scanners", 1, "--seed", 11)
        headrace("ingest", "slides", folder / "in/slides", "--table", folder / "in/cases.csv", "--out", folder / "phantoms.zarr")
    return made_once(tmp_path_factory, "graded-phantoms", make) / "phantoms.zarr"


def test_train_torch(all_nuclei, tmp_path):
    """Two epochs are better than to call every pixel a nucleus, by the masks themselves."""
    masks = [np.asarray(Image.open(SAMPLES / "nuclei" / row["annotation"])) > 0
             for row in rows_of(SAMPLES / "nuclei/cases.csv") if row["split"] == "val"]
    lines = run(EXAMPLES / "train_torch.py", all_nuclei, 2, cwd=tmp_path).splitlines()
    assert [re.match(r"epoch (\d): loss \d\.\d{3}, Dice of val: background \d\.\d\d, nucleus \d\.\d\d$", line)[1] for line in lines] == ["0", "1"]
    assert figures(lines[-1])["nucleus"] > dice_of_all(masks) + 0.05


def test_train_torch_says_what_is_missing(tmp_path):
    assert "nowhere.zarr" in run(EXAMPLES / "train_torch.py", "nowhere.zarr", cwd=tmp_path, code=1).splitlines()[-1]


def test_train_lightning_monai(organs, tmp_path):
    lines = run(EXAMPLES / "train_lightning_monai.py", organs, 2, cwd=tmp_path).splitlines()
    lines = [line for line in lines if line.startswith("epoch")]
    labels = [image.labels().level(0)[...] for image in package.open(organs) if image.split == "val"]
    assert [line.split(":")[0] for line in lines] == ["epoch 0", "epoch 1"]
    assert figures(lines[-1])["liver"] > dice_of_all([label == 1 for label in labels]) + 0.1


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed: tools/deps/install.sh test")
def test_train_ray_goes_on_exactly(all_nuclei, tmp_path):
    """Stopped in the middle of an epoch and called again, it has the weights of an unbroken run."""
    with own_ray() as (_, environment):
        said = [run(EXAMPLES / "train_ray.py", all_nuclei, out, steps, cwd=tmp_path, environment=environment).splitlines()[-1]
                for out, steps in (("stopped", 7), ("stopped", 23), ("unbroken", 23))]
    assert said[0].startswith("step 7: loss ") and said[0].endswith("next batch 7 of epoch 0")
    assert said[1] == said[2] and said[2].endswith("next batch 3 of epoch 1")
    last = [max((tmp_path / out / "nuclei").glob("checkpoint_*/state.pt"), key=lambda path: path.stat().st_mtime) for out in ("stopped", "unbroken")]
    stopped, unbroken = (torch.load(path)["network"] for path in last)
    assert stopped.keys() == unbroken.keys() and all(torch.equal(stopped[name], unbroken[name]) for name in stopped)


def test_augment_in_dataloader_does_not_depend_on_workers(tmp_path):
    printed = [run(EXAMPLES / "augment_in_dataloader.py", SAMPLES / "nuclei/images", SAMPLES / "nuclei/instances", workers, cwd=tmp_path)
               for workers in (0, 2)]
    assert printed[0] == printed[1]
    steps = [line.split(": ", 1)[1] for line in printed[0].splitlines() if " step " in line]
    assert len(steps) == 6 and len(set(steps)) == 6  # three batches of 23 images, in either epoch others


def test_augment_in_dataloader_keeps_masks_on_their_nuclei(monkeypatch):
    """Haematoxylin is dark: with mask and image moved alike nuclei are darker than what surrounds them."""
    monkeypatch.setattr(sys, "argv", ["augment_in_dataloader.py"])
    spec = importlib.util.spec_from_file_location("augment_in_dataloader", EXAMPLES / "augment_in_dataloader.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    dataset = example.Nuclei(SAMPLES / "nuclei/images", SAMPLES / "nuclei/instances")
    red = [(image[0][mask == 1].mean() - image[0][mask == 0].mean()).item() for image, mask in map(dataset.__getitem__, range(len(dataset)))]
    assert len(red) == 23 and max(red) < 0


def of_openslide(folder):
    """The example as it was before its import was changed, without what openslide-python lacks."""
    ours = (EXAMPLES / "drop_in_openslide.py").read_text()
    theirs = ours.replace("import headrace.openslide as openslide  # was: import openslide", "import openslide").split("# More than")[0]
    assert "headrace" not in theirs.replace("headrace/", "") and "import openslide\n" in theirs
    path = folder / "theirs.py"
    path.write_text(theirs)
    return path


@pytest.mark.parametrize("slide", ["CMU-1-Small-Region.svs", "derived/cmu-aperio-style-4level.svs", "TCGA-CR-7395-01A-01-TS1.svs"])
def test_drop_in_openslide_writes_the_files_of_openslide(slide, tmp_path):
    ours = run(EXAMPLES / "drop_in_openslide.py", SLIDES / slide, "ours", cwd=tmp_path).splitlines()
    theirs = run(of_openslide(tmp_path), SLIDES / slide, "theirs", cwd=tmp_path).splitlines()
    assert [line.replace("ours", "theirs") for line in ours[:-1]] == theirs
    files = {path.relative_to(tmp_path / "theirs") for path in (tmp_path / "theirs").rglob("*") if path.is_file()}
    assert files == {path.relative_to(tmp_path / "ours") for path in (tmp_path / "ours").rglob("*") if path.is_file()} and len(files) > 10
    assert filecmp.cmpfiles(tmp_path / "ours", tmp_path / "theirs", files, shallow=False)[1:] == ([], [])
    place = tuple(map(int, re.search(r"most of it at \((\d+), (\d+)\)", ours[-1]).groups()))
    with openslide.open_slide(SLIDES / slide) as reference:
        pixels = np.asarray(reference.read_region(place, 0, (256, 256)))[..., :3].astype(int)
    assert (pixels.max(2) - pixels.min(2) > 20).mean() > 0.5


def test_drop_in_openslide_takes_an_image_of_a_store(all_nuclei, tmp_path):
    image = package.open(all_nuclei)[0]
    lines = run(EXAMPLES / "drop_in_openslide.py", f"{all_nuclei}::{image.id}", "out", cwd=tmp_path).splitlines()
    assert lines[0].startswith("320 × 256 pixels")
    tile = np.asarray(Image.open(tmp_path / "out/slide_files/9/0_0.jpeg").convert("RGB"), int)
    source = np.asarray(Image.open(SAMPLES / f"nuclei/images/{image.id}.png").convert("RGB"), int)[:255, :255]
    assert tile.shape == source.shape and abs(tile - source).mean() < 4  # a JPEG of quality 90


def shape_of_features(path):
    with h5py.File(path) as file:
        return file["features"].shape


def test_attention_mil(phantoms, tmp_path):
    """Slides of val on which it was not trained: at least ten of twelve right, where always saying the same gives six."""
    begun = run(EXAMPLES / "attention_mil.py", phantoms, "features", cwd=tmp_path).splitlines()
    again = run(EXAMPLES / "attention_mil.py", phantoms, "features", cwd=tmp_path).splitlines()
    of_patches, of_slides = map(int, re.match(r"features of (\d+) patches of (\d+) slides made", begun[0]).groups())
    assert of_slides == 24 and again[0] == "features of 0 patches of 0 slides made, those of 24 slides were there"
    assert begun[1:] == again[1:]
    right, of = map(int, re.match(r"val: (\d+) of (\d+) slides right", begun[-1]).groups())
    assert of == 12 and right >= 10
    files = list((tmp_path / "features").glob("*.h5"))
    sizes = [shape_of_features(path) for path in files]
    assert len(files) == 24 and sum(rows for rows, _ in sizes) == of_patches and {width for _, width in sizes} == {512}
    grades = {row["image"]: int(row["grade_group"]) for row in rows_of(phantoms.parent / "in/cases.csv") if row["split"] == "val"}
    said = dict(re.match(r"(phantom-\d+): .* in truth ([01]);", line).groups() for line in begun[2:-1])
    assert said == {image: str(int(grade >= 3)) for image, grade in grades.items()}


def test_attention_mil_says_what_a_store_lacks(all_nuclei, tmp_path):
    message = run(EXAMPLES / "attention_mil.py", all_nuclei, "features", cwd=tmp_path, code=1).splitlines()[-1]
    assert "nuclei.zarr: has no slides with tissue and a grade group" in message


def test_the_readme_shows_train_torch_word_for_word():
    """Its first block, and lines as it prints them."""
    code, printed = re.findall(r"```(?:python)?\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[:2]
    assert code == (EXAMPLES / "train_torch.py").read_text()
    assert re.fullmatch(r"(epoch \d: loss \d\.\d{3}, Dice of val: background 0\.\d\d, nucleus 0\.\d\d\n){4}", printed)


def test_every_example_is_listed_and_tested():
    listed = (EXAMPLES / "README.md").read_text()
    here = Path(__file__).read_text()
    for path in EXAMPLES.glob("*.py"):
        assert f"({path.name})" in listed and f'"{path.name}"' in here, path.name
