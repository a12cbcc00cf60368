"""headrace.torch.dataset under DataLoader, and headrace.lightning.DataModule: the batches of headrace.Loader, whoever asks for them."""
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import textwrap
import time

import pytest
import torch
from batches import by_sample, child_environment, fact, in_session, python, shared_memory, write_slides
from torch.utils.data import DataLoader

import headrace


@pytest.fixture(scope="module")
def slides(nuclei, tmp_path_factory):
    return write_slides(tmp_path_factory.mktemp("config") / "run.yaml", nuclei, batches=5)


@pytest.fixture(scope="module")
def epochs(slides):
    """The facts of the batches of three epochs."""
    with headrace.Loader(slides) as loader:
        return [[fact(batch) for batch in loader] for _ in range(3)]


def facts(batches):
    return [fact(batch) for batch in batches]


@pytest.mark.parametrize("workers, context, persistent", [(0, None, False), (1, "fork", False), (2, "fork", False), (2, "fork", True),
                                                          (3, "spawn", True), (2, "spawn", False)])
def test_any_number_of_workers_gives_the_same_epochs(slides, epochs, workers, context, persistent):
    loader = DataLoader(headrace.torch.dataset(slides), batch_size=None, num_workers=workers, multiprocessing_context=context,
                        persistent_workers=persistent)
    assert len(loader) == 5
    assert [facts(loader) for _ in range(3)] == epochs
    batch = next(iter(loader))
    assert isinstance(batch["image"], torch.Tensor) and batch["image"].dtype == torch.float32 and len(batch["meta"].images) == 6


@pytest.mark.parametrize("workers", [0, 2])
def test_tiles_are_whole_in_every_pass(slides, workers):
    tiles = facts(headrace.Loader(slides, split="val"))
    loader = DataLoader(headrace.torch.dataset(slides, split="val"), batch_size=None, num_workers=workers)
    assert len(loader) == len(tiles) and facts(loader) == tiles and facts(loader) == tiles


@pytest.mark.parametrize("workers", [1, 2])
def test_a_seed_before_each_epoch_does_not_repeat_the_first(slides, epochs, workers):
    """DataLoader then starts its workers with the same seed each time."""
    loader, given = DataLoader(headrace.torch.dataset(slides), batch_size=None, num_workers=workers), []
    for _ in range(3):
        torch.manual_seed(0)
        given.append(facts(loader))
    assert given == epochs


@pytest.mark.parametrize("workers, persistent", [(0, False), (2, False), (2, True)])
def test_epochs_and_states_can_be_set(slides, epochs, workers, persistent):
    dataset = headrace.torch.dataset(slides)
    loader = DataLoader(dataset, batch_size=None, num_workers=workers, persistent_workers=persistent)
    dataset.set_epoch(2)
    given = list(loader)
    assert facts(given) == epochs[2]
    dataset.set_epoch(0)
    first = next(iter(loader))
    state = pickle.loads(pickle.dumps(first["meta"])).state_after()
    assert fact(first) == epochs[0][0]
    dataset.load_state_dict(state)
    assert [facts(loader), facts(loader)] == [epochs[0][1:], epochs[1]]
    again = headrace.torch.dataset(slides)
    again.load_state_dict(state)
    assert facts(pickle.loads(pickle.dumps(again))) == epochs[0][1:]


def test_ranks_and_workers_together_make_every_sample_once(slides):
    with headrace.Loader(slides) as loader:
        whole = [by_sample(batch) for batch in loader]
    parts = [[by_sample(batch) for batch in DataLoader(headrace.torch.dataset(slides, rank=rank, world_size=2), batch_size=None, num_workers=2)]
             for rank in range(2)]
    assert [{**one, **other} for one, other in zip(*parts)] == whole


def test_errors_come_when_the_dataset_is_made(slides):
    with pytest.raises(headrace.UsageError, match="did you mean 'sampling'"):
        headrace.torch.dataset(slides, samplin={})
    with pytest.raises(headrace.UsageError, match="turn is not for datasets"):
        headrace.torch.dataset(slides, turn=(0, 2))


def test_an_error_in_a_worker_reaches_the_main_process(nuclei, tmp_path):
    shutil.copytree(nuclei, tmp_path / "s.zarr")
    dataset = headrace.torch.dataset(write_slides(tmp_path / "run.yaml", tmp_path / "s.zarr"))
    shutil.rmtree(tmp_path / "s.zarr")
    with pytest.raises(headrace.NotFoundError, match="s.zarr"):
        list(DataLoader(dataset, batch_size=None, num_workers=2))


