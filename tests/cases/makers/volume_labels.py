"""Labels of volumes as other programs write them: structure sets, segmentations, masks, segmentations of 3D Slicer, nnU-Net's folders.

Every maker writes the inputs into a folder, and what is to be stored as `expected.npy` (z, y, x), by hand: outlines are rectangles half a voxel
around the voxels that they hold.
"""
import gzip
import json

import highdicom
import numpy as np
import pydicom
import SimpleITK as sitk
from highdicom.sr.coding import CodedConcept
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, RTStructureSetStorage

SHAPE = (16, 48, 56)
SPACING = (1.5, 1.5, 3.0)  # x, y, z
ORIGIN = (-40.0, -30.0, -20.0)
ROOT = "1.2.826.0.1.3680043.8.498.77."
BOX = (slice(4, 12), slice(15, 25), slice(20, 30))


def body():
    rng = np.random.default_rng(5)
    values = np.full(SHAPE, -1000, np.int16)
    values[:, 6:-6, 6:-6] = 40
    values[:, 8:12, 8:12] = -90
    return (values + rng.integers(-12, 12, SHAPE)).astype(np.int16)


def boxed(box=BOX, value=1):
    labels = np.zeros(SHAPE, np.uint8)
    labels[box] = value
    return labels


def file_dataset(path, sop_class, instance):
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = sop_class
    meta.MediaStorageSOPInstanceUID = instance
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    data = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    data.SOPClassUID, data.SOPInstanceUID = sop_class, instance
    data.PatientID, data.PatientName, data.StudyInstanceUID = "P1", "Test^P", ROOT + "1"
    data.StudyDate, data.StudyTime, data.AccessionNumber, data.StudyID = "20200101", "101010", "", "1"
    data.PatientBirthDate, data.PatientSex, data.ReferringPhysicianName = "", "O", ""
    return data


def write_series(folder, values=None, series="2"):
    """A CT series, a file a slice."""
    folder.mkdir(parents=True, exist_ok=True)
    slices = []
    for z, picture in enumerate(body() if values is None else values):
        instance = f"{ROOT}{series}.{z + 1}"
        data = file_dataset(folder / f"IM{z:03}", CTImageStorage, instance)
        data.Modality, data.SeriesInstanceUID, data.SeriesNumber = "CT", ROOT + series, 2
        data.FrameOfReferenceUID, data.InstanceNumber = ROOT + "9", z + 1
        data.PositionReferenceIndicator, data.Manufacturer = "", "Test"
        data.ImageType = ["ORIGINAL", "PRIMARY", "AXIAL"]
        data.ImagePositionPatient = [ORIGIN[0], ORIGIN[1], ORIGIN[2] + SPACING[2] * z]
        data.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
        data.PixelSpacing, data.SliceThickness = [SPACING[1], SPACING[0]], SPACING[2]
        data.Rows, data.Columns, data.SamplesPerPixel, data.PhotometricInterpretation = *picture.shape, 1, "MONOCHROME2"
        data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 16, 16, 15, 1
        data.RescaleSlope, data.RescaleIntercept = 1, 0
        data.PixelData = picture.astype("<i2").tobytes()
        data.save_as(folder / f"IM{z:03}", enforce_file_format=True)
        slices.append(data)
    return slices


def points(outline, z):
    """Millimetres of (x, y) voxel indices on slice z."""
    return [f"{v:.4f}" for x, y in outline for v in (ORIGIN[0] + SPACING[0] * x, ORIGIN[1] + SPACING[1] * y, ORIGIN[2] + SPACING[2] * z)]


def rectangle(box=BOX, grow=0.0, shift=0.0):
    y, x = box[1], box[2]
    left, right = x.start - 0.5 - grow + shift, x.stop - 0.5 + grow + shift
    low, high = y.start - 0.5 - grow, y.stop - 0.5 + grow
    return [(left, low), (right, low), (right, high), (left, high)]


def contour(outline, z, kind="CLOSED_PLANAR", **extra):
    item = Dataset()
    item.ContourGeometricType, item.NumberOfContourPoints = kind, len(outline)
    item.ContourData = points(outline, z)
    for key, value in extra.items():
        setattr(item, key, value)
    return item


