"""Volumes that are cut or changed in a bit, and headers that are not what their voxels are."""
import gzip
import zlib

import imagecodecs
import numpy as np
import SimpleITK as sitk
from makers.dicom_images import even, save, stack
from pydicom.encaps import encapsulate, generate_frames
from pydicom.uid import JPEG2000Lossless, JPEGBaseline8Bit, JPEGLosslessSV1, JPEGLSLossless, RLELossless
from makers.values import phantom, write

CODES = {
    "jpeg-baseline": (JPEGBaseline8Bit, lambda pixels: imagecodecs.jpeg8_encode(pixels.astype(np.uint8), level=95)),
    "jpeg-lossless": (JPEGLosslessSV1, lambda pixels: imagecodecs.ljpeg_encode(pixels, bitspersample=16)),
    "jpeg-ls": (JPEGLSLossless, imagecodecs.jpegls_encode),
    "jpeg2000": (JPEG2000Lossless, lambda pixels: imagecodecs.jpeg2k_encode(pixels, level=0, codecformat="j2k", reversible=True)),
}


def coded(folder, syntax, how="cut"):
    """A series whose slice 3 has a frame that does not hold all of its pixels."""
    made = stack(even(8))
    for z, data in enumerate(made):
        pixels = np.frombuffer(data.PixelData, "<u2").reshape(data.Rows, data.Columns)
        if syntax == "native":
            if z == 3:
                data.PixelData = data.PixelData[: len(data.PixelData) // 2]
            continue
        if syntax == "rle":
            data.compress(RLELossless, generate_instance_uid=False)
            code = bytearray(next(generate_frames(data.PixelData, number_of_frames=1)))
        else:
            data.file_meta.TransferSyntaxUID, encode = CODES[syntax]
            if syntax == "jpeg-baseline":
                data.BitsAllocated, data.BitsStored, data.HighBit = 8, 8, 7
                pixels = np.minimum(pixels // 8, 255)
            code = bytearray(encode(np.ascontiguousarray(pixels)))
        if z == 3 and how == "cut":
            code = code[: len(code) // 2]
        if z == 3 and how == "one-segment":
            code[0] = 1
        if z == 3 and how == "offset":
            code[8:12] = (1 << 20).to_bytes(4, "little")
        data.PixelData = encapsulate([bytes(code)])
        data["PixelData"].VR = "OB"
        data["PixelData"].is_undefined_length = True
    save(made, folder)


HEADERS = {
    ".nrrd": "NRRD0004\ntype: short\ndimension: 3\nspace: left-posterior-superior\nsizes: 56 48 20\nspace directions: (2,0,0) (0,2,0) (0,0,3)\n"
             "endian: little\nencoding: gzip\nspace origin: (0,0,0)\n\n",
    ".mha": "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nCompressedData = True\nElementSpacing = 2 2 3\n"
            "DimSize = 56 48 20\nElementType = MET_SHORT\nElementDataFile = LOCAL\n",
}


def packed(folder, ending, how):
    """A compressed volume with one bit of a voxel changed, so that its check value alone tells, or cut."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"case{ending}"
    voxels = phantom().astype("<i2").tobytes()
    if ending == ".nii.gz":
        image = sitk.GetImageFromArray(phantom())
        image.SetSpacing((2, 2, 3))
        sitk.WriteImage(image, str(folder / "case.nii"))
        plain, head = (folder / "case.nii").read_bytes(), b""
        (folder / "case.nii").unlink()
    else:
        plain, head = voxels, HEADERS[ending].encode()
    code = bytearray(zlib.compress(plain, 0) if ending == ".mha" else gzip.compress(plain, 0, mtime=0))
    if how == "bit":
        middle = plain[len(plain) // 2: len(plain) // 2 + 80]
        assert code.count(middle) == 1
        code[code.index(middle) + 40] ^= 1
    elif how == "cut":
        code = code[: len(code) // 2]
    elif how == "no-end":
        code = code[:-3]
    path.write_bytes(head + bytes(code))


def metaimage(folder, skip, before=100, after=0):
    """Voxels in a file of their own, with bytes before and after them; skip: what HeaderSize says, nothing: it is absent."""
    np.save(folder / "hu.npy", phantom())
    folder = folder / "ct"
    folder.mkdir()
    voxels = phantom()
    (folder / "case.raw").write_bytes(b"z" * before + voxels.astype("<i2").tobytes() + b"z" * after)
    stated = "" if skip is None else f"HeaderSize = {skip}\n"
    (folder / "case.mhd").write_text(
        f"ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n{stated}ElementSpacing = 2 2 3\n"
        "DimSize = 56 48 20\nElementType = MET_SHORT\nElementDataFile = case.raw\n")
    if skip in (-1, before):
        np.testing.assert_array_equal(sitk.GetArrayFromImage(sitk.ReadImage(str(folder / "case.mhd"))), voxels)


def nrrd(folder, units=None, after=0, skip=None):
    """units: what `space units` says, voxels of 2 x 2 x 3 mm in centimetres."""
    np.save(folder / "hu.npy", phantom())
    folder = folder / "ct"
    folder.mkdir()
    stated = "" if units is None else f"space units: {units}\n"
    stated += "" if skip is None else f"{skip}\n"
    (folder / "case.nrrd").write_bytes(
        b"NRRD0004\ntype: short\ndimension: 3\nspace: left-posterior-superior\nsizes: 56 48 20\n" + stated.encode()
        + b"space directions: (0.2,0,0) (0,0.2,0) (0,0,0.3)\nendian: little\nencoding: raw\nspace origin: (1,2,3)\n\n"
        + phantom().astype("<i2").tobytes() + b"z" * after)


def decimal_comma(folder, keyword="RescaleSlope", text="1,9"):
    """A decimal as some programs write it; pydicom would not."""
    save(stack(even(8)), folder)
    tag = {"RescaleSlope": b"\x28\x00\x53\x10DS", "PixelSpacing": b"\x28\x00\x30\x00DS", "ImagePositionPatient": b"\x20\x00\x32\x00DS"}[keyword]
    for path in folder.iterdir():
        raw = path.read_bytes()
        at = raw.index(tag)
        length = int.from_bytes(raw[at + 6: at + 8], "little")
        value = text.encode() + b" " * (len(text) % 2)
        path.write_bytes(raw[: at + 6] + len(value).to_bytes(2, "little") + value + raw[at + 8 + length:])


def two_spacings(folder):
    """From slice 10 on the reconstruction has another pixel spacing."""
    made = stack(even(16))
    for data in made[10:]:
        data.PixelSpacing = [0.75, 0.75]
    save(made, folder)


FIELDS_OF_NIFTI = {"quatern_c": (260, "<f4"), "qoffset_x": (268, "<f4"), "srow_y[3]": (308, "<f4"), "pixdim[2]": (84, "<f4"), "scl_slope": (112, "<f4"),
                   "scl_inter": (116, "<f4"), "qform_code": (252, "<i2"), "sform_code": (254, "<i2")}  # nifti1.h


def nifti_fields(folder, fields):
    """A volume with fields of its header overwritten; numbers as text: JSON knows no nan."""
    write(folder / "case.nii", phantom())
    raw = bytearray((folder / "case.nii").read_bytes())
    for field, value in fields.items():
        at, kind = FIELDS_OF_NIFTI[field]
        code = np.array(float(value), kind).tobytes()
        raw[at: at + len(code)] = code
    (folder / "case.nii").write_bytes(bytes(raw))


def metaimage_fields(folder, fields):
    """MetaImage with fields of its header as stated."""
    stated = {"ElementSpacing": "2 2 3", "Offset": "0 0 0", "DimSize": "56 48 20"} | fields
    folder.mkdir(parents=True, exist_ok=True)
    text = "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
    text += "".join(f"{key} = {value}\n" for key, value in stated.items() if value is not None) + "ElementType = MET_SHORT\nElementDataFile = LOCAL\n"
    (folder / "case.mha").write_bytes(text.encode() + phantom().astype("<i2").tobytes())
