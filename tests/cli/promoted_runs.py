"""Two trained runs of one cohort with gates that both pass, and what is read of a registry: for the tests of gates, diff and promote."""
import hashlib
import json

from driving import headrace

GATES = """gates:
  - {figure: dice.background, least: 0.01}
  - {figure: mean_dice, least: 0, scope: each cohort}
"""
CONFIG = """task: gleason
data: {{store: {store}}}
patch: {{size: [64, 64], mpp: 4.0}}
sampling: {{seed: {seed}, batch: 4, batches_per_epoch: 10}}
model: {{name: unet2d, widths: [8, 16]}}
train: {{epochs: {epochs}, lr: 4.0e-3, threads: 1, validate_every: {validate_every}}}
eval: {{overlap: 0.25, batch: 4, bootstrap: 100}}
loader: {{threads: {threads}, prefetch: 2}}
"""


def config_of(store, seed=5, epochs=1, threads=1, gates=GATES, validate_every=0):
    return CONFIG.format(store=store, seed=seed, epochs=epochs, threads=threads, validate_every=validate_every) + gates


def promotable_runs(folder):
    """A store of phantom slides of two cohorts (`s.zarr`), and the runs `a` and `b` of it; the second is trained for longer."""
    headrace("phantom", "slides", "--out", folder / "in", "--count", 12, "--size", 1000, "--scanners", 2, "--seed", 3)
    headrace("ingest", "slides", folder / "in/slides", "--table", folder / "in/cases.csv", "--codec", "blosc-zstd", "--out", folder / "s.zarr")
    for name, options in {"a": {}, "b": {"seed": 6, "epochs": 4, "threads": 2, "validate_every": 2}}.items():
        (folder / f"{name}.yaml").write_text(config_of(folder / "s.zarr", **options))
        headrace("train", "--config", folder / f"{name}.yaml", "--out", folder / name)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def weights_identity(path):
    """Of the network's tensors in a weights file, by the definition in docs/formats.md."""
    data = path.read_bytes()
    body = data[8 + int.from_bytes(data[:8], "little"):]
    header = json.loads(data[8:len(data) - len(body)])
    digest = hashlib.sha256()
    for name in sorted(name for name in header if name.startswith("model.")):
        entry = header[name]
        digest.update(json.dumps([name, entry["dtype"], entry["shape"]], separators=(",", ":")).encode() + b"\n")
        digest.update(body[slice(*entry["data_offsets"])])
    return digest.hexdigest()


def contents(folder):
    """Every file, folder and link of a folder, with the bytes or the aim."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = str(path.readlink()) if path.is_symlink() else "folder" if path.is_dir() else path.read_bytes()
    return found


def log_of(registry):
    return [json.loads(line) for line in (registry / "log.jsonl").read_text().splitlines()]


def promote(run, registry, *options, name="gleason", code=0):
    return headrace("promote", run, "--as", name, "--registry", registry, *options, code=code)
