"""Ray Train: workers train one network, actors make their batches, and a run goes on exactly where it stopped.  python train_ray.py [STORE [OUT [STEPS]]]"""
import os
import sys
import tempfile

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else a cluster that is started here reports its use to Ray's makers

import headrace
import ray
import torch
from ray.train import Checkpoint, FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model
from torchvision.models import resnet18
from torchvision.models.feature_extraction import create_feature_extractor
from torchvision.models.segmentation.fcn import FCN, FCNHead

STORE = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "nuclei.zarr")
OUT = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else "ray-out")
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 80
CONFIG = {"task": "segmentation", "data": {"store": STORE}, "patch": {"size": [128, 128], "mpp": 0.5},
          "sampling": {"seed": 7, "batch": 8, "batches_per_epoch": 20},
          "transforms": [{"affine": {"rotate_deg": [-180, 180], "scale": [0.8, 1.25], "flip": True}}, {"hed_jitter": {"sigma": 0.1}},
                         {"normalize": {"mean": [0.7, 0.55, 0.7], "std": [0.2, 0.22, 0.18]}}]}


def make_network(loader):
    return FCN(create_feature_extractor(resnet18(), {"layer2": "out"}), FCNHead(128, len(loader.classes)))


def train(settings):
    """In each worker; of every batch it gets its part, by its rank."""
    torch.manual_seed(0)
    loader = headrace.ray.loader(settings["config"], actors=2, cpus=0.5)  # on one machine: headrace.Loader(settings["config"])
    network = prepare_model(make_network(loader))
    optimizer = torch.optim.AdamW(network.parameters(), 1e-3)
    step = 0
    if checkpoint := ray.train.get_checkpoint():
        with checkpoint.as_directory() as folder:
            state = torch.load(f"{folder}/state.pt")
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        loader.load_state_dict(state["loader"])
        step = state["step"]
    while step < settings["steps"]:
        for batch in loader:  # ends with the epoch; the next `for` is the next one
            torch.manual_seed(step * loader.world_size + loader.rank)  # dropout depends on the step alone, as the batch does
            label = batch["label"].long()
            loss = torch.nn.functional.cross_entropy(network(batch["image"][:, 0])["out"], label, ignore_index=255)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 10 == 0 or step == settings["steps"]:
                keep(network, optimizer, loader, step, loss)
            if step == settings["steps"]:
                break
    loader.close()


def keep(network, optimizer, loader, step, loss):
    """A checkpoint; its `loader` is the place of the next batch."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = None
        if ray.train.get_context().get_world_rank() == 0:
            state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict(), "step": step}
            torch.save(state, f"{folder}/state.pt")
            checkpoint = Checkpoint.from_directory(folder)
        ray.train.report({"step": step, "loss": loss.item()}, checkpoint=checkpoint)


if __name__ == "__main__":
    if "RAY_ADDRESS" in os.environ:
        ray.init()
    else:  # no cluster: one on this machine, with room for two workers and their four actors
        ray.init(num_cpus=4, include_dashboard=False)
    # Called again, it goes on from the last checkpoint below OUT; so it does after a worker or its machine was lost.
    where = RunConfig(name="nuclei", storage_path=OUT, failure_config=FailureConfig(max_failures=3))
    result = TorchTrainer(train, train_loop_config={"config": CONFIG, "steps": STEPS}, scaling_config=ScalingConfig(num_workers=2), run_config=where).fit()
    with result.checkpoint.as_directory() as folder:
        state = torch.load(f"{folder}/state.pt")
    print(f"step {state['step']}: loss {result.metrics['loss']:.3f}, next batch {state['loader']['sample'] // 8} of epoch {state['loader']['epoch']}")
