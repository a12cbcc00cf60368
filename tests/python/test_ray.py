"""headrace.ray: the batches of headrace.Loader, whatever the number of actors and whoever of them ends; on real nodes of Ray on this machine."""
import importlib.util
import json
import re
import shutil
import time
from pathlib import Path

import pytest
from batches import fact, python, write_slides, write_volumes
from driving import SAMPLES, headrace as program
from http_server import serving
from ray_nodes import LIMIT, Cluster, own_ray
from s3_server import NO_KEYS, radosgw

import headrace

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed: tools/deps/install.sh test")

BATCHES = 12  # of an epoch


@pytest.fixture(scope="module")
def cluster():
    """A head that does no work, and two nodes that hold three actors each."""
    with own_ray() as (folder, environment):
        cluster = Cluster(folder, environment)
        try:
            cluster.add(0)
            for _ in range(2):
                cluster.add(3, "--resources", '{"plain": 3}', **NO_KEYS)
            yield cluster
        finally:
            cluster.close()


@pytest.fixture(scope="module")
def slides(nuclei, tmp_path_factory):
    return write_slides(tmp_path_factory.mktemp("config") / "run.yaml", nuclei, batches=BATCHES)


@pytest.fixture
def cmu_by_reference(tmp_path):
    """A config of a store by reference of one slide, and the slide."""
    slide = Path(shutil.copy(SAMPLES / "slides/derived/cmu-aperio-style-4level.svs", tmp_path / "cmu.svs"))
    program("ingest", "slides", slide, "--pixels", "reference", "--val-fraction", 0, "--out", tmp_path / "s.zarr")
    config = tmp_path / "run.yaml"
    config.write_text(f"task: segmentation\ndata: {{store: {tmp_path}/s.zarr, labels: null}}\npatch: {{size: [64, 64], mpp: null}}\n"
                      "sampling: {batch: 2, batches_per_epoch: 200}\n")
    return config, slide


@pytest.fixture(scope="module")
def local(slides):
    """What a loader of this process gives in two epochs."""
    with headrace.Loader(slides, as_="numpy") as loader:
        return [fact(batch) for _ in range(2) for batch in loader]


def test_any_number_of_actors_gives_the_batches_of_a_loader(cluster, slides, local):
    said = cluster.run("""
for actors in (1, 2, 3):
    with headrace.ray.loader(sys.argv[1], actors=actors, as_="numpy") as loader:
        say([[fact(batch) for _ in range(2) for batch in loader], loader.stats()["actors"], len(loader), loader.place])
""", slides)
    assert said == [[local, actors, BATCHES, [2, 0]] for actors in (1, 2, 3)]


def test_actors_that_come_and_go_change_nothing(cluster, slides, local):
    said = cluster.run("""
facts = []
with headrace.ray.loader(sys.argv[1], actors=1, as_="numpy") as loader:
    for _ in range(2):
        for batch in loader:
            facts.append(fact(batch))
            if len(facts) in (5, 14):
                actors = 3 if len(facts) == 5 else 2
                loader.resize(actors)
                while len(loader.actors()) != actors:
                    time.sleep(0.1)
    actors = loader.stats()["actors"]
say([facts, actors])
""", slides)
    assert said == [[local, 2]]


def test_an_actor_that_is_killed_is_replaced(cluster, slides, local):
    """Twice, the second time the only one; what it was asked for comes from another."""
    said = cluster.run("""
import signal
facts = []
with headrace.ray.loader(sys.argv[1], actors=2, as_="numpy") as loader:
    for _ in range(2):
        for batch in loader:
            facts.append(fact(batch))
            if len(facts) in (5, 14):
                os.kill(loader.actors()[0]["pid"], signal.SIGKILL)
            if len(facts) == 9:
                loader.resize(1)
    again = loader.stats()["asked_again"]
say([facts, again])
""", slides)
    [[facts, again]] = said
    assert facts == local and again >= 2


