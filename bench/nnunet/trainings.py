"""The same training with nnU-Net's own loader and with headrace's: losses and Dice side by side, several seeds each.

Usage: python trainings.py FOLDER [--epochs 5] [--iterations 40] [--seeds 3]      (FOLDER: of data.py --small)

Network, optimiser, schedule, loss, fold and validation are nnU-Net's; one seed of PyTorch gives both the same first weights. Prints one JSON object
with, for each run, losses and nnU-Net's pseudo Dice by epoch, and the Dice of its own validation of whole images.
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from data import NAME, variables


def train(options):
    import numpy as np
    import torch
    from headrace.nnunet import HeadraceBatches
    from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer

    class Own(nnUNetTrainer):
        def __init__(self, plans, configuration, fold, dataset_json, device=torch.device("cpu")):
            super().__init__(plans, configuration, fold, dataset_json, device)
            self.num_epochs, self.num_iterations_per_epoch = options.epochs, options.iterations
            self.num_val_iterations_per_epoch = options.iterations // 4

    class Headrace(HeadraceBatches, Own):
        headrace_seed = options.seed

    torch.manual_seed(options.seed)
    np.random.seed(options.seed)
    torch.set_num_threads(1)
    folder = options.folder / "nnUNet_preprocessed" / NAME
    plans, dataset = (json.loads((folder / name).read_text()) for name in ("nnUNetPlans.json", "dataset.json"))
    trainer = {"nnunet": Own, "headrace": Headrace}[options.train](plans | {"continue_training": False}, "3d_fullres", 0, dataset)
    trainer.run_training()
    log = {key: [float(trainer.logger.get_value(name, step=epoch)) for epoch in range(options.epochs)]
           for key, name in (("train_loss", "train_losses"), ("val_loss", "val_losses"), ("pseudo_dice", "mean_fg_dice"))}
    trainer.perform_actual_validation()
    summary = json.loads((Path(trainer.output_folder) / "validation/summary.json").read_text())
    log["dice"] = {label: figures["Dice"] for label, figures in summary["mean"].items()}
    log["mean_dice"] = summary["foreground_mean"]["Dice"]
    print("RESULT", json.dumps(log), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--train", choices=["nnunet", "headrace"], help="one run, for the process that compares")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.train:
        return train(options)
    runs = {}
    for seed in range(options.seeds):
        for loader in ("nnunet", "headrace"):
            results = options.folder / "nnUNet_results" / f"{loader}_{seed}"
            results.mkdir(parents=True, exist_ok=True)
            environment = os.environ | variables(options.folder) | {"nnUNet_n_proc_DA": "0", "nnUNet_results": str(results)}
            done = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--train", loader, "--seed", str(seed)], capture_output=True, text=True,
                                  env=environment)
            if "RESULT" not in done.stdout:
                sys.exit(f"{loader}, seed {seed}: {done.stderr[-3000:]}")
            runs[f"{loader}_{seed}"] = json.loads(done.stdout.split("RESULT", 1)[1].splitlines()[0])
            print(f"{loader}, seed {seed}: {runs[f'{loader}_{seed}']}", file=sys.stderr, flush=True)
    print(json.dumps(runs, indent=1))


if __name__ == "__main__":
    main()
