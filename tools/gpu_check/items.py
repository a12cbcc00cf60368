"""What the bundle runs, the most wanted first, each with its own limit of time. A run ends after TOTAL_S; the limits of the first items (FIRST)
stay with the unpacking below FIRST_S, those of the wanted ones (all up to LAST_WANTED) below TOTAL_S. What is then left is for a second run."""
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

TOTAL_S = 570
FIRST_S = 240
UNPACK_S = 15
FIRST = ("bits", "slides", "volumes", "feed-slides", "feed-volumes")
LAST_WANTED = "process-bits"

# The program's tests, by item; every test belongs to one.
TESTS = {"bits": "*CudaKernel*:*VolumeCuda*:StatisticsCuda*:ArenaTest*:BatchFormat*:SlowConsumer*",
         "decode-bits": "DeviceDecoding*:DeviceJpeg*:DecodeChoice*:DeviceReads*",
         # A process of its own: where a decoder goes astray in a damaged stream, its GPU is lost to all that follows in that process.
         "damage-bits": "Damaged*",
         "process-bits": "*ProcessCuda*:IngestCuda*"}
# Of those of gpu_check_torch: what holds on a GPU too. Where a trial has none, whole trainings are left to the tests' own programs.
TORCH_TESTS = ("GpuNetwork.*:SharedBatch.*:TensorCanvas.*:LateParts.*:SlideTally.*:TensorScores.*:*NormChannelsLast*:TensorGrid.*:TensorMath.*:"
               "ScoreRows.*:VolumeTally.*:VoxelScores.*")
TRAININGS = "BlendThere.Evaluations*:VolumesThere.Evaluations*:SharedEvaluation.*:TrainerTest.TwiceTheSame:TrainerTest.LoaderThreads*:TrainerTest.ResumedFrom*:LateFigures.*"


@dataclass
class Item:
    key: str
    title: str
    command: list
    limit_s: float  # it is stopped after this
    least_s: float  # it is not begun with less
    absent: str = ""  # why it can't be measured here
    reads: str = ""  # a file that an item before it made
    goal: str = ""
    environment: dict = field(default_factory=dict)


def items(bundle, work, samples, libraries, site, small, no_torch=""):
    """bundle, work: folders. samples: their folder, empty where they are not there. libraries: {HEADRACE_NVCOMP: file, ...}. site: a folder of
    Python packages. small: a trial with small shapes. no_torch: why gpu_check_torch can't run."""
    program = str(work / "program" / "gpu_check")
    torch_program = str(work / "program" / "gpu_check_torch")
    ours = {**libraries, "HEADRACE_SAMPLES": str(samples)}
    # LibTorch has loaded the cuFile of its own Python: another copy beside it would be a driver of its own.
    cufile = Path(os.path.realpath(work / "program" / "torch")).parents[1] / "nvidia" / "cu13" / "lib" / "libcufile.so.0"
    beside_torch = {**ours, **({"HEADRACE_CUFILE": str(cufile)} if cufile.exists() else {})}
    packages = {"PYTHONPATH": os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))}
    flag = ["--trial"] if small else []
    no_samples = "" if samples else "the samples are not there (pack --alone carries them, and --samples names them)"
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
    slide = work / "process" / "raw.tif"

    def tests(key, title, limit_s, absent=""):
        return Item(key, f"{title}: the same bytes on CPU and GPU", [program, "tests", f"--gtest_filter={TESTS[key]}", "--gtest_brief=1"],
                    limit_s, 10, absent, environment=ours)

    def bench(key, title, arguments, limit_s, goal="", absent=""):
        return Item(key, title, [program, *map(str, arguments)], limit_s, 10, absent, goal=goal, environment=ours)

    def torch(key, title, arguments, limit_s, goal=""):
        return Item(key, title, [torch_program, *map(str, arguments)], limit_s, 20, no_torch, goal=goal, environment=beside_torch)

    def peer(key, title, script, arguments, limit_s, goal="", absent="", reads=""):
        return Item(key, title, [sys.executable, str(bundle / "peers" / script), *map(str, arguments), *flag], limit_s, 20, absent, str(reads), goal,
                    packages)

    return [
        tests("bits", "kernels and whole batches", 50),
        bench("slides", "transforms of slides", ["transforms", 100, 5], 45, "150,000 patches/s of 512×512 through the whole chain, bfloat16 out"),
        bench("volumes", "transforms of volumes", ["volumes", 100, 5], 40,
              "0.5 ms for 2 × 128³, 1 ms with blur and low resolution; affine + elastic 20 Gvoxel/s"),
        *[bench(f"feed-{name}", f"the feed of {name}, to a consumer of stated time", ["feeding", work / "feed", name,
                                                                                    *(["0,50", 0.3, "small"] if small else ["0,50,100,25"])], 45,
                "waiting for data under 5 % with a step of 50 ms") for name in ("slides", "volumes")],
        torch("train-bits", "networks, trainings and evaluations: the same bytes wherever batches are made and blended",
              ["tests", "--gtest_brief=1", f"--gtest_filter={TORCH_TESTS if small else TORCH_TESTS + ':' + TRAININGS}"], 55),
        *[torch(f"training-{name}", f"a training on {name}, fed by the loader", ["training", work / "feed", name,
                                                                                  *([0.1, "small"] if small else [4])], 60,
                "waiting for data under 5 %, the GPU busy over 90 %") for name in ("slides", "volumes")],
        tests("decode-bits", "decoders and reading past the host", 20),
        bench("decode", "decoding: nvCOMP and nvJPEG against the CPU", ["decoding", samples, work / "decode",
                                                                                *([1, 0.07] if small else [5])], 40, absent=no_samples),
        bench("direct", "files into device memory, by GPUDirect and through the host", ["direct", work / "direct", 16 if small else 1024], 25),
        tests("damage-bits", "damaged streams are named", 12),
        tests("process-bits", "process and ingest", 30, no_samples),
        bench("process", "`process`: load, save and the whole", ["process", work / "process", 2048 if small else 8192], 45),
        bench("statistics", "statistics of slides and volumes beside one thread of the CPU", ["statistics", 3], 15),
        *[torch(f"evaluating-{name}", f"an evaluation of {name}", ["evaluating", work / "feed", name, *(["small"] if small else [])], 40)
          for name in ("slides", "volumes")],
        peer("process-peer", "the same as `process` by tifffile and CuPy", "process_peer.py", [slide, work / "process-peer"], 30,
             "better than 4.2 times this without GPUDirect, 11.8 with it", reads=slide),
        peer("torch-peer", "the transforms by torch and Kornia", "torch_peer.py", [], 30),
        peer("loader-peer", "a training fed by DataLoader workers", "loader_peer.py", [samples, work / "loader-peer", 10], 45,
             "ten times this, end to end", no_samples),
        Item("sanitizer", "compute-sanitizer over the kernel cases",
             [str(sanitizer), "--tool", "memcheck", "--error-exitcode", "99", program, "tests", "--gtest_brief=1",
              "--gtest_filter=*GivesTheBytesOfTheCpu*:StatisticsCuda.*"], 36, 15,
             "" if sanitizer else "there is no compute-sanitizer", environment=ours),
    ]