def test_an_actor_that_hangs_is_not_waited_for(cluster, slides, local):
    """Its batches are asked of the other, and it works again when it answers."""
    said = cluster.run("""
import signal
facts = []
with headrace.ray.loader(sys.argv[1], actors=2, as_="numpy") as loader:
    for _ in range(2):
        for batch in loader:
            facts.append(fact(batch))
            if len(facts) == 5:
                hanging = loader.actors()[0]["pid"]
                os.kill(hanging, signal.SIGSTOP)
    before = len(loader.actors())
    os.kill(hanging, signal.SIGCONT)
    while len(loader.actors()) < 2:
        time.sleep(0.1)
    say([facts, before, loader.stats()["asked_again"] > 0])
""", slides)
    assert said == [[local, 1, True]]


def test_a_node_that_goes_changes_nothing(cluster, slides, local):
    """All processes of a machine at once, in the middle of an epoch; then there is none, until another machine joins."""
    gone = cluster.add(2, "--resources", '{"going": 2}')
    program = """
facts = []
with headrace.ray.loader(sys.argv[1], actors=2, resources={"going": 1}, as_="numpy") as loader:
    for _ in range(2):
        for batch in loader:
            facts.append(fact(batch))
            if len(facts) == 5:
                say([actor["node"] for actor in loader.actors()])
                input()
say(facts)
"""
    with cluster.driver(program, slides) as driver:
        assert driver.answer() == [gone, gone]
        cluster.remove(gone)
        cluster.add(2, "--resources", '{"going": 2}')
        driver.go_on()
        assert driver.answer() == local


def test_a_trainer_goes_on_after_any_batch(cluster, slides, local):
    """With the state that a Loader gives, and the other way round; in another process, with another number of actors."""
    program = """
state, actors, count = json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
with headrace.ray.loader(sys.argv[1], actors=actors, count=count, as_="numpy") as loader:
    if state:
        loader.load_state_dict(state)
    facts = [fact(batch) for batch in loader]
    say([facts, loader.state_dict()])
"""
    [[first, state]] = cluster.run(program, slides, "null", 2, 7)
    [[second, after]] = cluster.run(program, slides, json.dumps(state), 3, 10)
    with headrace.Loader(slides, as_="numpy") as loader:
        loader.load_state_dict(after)
        assert first + second + [fact(batch) for batch in loader] == local


@pytest.mark.parametrize("element", ["bfloat16", "float16", "uint8"])
def test_other_elements_are_those_of_a_loader(cluster, slides, element):
    said = cluster.run("""
import numpy as np, torch
import headrace
element = sys.argv[2]
same = []
local = headrace.Loader(sys.argv[1], as_="torch", loader={} if element == "uint8" else {"element": element})
with headrace.ray.loader(sys.argv[1], element=element, as_="torch", count=3) as loader:
    for mine, other in zip(loader, local):
        wanted = other["image"]
        if element == "uint8":
            wanted = torch.from_numpy(np.clip(np.rint(wanted.numpy() * np.float32(255)), 0, 255).astype(np.uint8))
        same.append(mine["image"].dtype == wanted.dtype and mine["image"].shape == wanted.shape and torch.equal(mine["image"], wanted))
        same.append(torch.equal(mine["label"], other["label"]) and mine["meta"].images == other["meta"].images)
        mine["image"].mul_(0)  # may be written to
        same.append(not mine["image"].any())
say(same)
""", slides, element)
    assert said == [[True] * 9]


def test_channels_last_stay_last(cluster, slides):
    said = cluster.run("""
import torch
import headrace
options = {"loader": {"element": "bfloat16", "layout": "channels_last"}, "as_": "torch"}
wanted = next(iter(headrace.Loader(sys.argv[1], **options)))["image"]
with headrace.ray.loader(sys.argv[1], count=1, **options) as loader:
    image = next(iter(loader))["image"]
say([torch.equal(image, wanted), image.stride() == wanted.stride()])
""", slides)
    assert said == [[True, True]]


