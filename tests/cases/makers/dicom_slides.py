"""Slides in DICOM, as scanners and PACS hand them out: VL Whole Slide Microscopy, TILED_FULL, JPEG tiles."""
import imagecodecs
import numpy as np
from makers.slide_pixels import slide
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.uid import JPEGBaseline8Bit, VLWholeSlideMicroscopyImageStorage

ROOT = "1.2.826.0.1.3680043.8.498."
TILE = 128


def tile_at(pixels, y, x):
    tile = np.full((TILE, TILE, 3), 255, np.uint8)
    part = pixels[y:y + TILE, x:x + TILE]
    tile[:part.shape[0], :part.shape[1]] = part
    return tile


def picture(path, pixels, instance=1, millimetres=0.0005, kind=("ORIGINAL", "PRIMARY", "VOLUME", "NONE"), paths=1, planes=1):
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = VLWholeSlideMicroscopyImageStorage, f"{ROOT}2.{instance}"
    meta.TransferSyntaxUID = JPEGBaseline8Bit
    data = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
    data.SOPClassUID, data.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
    data.StudyInstanceUID, data.SeriesInstanceUID, data.FrameOfReferenceUID = ROOT + "1", ROOT + "2", ROOT + "9"
    data.Modality, data.SeriesNumber, data.InstanceNumber, data.ImageType = "SM", 1, instance, list(kind)
    height, width = pixels.shape[:2]
    data.TotalPixelMatrixRows, data.TotalPixelMatrixColumns, data.Rows, data.Columns = height, width, TILE, TILE
    data.ImagedVolumeWidth, data.ImagedVolumeHeight, data.ImagedVolumeDepth = width * millimetres, height * millimetres, 0.001
    data.SamplesPerPixel, data.PhotometricInterpretation, data.PlanarConfiguration = 3, "YBR_FULL_422", 0
    data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 8, 8, 7, 0
    data.BurnedInAnnotation, data.SpecimenLabelInImage, data.LossyImageCompression = "NO", "NO", "01"
    data.FocusMethod, data.ExtendedDepthOfField = "AUTO", "NO"
    data.DimensionOrganizationType, data.NumberOfOpticalPaths, data.TotalPixelMatrixFocalPlanes = "TILED_FULL", paths, planes
    origin = Dataset()
    origin.XOffsetInSlideCoordinateSystem, origin.YOffsetInSlideCoordinateSystem = 10.0, 20.0
    data.TotalPixelMatrixOriginSequence, data.ImageOrientationSlide = [origin], [0, -1, 0, -1, 0, 0]
    data.OpticalPathSequence = []
    for number in range(paths):
        path_item, light = Dataset(), Dataset()
        light.CodeValue, light.CodingSchemeDesignator, light.CodeMeaning = "111744", "DCM", "Brightfield illumination"
        path_item.OpticalPathIdentifier, path_item.IlluminationTypeCodeSequence, path_item.ObjectiveLensPower = str(number + 1), [light], 20
        data.OpticalPathSequence.append(path_item)
    shared, measures, frame_type = Dataset(), Dataset(), Dataset()
    measures.PixelSpacing, measures.SliceThickness, frame_type.FrameType = [millimetres, millimetres], 0.001, list(kind)
    shared.PixelMeasuresSequence, shared.WholeSlideMicroscopyImageFrameTypeSequence = [measures], [frame_type]
    data.SharedFunctionalGroupsSequence = [shared]
    frames = [imagecodecs.jpeg8_encode(tile_at(pixels, y, x), level=95, subsampling="422")
              for _ in range(paths * planes) for y in range(0, height, TILE) for x in range(0, width, TILE)]
    data.NumberOfFrames = len(frames)
    data.PixelData = encapsulate(frames)
    data["PixelData"].is_undefined_length = True
    path.parent.mkdir(parents=True, exist_ok=True)
    data.save_as(path, enforce_file_format=True)


def one(folder, **options):
    picture(folder / "slides/a.dcm", slide(), **options)


def levels(folder, folders=("s", "s")):
    """Two levels of one series, each in its folder."""
    picture(folder / "slides" / folders[0] / "a.dcm", slide())
    picture(folder / "slides" / folders[1] / "b.dcm", np.ascontiguousarray(slide()[::2, ::2]), 2, 0.001,
            ("DERIVED", "PRIMARY", "VOLUME", "RESAMPLED"))