def write_structures(path, structures, refers=True, date="20200101", uid="5", charset=None, raw_name=None):
    """structures: name → contours."""
    data = file_dataset(path, RTStructureSetStorage, ROOT + uid)
    if charset is not None:
        data.SpecificCharacterSet = charset
    data.Modality, data.SeriesInstanceUID, data.StructureSetLabel = "RTSTRUCT", f"{ROOT}{uid}.1", "L"
    data.StructureSetDate, data.StructureSetTime = date, "101010"
    rois, drawn = [], []
    for number, (name, contours) in enumerate(structures.items(), 1):
        roi = Dataset()
        roi.ROINumber, roi.ROIName, roi.ReferencedFrameOfReferenceUID, roi.ROIGenerationAlgorithm = number, name, ROOT + "9", ""
        rois.append(roi)
        item = Dataset()
        item.ReferencedROINumber, item.ContourSequence = number, contours
        drawn.append(item)
    data.StructureSetROISequence, data.ROIContourSequence = rois, drawn
    if refers:
        series = Dataset()
        series.SeriesInstanceUID, series.ContourImageSequence = ROOT + "2", []
        study = Dataset()
        study.ReferencedSOPClassUID, study.ReferencedSOPInstanceUID, study.RTReferencedSeriesSequence = "1.2.840.10008.3.1.2.3.1", ROOT + "1", [series]
        frame = Dataset()
        frame.FrameOfReferenceUID, frame.RTReferencedStudySequence = ROOT + "9", [study]
        data.ReferencedFrameOfReferenceSequence = [frame]
    data.save_as(path, enforce_file_format=True)
    if raw_name is not None:  # bytes that pydicom would not write
        name, raw = next(iter(structures)).encode(), raw_name
        assert len(raw) <= len(name)
        path.write_bytes(path.read_bytes().replace(name, raw + b" " * (len(name) - len(raw))))


def midpoints(outline):
    """The same outline with twice as many points, rounded to a hundredth of a voxel."""
    following = outline[1:] + outline[:1]
    return [(round(p, 2), round(q, 2)) for a, b in zip(outline, following) for p, q in (a, ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2))]


def contours_of(kind):
    """Contours, and what they hold."""
    plain = [contour(rectangle(), z) for z in range(4, 12)]
    labels = boxed()
    hole = (BOX[0], slice(18, 22), slice(23, 27))
    if kind == "interpolated":
        return [contour(rectangle(), z, "INTERPOLATED_PLANAR") for z in range(4, 12)], labels
    if kind == "xor":
        labels[hole] = 0
        return [contour(o, z, "CLOSEDPLANAR_XOR") for z in range(4, 12) for o in (rectangle(), rectangle(hole))], labels
    if kind == "twice":
        return plain + [contour(rectangle(), 6)], labels
    if kind == "twice-backwards":
        return plain + [contour(rectangle()[2:] + rectangle()[:2], z) for z in (6, 7)] + [contour(rectangle()[::-1], 8)], labels
    if kind == "twice-other-points":
        return plain + [contour(midpoints(rectangle(grow=0.004)), 6)], labels
    if kind == "twice-moved":
        return plain + [contour(rectangle(shift=0.3), 6)], labels
    if kind == "three-times":
        return plain * 3, labels
    if kind == "hole":
        labels[hole] = 0
        return plain + [contour(rectangle(hole), z) for z in range(4, 12)], labels
    if kind == "wall":
        inner = (BOX[0], slice(16, 24), slice(21, 29))
        labels[inner] = 0
        return plain + [contour(rectangle(inner), z) for z in range(4, 12)], labels
    if kind.startswith("crossing"):
        return crossing(kind)
    if kind == "island":
        island = (BOX[0], slice(19, 21), slice(24, 26))
        labels[hole], labels[island] = 0, 1
        return plain + [contour(rectangle(box), z) for z in range(4, 12) for box in (hole, island)], labels
    if kind == "offset":
        return [contour(rectangle(), z, ContourOffsetVector=[3, 0, 0]) for z in range(4, 12)], labels
    if kind == "degenerate":
        return plain + [contour([(21, 16), (25, 20)], 6), contour([(21, 16)], 7), contour([(21, 16), (23, 18), (25, 20)], 8)], labels
    if kind == "beyond":
        return [contour(rectangle(), z) for z in range(-3, 12)], boxed((slice(0, 12), *BOX[1:]))
    if kind == "beside":
        return plain + [contour([(x - 200, y) for x, y in rectangle()], 6)], labels
    if kind == "outside":
        return [contour(rectangle(), z) for z in range(40, 44)], np.zeros(SHAPE, np.uint8)
    if kind == "between":
        return plain + [contour(rectangle(), z + 0.5) for z in range(4, 11)], labels
    if kind == "all-between":
        return [contour(rectangle(), z + 0.5) for z in range(4, 11)], np.zeros(SHAPE, np.uint8)
    if kind in ("second", "second-thick"):
        extra = {} if kind == "second" else {"ContourSlabThickness": 2 * SPACING[2]}
        if kind == "second":
            labels[5:12:2] = 0
        labels[11] = 0
        return [contour(rectangle(), z, **extra) for z in range(4, 12, 2)], labels
    if kind == "one-missing":
        labels[7] = 0
        return [c for z, c in zip(range(4, 12), plain) if z != 7], labels
    if kind == "two-parts":
        labels[12:] = 0
        other = (slice(13, 15), slice(30, 40), slice(36, 46))
        labels[other] = 1
        return plain + [contour(rectangle(other), z) for z in range(13, 15)], labels
    if kind == "none":
        return [], np.zeros(SHAPE, np.uint8)
    if kind == "open":
        return [contour(rectangle(), z, "OPEN_PLANAR") for z in range(4, 12)], np.zeros(SHAPE, np.uint8)
    if kind == "tiny":
        return [contour([(20.2, 15.2), (20.4, 15.2), (20.4, 15.4)], z) for z in range(4, 12)], np.zeros(SHAPE, np.uint8)
    return plain, labels