def test_tiles_volumes_lists_and_parts_of_batches(cluster, slides, ct, tmp_path):
    """Everything that a Loader makes."""
    volumes = write_volumes(tmp_path / "ct.yaml", ct)
    said = cluster.run("""
slides, volumes = sys.argv[1:]
patches = [(image, 8 * i, 4 * i) for i, image in enumerate(headrace.open(headrace.Loader(slides).config["data"]["store"]).images.keys())]
for config, options in ((slides, {"split": "val"}), (volumes, {}), (volumes, {"split": "train", "tiles": True}), (slides, {"patches": patches}),
                        (slides, {"rank": 1, "world_size": 3}), (slides, {"labels": False})):
    local = headrace.Loader(config, as_="numpy", **options)
    with headrace.ray.loader(config, as_="numpy", **options) as loader:
        say([[fact(batch) for batch in loader] == [fact(batch) for batch in local] for _ in range(2)])
""", slides, volumes)
    assert said == [[True, True]] * 6


@pytest.mark.parametrize("element", ["float32", "bfloat16"])
def test_views_are_those_of_a_loader(cluster, slides, element):
    """Several patches of one place; `image` is the first of them."""
    said = cluster.run("""
import torch
options = {"data": {"labels": None}, "views": [{"name": "whole", "crops": 2}, {"name": "part", "crops": 3, "size": [32, 32]}], "as_": "torch"}
local = headrace.Loader(sys.argv[1], loader={"element": sys.argv[2]}, **options)
with headrace.ray.loader(sys.argv[1], element=sys.argv[2], count=3, **options) as loader:
    for mine, other in zip(loader, local):
        same = all(torch.equal(mine["views"][name], view) for name, view in other["views"].items())
        say([same, torch.equal(mine["image"], other["image"]), {name: list(view.shape) for name, view in mine["views"].items()}, list(mine) == list(other)])
""", slides, element)
    assert said == [[True, True, {"whole": [6, 2, 3, 64, 64], "part": [6, 3, 3, 32, 32]}, True]] * 3


def test_a_store_on_a_server_is_read_by_the_actors(cluster, slides, nuclei, local):
    """The config's URL names the host for them, too."""
    with serving(nuclei.parent) as (url, _):
        said = cluster.run("""
with headrace.ray.loader(sys.argv[1], data={"store": sys.argv[2]}, as_="numpy") as loader:
    say([fact(batch) for batch in loader])
""", slides, f"{url}/{nuclei.name}")
    assert said == [local[:BATCHES]]


def test_a_bucket_is_read_with_the_actors_own_keys(cluster, slides, nuclei, local, tmp_path):
    """Those of their node's environment, which are others than the trainer's; and where a node has none, that is one sentence."""
    with radosgw(tmp_path / "radosgw") as server:
        store = server.upload(nuclei, "slides", "nuclei.zarr")
        cluster.add(2, "--resources", '{"keys": 2}', **server.environment(server.session_keys()))
        said = cluster.run("""
import pickle
options = {"data": {"store": sys.argv[2]}, "network": {"s3": {"endpoint": sys.argv[3]}, "stall_s": 5, "give_up_s": 20}, "as_": "numpy"}
with headrace.ray.loader(sys.argv[1], resources={"keys": 1}, **options) as loader:
    say([fact(batch) for batch in loader])
    say(os.environ["AWS_SECRET_ACCESS_KEY"].encode() in pickle.dumps(loader.spec))
try:
    next(iter(headrace.ray.loader(sys.argv[1], resources={"plain": 1}, **options)))
except headrace.Error as error:
    say(str(error))
""", slides, store, server.endpoint, environment=NO_KEYS | server.environment())
    batches, sent, sentence = said
    assert batches == local[:BATCHES] and not sent
    assert "key" in sentence and "loader actor on 127.0.1." in sentence and "\n" not in sentence


