"""Runs what tools/gpu-check built, one item after the other, and writes the report after each: an item that fails, hangs or finds no time
costs no other its figures. `--part bench` goes on with what an earlier run of it had no time for.

    run.py --part tests|bench|all --out FOLDER --deadline SECONDS_SINCE_1970
"""
import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import report  # noqa: E402
from items import items  # noqa: E402

REPO = Path(__file__).resolve().parents[2]


def run(item, out, seconds):
    """What an item gave: a dict of its text, exit status and time."""
    begin = time.monotonic()
    log = out / f"{item.key}.log"
    environment = {**os.environ, **item.environment}
    with open(log, "w") as errors:
        process = subprocess.Popen(item.command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment,
                                   cwd=out, start_new_session=True)
        try:
            text, _ = process.communicate(timeout=seconds)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            text, _ = process.communicate()
            status = "stopped"
    if status != 0:
        tail = "\n".join(f"    {entry}" for entry in log.read_text(errors="replace").strip().splitlines()[-40:])
        how = f"STOPPED after {seconds:.0f} s" if status == "stopped" else f"FAILED with {status}"
        text += f"\n{how}{', after saying:' if tail else ''}\n\n{tail}\n"
    return {"text": text.strip(), "status": status, "seconds": round(time.monotonic() - begin, 1)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=("tests", "bench", "all"), required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--deadline", type=float, required=True)
    arguments = parser.parse_args()
    out = arguments.out
    results_file = out / "results.json"
    gpu = report.gpu(out / "build")
    if gpu["absent"]:
        print(gpu["absent"])
        if os.path.exists("/dev/nvidia0"):
            sys.exit(f"gpu-check: there is a GPU (/dev/nvidia0), but CUDA can't use it: {gpu['absent']}")
        print("Every bench is tried as far as it goes without one; no figure is kept.")
    results = {}
    if arguments.part == "bench" and results_file.exists():
        results = json.loads(results_file.read_text())
    host = report.host(REPO, gpu)
    # What the first part had no time for is made up for in the second.
    late = {key for key, result in results.items() if result["status"] == "skipped"} if arguments.part == "bench" else set()
    wanted = [i for i in items(REPO, out, trial=bool(gpu["absent"]))
              if arguments.part in (i.part, "all") or i.key in late or (arguments.part == "bench" and i.key.startswith(("stores", "feed-")))]
    wanted = [i for i in wanted if results.get(i.key, {}).get("status") != 0]
    for number, item in enumerate(wanted, 1):
        left = arguments.deadline - time.time()
        print(f"[{number}/{len(wanted)}] {item.title} ({left:.0f} s left)", flush=True)
        missing = item.missing()
        if missing:
            result = {"text": f"not measured: {missing}", "status": 0, "seconds": 0}
        elif left < item.least_s:
            again = "run `tools/gpu-check --part bench` again: it takes up what is missing"
            result = {"text": f"skipped: {left:.0f} s were left of this command's time; {again}", "status": "skipped", "seconds": 0}
        else:
            result = run(item, out, min(item.limit_s, left))
        results[item.key] = result
        said = {0: "done"}.get(result["status"], str(result["status"]))
        print(f"    {said} in {result['seconds']:.0f} s", flush=True)
        if result["status"] not in (0, "skipped"):
            print("    " + "\n    ".join(result["text"].splitlines()[-15:]), flush=True)
        results_file.write_text(json.dumps(results, indent=1))
        (out / "gpu-check.md").write_text(report.text(host, items(REPO, out, bool(gpu["absent"])), results, bool(gpu["absent"])))
    print()
    print((out / "gpu-check.md").read_text())
    failed = [key for key, result in results.items() if result["status"] not in (0, "skipped")]
    if failed:
        sys.exit(f"gpu-check: failed: {', '.join(failed)}; the logs are in {out}")
    late = [key for key, result in results.items() if result["status"] == "skipped"]
    if late:
        sys.exit(f"gpu-check: no time was left for {', '.join(late)}; `tools/gpu-check --part bench` takes up what is missing (LIMIT_S: more time)")
    if gpu["absent"] and results.get("tests", {}).get("status") == 0:
        print("The build passes and so do the tests that need no GPU. What a GPU does was not run.")


if __name__ == "__main__":
    main()
