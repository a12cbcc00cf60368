"""The demo up to its trainings, small: every config in samples/configs reads the store that the demo makes for it, and names only what is there."""
import os
import subprocess

import pytest
import yaml
from driving import PROGRAM, ROOT, SAMPLES, json_of

CONFIGS = sorted((SAMPLES / "configs").glob("*.yaml"))


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "out"
    settings = {"DEMO_OUT": out, "HEADRACE": PROGRAM, "DEMO_INGEST_ONLY": "1", "DEMO_PHANTOMS": "8", "DEMO_PHANTOM_EDGE": "512",
                "DEMO_PATIENTS": "6"}
    done = subprocess.run([ROOT / "tools/demo.sh"], capture_output=True, text=True, timeout=600,
                          env=os.environ | {name: str(value) for name, value in settings.items()})
    assert done.returncode == 0, done.stderr[-3000:]
    return out


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
