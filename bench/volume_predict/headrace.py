"""Ours: `headrace predict --as nifti` on the file, program start included. It also finds the body, keeps the file's voxels in a store while it
works, writes probabilities as Zarr, and measures the lesions (score, diameters, place)."""
import json
import subprocess

PACKAGES = ()
NOTE = "program start, body mask, probabilities on disk and findings included; windows around the body alone"


def predictor(context):
    from measure import HERE, load
    work = load(HERE / "volume_predict/work.py")
    run, study = work.trained_run(context), work.study(context)

    def predict(out):
        done = subprocess.run([context.headrace, "predict", "--run", run, study, "--out", out / "out", "--as", "nifti", "--threads",
                               str(context.threads)], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        [findings] = (out / "out").glob("*/findings.json")
        [path] = (out / "out").rglob("*.nii.gz")
        return path, len(json.loads(findings.read_text())["volume"]["lesions"])
    return predict