def test_a_network_trains_on_batches(slides):
    """In place of what a user writes: tensors take part in autograd, and are changed in place."""
    torch.manual_seed(0)
    network = torch.nn.Conv2d(3, 2, 3, padding=1)
    optimiser = torch.optim.SGD(network.parameters(), 0.1)
    losses = []
    for batch in headrace.Loader(slides, count=20):
        image = batch["image"][:, 0].sub_(0.5)
        loss = torch.nn.functional.cross_entropy(network(image), batch["label"].long(), ignore_index=255)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert sum(losses[-5:]) < sum(losses[:5])


def test_distributed_gives_the_rank(slides, tmp_path):
    """Two processes of torch.distributed over gloo, without RANK in the environment."""
    program = """
        import json, os, sys, torch.distributed as dist, headrace
        from batches import by_sample
        dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=int(sys.argv[3]), world_size=2)
        loader = headrace.Loader(sys.argv[1])
        assert (loader.rank, loader.world_size) == (int(sys.argv[3]), 2)
        mine = [[int(sample) for sample in batch["meta"].samples] for batch in loader]
        everyone = [None, None]
        dist.all_gather_object(everyone, mine)
        assert [sorted(a + b) for a, b in zip(*everyone)] == [list(range(6 * n, 6 * n + 6)) for n in range(5)]
        dist.destroy_process_group()
    """
    running = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), str(slides), str(tmp_path / "meet"), str(rank)],
                                env=child_environment(), stderr=subprocess.PIPE, text=True) for rank in range(2)]
    for process in running:
        _, err = process.communicate(timeout=200)
        assert process.returncode == 0, err[-3000:]


def test_killed_with_workers_leaves_nothing(slides):
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-u", "-c", textwrap.dedent("""
            import sys, headrace
            from torch.utils.data import DataLoader
            for n, batch in enumerate(DataLoader(headrace.torch.dataset(sys.argv[1], count=100000), batch_size=None, num_workers=2)):
                if n == 5:
                    print("ready")
        """), str(slides)], env=child_environment(), stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert process.stdout.readline() == "ready\n"
        time.sleep(random.uniform(0, 0.2))
        shared = shared_memory(process.pid)
        process.kill()
        process.wait(60)
        process.stdout.close()
        for _ in range(600):  # torch's workers look every five seconds whether their parent lives
            if not in_session(process.pid):
                break
            time.sleep(0.1)
        assert in_session(process.pid) == []
        assert not [path for path in shared if os.path.exists(path)]


LIGHTNING = """
import json, sys, warnings, logging
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
import torch, headrace
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint

class Network(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer, self.seen, self.validated = torch.nn.Conv2d(3, 2, 1), [], []
    def loss(self, batch):
        return torch.nn.functional.cross_entropy(self.layer(batch["image"][:, 0]), batch["label"].long(), ignore_index=255)
    def training_step(self, batch, _):
        self.seen.append([batch["meta"].epoch, batch["meta"].index])
        return self.loss(batch)
    def validation_step(self, batch, _):
        self.validated.append([batch["meta"].index])
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

def fit(steps, checkpoint=None, **options):
    network, data = Network(), headrace.lightning.DataModule(sys.argv[1], **options)
    trainer = Trainer(max_steps=steps, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
                      default_root_dir=sys.argv[2], callbacks=[ModelCheckpoint(sys.argv[2], save_last=True, every_n_train_steps=1)])
    trainer.fit(network, datamodule=data, ckpt_path=checkpoint)
    assert not data._loaders
    return network
network = fit(8)
print(json.dumps([network.seen, network.validated]))
network = fit(12, sys.argv[2] + "/last.ckpt", val="")
print(json.dumps([network.seen, network.validated]))
"""


def test_lightning_goes_on_from_its_checkpoint_in_mid_epoch(slides, tmp_path):
    pytest.importorskip("lightning", reason="not run: Lightning is not installed")
    first, second = map(json.loads, python(LIGHTNING, slides, tmp_path).splitlines())
    assert first[0] == [[n // 5, n % 5] for n in range(8)]
    tiles = len(headrace.Loader(slides, split="val"))
    assert [index for index, in first[1]] == [0, 1] + list(range(tiles))  # the check before training, then all
    assert second == [[[n // 5, n % 5] for n in range(8, 12)], []]


def test_accelerate_leaves_batches_whole(slides, epochs):
    accelerate = pytest.importorskip("accelerate", reason="not run: accelerate is not installed")
    loader = accelerate.Accelerator(cpu=True).prepare(DataLoader(headrace.torch.dataset(slides), batch_size=None))
    assert [facts(loader) for _ in range(2)] == epochs[:2]


def test_the_stream_is_that_of_the_loader_s_gpu(monkeypatch):
    """torch has a current stream for each GPU, and its current GPU need not be that of LOCAL_RANK."""
    from types import SimpleNamespace

    from headrace import _tensors

    monkeypatch.setattr(_tensors._core, "process_device", lambda: 3)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: SimpleNamespace(cuda_stream={None: 7, 3: 9}[device]))
    assert _tensors.current_stream() == 9