def crossing(kind):
    """Two contours that cross in each of four slices, and what they hold."""
    slices = slice(4, 8)
    first, second = (slices, slice(15, 25), slice(20, 30)), (slices, slice(18, 28), slice(26, 38))
    boxes, labels = [first, second], boxed(first)
    labels[second] = 1
    kinds = "CLOSED_PLANAR"
    if kind == "crossing-hole":
        holes = [(slices, slice(16, 18), slice(21, 23)), (slices, slice(24, 27), slice(33, 36)), (slices, slice(20, 22), slice(27, 29))]
        boxes += holes
        for hole in holes:
            labels[hole] = 0
    if kind == "crossing-xor":
        labels[slices, 18:25, 26:30] = 0
        kinds = "CLOSEDPLANAR_XOR"
    drawn = [contour(rectangle(box), z, kinds) for z in range(4, 8) for box in boxes]
    if kind == "crossing-arms":
        arms = [(x - 0.5, y - 0.5) for x, y in ((20, 15), (24, 15), (24, 25), (32, 25), (32, 15), (36, 15), (36, 30), (20, 30))]
        bar = (slices, slice(18, 21), slice(22, 34))
        labels = boxed((slices, slice(15, 30), slice(20, 36)))
        labels[slices, 15:25, 24:32] = 0
        labels[bar] = 1
        drawn = [contour(outline, z) for z in range(4, 8) for outline in (arms, rectangle(bar))]
    return drawn, labels


