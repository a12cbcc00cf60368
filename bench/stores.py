"""The stores that subjects read, made once: the peers' by tensorstore, ours by the program."""
import os
import shutil
import subprocess
from pathlib import Path

EDGE = 20480


def zarr3_spec(path, shape, chunk, shard=None):
    blosc = {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle": "shuffle", "typesize": 1, "blocksize": 0}}
    codecs, outer = [{"name": "bytes"}, blosc], chunk
    if shard:
        index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
        codecs, outer = [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": list(chunk), "codecs": codecs, "index_codecs": index, "index_location": "end"}}], shard
    return {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}, "create": True, "delete_existing": True,
            "metadata": {"shape": list(shape), "data_type": "uint8", "fill_value": 0, "codecs": codecs,
                         "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(outer)}},
                         "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}}}


def level0_by_bands(slide, band):
    import numpy as np
    import tifffile
    import zarr
    source = zarr.open(tifffile.imread(slide, aszarr=True, level=0), mode="r")
    source = source["0"] if hasattr(source, "array_keys") else source
    for y in range(0, EDGE, band):
        yield y, np.asarray(source[y:y + band]).transpose(2, 0, 1)


def peer_store(context, name, chunk, shard):
    """Level 0 as (c, y, x); written aside and renamed, so that an interrupted run leaves nothing to trip over."""
    import tensorstore
    path = context.data / name
    if not path.exists():
        part = Path(f"{path}.part")
        array = tensorstore.open(zarr3_spec(part, (3, EDGE, EDGE), chunk, shard)).result()
        for y, band in level0_by_bands(context.slide, (shard or chunk)[1]):
            array[:, y:y + band.shape[1]].write(band).result()
        os.replace(part, path)
    return path


def headrace_store(context, codec):
    """codec: one of the program's, or "reference": nothing is copied."""
    path = context.data / f"headrace-{codec}.zarr"
    done = Path(f"{path}.done")
    if not done.exists():
        shutil.rmtree(path, ignore_errors=True)
        how = ["--pixels", "reference"] if codec == "reference" else ["--codec", codec]
        subprocess.run([context.headrace, "ingest", "slides", context.slide, "--out", path, *how], check=True)
        done.touch()
    return path


def views_config(context, store):
    """Two global and six local crops of places of 256 pixels; windows of 32 to 100 and of 5 to 32 % of the place's area."""
    path = context.data / f"views-{store.stem}.yaml"
    colours = "{hed_jitter: {sigma: 0.05}}"

    def view(name, crops, size, area, shift):
        edge = 256 * area[1] ** 0.5  # of the largest window, at 0.5 µm a pixel
        affine = f"{{affine: {{rotate_deg: [-180, 180], flip: true, scale: [1, {(area[1] / area[0]) ** 0.5:.4f}], translate: {shift}}}}}"
        return f"  - {{name: {name}, crops: {crops}, size: [{size}, {size}], mpp: {0.5 * edge / size:.5f}, transforms: [{affine}, {colours}]}}\n"

    path.write_text(f"task: segmentation\ndata: {{store: {store}, labels: null}}\npatch: {{size: [256, 256], mpp: 0.5}}\n"
                    "sampling: {seed: 606, batch: 16, balance: tissue, background: 0}\nviews:\n"
                    + view("global", 2, 224, (0.32, 1.0), 0.1) + view("local", 6, 96, (0.05, 0.32), 0.4))
    return path


CHAIN = """\
  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1}
  - elastic: {grid: 21, magnitude_um: 6}
  - stain_normalize: {method: macenko, reference: builtin}
  - hed_jitter: {sigma: 0.05}
  - color_jitter: {brightness: 0.2, contrast: 0.2, saturation: 0.2, hue: 0.05}
  - gaussian_noise: {sigma: [0.02, 0.02]}
  - normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}
"""


def run_config(context, codec, chain=CHAIN, foreground=0):
    """A run that draws 512×512 patches anywhere on the slide, at its own resolution."""
    path = context.data / f"run-{codec}-{'chain' if chain else 'plain'}-{foreground}.yaml"
    transforms = f"transforms:\n{chain}" if chain else "transforms: []\n"
    path.write_text(f"task: segmentation\ndata: {{store: {headrace_store(context, codec)}}}\n"
                    "patch: {size: [512, 512], mpp: 0.5}\n"
                    f"sampling: {{seed: 606, batch: 16, foreground: {foreground}, background: 1, balance: tissue}}\n{transforms}")
    return path
