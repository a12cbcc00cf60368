"""The demo up to its trainings, small: every config in samples/configs reads the store that the demo makes for it, and names only what is there.

golden/demo_bytes.json has the hashes of these stores and of batches made from them, of the program as it was before its files were put in order.
They change only where CHANGELOG says that bytes change; then: python tests/cli/test_demo_configs.py FOLDER (HEADRACE names the program).
"""
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from driving import PROGRAM, ROOT, SAMPLES, json_of

# The lowest level first; all give the same bytes.
ISAS = ("neon",) if platform.machine() == "aarch64" else ("v1", "v2", "v3", "v4")
GOLDEN = Path(__file__).parent / "golden/demo_bytes.json"
# A build folder for aarch64, and where its libraries are; `make test-aarch64` sets both.
AARCH64, SYSROOT = (os.environ.get(name) for name in ("HEADRACE_AARCH64", "HEADRACE_SYSROOT_AARCH64"))
CONFIGS = sorted((SAMPLES / "configs").glob("*.yaml"))


def make_demo(out):
    settings = {"DEMO_OUT": out, "HEADRACE": PROGRAM, "DEMO_INGEST_ONLY": "1", "DEMO_PHANTOMS": "8", "DEMO_PHANTOM_EDGE": "512",
                "DEMO_PATIENTS": "6"}
    done = subprocess.run([ROOT / "tools/demo.sh"], capture_output=True, text=True, timeout=600,
                          env=os.environ | {name: str(value) for name, value in settings.items()})
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def hashes_of_stores(demo):
    return {path.name.split(".")[0]: json.loads(path.read_text())["dataset_hash"] for path in sorted(demo.glob("*.ingest.json"))}


def hashes_of(batches):
    return [[batch[key] for key in ("images_sha256", "labels_sha256") if key in batch] for batch in batches]


def hashes_of_batches(demo, path, isa):
    """Training batches of the first epoch and of a later one, and the first tiles of the validation split."""
    config = yaml.safe_load(path.read_text())
    splits = [("train", ["--start", 1, "--epoch", 1, "--count", 2]), ("first", ["--count", 1])]
    if "val" in config["data"]:
        splits.append(("val", ["--count", 1, "--split", config["data"]["val"]]))
    made = {name: json_of("--isa", isa, "batches", "--config", path, *options, cwd=demo)["batches"] for name, options in splits}
    return {name: hashes_of(batches) for name, batches in made.items()}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return make_demo(tmp_path_factory.mktemp("demo") / "out")


@pytest.fixture(scope="module")
def golden():
    return json.loads(GOLDEN.read_text())


def test_stores_have_the_hashes_of_before(demo, golden):
    assert hashes_of_stores(demo) == golden["stores"]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_batches_have_the_hashes_of_before(path, isa, demo, golden):
    needed = {"v3": "avx2", "v4": "avx512_vbmi2"}.get(isa)
    if needed and f" {needed} " not in Path("/proc/cpuinfo").read_text():
        pytest.skip(f"not run: this CPU lacks {needed}")
    assert hashes_of_batches(demo, path, isa) == golden["batches"][path.stem]


@pytest.mark.skipif(not AARCH64, reason="not run: HEADRACE_AARCH64 names no build for aarch64 (make test-aarch64)")
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_batches_of_aarch64_have_these_hashes(path, demo, golden):
    store = yaml.safe_load(path.read_text())["data"]["store"]
    command = ["qemu-aarch64", "-L", SYSROOT, Path(AARCH64).resolve() / "iterate_batches", demo / store, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    made = [[None if word == "-" else word for word in line.split()[-2:]] for line in done.stdout.splitlines()]
    assert made[:1] == golden["batches"][path.stem]["first"]
    assert made == hashes_of(json_of("batches", "--config", path, "--count", 3, cwd=demo)["batches"])


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_config_fits_the_store_of_the_demo(path, demo):
    config = yaml.safe_load(path.read_text())
    facts = json_of("info", demo / config["data"]["store"])
    assert (demo / f"{path.stem}.png").stat().st_size > 10_000
    three = len(config["patch"]["size"]) == 3
    assert facts["kind"] == ("volume" if three else "slide")
    cohorts = {image["cohort"] for image in facts["images"]}
    assert set(config.get("sampling", {}).get("cohort_weights", {})) <= cohorts
    if "train" not in config:
        return
    halvings = 2 ** (len(config["model"]["widths"]) - 1)
    assert all(edge % halvings == 0 for edge in config["patch"]["size"])
    weights = config["train"].get("class_weights")
    assert weights is None or len(weights) == len(facts["classes"])
    assert set(config["eval"].get("lesion_classes", [])) <= set(facts["classes"][1:])
    splits = [{image["case"] for image in facts["images"] if image["split"] == config["data"][part]} for part in ("train", "val")]
    assert all(splits) and not splits[0] & splits[1]
    assert all(image["labels"] == ["annotation"] for image in facts["images"])
    # Loads, plans and makes a batch with labels.
    batch = json_of("batches", "--config", path, "--count", 1, cwd=demo)
    assert batch["batches"][0]["labels_sha256"]


def test_the_demo_uses_every_config():
    script = (ROOT / "tools/demo.sh").read_text()
    assert len(CONFIGS) >= 6
    for path in CONFIGS:
        assert f"learn {path.stem} " in script or f"$configs/{path.name}" in script, path.name


if __name__ == "__main__":
    made = make_demo(Path(sys.argv[1]))
    batches = {path.stem: hashes_of_batches(made, path, ISAS[0]) for path in CONFIGS}
    GOLDEN.write_text(json.dumps({"stores": hashes_of_stores(made), "batches": batches}, indent=1) + "\n")
