"""NIfTI, NRRD and MetaImage against SimpleITK (voxels, spacing, origin, direction) and nibabel (world points)."""

import gzip
import itertools
import os
import pathlib
import struct

import nibabel
import numpy as np
import pytest
import SimpleITK as sitk
from volume_tool import CT, read, refused, run

# More files than the samples can be named: HEADRACE_EXTRA_CT is a folder that is searched too.
FOLDERS = [CT, *filter(None, [os.environ.get("HEADRACE_EXTRA_CT")])]
REAL = sorted(path for folder in FOLDERS for path in pathlib.Path(folder).rglob("*.nii.gz"))


def assert_same_as_itk(voxels, facts, path, rtol=0.0, direction_atol=1e-9):
    image = sitk.ReadImage(str(path))
    expected = sitk.GetArrayFromImage(image)
    assert voxels.shape == expected.shape
    np.testing.assert_allclose(voxels, expected, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(facts["spacing_mm_xyz"], image.GetSpacing(), rtol=1e-12)
    np.testing.assert_allclose(facts["origin_lps_mm"], image.GetOrigin(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(facts["direction"], image.GetDirection(), rtol=1e-9, atol=direction_atol)


@pytest.mark.parametrize("path", REAL, ids=lambda p: "-".join(p.parts[-2:]))
def test_real_files_are_as_simpleitk_reads_them(path, tmp_path):
    voxels, facts = read(tmp_path, "read", path, "OUT")
    assert_same_as_itk(voxels, facts, path)


@pytest.mark.parametrize("path", REAL, ids=lambda p: "-".join(p.parts[-2:]))
def test_a_world_point_is_nibabels(path, tmp_path):
    _, facts = read(tmp_path, "read", path, "OUT")
    ours = np.array(facts["affine_lps"]).reshape(4, 4)
    theirs = np.diag([-1, -1, 1, 1]) @ nibabel.load(path).affine
    corner = np.array([*facts["shape_zyx"][::-1], 1])
    np.testing.assert_allclose(ours @ corner, theirs @ corner, atol=0.05 * min(facts["spacing_mm_xyz"]))


def oblique(seed):
    """A rotation matrix, and a spacing, neither of them special."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q, rng.uniform(0.5, 4, 3)


def write_nifti(path, array_xyz, affine, sform, qform, slope=None, inter=None, cls=nibabel.Nifti1Image, endian="<"):
    header = (nibabel.Nifti1Header if cls is nibabel.Nifti1Image else nibabel.Nifti2Header)(endianness=endian)
    header.set_data_dtype(array_xyz.dtype)
    image = cls(array_xyz, affine, header)
    image.set_sform(affine if sform else None, sform)
    image.set_qform(affine if qform else None, qform)
    if slope is not None:
        image.header.set_slope_inter(slope, inter)
    image.header.set_xyzt_units("mm")
    nibabel.save(image, path)


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("kind", [".nii", ".nii.gz", "2.nii.gz", "big.nii"])
def test_every_storage_type(dtype, kind, tmp_path):
    rng = np.random.default_rng(7)
    values = rng.integers(0, 100, (5, 6, 7)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        values += np.array(0.25, dtype)
    elif np.dtype(dtype).kind == "i":
        values -= np.array(50, dtype)
    rotation, spacing = oblique(3)
    affine = np.eye(4)
    affine[:3, :3] = rotation * spacing
    affine[:3, 3] = [-20, 31, 400]
    path = tmp_path / ("v" + kind)
    cls = nibabel.Nifti2Image if kind == "2.nii.gz" else nibabel.Nifti1Image
    write_nifti(path, values, affine, 1, 1, cls=cls, endian=">" if kind == "big.nii" else "<")
    voxels, facts = read(tmp_path, "read", path, "OUT")
    np.testing.assert_array_equal(voxels, values.T)
    if kind == "2.nii.gz":  # ITK reads no NIfTI-2
        ours = np.diag([-1, -1, 1, 1]) @ np.array(facts["affine_lps"]).reshape(4, 4)
        np.testing.assert_allclose(ours, nibabel.load(path).affine, atol=1e-4)
    else:
        assert_same_as_itk(voxels, facts, path)


@pytest.mark.parametrize("sform,qform", list(itertools.product([0, 1, 2, 4], [0, 1, 2])))
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sform_and_qform_as_itk_decides(sform, qform, seed, tmp_path):
    """Both forms, agreeing and not. Where they agree to the rounding of float32, ITK's choice hangs on the last bits of a
    singular value decomposition; either is right to 1e-6 then."""
    rotation, spacing = oblique(seed)
    other, _ = oblique(seed + 10)
    for case, second in enumerate([rotation, other]):
        image = nibabel.Nifti1Image(np.arange(60, dtype=np.int16).reshape(3, 4, 5), None)
        for set_form, matrix, code in ((image.set_sform, rotation, sform), (image.set_qform, second, qform)):
            affine = np.eye(4)
            affine[:3, :3] = matrix * spacing
            affine[:3, 3] = [10.5, -20.25, 30 + case]
            set_form(affine if code else None, code)
        image.header["pixdim"][1:4] = spacing
        path = tmp_path / f"{case}.nii"
        nibabel.save(image, path)
        voxels, facts = read(tmp_path, "read", path, "OUT")
        assert_same_as_itk(voxels, facts, path, direction_atol=1e-6)


@pytest.mark.parametrize("slope,inter", [(2.5, -1024), (1, -1000), (0.5, 0), (0, 7)])
def test_slope_and_intercept(slope, inter, tmp_path):
    values = np.arange(-60, 60, dtype=np.int16).reshape(4, 5, 6)
    path = tmp_path / "scaled.nii.gz"
    write_nifti(path, values, np.diag([1, 1, 2, 1.0]), 1, 1)
    raw = bytearray(gzip.decompress(path.read_bytes()))
    raw[112:120] = struct.pack("<ff", slope, inter)  # as they are, also what nibabel would not write
    path.write_bytes(gzip.compress(bytes(raw)))
    voxels, facts = read(tmp_path, "read", path, "OUT")
    if slope == 0:  # no scaling at all, by nifti1.h and nibabel; ITK still adds the intercept
        np.testing.assert_array_equal(voxels, np.asarray(nibabel.load(path).dataobj).T)
    else:
        assert_same_as_itk(voxels, facts, path, rtol=1e-6)


@pytest.mark.parametrize("name", ["a.nrrd", "a.mha", "a.mhd", "a.nhdr"])
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["i2", "u1", "f4"])
def test_nrrd_and_metaimage(name, compressed, dtype, tmp_path):
    rng = np.random.default_rng(5)
    image = sitk.GetImageFromArray(rng.integers(0, 200, (4, 5, 6)).astype(dtype))
    rotation, spacing = oblique(8)
    image.SetDirection((rotation * np.sign(np.linalg.det(rotation))).ravel().tolist())
    image.SetSpacing(spacing.tolist())
    image.SetOrigin((1.5, -200.25, 33))
    sitk.WriteImage(image, str(tmp_path / name), compressed)
    voxels, facts = read(tmp_path, "read", tmp_path / name, "OUT")
    assert_same_as_itk(voxels, facts, tmp_path / name)


def test_a_mask_with_other_axes_lands_on_its_image(tmp_path):
    image = sitk.ReadImage(str(CT / "totalseg-abdomen" / "ct.nii.gz"))
    labels = sitk.ReadImage(str(CT / "totalseg-abdomen" / "seg.nii.gz"))
    expected = sitk.GetArrayFromImage(labels)
    assert labels.GetSize() == image.GetSize() and expected.max() > 40
    for order, orientation in itertools.product([[0, 1, 2], [2, 0, 1], [1, 0, 2]], ["LPS", "RAI", "RSP"]):
        moved = sitk.PermuteAxes(sitk.DICOMOrient(labels, orientation), order)
        path = tmp_path / "mask.nii.gz"
        sitk.WriteImage(moved, str(path))
        voxels, _ = read(tmp_path, "labels", path, CT / "totalseg-abdomen" / "ct.nii.gz", "OUT")
        np.testing.assert_array_equal(voxels, expected)


def header(dim, datatype=4, bitpix=16):
    raw = bytearray(352)
    struct.pack_into("<i", raw, 0, 348)
    struct.pack_into("<8h", raw, 40, 3, *dim, 1, 1, 1, 1)
    struct.pack_into("<hh", raw, 70, datatype, bitpix)
    struct.pack_into("<8f", raw, 76, *[1.0] * 8)
    struct.pack_into("<f", raw, 108, 352)
    raw[344:348] = b"n+1\0"
    return bytes(raw)


def test_a_header_that_claims_everything_is_refused_at_once(tmp_path):
    bomb = tmp_path / "bomb.nii.gz"
    bomb.write_bytes(gzip.compress(header((32767, 32767, 32767)) + bytes(1 << 20)))
    assert "32767x32767x32767" in refused("read", bomb, tmp_path / "o.npy")
    plain = tmp_path / "bomb.nii"
    plain.write_bytes(header((8000, 8000, 800)))
    assert "truncated" in refused("read", plain, tmp_path / "o.npy")


def test_damaged_files_are_refused(tmp_path):
    good = (CT / "totalseg-abdomen" / "ct.nii.gz").read_bytes()
    cases = {"cut.nii.gz": (good[: len(good) // 2], "truncated"),
             "cut.nii": (gzip.decompress(good)[:100000], "truncated"),
             "text.nii": (b"not a volume at all" * 40, "expected NIfTI"),
             "empty.nii": (b"", "expected NIfTI")}
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 0xFF
    cases["flipped.nii.gz"] = (bytes(flipped), "flipped.nii.gz")
    changed_crc = bytearray(good)
    changed_crc[-6] ^= 1
    cases["crc.nii.gz"] = (bytes(changed_crc), "damaged")
    for name, (data, words) in cases.items():
        (tmp_path / name).write_bytes(data)
        assert words in refused("read", tmp_path / name, tmp_path / "o.npy"), name
    for dim in [(-5, 4, 4), (0, 4, 4)]:
        (tmp_path / "dim.nii").write_bytes(header(dim) + bytes(4096))
        assert "expected edges" in refused("read", tmp_path / "dim.nii", tmp_path / "o.npy")
    (tmp_path / "rgb.nii").write_bytes(header((4, 4, 4), 128, 24) + bytes(4096))
    assert "data type 128" in refused("read", tmp_path / "rgb.nii", tmp_path / "o.npy")
    assert "no such file" in refused("read", tmp_path / "absent.nii", tmp_path / "o.npy").lower()


def test_a_mask_on_another_grid_names_both(tmp_path):
    labels = sitk.ReadImage(str(CT / "totalseg-abdomen" / "seg.nii.gz"))
    image = CT / "totalseg-abdomen" / "ct.nii.gz"
    shifted = sitk.Image(labels)
    shifted.SetOrigin([o + 2 for o in labels.GetOrigin()])
    coarse = sitk.Image(labels)
    coarse.SetSpacing((3.1, 3, 3))
    for wrong in (shifted, coarse, labels[:-1]):
        sitk.WriteImage(wrong, str(tmp_path / "m.nii.gz"))
        text = refused("labels", tmp_path / "m.nii.gz", image, tmp_path / "o.npy")
        assert "another grid" in text and "Mask: " in text and "Image: 122x101x30" in text
    probability = sitk.Cast(labels, sitk.sitkFloat32) * 0.3
    probability.CopyInformation(labels)
    sitk.WriteImage(probability, str(tmp_path / "p.nii.gz"))
    assert "whole number" in refused("labels", tmp_path / "p.nii.gz", image, tmp_path / "o.npy")


def test_text_of_a_header_never_shows(tmp_path):
    image = nibabel.Nifti1Image(np.zeros((3, 3, 3), np.int16), np.eye(4))
    image.header["descrip"] = b"MUSTERMANN^ERIKA 1950-01-01"
    image.header["db_name"] = b"PID-4711"
    nibabel.save(image, tmp_path / "n.nii")
    assert "MUSTER" not in str(run("read", tmp_path / "n.nii", tmp_path / "o.npy"))
