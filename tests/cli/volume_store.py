"""Writes a store of one volume by zarr-python and NumPy alone, as docs/formats.md says: what the loader reads must not depend on who
wrote it. Codecs, chunks and shards are others than ingest's."""
import hashlib
import json

import nibabel
import numpy as np
import zarr
from scipy.ndimage import find_objects, label

CELL = 16


def read_nifti(image, mask):
    """(z, y, x) HU and labels in canonical order (x to the left, y to the back, z up), spacing z, y, x and the LPS affine of the voxel index
    x, y, z; nibabel reorders them."""
    lps = nibabel.orientations.axcodes2ornt("LPS")
    nifti, mask = (file.as_reoriented(nibabel.orientations.ornt_transform(nibabel.io_orientation(file.affine), lps))
                   for file in (nibabel.load(image), nibabel.load(mask)))
    hu = np.asarray(nifti.dataobj).transpose(2, 1, 0)
    labels = np.asarray(mask.dataobj).transpose(2, 1, 0)
    spacing = [float(s) for s in nifti.header.get_zooms()[2::-1]]
    affine = np.diag([-1.0, -1.0, 1.0, 1.0]) @ nifti.affine
    return hu.astype(np.int16), labels.astype(np.uint8), spacing, affine


def halve(voxels):
    """Means of 2×2×2 with halves rounded up; at an odd edge of those that exist."""
    sums = np.zeros([(n + 1) // 2 for n in voxels.shape], np.int64)
    count = np.zeros_like(sums)
    for corner in np.ndindex(2, 2, 2):
        part = voxels[tuple(slice(c, None, 2) for c in corner)].astype(np.int64)
        at = tuple(slice(n) for n in part.shape)
        sums[at] += part
        count[at] += 1
    return ((2 * sums + count) // (2 * count)).astype(voxels.dtype)


def put(folder, name, values, chunks, attributes=None, fill=0, shards=None):
    array = zarr.create_array(folder, name=name, shape=values.shape, dtype=values.dtype, chunks=chunks, shards=shards, fill_value=fill,
                              compressors=zarr.codecs.ZstdCodec(level=1), attributes={"headrace": attributes or {}}, zarr_format=3)
    array[...] = values


def cells_of(voxels, values):
    """How often each value occurs in each cell that has one of them."""
    rows = []
    for z, y, x in np.ndindex(*[-(-n // CELL) for n in voxels.shape]):
        box = voxels[tuple(slice(CELL * i, CELL * i + CELL) for i in (z, y, x))]
        counts = [int((box == value).sum()) for value in values]
        if any(counts):
            rows.append([z, y, x, *counts])
    return np.array(rows, np.uint32)


def sites_of(mask, front=(), first=(0, 0, 0)):
    """Blocks of CELL voxels that hold some of the mask, which begins at block `first`: place, `front`, voxels, and one bit for each of 256
    parts of 1 x 4 x 4 voxels."""
    rows = []
    for place in np.unique(np.argwhere(mask) // CELL, axis=0):
        box = mask[tuple(slice(CELL * i, CELL * i + CELL) for i in place)]
        whole = np.zeros((CELL,) * 3, bool)
        whole[tuple(slice(0, n) for n in box.shape)] = box
        parts = whole.reshape(CELL, CELL // 4, 4, CELL // 4, 4).any(axis=(2, 4))
        rows.append([*(place + first), *front, box.sum(), *np.packbits(parts.ravel(), bitorder="little").view("<u4")])
    return np.array(rows, np.uint32).reshape(-1, 12 + len(front))


def label_sites(labels, classes):
    """Of each class above 0 every component (26 neighbours, by first voxel) as a region; they are numbered on over the classes, as lesions are."""
    rows, regions = [], 0
    for value in range(1, classes):
        found, _ = label(labels == value, np.ones((3, 3, 3)))
        numbers, first = np.unique(found, return_index=True)
        boxes = find_objects(found)
        for n in (n for n in numbers[np.argsort(first)] if n > 0):
            start = [box.start // CELL for box in boxes[n - 1]]
            inside = tuple(slice(CELL * at, box.stop) for at, box in zip(start, boxes[n - 1]))
            rows.append(sites_of(found[inside] == n, (value, regions), start))
            regions += 1
    return np.concatenate(rows)


def histogram_of(hu):
    values, counts = np.unique(hu, return_counts=True)
    return np.array([[int(v) + 32768, n] for v, n in zip(values, counts)], np.uint64)


def write_volume_store(folder, name, image, mask):
    hu, labels, spacing, affine = read_nifti(image, mask)
    classes = int(labels.max()) + 1
    body = hu > -300
    zarr.create_group(folder, attributes={"headrace": {"format": 2, "kind": "volume"}})
    shapes, k, fine = [], 0, hu
    while True:
        shapes.append(list(fine.shape))
        put(folder, f"images/{name}/{k}", fine, (16, 16, 16), fill=-1024, shards=(64, 64, 64))
        at = [np.minimum(np.arange(n) * 2**k + (2**k) // 2, size - 1) for n, size in zip(fine.shape, labels.shape)]
        put(folder, f"images/{name}/labels/annotation/{k}", labels[np.ix_(*at)], (32, 32, 32))
        if max(fine.shape) <= 64:
            break
        fine, k = halve(fine), k + 1
    put(folder, f"images/{name}/masks/body", body.astype(np.uint8), (64, 64, 64))
    group = f"images/{name}/labels/annotation"
    cell, part = [CELL] * 3, [1, 4, 4]
    put(folder, f"index/{name}", (rows := sites_of(body)), rows.shape, {"cell_size_zyx": cell, "part": part})
    put(folder, f"{group}/index", (rows := cells_of(labels, range(classes))), rows.shape, {"cell_size_zyx": cell})
    put(folder, f"{group}/sites", (rows := label_sites(labels, classes)), rows.shape, {"block": cell, "part": part})
    for path, rows in ((f"histograms/{name}", histogram_of(hu[body])), (f"{group}/histogram", histogram_of(hu[(labels > 0) & (labels < 255)]))):
        put(folder, path, rows, rows.shape)
    inside = hu[body].astype(np.float64)
    zarr.open_group(folder, path=f"images/{name}", mode="a").attrs["headrace"] = {
        "modality": "CT", "codec": "zstd", "levels": shapes,
        "downsample": [[2**i] * 3 for i in range(len(shapes))], "spacing_mm": spacing, "affine_lps": affine.ravel().tolist(),
        "file_grid": {"shape_zyx": shapes[0], "affine_lps": affine.ravel().tolist(), "axis_of_xyz": [0, 1, 2], "reversed_xyz": [False] * 3},
        "body": {"voxels": int(body.sum()), "mean": inside.mean(), "std": inside.std(), "p00_5": np.percentile(inside, 0.5),
                 "p99_5": np.percentile(inside, 99.5)},
        "source": {"bytes": 1}}
    write_version(folder, name, ["background"] + [f"class_{c}" for c in range(1, classes)])
    return folder


def write_version(folder, name, classes):
    """Lists of the objects of pixels and labels, the version that vouches for them, and the head that names it."""
    def part(of, prefixes, without=None):
        objects = {}
        for path in sorted(p for prefix in prefixes for p in (folder / prefix).rglob("*") if p.is_file()):
            if without is None or not path.is_relative_to(folder / without):
                objects[str(path.relative_to(folder))] = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "size": path.stat().st_size}
        text = json.dumps({"objects": objects}).encode()
        place = folder / f"manifests/{name}/{of}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text)
        return {"sha256": hashlib.sha256(text).hexdigest(), "size": len(text), "bytes": sum(o["size"] for o in objects.values())}

    labels = f"images/{name}/labels"
    image = {"pixels": part("pixels", [f"images/{name}", f"index/{name}", f"histograms/{name}"], labels),
             "labels": {"annotation": {"group": "annotation", **part("annotation", [f"{labels}/annotation"])}},
             "columns": {"case": name, "cohort": "default", "split": "train", "phase": "unknown"}}
    version = json.dumps({"format": 2, "kind": "volume", "classes": classes, "facts": {"lesion_classes": []}, "root": {},
                          "images": {name: image}}).encode()
    digest = hashlib.sha256(version).hexdigest()
    (folder / "versions").mkdir()
    (folder / f"versions/{digest}.json").write_bytes(version)
    (folder / "manifest.json").write_text(json.dumps({"format": 2, "dataset_hash": digest,
                                                       "log": [{"version": digest, "parent": None, "message": ""}]}))
