"""The report of the bundle: a section for docs/gpu.md, complete Markdown, goals beside figures."""
import os
import re
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version


MOST_LINES = 60  # of what failed; all of it is in the log


def said(command, pattern=".*"):
    """The first match in what a command prints; empty where it cannot be run."""
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(pattern, text)
    return found.group(0).strip() if found else ""


def package(name):
    try:
        return version(name)
    except PackageNotFoundError:
        pass
    try:  # carried: a folder alone
        return getattr(__import__(name), "__version__", "there")
    except Exception:
        return ""


def host(libraries):
    """What this machine is, in lines. libraries: NVIDIA's that were found."""
    cpu = said(["grep", "-m1", "model name", "/proc/cpuinfo"], "(?<=: ).*")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    gpu = said(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"])
    versions = {"Python": sys.version.split()[0], "glibc": os.confstr("CS_GNU_LIBC_VERSION").split()[-1]}
    versions.update({name: package(name) for name in ("numpy", "torch", "kornia", "monai", "tifffile")})
    versions["CuPy"] = package("cupy-cuda13x") or package("cupy")
    return [f"Host: {cpu}, {len(os.sched_getaffinity(0))} cores, {memory} GiB; GPU and driver: {gpu or 'none'}.",
            "Versions: " + ", ".join(f"{k} {v or 'not there'}" for k, v in versions.items()) + ".",
            f"NVIDIA's libraries: {', '.join(os.path.basename(file) for file in libraries.values()) or 'none'}."]


def rows(text):
    """The rows of every Markdown table in a text, by the names of their columns."""
    out, names = [], None
    for line in text.splitlines():
        if not line.startswith("|"):
            names = None
            continue
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if names is None:
            names = cells
        elif not set(line) <= set("|-: "):
            out.append(dict(zip(names, cells)))
    return out


def number(text):
    found = re.match(r"-?[\d.]+", text or "")
    return float(found.group(0)) if found else None


def line(what, measured, reached):
    return f"- goal: {what}; measured: {measured}: {'reached' if reached else 'MISSED'}"


def peers(results, kind):
    """How many times what DataLoader workers feed the feed makes, without a consumer's time."""
    ours = [number(r["patches/s"]) for r in rows(results.get(f"feed-{kind}", {}).get("text", "")) if r.get("step, ms") == "0"]
    ours = [rate for rate in ours if rate]
    out = []
    for peer in rows(results.get("loader-peer", {}).get("text", "")):
        rate = number(peer.get("patches/s"))
        if ours and rate and peer.get("fed by DataLoader workers", "").startswith(kind):
            ratio = max(ours) / rate
            out.append(line(f"{kind}: 10 times the patches of DataLoader workers (theirs with a training step)", f"{ratio:.1f} times", ratio >= 10))
    return out


def processing(results):
    """The whole of `process` over the peer's, on every core."""
    peers = [number(r.get("whole, chunks of 512")) for r in rows(results.get("process-peer", {}).get("text", ""))]
    peers = [p for p in peers if p]
    out = []
    for goal, name in ((4.2, "GPU"), (11.8, "GPU + GPUDirect")):
        ours = [number(r.get("whole s")) for r in rows(results.get("process", {}).get("text", ""))
                if r.get("device") == name and (name == "GPU" or "read cuFile, written cuFile" in r.get("files to the GPU", ""))]
        ours = [s for s in ours if s]
        if ours and peers:
            ratio = min(peers) / min(ours)
            out.append(line(f"`process`, {name}: {goal} times tifffile + CuPy", f"{ratio:.1f} times (fastest row of each)", ratio > goal))
    return out


def tests(text):
    """How many passed and were skipped; of what failed, everything."""
    found = [entry for entry in text.splitlines() if re.match(r"\[  (PASSED|SKIPPED|FAILED) ", entry)]
    return "\n".join(f"    {entry}" for entry in found[:3]) or text


def sanitizer(text):
    found = re.search(r"ERROR SUMMARY: .*", text)
    return found.group(0) if found else text


def text(facts, items, results):
    """facts: bundle, host, no_gpu, unpacked_s and small (run.py)."""
    trial, bundle = facts["small"], facts["bundle"]
    parts = [f"### A trial with small shapes, {facts['no_gpu'] or 'on a GPU'}: no figure counts" if trial
             else f"### Measured {time.strftime('%Y-%m-%d')}",
             "\n".join([f"Commit {bundle['commit']}, built with nvcc {bundle['nvcc'] or '?'} and g++ {bundle['g++']}.", *facts["host"]])]
    if not trial:
        goals = [entry for r in results.values() for entry in r["text"].splitlines() if entry.startswith("- goal: ")]
        goals += peers(results, "slides") + peers(results, "volumes") + processing(results)
        parts.append("#### Goals\n" + ("\n".join(goals) or "None of them was measured."))
    for item in items:
        result = results.get(item.key)
        body = result["text"] if result else "not run yet"
        good = result and result["status"] == 0
        if good:
            body = tests(body) if item.key.endswith("bits") else sanitizer(body) if item.key == "sanitizer" else body
        else:
            body = "\n".join(body.splitlines()[-MOST_LINES:])
        body = "\n".join(entry for entry in body.splitlines() if not entry.startswith("- goal: ")).strip("\n")
        took = f"{result['seconds']:.0f} s of at most {item.limit_s:.0f}. " if result and result["seconds"] else ""
        goal = f"Goal: {item.goal}." if item.goal else ""
        parts.append(f"#### {item.title[0].upper()}{item.title[1:]}\n" + "\n\n".join(filter(None, [f"{took}{goal}".strip(), body])))
    return "\n\n".join(parts) + "\n"
