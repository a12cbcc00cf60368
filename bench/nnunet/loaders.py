"""CPU milliseconds a training batch of nnUNetTrainerHeadrace beside nnU-Net's own loader, on the same data, plan and fold, in turns.

Usage: python loaders.py FOLDER [--patch 128,128,128] [--batches 20] [--rounds 3]       (FOLDER: of data.py)

User and system time of all processes of the data path. Each subject runs in a process of its own; batches are taken as fast as they are made, so
the queues are empty before and after what is measured.
Subjects: headrace (2 threads), nnU-Net in one process (nnUNet_n_proc_DA=0), nnU-Net with two workers. Prints one JSON object.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from data import NAME, variables

SUBJECTS = {"headrace": "2", "nnunet_1": "0", "nnunet_2_workers": "2"}


def cpu_s():
    """User and system seconds of this process and of all below it."""
    tick, parents, used = os.sysconf("SC_CLK_TCK"), {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(pid)], used[int(pid)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / tick
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(used[pid] for pid in ours)


def measure(options):
    import torch
    torch.set_num_threads(1)
    from nnunetv2.run.run_training import get_trainer_from_args
    from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer
    trainer = get_trainer_from_args(NAME, "3d_fullres", 0, "nnUNetTrainerHeadrace", device=torch.device("cpu"))
    if options.patch:
        trainer.configuration_manager.configuration["patch_size"] = [int(edge) for edge in options.patch.split(",")]
    trainer.initialize()
    make = trainer.get_dataloaders if options.measure == "headrace" else lambda: nnUNetTrainer.get_dataloaders(trainer)
    train, val = make()
    for _ in range(16):  # more than any queue holds; from here on batches are taken as fast as they are made
        batch = next(train)
    start, wall = cpu_s(), time.perf_counter()
    for _ in range(options.batches):
        batch = next(train)
        del batch
    wall = time.perf_counter() - wall
    print("RESULT", json.dumps({"cpu_ms": (cpu_s() - start) * 1e3 / options.batches, "wall_ms": wall * 1e3 / options.batches,
                                "patch": list(trainer.configuration_manager.patch_size), "batch": trainer.batch_size}), flush=True)
    for one in (train, val):
        getattr(one, "_finish", getattr(one, "close", lambda: None))()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--patch", help="instead of the plan's: z,y,x of the network")
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", choices=SUBJECTS, help="one round of one subject, for the process that compares")
    options = parser.parse_args()
    if options.measure:
        return measure(options)
    found = {subject: [] for subject in SUBJECTS}
    for _ in range(options.rounds):
        for subject, processes in SUBJECTS.items():
            environment = os.environ | variables(options.folder)
            environment |= {"nnUNet_n_proc_DA": processes, "nnUNet_extTrainer": str(options.folder / "trainers")}
            done = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--measure", subject], capture_output=True, text=True, env=environment)
            if "RESULT" not in done.stdout:
                sys.exit(f"{subject}: {done.stderr[-3000:]}")
            found[subject].append(json.loads(done.stdout.split("RESULT", 1)[1].splitlines()[0]))
    medians = {subject: statistics.median(one["cpu_ms"] for one in rounds) for subject, rounds in found.items()}
    print(json.dumps({"cpu_ms_a_batch": medians, "times": {subject: medians[subject] / medians["headrace"] for subject in SUBJECTS},
                      "wall_ms_a_batch": {subject: statistics.median(one["wall_ms"] for one in rounds) for subject, rounds in found.items()},
                      "patch": found["headrace"][0]["patch"], "batch": found["headrace"][0]["batch"],
                      "load_average": os.getloadavg()[0]}, indent=1))


if __name__ == "__main__":
    main()
