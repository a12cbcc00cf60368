"""CT and PET series by pydicom: small bodies in air, with what scanners, archives and anonymisers make of headers and files."""
import copy
import shutil

import imagecodecs
import numpy as np
import pydicom
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.uid import CTImageStorage, EnhancedCTImageStorage, ExplicitVRBigEndian, ExplicitVRLittleEndian, JPEG2000Lossless, JPEGLosslessSV1
from pydicom.uid import JPEGLSLossless, PositronEmissionTomographyImageStorage, RLELossless

SHAPE = (24, 32)


def uid(*parts):
    """The same one for the same parts, so that inputs are the same at each call."""
    return pydicom.uid.generate_uid(prefix="1.2.826.0.1.3680043.8.498.", entropy_srcs=[str(part) for part in parts])


def hounsfield(z, shape=SHAPE, seed=0):
    """An ellipse of soft tissue and a spot of bone that wanders with the slice."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    body = ((y - shape[0] / 2) / (shape[0] / 2.5)) ** 2 + ((x - shape[1] / 2) / (shape[1] / 2.5)) ** 2 < 1
    values = np.where(body, 40 + (3 * y + 5 * x + 7 * z + 11 * seed) % 40, -1000)
    values[shape[0] // 2, (5 + z) % shape[1]] = 700
    return values.astype(np.int32)


def slice_of(z, place, number=1, seed=0, series="series", **header):
    """One slice: 12 bits without sign, slope 1, intercept -1024."""
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = CTImageStorage
    data = FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    data.SOPClassUID = CTImageStorage
    data.SOPInstanceUID = meta.MediaStorageSOPInstanceUID = uid("slice", z, place, seed, series)
    data.ImageType = ["ORIGINAL", "PRIMARY", "AXIAL"]
    data.Modality, data.PatientID, data.PatientName = "CT", "P1", "Test^A"
    data.StudyDate, data.StudyTime = "20200101", "101010"
    data.StudyInstanceUID, data.SeriesInstanceUID, data.FrameOfReferenceUID = uid("study"), uid(series), uid("frame")
    data.SeriesNumber, data.AcquisitionNumber, data.InstanceNumber = 1, number, z + 1
    data.ImagePositionPatient = [-20, -15, place]
    data.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    data.PixelSpacing, data.SliceThickness = [1.5, 1.5], 3
    data.SamplesPerPixel, data.PhotometricInterpretation = 1, "MONOCHROME2"
    data.Rows, data.Columns = SHAPE
    data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 16, 12, 11, 0
    data.RescaleSlope, data.RescaleIntercept, data.RescaleType = 1, -1024, "HU"
    data.PixelData = (hounsfield(z, seed=seed) + 1024).astype("<u2").tobytes()
    for key, value in header.items():
        setattr(data, key, value)
    return data


def stack(places, **options):
    return [slice_of(z, place, **options) for z, place in enumerate(places)]


def save(slices, folder, name="IM{:03}"):
    folder.mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(slices):
        data.save_as(folder / name.format(i), enforce_file_format=True)


def even(count=16, step=3.0, first=-20.0):
    return [first + step * i for i in range(count)]


def rounded(folder, step, decimals, count=16, thickness=None, missing=None):
    """Positions as a program that rounds them writes them."""
    places = [round(place, decimals) for place in even(count, step)]
    slices = stack(places)
    for data in slices:
        data.SliceThickness = step if thickness is None else thickness
    if missing is not None:
        del slices[missing]
    save(slices, folder)


def drifting(folder):
    """Steps that are each within 4 % of 2.5 mm, but half a body too long and half too short."""
    steps = [2.6] * 20 + [2.4] * 20
    save(stack(list(np.round(-20 + np.cumsum([0.0, *steps]), 4))), folder)


def gaps(folder, steps, tilt_mm=0, doubled=None, contours=False, acquisition_steps=None):
    """Slices whose distances are `steps`."""
    places = list(np.round(-20 + np.cumsum([0.0, *steps]), 4))
    slices = stack(places)
    for i, data in enumerate(slices):
        data.ImagePositionPatient[1] += tilt_mm * i
    if doubled is not None:
        twin = copy.deepcopy(slices[doubled])
        twin.SOPInstanceUID = twin.file_meta.MediaStorageSOPInstanceUID = uid("twin")
        slices.append(twin)
    save(slices, folder)
    if contours:
        structure_set(slices, folder / "rs.dcm")


def structure_set(slices, path, named=False):
    """A square on each slice, whose contours may name it."""
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = "1.2.840.10008.5.1.4.1.1.481.3", uid("structures")
    data = FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    data.SOPClassUID, data.SOPInstanceUID, data.Modality = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID, "RTSTRUCT"
    data.PatientID, data.PatientName, data.StudyInstanceUID, data.SeriesInstanceUID = "P1", "Test^A", uid("study"), uid("rs")
    series, study, frame = Dataset(), Dataset(), Dataset()
    series.SeriesInstanceUID = slices[0].SeriesInstanceUID
    study.RTReferencedSeriesSequence, study.ReferencedSOPClassUID, study.ReferencedSOPInstanceUID = [series], "1.2.840.10008.3.1.2.3.1", uid("study")
    frame.FrameOfReferenceUID, frame.RTReferencedStudySequence = slices[0].FrameOfReferenceUID, [study]
    data.ReferencedFrameOfReferenceSequence = [frame]
    roi, drawn = Dataset(), Dataset()
    roi.ROINumber, roi.ROIName, roi.ReferencedFrameOfReferenceUID, roi.ROIGenerationAlgorithm = 1, "GTV", frame.FrameOfReferenceUID, "MANUAL"
    data.StructureSetROISequence = [roi]
    drawn.ReferencedROINumber, drawn.ContourSequence = 1, []
    for one in slices:
        x0, y0, z = map(float, one.ImagePositionPatient)
        low_x, high_x, low_y, high_y = x0 + 1.5 * 9.5, x0 + 1.5 * 15.5, y0 + 1.5 * 7.5, y0 + 1.5 * 12.5
        contour = Dataset()
        contour.ContourGeometricType, contour.NumberOfContourPoints = "CLOSED_PLANAR", 4
        contour.ContourData = [low_x, low_y, z, high_x, low_y, z, high_x, high_y, z, low_x, high_y, z]
        if named:
            picture = Dataset()
            picture.ReferencedSOPClassUID, picture.ReferencedSOPInstanceUID = one.SOPClassUID, one.SOPInstanceUID
            contour.ContourImageSequence = [picture]
        drawn.ContourSequence.append(contour)
    data.ROIContourSequence = [drawn]
    data.save_as(path, enforce_file_format=True)


def rescale(folder, which, slices=None, slope=1, intercept=-1024):
    """RescaleSlope and RescaleIntercept that are absent, empty or 0, in all slices or some; kept: what the others state."""
    made = stack(even(8))
    for i, data in enumerate(made):
        data.RescaleSlope, data.RescaleIntercept = slope, intercept
        if slices is not None and i not in slices:
            continue
        if which == "absent":
            del data.RescaleSlope, data.RescaleIntercept
        elif which == "empty":
            data.RescaleSlope = data.RescaleIntercept = None
        elif which == "no intercept":
            del data.RescaleIntercept
        elif which == "zero slope":
            data.RescaleSlope = 0
    save(made, folder)


def varying(folder):
    """Another slope in each slice, as PET has it and some CT."""
    made = stack(even(8))
    for i, data in enumerate(made):
        data.RescaleSlope, data.RescaleIntercept = 1 + i / 4, -1024 + i
    save(made, folder)


def unit(folder, rescale_type=None, image_type=None, mapped=None, beside=False, colours=False, slope=1, intercept=-1024):
    """A derived map, or a picture in another unit; beside: a plain CT series of the same study is there too."""
    made = stack(even(8), series="map", SeriesNumber=2)
    for data in made:
        data.RescaleSlope, data.RescaleIntercept = slope, intercept
        if rescale_type is None:
            del data.RescaleType
        else:
            data.RescaleType = rescale_type
        if image_type:
            data.ImageType = image_type
        if mapped:
            mapping, code = Dataset(), Dataset()
            code.CodeValue, code.CodingSchemeDesignator, code.CodeMeaning = mapped[0], "UCUM", "unit"
            mapping.MeasurementUnitsCodeSequence = [code]
            mapping.RealWorldValueFirstValueMapped, mapping.RealWorldValueLastValueMapped = 0, 4095
            mapping.RealWorldValueSlope, mapping.RealWorldValueIntercept = float(mapped[1]), float(mapped[2])
            data.RealWorldValueMappingSequence = [mapping]
        if colours:
            data.SamplesPerPixel, data.PhotometricInterpretation, data.PlanarConfiguration = 3, "RGB", 0
            data.BitsAllocated = data.BitsStored = 8
            data.HighBit = 7
            data.PixelData = bytes(3 * data.Rows * data.Columns)
    save(made, folder / "map" if beside else folder)
    if beside:
        save(stack(even(8), series="ct"), folder / "ct")


def coded(pixels, syntax, stored, signed):
    """A frame in a transfer syntax, by imagecodecs or pydicom."""
    if syntax == "jpeg2000":
        return imagecodecs.jpeg2k_encode(pixels, level=0, codecformat="j2k", reversible=True, bitspersample=stored)
    if syntax == "jpeg-ls":
        return imagecodecs.jpegls_encode(pixels.astype(np.uint16))
    if syntax == "jpeg-lossless":
        return imagecodecs.ljpeg_encode(pixels.astype(np.uint16), bitspersample=16)
    raise ValueError(syntax)


SYNTAXES = {"jpeg2000": JPEG2000Lossless, "jpeg-ls": JPEGLSLossless, "jpeg-lossless": JPEGLosslessSV1}


def bits(folder, syntax="little", stored=12, high=None, signed=True, overlay=False, codestream=None):
    """Values whose bits are not all of the cell's: signed or not, at any height, with an overlay in the bits that are left.

    codestream: of JPEG 2000 the bits that it codes, and whether as signed: [16, false]. The expected HU are in expected.npy.
    """
    high = stored - 1 if high is None else high
    expected, made = [], stack(even(8))
    rng = np.random.default_rng(5)
    for z, data in enumerate(made):
        values = hounsfield(z) if signed else hounsfield(z) + 1024
        values = np.clip(values, -(1 << (stored - 1)), (1 << (stored - 1)) - 1) if signed else np.clip(values, 0, (1 << stored) - 1)
        intercept = 0 if signed else -1024
        expected.append(values + intercept)
        cells = (values & ((1 << stored) - 1)).astype(np.uint32) << (high + 1 - stored)
        if overlay:
            plane = rng.integers(0, 2, cells.shape).astype(np.uint32)
            above = high + 1 if high < 15 else 0
            cells |= plane << above
            data.add_new(0x60000010, "US", data.Rows)
            data.add_new(0x60000011, "US", data.Columns)
            data.add_new(0x60000040, "CS", "G")
            data.add_new(0x60000050, "SS", [1, 1])
            data.add_new(0x60000100, "US", 16)
            data.add_new(0x60000102, "US", above)
        elif signed and high + 1 == stored and syntax == "extended":
            cells = (values.astype(np.int16)).view(np.uint16).astype(np.uint32)
        data.BitsStored, data.HighBit, data.PixelRepresentation = stored, high, int(signed)
        data.RescaleIntercept = intercept
        cells = cells.astype("<u2")
        data.PixelData = cells.tobytes()
        if syntax == "rle":
            data.compress(RLELossless, generate_instance_uid=False)
        elif syntax in SYNTAXES:
            depth, as_signed = codestream or (16, False)
            frame = cells
            if as_signed:
                frame = values.astype(np.int16) if not overlay else cells.view(np.int16)
            data.file_meta.TransferSyntaxUID = SYNTAXES[syntax]
            data.PixelData = encapsulate([coded(np.ascontiguousarray(frame), syntax, depth, as_signed)])
            data["PixelData"].VR = "OB"
            data["PixelData"].is_undefined_length = True
        elif syntax == "big":
            data.PixelData = cells.astype(">u2").tobytes()
            data["PixelData"].VR = "OW"
            data.file_meta.TransferSyntaxUID = ExplicitVRBigEndian
    folder.mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(made):
        pydicom.dcmwrite(folder / f"IM{i:03}", data, little_endian=syntax != "big", implicit_vr=False, force_encoding=True)
    np.save(folder.parent / "expected.npy", np.stack(expected))


def enhanced(folder, shared=None, frames=None, frame_numbers=None, frame_type=None, count=8, told_by=None):
    """One multi-frame file. shared, frames: slope, intercept and RescaleType of all, and of each frame by its number; null: none.

    told_by: sequence and element that tell two reconstructions of the same places apart, and their values; frames of both alternate.
    """
    data = slice_of(0, -20.0)
    data.SOPClassUID = data.file_meta.MediaStorageSOPClassUID = EnhancedCTImageStorage
    for key in ("ImagePositionPatient", "ImageOrientationPatient", "PixelSpacing", "SliceThickness", "RescaleSlope", "RescaleIntercept", "RescaleType",
                "AcquisitionNumber"):
        delattr(data, key)
    places = even(count) if frame_numbers is None else even(count // 2) * 2
    if told_by:
        places = [place for place in even(count // 2) for _ in range(2)]
    data.NumberOfFrames = count
    data.PixelData = b"".join((hounsfield(z) + 1024).astype("<u2").tobytes() for z in range(count))
    group = Dataset()
    measures, orientation = Dataset(), Dataset()
    measures.PixelSpacing, measures.SliceThickness = [1.5, 1.5], 3
    orientation.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    group.PixelMeasuresSequence, group.PlaneOrientationSequence = [measures], [orientation]
    if shared:
        group.PixelValueTransformationSequence = [transformation(*shared)]
    if frame_type:
        kind = Dataset()
        kind.FrameType = frame_type
        group.CTImageFrameTypeSequence = [kind]
    data.SharedFunctionalGroupsSequence = [group]
    data.PerFrameFunctionalGroupsSequence = []
    for z, place in enumerate(places):
        of_frame, position, content = Dataset(), Dataset(), Dataset()
        position.ImagePositionPatient = [-20, -15, place]
        content.DimensionIndexValues = [1, z + 1]
        if frame_numbers is not None:
            content.TemporalPositionIndex = frame_numbers[z]
        of_frame.PlanePositionSequence, of_frame.FrameContentSequence = [position], [content]
        if told_by:
            sequence, element, *values = told_by
            if sequence not in of_frame:
                setattr(of_frame, sequence, [Dataset()])
            setattr(getattr(of_frame, sequence)[0], element, values[(z + z // 2) % 2])  # neither comes first everywhere
        own = (frames or {}).get(str(z))
        if own:
            of_frame.PixelValueTransformationSequence = [transformation(*own)]
        data.PerFrameFunctionalGroupsSequence.append(of_frame)
    save([data], folder, "enhanced{}.dcm")


def transformation(slope, intercept, kind="HU"):
    values = Dataset()
    values.RescaleSlope, values.RescaleIntercept, values.RescaleType = slope, intercept, kind
    return values


def broken(folder, what, which, name="IM{:03}", keep=0):
    """Slice files that lost their content."""
    save(stack(even(16)), folder, name)
    for i in which:
        path = folder / name.format(i)
        whole = path.read_bytes()
        path.write_bytes({"empty": b"", "zeros": bytes(len(whole)), "page": b"<html>404 not found</html>", "cut": whole[:keep],
                          "short": whole[:100]}[what])


def junk(folder):
    """What lies beside slices on discs, in exports and in folders of other systems."""
    save(stack(even(8)), folder)
    for name in ("Thumbs.db", "DICOMDIR", "LOCKFILE", "README", "viewer.exe", "autorun.inf", ".gitkeep", ".DS_Store", "_SUCCESS", "desktop.ini"):
        (folder / name).write_bytes(b"")
    (folder / "notes.txt").write_text("not DICOM")
    (folder / "empty").mkdir()
    (folder / "empty" / "IM001").write_bytes(b"")
    report = slice_of(0, 0.0)
    for key in ("ImagePositionPatient", "ImageOrientationPatient", "PixelSpacing", "PixelData", "Rows", "Columns"):
        delattr(report, key)
    report.SOPClassUID = report.file_meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.88.67"
    report.Modality, report.SOPInstanceUID, report.SeriesInstanceUID = "SR", uid("dose"), uid("dose report")
    report.save_as(folder / "dose.dcm", enforce_file_format=True)


def copies(folder, how="bytes"):
    """Files that are there twice: byte for byte, coded otherwise, or with other pixels under the same identifier."""
    slices = stack(even(8))
    save(slices, folder)
    for i in (2, 3, 5):
        if how == "bytes":
            shutil.copy(folder / f"IM{i:03}", folder / f"IM{i:03} (1)")
            continue
        twin = copy.deepcopy(slices[i])
        if how == "coded":
            twin.compress(RLELossless, generate_instance_uid=False)
        elif how == "pixels":
            twin.PixelData = (hounsfield(i, seed=3) + 1024).astype("<u2").tobytes()
        elif how == "rescale":
            twin.RescaleIntercept = 0
        twin.save_as(folder / f"copy{i}", enforce_file_format=True)


def one_identifier(folder):
    """An anonymiser gave all slices one SOPInstanceUID: they lie in different places, so nothing is wrong with them."""
    slices = stack(even(8))
    for data in slices:
        data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = uid("all")
    save(slices, folder)


def acquisitions(folder, by, parts=2, shift=0.0, count=8):
    """Several acquisitions of one body in one series, told apart by a header; values differ by 11 HU from one to the next."""
    for part in range(parts):
        slices = stack(even(count, first=-20.0 + shift * part), seed=part, number=1)
        for z, data in enumerate(slices):
            data.InstanceNumber = part * count + z + 1
            if by == "AcquisitionNumber":
                data.AcquisitionNumber = part + 1
            elif by == "AcquisitionTime":
                data.AcquisitionTime = f"10{10 + part}00"
            elif by == "TemporalPositionIdentifier":
                data.TemporalPositionIdentifier = part + 1
            elif by == "TriggerTime":
                data.TriggerTime = 100 * part
            elif by == "ConvolutionKernel":
                data.ConvolutionKernel = ["B30f", "B70f"][part]
            elif by == "KVP":
                data.KVP = [80, 140][part]
            elif by == "SliceThickness":
                data.SliceThickness = [1.25, 5][part]
            elif by == "nothing":
                del data.InstanceNumber
            data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = uid("acquisition", part, z)
        save(slices, folder, f"{'ABCDEFGH'[part]}{{:03}}")


def second_drawn(folder):
    """Two acquisitions of one series; the structures were drawn on the second."""
    acquisitions(folder, "AcquisitionNumber")
    structure_set([pydicom.dcmread(path) for path in sorted(folder.glob("B*"))], folder / "rs.dcm", named=True)


def beside(folder, what):
    """A scan, and pictures that are no part of its volume."""
    save(stack(even(8), number=2), folder / "ct")
    if what == "monitoring":
        others = [slice_of(z, -8.0, number=z + 10, series="bolus", SeriesNumber=2) for z in range(12)]
    elif what == "monitoring in its series":
        others = [slice_of(z, -8.0) for z in range(100, 112)]
    elif what == "capture":
        others = [slice_of(100, -8.0, SOPClassUID="1.2.840.10008.5.1.4.1.1.7", ImageType=["DERIVED", "SECONDARY"])]
        others[0].file_meta.MediaStorageSOPClassUID = others[0].SOPClassUID
    else:  # pictures of a series of their own
        others = stack([-8.0, -5.0][: {"one": 1, "two": 2, "another study": 1}[what]], series="before", SeriesNumber=2)
    for data in others:
        if what == "another study":
            data.StudyInstanceUID = uid("another study")
    save(others, folder / "other")


def drawn_on_one(folder, one_frame=False):
    """A structure set that refers to two series, the other one first; its structures lie in the frame of reference of series 1."""
    first, second = stack(even(8), series="a"), stack(even(8), series="b", seed=3, SeriesNumber=2)
    for data in second:
        data.FrameOfReferenceUID = uid("frame") if one_frame else uid("other frame")
    save(first, folder / "a")
    save(second, folder / "b")
    structure_set(first, folder / "rs.dcm")
    drawn = pydicom.dcmread(folder / "rs.dcm")
    other = copy.deepcopy(drawn.ReferencedFrameOfReferenceSequence[0])
    other.FrameOfReferenceUID = second[0].FrameOfReferenceUID
    other.RTReferencedStudySequence[0].RTReferencedSeriesSequence[0].SeriesInstanceUID = second[0].SeriesInstanceUID
    drawn.ReferencedFrameOfReferenceSequence.insert(0, other)
    drawn.save_as(folder / "rs.dcm")


def mixed(folder, first=15, each=False, **header):
    """One SeriesInstanceUID whose slices from `first` on state something else; each: another value in every one; null: nothing."""
    slices = stack(even(16))
    for z, data in enumerate(slices[first:]):
        for key, value in header.items():
            if value is None:
                delattr(data, key)
            else:
                setattr(data, key, f"{value}.{z + 1}" if each else value)
        data.file_meta.MediaStorageSOPClassUID = data.SOPClassUID
    save(slices, folder)


def overlapping(folder):
    """Two acquisitions of which the second begins within the first: both are told apart by their number."""
    first, second = stack(even(8), number=1), stack(even(8, first=-20 + 3 * 6), number=2, seed=4)
    for z, data in enumerate(second):
        data.InstanceNumber = 9 + z
    save(first, folder, "A{:03}")
    save(second, folder, "B{:03}")


def one_by_one(folder):
    """Step and shoot: each slice is an acquisition of its own, which is no fault."""
    slices = stack(even(8))
    for z, data in enumerate(slices):
        data.AcquisitionNumber, data.AcquisitionTime = z + 1, f"1010{z:02}"
    save(slices, folder)


def split(folder, numbered=True, frames=False, studies=False, twice=False, halves=False):
    """A SeriesInstanceUID for every slice, or for each half."""
    slices = stack(even(8))
    for z, data in enumerate(slices):
        data.SeriesInstanceUID = uid("own", z // 4 if halves else z)
        if not numbered:
            del data.SeriesNumber
        if frames:
            data.FrameOfReferenceUID = uid("frame", z)
        if studies:
            data.StudyInstanceUID = uid("study", z)
    save(slices, folder)
    if twice:
        for z, data in enumerate(stack(even(8), seed=2)):
            data.SeriesInstanceUID = uid("other", z)
            data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = uid("other slice", z)
            data.save_as(folder / f"other{z}", enforce_file_format=True)


def pet(folder, which="", slices=None):
    """CT and PET in SUV (Units GML) of one study; `which` of the PET's slope is missing."""
    save(stack(even(8), series="ct"), folder / "ct")
    made = stack(even(8), series="pet", SeriesNumber=2)
    for i, data in enumerate(made):
        data.SOPClassUID = data.file_meta.MediaStorageSOPClassUID = PositronEmissionTomographyImageStorage
        data.Modality, data.Units, data.SUVType, data.CorrectedImage, data.DecayCorrection = "PT", "GML", "BW", ["ATTN", "DECY"], "ADMIN"
        data.RescaleSlope, data.RescaleIntercept = 0.01 * (i + 1), 0
        del data.RescaleType
        if slices is None or i in slices:
            if which == "absent":
                del data.RescaleSlope
            elif which == "zero":
                data.RescaleSlope = 0
    save(made, folder / "pet")
