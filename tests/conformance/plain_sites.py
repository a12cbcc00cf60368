"""The sampler's sites by NumPy and SciPy: rows of block, [class, region,] pixels, and eight words of bits, one a part."""
import numpy as np
from scipy import ndimage

WHOLE = 0xFFFFFFFF


def words(bits):
    return np.packbits(np.asarray(bits, bool).ravel(), bitorder="little").view("<u4")


def block_rows(mask, block, part, front=()):
    """Rows of one mask: place in blocks, `front`, set pixels, which parts of the block hold one."""
    rows = []
    for place in np.ndindex(*[-(-n // b) for n, b in zip(mask.shape, block)]):
        inside = np.zeros(block, bool)
        cut = mask[tuple(slice(b * i, b * i + b) for i, b in zip(place, block))]
        inside[tuple(slice(0, n) for n in cut.shape)] = cut
        if not inside.any():
            continue
        shape = [n for b, p in zip(block, part) for n in (b // p, p)]
        parts = inside.reshape(shape).any(axis=tuple(range(1, 2 * len(block), 2)))
        rows.append([*place, *front, int(inside.sum()), *words(parts)])
    return np.array(rows, np.uint32).reshape(-1, mask.ndim + len(front) + 9)


def tissue_rows(mask, block, part):
    return block_rows(mask, block, part)


def slide_rows(label, block, part):
    """Regions: 8-connected parts that hold a pixel of the class, numbered by their first part."""
    rows = []
    for value in np.unique(label[(label > 0) & (label < 255)]):
        mask = label == value
        padded = np.pad(mask, [(0, -n % part) for n in mask.shape])
        parts = padded.reshape(padded.shape[0] // part, part, -1, part).any(axis=(1, 3))
        number, count = ndimage.label(parts, np.ones((3, 3)))
        number = np.kron(number, np.ones((part, part), int))[:mask.shape[0], :mask.shape[1]]
        for region in range(1, count + 1):
            rows.append(block_rows(mask & (number == region), (block, block), (part, part), (value, region - 1)))
    return np.concatenate(rows) if rows else np.zeros((0, 13), np.uint32)


def volume_rows(labels, part, lesion_classes):
    """Regions: the rows of the lesion table; of other classes the whole class."""
    rows, lesion = [], 0
    for value in np.unique(labels[(labels > 0) & (labels < 255)]):
        if value not in lesion_classes:
            rows.append(block_rows(labels == value, (16, 16, 16), part, (value, WHOLE)))
            continue
        number, count = ndimage.label(labels == value, np.ones((3, 3, 3)))
        for i in range(1, count + 1):
            rows.append(block_rows(number == i, (16, 16, 16), part, (value, lesion)))
            lesion += 1
    return np.concatenate(rows) if rows else np.zeros((0, 14), np.uint32)


def thin_part(spacing):
    """Edges of a part: 4 voxels, 1 along the axis of the widest spacing."""
    part = [4, 4, 4]
    part[int(np.argmax(spacing))] = 1
    return part