def structures(folder, kind="plain", name="lesion", refers=True, charset=None, raw=None, organ=False, frame=None, apart=False, organ_frame=None):
    """A series with a structure set beside it, or apart; raw: the name's bytes, in hexadecimal."""
    write_series(folder / "in")
    contours, labels = contours_of(kind)
    everything = {name: contours}
    if organ:  # another structure, which has an area
        everything["organ"] = [contour(rectangle((0, slice(30, 40), slice(34, 44))), z) for z in range(2, 9)]
        if organ == "sagittal":
            for x in range(34, 44):
                drawn = contour([(x, 0)] * 4, 0)
                drawn.ContourData = [v for y, z in ((29.5, 1.5), (39.5, 1.5), (39.5, 8.5), (29.5, 8.5)) for v in points([(x, y)], z)]
                everything["organ"][x - 34 :] = [drawn]
        labels[2:9, 30:40, 34:44] = 2
    write_structures(folder / "in" / "rs.dcm", everything, refers, charset=charset, raw_name=bytes.fromhex(raw) if raw else None)
    if frame:
        data = pydicom.dcmread(folder / "in" / "rs.dcm")
        for place in (data.ReferencedFrameOfReferenceSequence[0], *data.StructureSetROISequence):
            setattr(place, "FrameOfReferenceUID" if "FrameOfReferenceUID" in place else "ReferencedFrameOfReferenceUID", frame)
        data.save_as(folder / "in" / "rs.dcm")
    if organ_frame:
        data = pydicom.dcmread(folder / "in" / "rs.dcm")
        data.StructureSetROISequence[1].ReferencedFrameOfReferenceUID = organ_frame
        data.save_as(folder / "in" / "rs.dcm")
    if apart:
        (folder / "labels").mkdir()
        (folder / "in" / "rs.dcm").rename(folder / "labels" / "rs.dcm")
    np.save(folder / "expected.npy", labels)
    (folder / "table.csv").write_text("file,negative\nin,1\n")
    (folder / "labels.csv").write_text(f"file,labels\nin,{'labels' if apart else 'in'}/rs.dcm\n")


def several(folder, kind="revised", labels_apart=False):
    """An old structure set, and a newer one whose lesion is smaller; labels_apart: in a folder of their own."""
    write_series(folder / "in")
    where = folder / ("labels" if labels_apart else "in")
    where.mkdir(exist_ok=True)
    old, organ = (slice(4, 12), slice(15, 25), slice(20, 30)), (slice(2, 9), slice(30, 40), slice(34, 44))
    new = (slice(5, 10), slice(17, 23), slice(22, 28))

    def drawn(box):
        return [contour(rectangle(box), z) for z in range(box[0].start, box[0].stop)]

    newer = "20200101" if kind == "same-date" else "20200301"
    if kind == "apart":  # classes that do not meet
        write_structures(where / "rs1.dcm", {"lesion": drawn(old)}, uid="5")
        write_structures(where / "rs2.dcm", {"organ": drawn(organ)}, uid="6")
        labels = boxed(old)
        labels[organ] = 2
    elif kind == "organ-once":  # the newer one corrects the lesion alone
        write_structures(where / "rs1.dcm", {"lesion": drawn(old), "organ": drawn(organ)}, uid="5")
        write_structures(where / "rs2.dcm", {"lesion": drawn(new)}, date=newer, uid="6")
        labels = boxed(new)
        labels[organ] = 2
    else:
        write_structures(where / "rs1.dcm", {"lesion": drawn(old)}, uid="5")
        write_structures(where / "rs2.dcm", {"lesion": drawn(new)}, date=newer, uid="6")
        labels = boxed(new)
    np.save(folder / "expected.npy", labels)
    both = boxed(old)
    both[labels > 0] = labels[labels > 0]
    np.save(folder / "union.npy", both)
    (folder / "table.csv").write_text("file,labels\nin,in/rs1.dcm;in/rs2.dcm\n")


def segmentation(folder, name="lesion", charset=None, shift=0, twice=False, fraction=None, frame=None):
    """A series with a DICOM segmentation of highdicom; shift: slices that it reaches beyond the first of the image; fraction: the probability in it."""
    slices = write_series(folder / "in")
    labels = boxed((slice(0, 8), *BOX[1:])) if shift else boxed()
    code = CodedConcept("M-01000", "SRT", "Morphologically Altered Structure")
    described = highdicom.seg.SegmentDescription(
        1, "NAME", code, code, highdicom.seg.SegmentAlgorithmTypeValues.MANUAL)
    for number in range(2 if twice else 1):
        data = highdicom.seg.Segmentation(
            slices, labels if fraction is None else labels * np.float32(fraction),
            highdicom.seg.SegmentationTypeValues.BINARY if fraction is None else highdicom.seg.SegmentationTypeValues.FRACTIONAL,
            [described], f"{ROOT}7.{number + 1}.1", 3, f"{ROOT}7.{number + 1}", 1, "M", "M", "1", "1")
        if charset:
            data.SpecificCharacterSet = charset
        data.SegmentSequence[0].SegmentLabel = name
        if frame:
            data.FrameOfReferenceUID = frame
        for group in data.PerFrameFunctionalGroupsSequence:
            position = group.PlanePositionSequence[0].ImagePositionPatient
            position[2] = float(position[2]) - shift * SPACING[2]
        data.save_as(folder / "in" / f"seg{number}.dcm")
    np.save(folder / "expected.npy", np.concatenate([labels[shift:], np.zeros((shift, *SHAPE[1:]), np.uint8)]))


