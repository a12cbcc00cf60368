"""The report of tools/gpu-check: a section for docs/gpu.md, complete Markdown, goals beside figures."""
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


def gpu(build):
    """Why no GPU can be used, empty where one can; and what nvidia-smi says of it."""
    first = said([str(build / "bench_device_volumes"), "--probe"], "not measured: .*")
    return {"absent": first, "smi": said(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"])}


def package(name):
    try:
        return version(name)
    except PackageNotFoundError:
        pass
    try:  # carried: a folder alone
        return getattr(__import__(name), "__version__", "there")
    except Exception:
        return ""


def host(repo, found):
    cpu = said(["grep", "-m1", "model name", "/proc/cpuinfo"], "(?<=: ).*")
    memory = int(said(["grep", "MemTotal", "/proc/meminfo"], r"\d+")) >> 20
    versions = {"nvcc": said(["nvcc", "--version"], r"(?<=release )[\d.]+"), "g++": said(["g++", "-dumpfullversion"]),
                "Python": sys.version.split()[0]}
    for name in ("torch", "kornia", "monai", "tifffile"):
        versions[name] = package(name)
    for distribution in ("cupy-cuda13x", "cupy"):
        versions.setdefault("CuPy", package(distribution)) if package(distribution) else None
    libraries = [os.path.basename(os.environ[v]) for v in ("HEADRACE_NVCOMP", "HEADRACE_NVJPEG", "HEADRACE_CUFILE") if os.environ.get(v)]
    lines = [f"Commit {said(['git', '-C', str(repo), 'rev-parse', '--short', 'HEAD']) or 'unknown (no git here)'}, {time.strftime('%Y-%m-%d')}.",
             f"Host: {cpu}, {len(os.sched_getaffinity(0))} cores, {memory} GiB; GPU and driver: {found['smi'] or 'none'}.",
             "Versions: " + ", ".join(f"{k} {v or 'not there'}" for k, v in versions.items()) + ".",
             f"NVIDIA's libraries named: {', '.join(libraries) or 'none'}."]
    return "\n".join(lines)


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


def feeding(results, kind):
    """Goals of a training fed end to end, of the best way of making batches, and the ratio to DataLoader workers."""
    fed = [r for r in rows(results.get(f"feed-{kind}", {}).get("text", "")) if number(r.get("patches/s"))]
    if not fed:
        return []
    best = max(fed, key=lambda r: number(r["patches/s"]))
    out = []
    waiting, busy = number(best.get("waiting for data")), number(best.get("GPU busy (NVML)"))
    if waiting is not None:
        out.append(line(f"{kind}: waiting for data under 5 %", f"{waiting:.1f} %", waiting < 5))
    if busy is not None:
        out.append(line(f"{kind}: GPU busy over 90 %", f"{busy:.0f} %", busy > 90))
    for peer in rows(results.get("loader-peer", {}).get("text", "")):
        rate = number(peer.get("patches/s"))
        if peer.get("fed by DataLoader workers", "").startswith(kind) and rate:
            ratio = number(best["patches/s"]) / rate
            out.append(line(f"{kind}: 10 times DataLoader workers", f"{ratio:.1f} times", ratio >= 10))
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


def ctest(text):
    """CTest's lines in short, and everything about what failed."""
    lines = [entry for entry in text.splitlines() if re.match(r"^ *\d+/\d+ +Test", entry) or "tests passed" in entry]
    return "\n".join(f"    {entry.strip()}" for entry in lines)


def sanitizer(text):
    found = re.search(r"ERROR SUMMARY: .*", text)
    return found.group(0) if found else text


def text(host_lines, items, results, trial):
    parts = [f"### Measured {time.strftime('%Y-%m-%d')}" if not trial else "### A trial without a GPU: nothing was measured on one", host_lines]
    if not trial:
        goals = [entry for r in results.values() for entry in r["text"].splitlines() if entry.startswith("- goal: ")]
        goals += feeding(results, "slides") + feeding(results, "volumes") + processing(results)
        parts.append("#### Goals\n" + ("\n".join(goals) or "None of them was measured."))
    for item in items:
        result = results.get(item.key)
        if item.key == "stores" and result and result["status"] == 0:
            continue
        body = result["text"] if result else "not run yet: it is of the other part of `tools/gpu-check`"
        shorten = {"tests": ctest, "sanitizer": sanitizer}.get(item.key, lambda entry: entry)
        body = shorten(body) if result and result["status"] == 0 else "\n".join(body.splitlines()[-MOST_LINES:])
        body = "\n".join(entry for entry in body.splitlines() if not entry.startswith("- goal: ")).strip("\n")
        parts.append(f"#### {item.title[0].upper()}{item.title[1:]}\n" + (f"Goal: {item.goal}.\n\n" if item.goal else "") + body)
    return "\n\n".join(parts) + "\n"
