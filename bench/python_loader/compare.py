"""What Python adds to a batch: CPU milliseconds a batch of headrace.Loader beside those of `headrace bench loader`, in turns.

Usage: python compare.py --headrace build/headrace --config run.yaml [--batches 64] [--rounds 5] [--threads 2] [--as torch]

Both have warmed the page cache and filled the loader's ring before and after what is measured. Prints one JSON object: the medians, and
the ratio of Python's CPU time to the program's. The goal is 1.02 at most.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time


def settle():
    """CPU time of this process when its threads rest: the ring is full."""
    while True:
        before = time.process_time()
        time.sleep(0.2)
        if time.process_time() - before < 0.002:
            return time.process_time()


def measure(options):
    import headrace
    loader = headrace.Loader(options.config, threads=options.threads, device="cpu", as_=options.kind, count=10**9)
    ring = loader.config["loader"]["prefetch"]
    batches = iter(loader)
    for _ in range(options.batches + ring):
        next(batches)
    start = settle()
    for _ in range(options.batches):
        next(batches)
    cpu = settle() - start
    print(json.dumps({"cpu_ms": cpu * 1e3 / options.batches, "batch": loader.batch_size}))


def program(options, batch):
    done = subprocess.run([options.headrace, "bench", "loader", "--config", options.config, "--count", str(options.batches * batch), "--threads",
                           str(options.threads), "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["cpu_ms_per_item"] * batch


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--headrace", default="build/headrace")
    parser.add_argument("--config", required=True)
    parser.add_argument("--batches", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--as", dest="kind", default="torch")
    parser.add_argument("--measure", action="store_true", help="one round of Python, for the process that compares")
    options = parser.parse_args()
    if options.measure:
        return measure(options)
    python, native = [], []
    for _ in range(options.rounds):
        done = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--measure"], capture_output=True, text=True, check=True)
        result = json.loads(done.stdout)
        python.append(result["cpu_ms"])
        native.append(program(options, result["batch"]))
    medians = statistics.median(python), statistics.median(native)
    print(json.dumps({"python_cpu_ms_a_batch": medians[0], "program_cpu_ms_a_batch": medians[1], "ratio": medians[0] / medians[1],
                      "ratios": [a / b for a, b in zip(python, native)], "batch": result["batch"]}, indent=1))


if __name__ == "__main__":
    main()
