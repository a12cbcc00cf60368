"""The stores of the CT that subjects read, made once: the peers' by their own libraries, ours by the program."""
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

SHAPE = (400, 512, 512)


def once(path, make):
    """Written aside and renamed, so that an interrupted run leaves nothing to trip over."""
    if not path.exists():
        part = path.with_name(f"part-{path.name}")
        shutil.rmtree(part, ignore_errors=True)
        part.unlink(missing_ok=True)
        make(part)
        os.replace(part, path)
    return path


def volume(context, name):
    return np.load(context.data / f"{name}.npy", mmap_mode="r")


def zarr_store(context, name, chunk, shard):
    """blosc zstd 5 with byte shuffle, what most write; `name`: ct or label."""
    import tensorstore
    array = volume(context, name)
    blosc = {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle": "shuffle", "typesize": array.itemsize,
                                                "blocksize": 0}}
    codecs, outer = [{"name": "bytes", "configuration": {"endian": "little"}}, blosc], chunk
    if shard:
        index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
        codecs, outer = [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [chunk] * 3, "codecs": codecs, "index_codecs": index, "index_location": "end"}}], shard

    def make(path):
        metadata = {"shape": list(SHAPE), "data_type": array.dtype.name, "fill_value": 0, "codecs": codecs,
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [outer] * 3}},
                    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}}
        tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}, "create": True,
                          "metadata": metadata}).result().write(np.asarray(array)).result()
    return once(context.data / f"peer-{name}-{shard or chunk}-{chunk}.zarr", make)


def open_tensorstore(context, path):
    import tensorstore
    limit = {"limit": context.threads}
    return tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)},
                             "context": {"data_copy_concurrency": limit, "file_io_concurrency": limit}}).result()


def blosc2_store(context, name, chunks, blocks, dtype=None):
    """LZ4HC 5 with byte shuffle, as nnU-Net writes; a leading axis of one channel."""
    import blosc2

    def make(path):
        array = np.asarray(volume(context, name))[None]
        blosc2.asarray(array.astype(dtype or array.dtype), urlpath=str(path), chunks=(1, *chunks), blocks=(1, *blocks),
                       cparams={"codec": blosc2.Codec.LZ4HC, "clevel": 5, "filters": [blosc2.Filter.SHUFFLE],
                                "nthreads": context.threads})
    kind = np.dtype(dtype).name if dtype else "own"
    return once(context.data / f"peer-{name}-{kind}-{'x'.join(map(str, chunks))}-{'x'.join(map(str, blocks))}.b2nd", make)


def open_blosc2(context, path):
    import blosc2
    blosc2.set_nthreads(context.threads)
    return blosc2.open(urlpath=str(path), mode="r", dparams={"nthreads": context.threads}, mmap_mode="r")


def headrace_store(context, codec):
    path = context.data / f"headrace-ct-{codec}-format2.zarr"
    done = Path(f"{path}.done")
    if not done.exists():
        shutil.rmtree(path, ignore_errors=True)
        inputs = context.data / "ct-inputs"
        shutil.rmtree(inputs, ignore_errors=True)
        for folder, name in (("images", "ct.nii.gz"), ("labels", "label.nii.gz")):
            (inputs / folder).mkdir(parents=True)
            os.link(context.data / name, inputs / folder / "ct.nii.gz")
        (inputs / "site.key").write_text("benchmark of no patient")
        subprocess.run([context.headrace, "ingest", "volumes", inputs / "images", "--labels", inputs / "labels", "--out", path, "--codec",
                        codec, "--classes", "background,soft,bone", "--key-file", inputs / "site.key"], check=True)
        done.touch()
    return path


def stored_mb(path):
    """Megabytes of a file, or of the files of a folder."""
    files = [path] if Path(path).is_file() else [f for f in Path(path).rglob("*") if f.is_file()]
    return round(sum(f.stat().st_size for f in files) / 1e6, 1)


CHAIN = """\
  - affine: {rotate_deg: [-15, 15], scale: [0.9, 1.1], flip: true}
  - elastic: {grid: 6, magnitude_mm: 5}
  - window_hu: {low: -160, high: 240}
  - gaussian_noise: {sigma: [0.05, 0.05]}
  - brightness: {factor: [0.8, 1.2]}
  - contrast: {factor: [0.8, 1.2]}
  - gamma: {gamma: [0.7, 1.5]}
"""


def run_config(context, codec, chain=CHAIN):
    """A run that draws 96³ patches anywhere in the body's box, at the volume's own resolution."""
    path = context.data / f"run-ct-{codec}-{'chain' if chain else 'plain'}.yaml"
    transforms = f"transforms:\n{chain}" if chain else "transforms: []\n"
    path.write_text(f"task: segmentation\ndata: {{store: {headrace_store(context, codec)}, labels: annotation}}\n"
                    "patch: {size: [96, 96, 96], spacing_mm: [0.84, 0.592, 0.715]}\n"
                    f"sampling: {{seed: 606, batch: 2, foreground: 0, background: 1, balance: body}}\n{transforms}")
    return path


def image_of(store):
    return next(p.name for p in (Path(store) / "images").iterdir() if p.is_dir())


def level0(store):
    return Path(store) / "images" / image_of(store) / "0"
