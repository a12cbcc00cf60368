"""One subject in a process of its own: prepares, checks its output, then does the work once for every line it reads.

Usage: python measure.py WORK SUBJECT DATA HEADRACE THREADS      (run.py starts it, with the thread variables already set)
Writes one JSON object a line: {"ready": …} after the check, then {"cpu_s", "wall_s"} for each "go".
"""
import importlib.util
import json
import os
import resource
import sys
import time
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Context:
    """What a subject gets: paths of the data, threads, and the program."""

    def __init__(self, data, headrace, threads):
        self.data, self.headrace, self.threads = Path(data), headrace, threads
        self.slide = str(self.data / "slide20k.tif")


def load(path):
    """Imports by path, so that slide_read/openslide.py does not hide the package of that name."""
    spec = importlib.util.spec_from_file_location(f"bench_{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def usage_s():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def peak_mb():
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


def say(out, **values):
    out.write(json.dumps(values) + "\n")
    out.flush()


def main():
    work_name, subject_name, data, headrace, threads = sys.argv[1:6]
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print goes to standard error
    sys.path.insert(0, str(HERE))
    work = load(HERE / work_name / "work.py")
    subject = load(HERE / work_name / f"{subject_name}.py")
    context = Context(data, headrace, int(threads))
    run, checked = work.prepare(subject, context)
    say(out, ready=True, version=", ".join(f"{p} {version(p)}" for p in getattr(subject, "PACKAGES", ())), check=checked,
        note=getattr(subject, "NOTE", ""))
    for line in sys.stdin:
        if line.strip() != "go":
            break
        cpu, wall = usage_s(), time.perf_counter()
        own = run()  # a subject that runs a program may bring its own figures: start-up is not part of the work
        measured = {"cpu_s": usage_s() - cpu, "wall_s": time.perf_counter() - wall}
        say(out, **(measured | (own if isinstance(own, dict) else {})), peak_rss_mb=round(peak_mb(), 1))


if __name__ == "__main__":
    main()