@pytest.mark.parametrize("options, words", [
    ({"sampling": {"bach": 3}}, "unknown key 'bach' in 'sampling'. Did you mean 'batch'"),
    ({"data": {"store": "none.zarr"}}, "none.zarr"),
    ({"threads": 2}, "threads is not for loaders of Ray: each actor has as many as `cpus`"),
    ({"turn": (0, 2)}, "turn is not for loaders of Ray"),
    ({"element": "uint4"}, "element is 'uint4': expected"),
    ({"element": "uint8", "transforms": [{"normalize": {}}]}, "normalize, whose values it can't hold"),
    ({"actors": 0}, "actors is 0: expected a whole number from 1 on"),
    ({"outstanding": 5000}, "start it with a larger --object-store-memory"),
    ({"cpus": 64, "wait": 2}, "no loader actor works since"),
    ({"element": "bfloat16", "as_": "numpy"}, "NumPy has no bfloat16"),
])
def test_wrong_arguments_are_one_sentence(cluster, slides, options, words):
    said = cluster.run("""
import headrace
try:
    next(iter(headrace.ray.loader(sys.argv[1], **json.loads(sys.argv[2]))))
except headrace.Error as error:
    say(str(error))
""", slides, json.dumps(options))
    [sentence] = said
    assert words in sentence and "\n" not in sentence


def test_a_missing_slide_is_one_sentence(cluster, cmu_by_reference):
    """That of a Loader, which says where the actor was, too; nothing is tried again."""
    config, slide = cmu_by_reference
    slide.rename(slide.with_suffix(".gone"))
    with pytest.raises(headrace.Error) as here:
        next(iter(headrace.Loader(config, as_="numpy")))
    said = cluster.run("""
loader = headrace.ray.loader(sys.argv[1], as_="numpy")
try:
    next(iter(loader))
except headrace.Error as error:
    say([type(error).__name__, str(error), loader.stats()["asked_again"]])
""", config)
    [[kind, sentence, again]] = said
    assert (kind, again) == (type(here.value).__name__, 0) and slide.name in sentence
    assert re.fullmatch(re.escape(str(here.value)) + r" \(loader actor on 127\.0\.1\.\d+\)", sentence)


# Loaders that fail on purpose, in place of those that a spec opens. A loader is made as usual; what it asks of its actors is replaced.
FAILING = """
import dataclasses
from headrace import _ray_spec, ray as headrace_ray
from headrace._ray_actor import NumberedLoader

@dataclasses.dataclass(frozen=True)
class Failing(_ray_spec.LoaderSpec):
    how: str = ""
    folder: str = ""
    def open(self, threads, loader=headrace.Loader, **more):
        if self.how == "ends when opened":
            os._exit(1)
        opened, how, folder = super().open(threads, loader, **more), self.how, self.folder
        class Wrapped(NumberedLoader):
            def batch_at(self, number, every):
                if number == 3:
                    open(f"{folder}/{os.getpid()}-{time.monotonic()}", "w").close()
                    if how == "ends":
                        os._exit(1)
                    if how == "reads fail" or (how == "one read fails" and len(os.listdir(folder)) == 1):
                        raise headrace.StorageError("the disk is tired")
                return NumberedLoader.batch_at(self, number, every)
        opened.__class__ = Wrapped
        return opened

def spec_of(*arguments):
    spec = _ray_spec.spec_of(*arguments)
    return Failing(**{field.name: getattr(spec, field.name) for field in dataclasses.fields(spec)}, how=sys.argv[2], folder=sys.argv[3])
headrace_ray.spec_of = spec_of
facts = []
try:
    with headrace.ray.loader(sys.argv[1], actors=2, count=6, as_="numpy") as loader:
        for batch in loader:
            facts.append(fact(batch))
    say([facts, ""])
except headrace.Error as error:
    say([facts, f"{type(error).__name__}: {error}"])
"""


@pytest.mark.parametrize("how, batches, words, tries", [
    ("ends when opened", 0, "ActorError: 4 loader actors, one after the other, ended before they had opened their store", 0),
    ("ends", 3, "ActorError: 4 loader actors, one after the other, ended over batch 3 of epoch 0", 4),
    ("reads fail", 3, r"StorageError: the disk is tired \(loader actor on 127.0.1.\d\)", 4),
    ("one read fails", 6, "$", 2),
])
def test_what_is_tried_again_and_how_often(cluster, slides, local, tmp_path, how, batches, words, tries):
    [[facts, sentence]] = cluster.run(FAILING, slides, how, tmp_path)
    assert facts == local[:batches] and re.match(words, sentence), sentence
    assert len(list(tmp_path.iterdir())) == tries


