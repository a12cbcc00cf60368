"""What tools/gpu-check runs: tests and trainings in the first part, benches and peers in the second."""
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Item:
    key: str
    part: str
    title: str
    command: list
    limit_s: float  # it is stopped after this
    least_s: float  # it is not begun with less
    needs: str = ""  # a program that may not have been built
    absent: str = ""  # why it may not have been
    goal: str = ""
    environment: dict = field(default_factory=dict)

    def missing(self):
        return self.absent if self.needs and not os.path.exists(self.needs) and not shutil.which(self.needs) else ""


def items(repo, out, trial):
    """trial: without a GPU, everything small."""
    build, python = out / "build", sys.executable
    program = lambda name: str(build / name)  # noqa: E731
    no_codecs = "the codecs' libraries are not there"
    no_torch = "the training step was not built"
    flag = ["--trial"] if trial else []
    slide = out / "process" / "raw.tif"
    feed = [
        Item("stores", "tests", "writing the stores that trainings are fed from", [program("feed_stores"), str(out / "feed")], 120, 20,
             program("feed_stores"), no_torch),
        *[Item(f"feed-{name}", "tests", f"{name} into a training step, end to end",
               [program("bench_device_feed"), str(out / "feed" / f"{name}.yaml"), str(steps)], 200, 60, program("bench_device_feed"),
               no_torch, goal="waiting for data under 5 %, GPU busy over 90 %")
          for name, steps in (("slides", 150), ("volumes", 150))],
    ]
    return [
        Item("tests", "tests", "tests: the CPU's half, and every case on CPU and GPU", ["ctest", "--test-dir", str(build), "--output-on-failure", "-j4"],
             420, 30),
        Item("sanitizer", "tests", "compute-sanitizer over the kernel cases",
             ["compute-sanitizer", "--tool", "memcheck", "--error-exitcode", "99", program("test_transform_cuda"),
              "--gtest_filter=*GivesTheBytesOfTheCpu*:StatisticsCuda.*", "--gtest_brief=1"], 150, 30, "compute-sanitizer", "there is no compute-sanitizer"),
        *feed,
        Item("transform", "bench", "transforms of slides", [program("bench_transform_cuda"), "200", "7"], 150, 40,
             goal="150,000 patches/s of 512×512 through the whole chain, bfloat16 out"),
        Item("volumes", "bench", "transforms of volumes", [program("bench_device_volumes"), "300", "7"], 90, 30,
             goal="0.5 ms for 2 × 128³, 1 ms with blur and low resolution; affine + elastic 20 Gvoxel/s"),
        Item("decode", "bench", "decoding: nvCOMP and nvJPEG against the CPU",
             [program("bench_device_decode"), str(repo / "samples"), str(out / "decode"), *(["1", "0.07"] if trial else ["7"])], 120, 40,
             program("bench_device_decode"), no_codecs),
        Item("statistics", "bench", "statistics of slides and volumes beside one thread of the CPU", [program("bench_device_statistics"), "7"], 90, 30,
             program("bench_device_statistics"), no_codecs),
        Item("process", "bench", "`process`: load, save and the whole",
             [program("bench_process"), str(out / "process"), "2048" if trial else "16384"], 200, 60, program("bench_process"), no_codecs),
        Item("process-peer", "bench", "the same by tifffile and CuPy",
             [python, str(repo / "tools/gpu_check/process_peer.py"), str(slide), str(out / "process-peer"), *flag], 150, 40,
             str(slide), "`process` was not measured, whose image this reads", goal="better than 4.2 times this without GPUDirect, 11.8 with it"),
        Item("torch-peer", "bench", "the transforms by torch and Kornia", [python, str(repo / "bench/device/torch_peer.py"), *flag], 100, 30),
        Item("loader-peer", "bench", "the training fed by DataLoader workers",
             [python, str(repo / "bench/device/loader_peer.py"), str(repo / "samples"), str(out / "loader-peer"), "30", *flag], 130, 60,
             goal="ten times this, end to end"),
    ]
