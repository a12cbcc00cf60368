#!/usr/bin/env python3
"""Runs the bundle on a machine with a GPU: tests, then benches and peers, the most wanted first. What is measured is written after each item,
so that a run that is cut leaves it; run again with the same --out it goes on with what is missing. Needs Python 3.9 and no package; peers run
where their packages are. Without a GPU it runs the CPU's half, and says so.

Writes into --out: gpu-check.json (all results), gpu-check.md (the same to read: a section for docs/gpu.md), gpu-check-logs.tar.gz.
Exit codes: 0 done; 1 something failed, or the program does not start here; 2 usage; 3 no time was left for all.
"""
import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
from pathlib import Path

BUNDLE = Path(__file__).resolve().parent
sys.path.insert(0, str(BUNDLE))
sys.dont_write_bytecode = True
import report  # noqa: E402
from items import TOTAL_S, items  # noqa: E402

LIBRARIES = {"HEADRACE_NVCOMP": "libnvcomp.so.6", "HEADRACE_NVJPEG": "libnvjpeg.so.13", "HEADRACE_CUFILE": "libcufile.so.0"}
KILLED_S = 10  # what a killed process may take to end
SITE = ("kornia", "tifffile", "monai")  # parts that are packages of Python


def unpack(work):
    """Each part into a folder of its own, those of Python into one."""
    for archive in sorted(BUNDLE.glob("*.tar.xz")):
        name = archive.name[:-len(".tar.xz")]
        with tarfile.open(archive) as tar:
            tar.extractall(work / ("site" if name in SITE else name), **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def find_libraries(work):
    """NVIDIA's: what a variable names, else what was carried, else the toolkit's, else what came with Python's packages."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    places = [*work.glob("*/nvidia/*/lib*"), Path(nvcc).resolve().parent.parent / "lib64",
              *Path(sysconfig.get_paths()["purelib"]).glob("nvidia/*/lib*")]
    out = {}
    for variable, file in LIBRARIES.items():
        found = [os.environ[variable]] if os.environ.get(variable) else [str(p / file) for p in places if (p / file).exists()]
        if found:
            out[variable] = found[0]
    return out


def link_torch(work, built_with):
    """Puts a link to the LibTorch of this Python where gpu_check_torch looks for it. Why that program can't run; empty where it can."""
    if not (work / "program" / "gpu_check_torch").exists():
        return "the bundle was packed without it: its build had no LibTorch"
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.origin:
        version, _, build = built_with.partition("+")
        return f"there is no torch in this Python; this needs torch=={version}, of PyPI, for {build or 'the CPU'}"
    folder = Path(spec.origin).parent
    found = re.search(r"__version__ = '(.+)'", (folder / "version.py").read_text())
    if not found or found[1] != built_with:
        return f"this Python has torch {found[1] if found else '?'}; this was built with {built_with}"
    (work / "program" / "torch").symlink_to(folder / "lib")
    return ""


def call(command, seconds, output, errors, **others):
    """Exit status, or what became of it after `seconds`. A process that a driver holds does not end when it is killed: it is left behind, and
    since it writes into files, nobody waits for it."""
    process = subprocess.Popen(command, stdout=output, stderr=errors, start_new_session=True, **others)
    for status in ("", "stopped"):
        try:
            ended = process.wait(timeout=seconds)
            return status or ended
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            seconds = KILLED_S
    return "stopped, but does not end"


def written(file):
    file.seek(0)
    return file.read().decode(errors="replace").strip()


def probe(program):
    """Why no GPU can be used; empty where one can. Stops where the program does not start."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            status = call([program, "probe"], 60, output, errors)
        except OSError as error:
            sys.exit(f"gpu-check: the program does not start here: {error}")
        said, complaint = written(output), written(errors)
    if not said:
        sys.exit(f"gpu-check: the program does not start here ({status}): {complaint}. `tools/gpu-check pack` on this machine builds it from source.")
    return "" if status == 0 else said


def run(item, log, work, seconds):
    """What an item gave: its text, exit status and time."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output, open(log, "wb+") as errors:
        status = call(item.command, seconds, output, errors, cwd=work, env={**os.environ, **item.environment})
        text, said = written(output), written(errors).splitlines()
        errors.write(b"\n--- what it printed\n" + text.encode())
    if status != 0:
        how = f"FAILED with {status}"
        if isinstance(status, str):
            how = f"STOPPED after {seconds:.0f} s{status[len('stopped'):]}"
        text += f"\n{how}{', after saying:' if said else ''}\n\n" + "\n".join(f"    {line}" for line in said[-40:]) + "\n"
    return {"text": text.strip(), "status": status, "seconds": round(time.monotonic() - begin, 1)}


def replace(path, write):
    """A file is whole or the one before."""
    new = path.with_name(path.name + ".new")
    write(new)
    new.replace(path)


def write_results(out, logs, facts, results, wanted):
    document = {**facts, "items": results}
    replace(out / "gpu-check.json", lambda to: to.write_text(json.dumps(document, indent=1) + "\n"))
    replace(out / "gpu-check.md", lambda to: to.write_text(report.text(facts, wanted, results)))

    def pack(to):
        with tarfile.open(to, "w:gz") as tar:
            tar.add(logs, "gpu-check-logs")

    replace(out / "gpu-check-logs.tar.gz", pack)


def earlier(file, facts):
    """Results of a run before this one of the same bundle, of what was neither cut nor failed."""
    if not file.exists():
        return {}
    before = json.loads(file.read_text())
    same = all(before.get(key) == facts[key] for key in ("bundle", "no_gpu", "small"))
    return {key: result for key, result in before["items"].items() if result["status"] == 0} if same else {}


def arguments_of(argv):
    parser = argparse.ArgumentParser(prog=Path(__file__).name, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("gpu-check-out"), help="folder for the results (default: gpu-check-out)")
    parser.add_argument("--work", type=Path, help="folder for stores and images, 4 GB, removed at the end (default: a temporary one); on a disk that "
                        "GPUDirect reads from, if that is to be measured")
    parser.add_argument("--samples", type=Path, help="the samples (default: those of the bundle, else of the checkout that it lies in)")
    parser.add_argument("--seconds", type=float, default=TOTAL_S, help=f"no item goes on after these (default: {TOTAL_S})")
    parser.add_argument("--small", action="store_true", help="a trial with small shapes, as without a GPU: no figure of it counts")
    parser.add_argument("--only", default="", metavar="A,B", help="these items alone")
    return parser.parse_args(argv)


def main(argv):
    began = time.monotonic()
    arguments = arguments_of(argv)
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if arguments.work:
        arguments.work.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="gpu-check-", dir=arguments.work))
    try:
        return check(arguments, out, work, began)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def check(arguments, out, work, began):
    unpack(work)
    unpacked_s = time.monotonic() - began
    program = work / "program" / "gpu_check"
    no_gpu = probe(program)
    if no_gpu:
        print(no_gpu)
        if os.path.exists("/dev/nvidia0"):
            cuda = json.loads((BUNDLE / "bundle.json").read_text())["nvcc"]
            sys.exit(f"gpu-check: there is a GPU (/dev/nvidia0), but CUDA can't use it: {no_gpu}. This program needs a driver for CUDA {cuda}; where "
                     "that is older, `tools/gpu-check pack` on this machine builds one with the machine's own CUDA, from 12 on.")
        print("Every item is tried as far as it goes without one; no figure is kept.")
    places = [arguments.samples, work / "samples" / "samples", BUNDLE.parent / "samples"]
    samples = next((place.resolve() for place in places if place and place.is_dir()), "")
    libraries = find_libraries(work)
    site = work / "site"
    site.mkdir(exist_ok=True)
    sys.path.append(str(site))
    bundle = json.loads((BUNDLE / "bundle.json").read_text())
    no_torch = link_torch(work, bundle["torch"])
    facts = {"bundle": bundle, "no_gpu": no_gpu, "host": report.host(libraries),
             "small": bool(no_gpu) or arguments.small, "unpacked_s": round(unpacked_s, 1)}
    every = items(BUNDLE, work, samples, libraries, site, facts["small"], no_torch)
    only = set(filter(None, re.split("[, ]+", arguments.only)))
    unknown = only - {item.key for item in every}
    if unknown:
        print(f"gpu-check: --only {arguments.only}: there is no {', '.join(sorted(unknown))}; items: {', '.join(i.key for i in every)}",
              file=sys.stderr)
        return 2
    results = earlier(out / "gpu-check.json", facts)
    wanted = [item for item in every if item.key not in results and (not only or item.key in only)]
    logs = work / "logs"
    logs.mkdir()
    for number, item in enumerate(wanted, 1):
        left = arguments.seconds - (time.monotonic() - began)
        print(f"[{number}/{len(wanted)}] {item.title} ({left:.0f} s left)", flush=True)
        absent = item.absent or (f"{Path(item.reads).name} was not made" if item.reads and not os.path.exists(item.reads) else "")
        if absent:
            result = {"text": f"not measured: {absent}", "status": 0, "seconds": 0}
        elif left < item.least_s:
            result = {"text": f"skipped: {left:.0f} s were left; run it again with the same --out, it goes on with what is missing",
                      "status": "skipped", "seconds": 0}
        else:
            result = run(item, logs / f"{item.key}.log", work, min(item.limit_s, left))
        results[item.key] = {**result, "at_s": round(time.monotonic() - began, 1)}
        write_results(out, logs, facts, results, every)
        print(f"    {'done' if result['status'] == 0 else result['status']} in {result['seconds']:.1f} s", flush=True)
        if result["status"] not in (0, "skipped"):
            print("    " + "\n    ".join(result["text"].splitlines()[-15:]), flush=True)
    print(f"\n{(out / 'gpu-check.md').read_text()}" if wanted else "nothing is missing")
    failed = [key for key, result in results.items() if result["status"] not in (0, "skipped")]
    late = [key for key, result in results.items() if result["status"] == "skipped"]
    if failed:
        print(f"gpu-check: failed: {', '.join(failed)}; the logs are in {out / 'gpu-check-logs.tar.gz'}", file=sys.stderr)
        return 1
    if late:
        print(f"gpu-check: no time was left for {', '.join(late)}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
