"""Finished predictions written by zarr-python alone, as docs/formats.md says: exports need no network, and maps can be any."""
import json

import numpy as np
import zarr

GLEASON = ["background", "benign", "hgpin", "pattern3", "pattern4", "pattern5"]
COLOURS = {1: [22, 150, 110], 2: [226, 178, 34], 3: [240, 130, 40]}  # of GeoJSON, pictures and reports


def blobs(shape, classes):
    """A class map with ragged regions and a corner that was not predicted."""
    waves = sum(np.sin(grid / (7 + 5 * axis) + axis) for axis, grid in enumerate(np.indices(shape)))
    values = np.clip((waves + len(shape)) / (2 * len(shape)) * classes, 0, classes - 1).astype(np.uint8)
    values[tuple(slice(n // 5) for n in shape)] = 255
    return values


def _put(group, name, values, fill):
    group.create_array(name, shape=values.shape, chunks=tuple(min(n, 64) for n in values.shape), dtype=values.dtype, fill_value=fill)[...] = values


def _write(folder, facts, findings, maps):
    group = zarr.create_group(folder, zarr_format=3, attributes={"headrace": {"kind": "prediction", "format": 1, "facts": facts}})
    for name, (values, fill) in maps.items():
        _put(group, name, values, fill)
    (folder / "findings.json").write_text(json.dumps(findings))
    return folder


def _facts(name, source, classes, **more):
    network = {"name": "run", "weights": "final", "weights_sha256": "ab" * 32, "config_hash": "c", "preprocessing_sha256": "d",
               "code_version": "1"}
    return {"id": name, "case": name, "source": str(source), "task": "segmentation", "classes": classes, "networks": [network],
            "flips": False, "code_version": "1", **more}


def slide_result(folder, source, level0, step, classes=GLEASON, mpp=2.0, levels=2, name="slide"):
    """Of a slide of level0 (height, width); a pixel of the map is `step` pixels of level 0."""
    shape = tuple(-(-n // step) for n in level0)
    values = blobs(shape, len(classes))
    maps = {f"labels/classes/{k}": (values[::2**k, ::2**k], 255) for k in range(levels)}
    maps["0"] = (np.where(values[None] == 255, 0, np.eye(len(classes), dtype=np.uint8)[np.minimum(values, len(classes) - 1)].transpose(2, 0, 1) * 255)
                 .astype(np.uint8), 0)
    slide = {"height": shape[0], "width": shape[1], "mpp": mpp, "level0_px_yx": [step, step], "level0_height": level0[0],
             "level0_width": level0[1]}
    folder = _write(folder, _facts(name, source, classes, slide=slide), {"slide": {}, "quality": []}, maps)
    return folder, values


def volume_result(folder, source, grid, file_grid, axes, classes, lesions=None, name="scan"):
    """Of a volume; grids are {shape_zyx, affine_lps}, axes (axis_of_xyz, reversed_xyz)."""
    values = blobs(tuple(grid["shape_zyx"]), len(classes))
    maps = {"labels/classes/0": (values, 255), "0": (np.zeros((len(classes), *values.shape), np.uint8), 0)}
    if lesions is not None:
        maps["labels/lesions/0"] = (lesions, 0)
    found = None if lesions is None else [{"score": 0.5}] * int(lesions.max())
    volume = {"grid": grid, "file_grid": file_grid, "axis_of_xyz": axes[0], "reversed_xyz": axes[1]}
    folder = _write(folder, _facts(name, source, classes, volume=volume), {"volume": {"lesions": found}, "quality": []}, maps)
    return folder, values
