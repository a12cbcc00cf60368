"""What the tests of volume stores share: made volumes, and the store's statements as NumPy, SciPy and SimpleITK say them."""
import numpy as np
import SimpleITK as sitk
from driving import headrace
from scipy import ndimage

CLASSES = ["background", "liver", "tumour"]
IGNORE = 255
# Oblique, anisotropic, no edge even: what goes wrong with axes shows here.
MADE = {"oblique": ((37, 150, 131), (0.8, 0.9, 2.5), 20, ".nii.gz"),
        "thick": ((21, 97, 80), (0.7, 0.7, 5.0), 0, ".nrrd"),
        "fine": ((97, 70, 66), (1.25, 1.0, 0.6), 0, ".mha")}


def ingest_volumes(*arguments, code=0):
    return headrace("ingest", "volumes", *arguments, code=code)


def rotation(degrees):
    a = np.deg2rad(degrees)
    about_x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    about_z = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    return about_z @ about_x


def made_voxels(shape, seed):
    """A body with lungs, bone, bowel gas and noise, on a table, in air; and labels with an ignored part."""
    rng = np.random.default_rng(seed)
    z, y, x = np.meshgrid(*(np.linspace(-1, 1, n) for n in shape), indexing="ij")
    body = x**2 / 0.8**2 + y**2 / 0.6**2 < 1
    hu = np.full(shape, -1024.0)
    hu[body] = 40 + 25 * rng.standard_normal(np.count_nonzero(body))
    hu[(np.abs(x) - 0.4) ** 2 / 0.01 + (y - 0.1) ** 2 / 0.02 < 1] = -850
    hu[(x**2 + (y - 0.4) ** 2) < 0.01] = 900
    hu[(x - 0.1) ** 2 + (y + 0.3) ** 2 + z**2 < 0.03] = -1000
    hu[(np.abs(y - 0.82) < 0.015) & (np.abs(x) < 0.7)] = 200  # the table
    labels = np.zeros(shape, np.uint8)
    labels[(x + 0.3) ** 2 + (y + 0.1) ** 2 + z**2 < 0.06] = 1
    for centre in ((-0.3, -0.1, 0.1), (0.3, 0.2, -0.5), (0.0, -0.2, 0.7)):
        labels[(x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (z - centre[2]) ** 2 < 0.012] = 2
    labels[:2, :20, :20] = IGNORE
    return np.round(hu).astype(np.int16), labels


def make_cohort(folder):
    """Writes the volumes of MADE and their labels; gives {id: (SimpleITK image, labels)}."""
    (folder / "ct").mkdir(parents=True)
    (folder / "labels").mkdir()
    made = {}
    for seed, (name, (shape, spacing, angle, ending)) in enumerate(MADE.items()):
        hu, labels = made_voxels(shape, seed)
        image = sitk.GetImageFromArray(hu)
        image.SetSpacing(spacing)
        image.SetOrigin((-31.5, 12.25, 1400.75))
        image.SetDirection(rotation(angle).ravel())
        sitk.WriteImage(image, str(folder / "ct" / (name + ending)), True)
        mask = sitk.GetImageFromArray(labels)
        mask.CopyInformation(image)
        if name != "thick":
            sitk.WriteImage(mask, str(folder / "labels" / (name + ".nii.gz")))
        made[name] = (sitk.ReadImage(str(folder / "ct" / (name + ending))), labels if name != "thick" else None)
    return made


def plan_levels(shape, spacing_zyx):
    """Shapes and factors of the pyramid."""
    levels = [(tuple(shape), (1, 1, 1))]
    while max(levels[-1][0]) > 64:
        shape, factor = levels[-1]
        spacing = [s * f for s, f in zip(spacing_zyx, factor, strict=True)]
        halve = [s < 1.5 * min(spacing) for s in spacing]
        levels.append((tuple((n + 1) // 2 if h else n for n, h in zip(shape, halve, strict=True)),
                       tuple(2 * f if h else f for f, h in zip(factor, halve, strict=True))))
    return levels


def halve(voxels, steps):
    """Mean of the voxels that exist under each one, halves rounded up; steps: 1 or 2 an axis."""
    padded = np.full([-(-n // s) * s for n, s in zip(voxels.shape, steps, strict=True)], np.nan)
    padded[tuple(slice(n) for n in voxels.shape)] = voxels
    blocks = padded.reshape([n for size, s in zip(padded.shape, steps, strict=True) for n in (size // s, s)])
    return np.floor(np.nanmean(blocks, axis=(1, 3, 5)) + 0.5).astype(np.int16)


def pick(labels, shape, factor):
    """The label at min(i * f + f / 2, n - 1) on each axis."""
    at = [np.minimum(np.arange(n) * f + f // 2, size - 1) for n, f, size in zip(shape, factor, labels.shape, strict=True)]
    return labels[np.ix_(*at)]


def body_mask(hu, spacing_zyx):
    """Threshold, thin parts off in the slice's plane, largest component of 6 neighbours, grown back, holes of slices filled."""
    above = hu > -300
    ry, rx = (min(16, int(np.floor(4 / s + 0.5))) for s in spacing_zyx[1:])
    square = np.ones((1, 2 * ry + 1, 2 * rx + 1), bool)
    core = ndimage.binary_erosion(above, square, border_value=1)
    parts, _ = ndimage.label(core)
    if parts.max() > 0:
        core = parts == 1 + np.argmax(np.bincount(parts.ravel())[1:])
    body = ndimage.binary_dilation(core, square) & above
    return np.stack([ndimage.binary_fill_holes(slice_) for slice_ in body])


def cells(voxels, values):
    """Rows of an index: how often each value occurs, in cells that have one of them."""
    rows = []
    size = 16
    for z in range(0, voxels.shape[0], size):
        for y in range(0, voxels.shape[1], size):
            for x in range(0, voxels.shape[2], size):
                box = np.s_[z:z + size, y:y + size, x:x + size]
                counts = [np.count_nonzero(voxels[box] == value) for value in values]
                if any(counts):
                    rows.append([z // size, y // size, x // size, *counts])
    return np.array(rows, np.uint32).reshape(-1, 3 + len(values))


def lesions(labels, image, values):
    """Rows of the lesion table; components of 26 neighbours in order of their first voxel."""
    rows = []
    for value in values:
        parts, count = ndimage.label(labels == value, np.ones((3, 3, 3)))
        for i in range(1, count + 1):
            zyx = np.argwhere(parts == i)
            centre = image.TransformContinuousIndexToPhysicalPoint(zyx.mean(axis=0)[::-1].tolist())
            box = zyx.min(axis=0)
            rows.append([value, len(zyx), len(zyx) * np.prod(image.GetSpacing()), *centre, *box, *(zyx.max(axis=0) - box + 1)])
    return np.array(rows).reshape(-1, 12)