def test_actors_end_with_their_trainer(cluster, slides):
    program = """
loader = headrace.ray.loader(sys.argv[1], actors=2, as_="numpy")
next(iter(loader))
say([actor["pid"] for actor in loader.actors()])
input()
"""
    with cluster.driver(program, slides) as driver:
        pids = driver.answer()
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
        driver.process.kill()
        end = time.monotonic() + LIMIT
        while any(Path(f"/proc/{pid}").exists() for pid in pids):
            assert time.monotonic() < end
            time.sleep(0.1)


def test_lightning_keeps_the_place(cluster, slides, tmp_path):
    """In its checkpoint, in the middle of an epoch; the samples after it are those of a loader."""
    said = cluster.run("""
import logging
import torch
from lightning.pytorch import LightningModule, Trainer
logging.getLogger("lightning.pytorch").setLevel("ERROR")
class Module(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer, self.seen = torch.nn.Conv2d(3, 2, 1), []
    def training_step(self, batch, number):
        self.seen.append(fact(batch))
        return torch.nn.functional.cross_entropy(self.layer(batch["image"][:, 0]), batch["label"].long(), ignore_index=255)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 1e-3)
def fit(steps, checkpoint):
    module = Module()
    trainer = Trainer(max_steps=steps, logger=False, enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False, accelerator="cpu")
    with headrace.ray.loader(sys.argv[1], actors=2) as loader:
        trainer.fit(module, train_dataloaders=loader, ckpt_path=checkpoint)
    trainer.save_checkpoint(sys.argv[2])
    return module.seen
first = fit(5, None)
say(first + fit(14, sys.argv[2]))
""", slides, tmp_path / "checkpoint")
    with headrace.Loader(slides, as_="torch") as loader:
        wanted = [fact(batch) for _ in range(2) for batch in loader]
    assert said == [wanted[:14]]


def test_ray_must_be_connected(slides):
    with pytest.raises(headrace.UsageError, match="Ray is not connected: call ray.init"):
        headrace.ray.loader(slides)


@pytest.mark.parametrize("element", ["float32", "uint8"])
def test_a_dataset_of_ray_has_the_same_samples(cluster, slides, element):
    """In whatever order; by tasks of two batches, beyond the end of an epoch too."""
    said = cluster.run("""
import numpy as np
from batches import sha256
element = sys.argv[2]
whole = headrace.ray.loader(sys.argv[1], element=element, count=15, as_="numpy")
wanted = {(b["meta"].epoch, b["meta"].index, int(s)): sha256(i) + sha256(l) for b in whole for s, i, l in zip(b["meta"].samples, b["image"], b["label"])}
whole.close()
import ray.data
ray.data.DataContext.get_current().enable_progress_bars = False
rows = headrace.ray.dataset(sys.argv[1], element=element, batches=15, batches_per_task=2)
found = {(r["epoch"], r["batch"], r["sample"]): sha256(np.ascontiguousarray(r["image"])) + sha256(np.ascontiguousarray(r["label"])) for r in rows.iter_rows()}
shapes = [(v.shape, str(v.dtype)) for v in next(iter(rows.iter_batches(batch_size=4))).values()]
say([found == wanted, len(found), shapes[:2]])
""", slides, element)
    assert said == [[True, 15 * 6, [[[4, 1, 3, 64, 64], element], [[4, 64, 64], "uint8"]]]]


def test_ray_is_imported_by_need_alone():
    program = """
import sys, headrace
print("ray" in sys.modules)
sys.modules["ray"] = None  # as if it were not installed
try:
    headrace.ray
except ImportError as error:
    print(error)
"""
    assert python(program).splitlines() == ["False", "headrace.ray needs Ray, which is not installed: pip install 'headrace[ray]'"]
