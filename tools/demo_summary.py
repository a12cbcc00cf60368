"""Prints what the demo measured, from the files that its commands left.

Usage: demo_summary.py OUT
"""
import json
import sys
from pathlib import Path


def read(out, name):
    return json.loads((out / f"{name}.json").read_text())


def seconds(out):
    """Wall and CPU seconds of all commands that were timed."""
    times = [[float(part) for part in path.read_text().split()] for path in sorted(out.glob("*.time"))]
    return sum(wall for wall, _, _ in times), sum(user + system for _, user, system in times)


def figure(value):
    return "undefined" if value is None else f"{value:.3f}"


def print_store(out, name, title):
    ingest, info = read(out, f"{name}.ingest"), read(out, f"{name}.info")
    ratio = ingest["stored_bytes"] / ingest["source_bytes"]
    print(f"\n{title}")
    print(f"  {len(info['images'])} images, {ingest['pixel_bytes'] / 1e6:.0f} MB of pixels in {ingest['seconds']:.1f} s: "
          f"{ingest['mb_per_s']:.0f} MB/s")
    copied = f"; {100 * ingest['passthrough_share']:.0f} % of it their own JPEG tiles, copied" if "passthrough_share" in ingest else ""
    print(f"  footprint {ingest['stored_bytes'] / 1e6:.1f} MB, {ratio:.2f} times the source files' {ingest['source_bytes'] / 1e6:.1f} MB{copied}")
    print(f"  dataset hash {ingest['dataset_hash']}")


def beside(result, *path):
    """What the baseline, which looks at no pixel, has for a figure."""
    value = result.get("baseline", {})
    for key in path:
        value = value.get(key, {})
    return "" if isinstance(value, dict) else f" (baseline {figure(value)})"


def print_training(out, run):
    train, result = read(out, f"{run}.train"), read(out, f"{run}.eval")
    time, overall = train["time"], result["overall"]
    print(f"  trained {train['steps']} steps in {time['wall_s']:.0f} s: {time['patches_per_s']:.1f} patches/s, waiting for data "
          f"{100 * time['stall_fraction']:.1f} % of the time")
    print("  Dice " + ", ".join(f"{name} {figure(dice)}{beside(result, 'overall', 'dice', name)}" for name, dice in overall["dice"].items())
          + f"; mean {figure(overall['mean_dice'])}{beside(result, 'overall', 'mean_dice')}, over {overall['images']} images that it never saw")
    return result


def print_lesions(result):
    """What a detector of lesions is judged by, of each group of validation volumes."""
    def by_name(of):
        return {"overall": of["overall"], **of["cohorts"], **(of["phases"] if len(of["phases"]) > 1 else {})}

    groups = by_name(result)
    if "baseline" in result:
        groups |= {f"{name}, baseline": group for name, group in by_name(result["baseline"]).items() if name == "overall"}
    print(f"  {'':<18}{'volumes':>8}{'lesions':>8}{'Dice':>7}{'surface':>8}{'HD95':>9}{'found':>7}{'FP/scan':>9}{'FROC':>7}")
    for name, group in groups.items():
        found, distance = group["lesion"], group["hd95"]["lesion"]
        print(f"  {name:<18}{group['images']:>8}{found['lesions']:>8}{figure(group['dice']['lesion']):>7}"
              f"{figure(group['surface_dice']['lesion']):>8}{'undefined' if distance is None else f'{distance:.1f} mm':>9}"
              f"{found['hits']:>7}{found['false_positives_per_scan']:>9.2f}{figure(found['froc']):>7}")


def kappas(result):
    groups = [("overall", result["overall"]), *result["scanners"].items()]
    return {name: group["gleason"]["kappa"] for name, group in groups}


def main():
    out = Path(sys.argv[1]).resolve()
    print_store(out, "slides", "Real slides, every format of samples/ (OpenSlide's and plain TIFF)")
    print_store(out, "organs", "Organs on real CT: one patient's DICOM to learn from, another's NIfTI in another voxel order to be judged by (TotalSegmentator, Apache-2.0)")
    print_training(out, "organs")
    print_store(out, "nuclei", "Nuclei on stained tissue: real images, real annotations (BBBC038, CC0)")
    for name, group in print_training(out, "nuclei")["cohorts"].items():
        print(f"    {name}: mean Dice {figure(group['mean_dice'])} over {group['images']} images")
    print_store(out, "phantoms", "Path test, Gleason grading on phantoms: synthetic slides of two scanners. They prove the path, not a model's worth")
    print("  (baseline: what looks at no pixel, of slides one class everywhere, of CT a ball of the training split's mean size and place)")
    found = {}
    for run, title in (("gleason", "without stain normalisation"), ("gleason-normalized", "with stain normalisation")):
        print(f"  {title}")
        found[title] = kappas(print_training(out, run))
    names = list(next(iter(found.values())))
    print(f"\n  quadratic weighted kappa      {''.join(f'{n:>14}' for n in names)}")
    for title, row in found.items():
        print(f"  {title:<30}{''.join(f'{figure(row[n]):>14}' for n in names)}")
    print_store(out, "colorectal", "Path test, colorectal lesions on phantom CT: two phases, two scanners. They prove the path, not a model's worth")
    print_lesions(print_training(out, "colorectal"))
    again = [read(out, f"{run}.replay") for run in ("organs", "nuclei", "gleason", "gleason-normalized", "colorectal")]
    print(f"\nReplayed: the first {min(r['steps'] for r in again)} steps of {sum(r['same'] for r in again)} runs of {len(again)}, the same bytes")
    print("\nLook at")
    for name in ("slides.png", "organs.png", "nuclei.png", "gleason.png", "gleason-normalized.png", "colorectal.png", "organs/report.html",
                 "nuclei/report.html", "gleason/report.html", "gleason-normalized/report.html", "colorectal/report.html"):
        print(f"  {out / name}")
    wall, cpu = seconds(out)
    print(f"\ndemo done in {wall:.0f} s, {cpu:.0f} s of CPU")


if __name__ == "__main__":
    main()