def write_volume(path, values, origin=ORIGIN, meta=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = sitk.GetImageFromArray(values)
    image.SetSpacing(SPACING)
    image.SetOrigin(origin)
    for key, value in (meta or {}).items():
        image.SetMetaData(key, value)
    sitk.WriteImage(image, str(path))


def mask_of(kind):
    """A mask of a case, and what is stored of it."""
    labels = boxed()
    labels[2:6, 30:40, 34:44] = 2
    one = boxed()
    if kind == "nearly":
        return np.where(one, 0.9999999, 0).astype(np.float64), one
    if kind == "float32":
        return (one * np.float32(1.0005)).astype(np.float32), one
    if kind == "half":
        return one * 0.5, one
    if kind == "0-255":
        return one * np.uint8(255), one
    if kind == "0-255-float":
        return one * np.float32(255), one
    if kind == "0-255-int32":
        return one.astype(np.int32) * 255, one
    if kind == "0-1000":
        return one.astype(np.int16) * 1000, one
    if kind == "all-255":
        return np.full(SHAPE, 255, np.uint8), one
    if kind == "partly":
        values = one.copy()
        values[0] = 255
        return values, values
    if kind == "no-lesion-here":
        values = np.zeros(SHAPE, np.uint8)
        values[0] = 255
        return values, values
    if kind == "values":  # 5: liver, 1: spleen
        return np.select([labels == 1, labels == 2], [5, 1], 0).astype(np.uint8), labels
    if kind == "parts":  # 1, 2 and 3 are one organ
        values = one.copy()
        values[6:8] *= 2
        values[8:] *= 3
        return values, one
    if kind == "unknown":
        values = one.copy()
        values[6, 15, 20:27] = 9
        values[7, 15, 20:23] = 12
        return values, one
    if kind == "empty":
        return np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    return one, one


def masks(folder, kinds, ending=".nii.gz"):
    """Cases case-0, case-1, … with a mask each in `masks`; `good` has a right one of the first."""
    for number, kind in enumerate(kinds):
        values, labels = mask_of(kind)
        write_volume(folder / f"ct/case-{number}.nii.gz", body())
        write_volume(folder / f"masks/case-{number}{ending}", values)
        np.save(folder / f"expected-case-{number}.npy", labels)
    np.save(folder / "expected.npy", mask_of(kinds[0])[1])
    write_volume(folder / "good/case-0.nii.gz", boxed())


def scaled_mask(folder):
    """uint8 0 and 255 with a slope of 1/255, as some libraries store fractions."""
    masks(folder, ["plain"])
    path = folder / "masks/case-0.nii.gz"
    write_volume(path, boxed() * np.uint8(255))
    raw = bytearray(gzip.decompress(path.read_bytes()))
    raw[112:120] = np.array([1 / 255, 0], "<f4").tobytes()  # scl_slope, scl_inter
    path.write_bytes(gzip.compress(bytes(raw)))


def crop_of(labels):
    """The box around what is painted, with a margin, and its origin."""
    found = np.nonzero(labels)
    low = [max(int(i.min()) - 1, 0) for i in found]
    high = [int(i.max()) + 2 for i in found]
    box = tuple(slice(a, b) for a, b in zip(low, high))
    origin = tuple(ORIGIN[a] + SPACING[a] * low[2 - a] for a in range(3))
    return labels[box], origin


def slicer(folder, kind="cropped"):
    """A segmentation as 3D Slicer saves it: cropped to what is painted, with names of segments."""
    write_volume(folder / "ct/case-0.nii.gz", body())
    labels = boxed()
    labels[2:6, 30:40, 34:44] = 2
    path = folder / "masks/case-0.seg.nrrd"
    values, origin = crop_of(labels)
    names = {"Segment0_Name": "liver", "Segment0_LabelValue": "1", "Segment0_Layer": "0", "Segment1_Name": "lesion", "Segment1_LabelValue": "2",
             "Segment1_Layer": "0"}
    if kind == "no-names":
        names = {}
    if kind == "names-turned":  # the classes are liver, lesion; the file has them the other way round
        names |= {"Segment0_Name": "lesion", "Segment1_Name": "liver"}
        labels = np.select([labels == 1, labels == 2], [2, 1], 0).astype(np.uint8)
    if kind == "other-names":
        names |= {"Segment0_Name": "Segment_1", "Segment1_Name": "Segment_2"}
    if kind == "off-voxel":
        origin = (origin[0] + 0.4, *origin[1:])
    if kind == "outside":
        origin = (origin[0] + 60, *origin[1:])
    if kind == "plain-nrrd":
        path = folder / "masks/case-0.nrrd"
        names = {}
    if kind == "same-value":
        names |= {"Segment1_LabelValue": "1"}
    if kind == "lesion-empty":
        labels[labels == 2] = 0
        values, origin = crop_of(labels)
    if kind.startswith("layers"):
        if kind == "layers-overlapping":
            labels[4:8, 15:20, 20:25] = 2
        layers = np.stack([boxed(), (labels == 2).astype(np.uint8)], -1)  # a voxel's layers one after the other
        header = ("NRRD0004\ntype: unsigned char\ndimension: 4\nspace: left-posterior-superior\n"
                  f"sizes: 2 {SHAPE[2]} {SHAPE[1]} {SHAPE[0]}\nspace directions: none (1.5,0,0) (0,1.5,0) (0,0,3)\n"
                  f"{'' if kind == 'layers-no-kinds' else 'kinds: list domain domain domain' + chr(10)}"
                  f"encoding: gzip\nspace origin: ({ORIGIN[0]},{ORIGIN[1]},{ORIGIN[2]})\n"
                  "Segment0_ID:=Segment_1\nSegment0_LabelValue:=1\nSegment0_Layer:=0\nSegment0_Name:=liver\n"
                  "Segment1_ID:=Segment_2\nSegment1_LabelValue:=1\nSegment1_Layer:=1\nSegment1_Name:=lesion\n\n")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(header.encode() + gzip.compress(layers.tobytes()))
    else:
        write_volume(path, values, origin, names)
    np.save(folder / "expected.npy", labels)


def nnunet(folder, labels, order=None, channel="CT", cases=2, training=None, names=None, unlisted=None):
    """nnU-Net's folder; its masks have the values 0, 1 and 2."""
    mask = boxed()
    mask[6:9, 17:22, 22:27] = 2
    names = names or [f"c_{number:03}" for number in range(1, cases + 1)]
    for name in names:
        write_volume(folder / f"in/imagesTr/{name}_0000.nii.gz", body())
        write_volume(folder / f"in/labelsTr/{name}.nii.gz", mask)
    if unlisted:
        write_volume(folder / "in" / unlisted, body())
    text = {"channel_names": {"0": channel}, "labels": labels, "numTraining": cases if training is None else training, "file_ending": ".nii.gz"}
    if order is not None:
        text["regions_class_order"] = order
    (folder / "in/dataset.json").write_text(json.dumps(text))
    np.save(folder / "expected.npy", mask)


def named_files(folder, files, table=None):
    """CT files at the given places below `ct`, with masks at the same places below `masks`, and a table."""
    if table:
        (folder / "table.csv").write_text(table)
    for number, name in enumerate(files):
        write_volume(folder / "ct" / name, body())
        mask = boxed((slice(2 + number, 6 + number), *BOX[1:]))
        write_volume(folder / "masks" / name, mask)
        np.save(folder / f"expected-{number}.npy", mask)
    np.save(folder / "expected.npy", boxed((slice(2, 6), *BOX[1:])))


def linked(folder):
    """One volume in the folder, and one in a folder that it links to, with a loop."""
    write_volume(folder / "in/case1.nii.gz", body())
    write_volume(folder / "other/case2.nii.gz", body()[::-1].copy())
    (folder / "in/linked").symlink_to(folder / "other")
    (folder / "other/loop").symlink_to(folder / "in")


def apart(folder, name):
    """A header with its data file beside it."""
    write_volume(folder / name, body())
