"""The same body in any voxel order is the same data: one real CT as DICOM (axial, sagittal and coronal slices), NIfTI, NRRD and MetaImage in
all six axis orders with mixed flips gives the same batches byte for byte, the same labels and lesions at every point of the patient, and
goes back into its file's own order."""
import copy
import hashlib
import shutil

import nibabel
import numpy as np
import pydicom
import pytest
import SimpleITK as sitk
import zarr
from ct_inputs import CT, dicom_files, facts, key_file, labels, save_series, voxels
from driving import headrace, json_of, label_group, message_of, write_table
from nibabel.orientations import axcodes2ornt, io_orientation, ornt_transform
from PIL import Image

FILES = dicom_files(CT / "sts-008/image")
MASK = CT / "sts-008/mask.nii.gz"
LABELS = "images/scan/labels/annotation"
# All six orders of the axes; letters say where an index grows to.
ORDERS = ["LPS", "RAS", "LSA", "PLI", "ASR", "IRP", "SPL"]
CONFIG = """task: segmentation
data: {{store: {store}}}
patch: {{size: [16, 40, 32], spacing_mm: [3, 1.5, 1.5]}}
sampling: {{seed: 11, batch: 2, batches_per_epoch: 4, foreground: 0.67}}
model: {{widths: [8, 16]}}
transforms:
  - affine: {{rotate_deg: [-20, 20], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}}
  - elastic: {{grid: 4, magnitude_mm: 8, probability: 0.7}}
  - normalize: {{method: foreground}}
  - gaussian_noise: {{sigma: [0, 0.05], probability: 0.5}}
  - gamma: {{gamma: [0.7, 1.5], probability: 0.5}}
"""


def itk_image():
    reader = sitk.ImageSeriesReader()
    reader.SetFileNames(FILES)
    return reader.Execute()


def reoriented(nifti, codes):
    """By nibabel; the orientation is that of RAS+, its letters say where each axis points to."""
    return nifti.as_reoriented(ornt_transform(io_orientation(nifti.affine), axcodes2ornt(codes)))


def as_nifti(image):
    affine = np.eye(4)
    affine[:3, :3] = np.array(image.GetDirection()).reshape(3, 3) * image.GetSpacing()
    affine[:3, 3] = image.GetOrigin()
    return nibabel.Nifti1Image(sitk.GetArrayFromImage(image).transpose(2, 1, 0), np.diag([-1, -1, 1, 1]) @ affine)


def write_dicom_planes(folder, across):
    """The series as slices across x (sagittal) or y (coronal) of the patient, from pixels and places that pydicom writes."""
    slices = [pydicom.dcmread(path) for path in FILES]
    stored = np.stack([s.pixel_array for s in slices])  # z, y, x
    first = slices[0]
    origin, row_mm = np.array(first.ImagePositionPatient, float), [float(v) for v in first.PixelSpacing]
    step = (float(slices[-1].ImagePositionPatient[2]) - origin[2]) / (len(slices) - 1)
    spacing = np.array([row_mm[1], row_mm[0], step])
    axis = "zyx".index(across)
    planes = np.moveaxis(stored, axis, 0)[:, ::-1]  # rows run down from the head, as scanners write them
    out = []
    for i, plane in enumerate(planes):
        data = copy.deepcopy(first)
        data.Rows, data.Columns = plane.shape
        data.PixelData = np.ascontiguousarray(plane).tobytes()
        columns_along = 1 if across == "x" else 0  # LPS axis along a row
        direction = np.zeros((2, 3))
        direction[0, columns_along], direction[1, 2] = 1, -1
        data.ImageOrientationPatient = [f"{v:g}" for v in direction.ravel()]
        data.PixelSpacing = [f"{step:.6g}", f"{spacing[columns_along]:.6g}"]
        place = origin.copy()
        place["xyz".index(across)] += i * spacing["xyz".index(across)]
        place[2] += (len(slices) - 1) * step
        data.ImagePositionPatient = [f"{v:.6f}" for v in place]
        data.InstanceNumber = str(i + 1)
        data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = f"1.2.3.{axis}.{i + 1}"
        out.append(data)
    return save_series(out, folder)


def write_inputs(folder):
    """{name: (input, mask)}; masks in other orders than their images."""
    image, nifti, mask = itk_image(), as_nifti(itk_image()), nibabel.load(MASK)
    made = {"dicom": (CT / "sts-008/image", MASK), "dicom-sagittal": (write_dicom_planes(folder / "sagittal", "x"), MASK),
            "dicom-coronal": (write_dicom_planes(folder / "coronal", "y"), MASK)}
    for i, order in enumerate(ORDERS):
        path, labels_path = folder / f"{order}.nii.gz", folder / "masks" / f"{order}.nii.gz"
        labels_path.parent.mkdir(exist_ok=True)
        nibabel.save(reoriented(nifti, order), path)
        nibabel.save(reoriented(mask, ORDERS[-1 - i]), labels_path)
        made[f"nifti-{order}"] = (path, labels_path)
    for ending, order, flips in (("nrrd", (2, 0, 1), (True, False, True)), ("mha", (1, 2, 0), (False, False, True))):
        path = folder / f"itk.{ending}"
        sitk.WriteImage(sitk.Flip(sitk.PermuteAxes(image, order), flips), str(path), True)
        made[ending] = (path, MASK)
    return made


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("orders")
    made = {}
    for name, (source, mask) in write_inputs(folder).items():
        table = write_table(folder / f"{name}.csv", [{"file": source, "image": "scan", "case": "a", "split": "train", "labels": mask}])
        # Several layers of shards, so that files whose slices run downward are stored from the last one on.
        headrace("ingest", "volumes", source, "--table", table, "--out", folder / f"{name}.zarr", "--key-file", key_file(folder),
                 "--chunk", 16, "--shard", 16)
        made[name] = folder / f"{name}.zarr"
    return made


def batches(store, folder):
    config = folder / f"{store.stem}.yaml"
    config.write_text(CONFIG.format(store=store))
    return json_of("batches", "--config", config, "--count", 4)["batches"]


def objects_of(store):
    """SHA-256 of each object of the image, its label group named without the digest."""
    group = label_group(store, "scan")
    files = [path for part in ("images", "index", "histograms") for path in (store / part).rglob("*") if path.is_file()]
    return {str(path.relative_to(store)).replace(group, LABELS): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_every_order_gives_the_same_batches(stores, tmp_path):
    expected = batches(stores["dicom"], tmp_path)
    assert len({b["images_sha256"] for b in expected}) == 4 and all(b["labels_sha256"] for b in expected)
    assert len(stores) == 3 + len(ORDERS) + 2
    for name, store in stores.items():
        assert batches(store, tmp_path) == expected, name


def test_every_order_stores_the_same_objects(stores):
    """Only what states the file's own grid and source differs, and positions that a float32 header gives in other last digits."""
    expected = objects_of(stores["dicom"])
    stated = {"images/scan/zarr.json", "images/scan/labels/zarr.json", f"{LABELS}/zarr.json", f"{LABELS}/lesions/c/0/0"}
    assert stated < set(expected) and any(key.startswith(f"{LABELS}/0/c") for key in expected)
    for name, store in stores.items():
        found = objects_of(store)
        assert found.keys() == expected.keys(), name
        assert {key for key in expected if found[key] != expected[key]} <= stated, name


def test_lesions_are_equal_in_the_patient(stores):
    read = lambda store: zarr.open_array(str(store), path=label_group(store, "scan") + "/lesions", mode="r")[:]
    expected = read(stores["dicom"])
    assert len(expected) >= 1
    for name, store in stores.items():
        found = read(store)
        exact = [0, 1, 2, 6, 7, 8, 9, 10, 11]  # all but the centre
        np.testing.assert_array_equal(found[:, exact], expected[:, exact], err_msg=name)
        np.testing.assert_allclose(found[:, 3:6], expected[:, 3:6], atol=1e-3, err_msg=name)


def test_a_point_of_the_patient_has_its_hu_and_label(stores, tmp_path):
    """Against the files as SimpleITK reads them."""
    inputs = {f"nifti-{order}": (f"{order}.nii.gz", f"masks/{order}.nii.gz") for order in ORDERS}
    folder = stores["dicom"].parent
    rng = np.random.default_rng(2)
    for name, (file, mask) in inputs.items():
        image, truth = sitk.ReadImage(str(folder / file)), sitk.ReadImage(str(folder / mask))
        stored, stored_labels = voxels(stores[name], "scan"), labels(stores[name], "scan")
        _, images = facts(stores[name])
        affine = np.array(images["scan"]["affine_lps"]).reshape(4, 4)
        assert (np.diag(affine)[:3] > 0).all() and np.abs(affine[:3, :3] - np.diag(np.diag(affine)[:3])).max() < 1e-6
        inside = np.argwhere(sitk.GetArrayFromImage(truth) > 0)
        points = [truth.TransformIndexToPhysicalPoint([int(v) for v in zyx[::-1]]) for zyx in inside[rng.integers(len(inside), size=20)]]
        points += [image.TransformIndexToPhysicalPoint([int(rng.integers(n)) for n in image.GetSize()]) for _ in range(60)]
        for point in points:
            x, y, z = np.rint(np.linalg.solve(affine, [*point, 1])[:3]).astype(int)
            assert stored[z, y, x] == image.GetPixel(image.TransformPhysicalPointToIndex(point)), name
            assert stored_labels[z, y, x] == truth.GetPixel(truth.TransformPhysicalPointToIndex(point)), name


def test_the_stored_order_is_that_of_simpleitk(stores):
    """DICOMOrient is an independent way to the same order."""
    for name, store in stores.items():
        np.testing.assert_array_equal(voxels(store, "scan"), sitk.GetArrayFromImage(sitk.DICOMOrient(itk_image(), "LPS")), err_msg=name)


@pytest.mark.parametrize("order", ORDERS)
def test_image_and_labels_go_back_into_their_files_order(stores, tmp_path, order):
    store = stores[f"nifti-{order}"]
    file = nibabel.load(store.parent / f"{order}.nii.gz")
    for more, expected in (((), file), (("--label", "annotation"), reoriented(nibabel.load(MASK), order))):
        headrace("read", store, "scan", *more, "--out", tmp_path / "back.nii.gz")
        back = nibabel.load(tmp_path / "back.nii.gz")
        assert back.shape == file.shape
        np.testing.assert_array_equal(np.asarray(back.dataobj), np.asarray(expected.dataobj))
        np.testing.assert_allclose(back.affine, file.affine, rtol=1e-6, atol=1e-4)
        np.testing.assert_allclose(back.header.get_zooms(), file.header.get_zooms(), rtol=1e-6)
    assert "leave --level, --origin and --size out" in message_of(
        headrace("read", store, "scan", "--origin", "0,0,0", "--size", "1,1,1", "--out", tmp_path / "a.nii.gz", code=2))


@pytest.mark.parametrize("planes", ["sagittal", "coronal"])
def test_contours_lie_in_the_planes_in_which_they_were_drawn(tmp_path, planes):
    """The scan and its structure set turned as a whole, so that its slices are sagittal or coronal."""
    turn = {"sagittal": lambda p: (p[2], p[0], p[1]), "coronal": lambda p: (p[0], -p[2], p[1])}[planes]
    turned = lambda numbers: [f"{v:.6f}" for i in range(0, len(numbers), 3) for v in turn([float(n) for n in numbers[i:i + 3]])]
    structures = pydicom.dcmread(CT / "sts-008/RS.dcm")
    name = structures.StructureSetROISequence[0].ROIName
    stored = {}
    for kind in ("axial", planes):
        slices = [pydicom.dcmread(path) for path in FILES]
        if kind == planes:
            for data in slices:
                data.ImagePositionPatient, data.ImageOrientationPatient = turned(data.ImagePositionPatient), turned(data.ImageOrientationPatient)
            for roi in structures.ROIContourSequence:
                for contour in roi.ContourSequence:
                    contour.ContourData = turned(contour.ContourData)
        save_series(slices, tmp_path / kind)
        structures.save_as(tmp_path / kind / "RS.dcm")
        store = tmp_path / f"{kind}.zarr"
        headrace("ingest", "volumes", tmp_path / kind, "--classes", f"background,lesion={name}", "--out", store, "--key-file", key_file(tmp_path))
        [image] = facts(store)[1]
        stored[kind] = voxels(store, image), labels(store, image)
    for axial, found in zip(stored["axial"], stored[planes], strict=True):
        expected = axial.transpose(1, 2, 0) if planes == "sagittal" else axial[::-1].transpose(1, 0, 2)
        assert len(np.unique(axial)) > 1
        np.testing.assert_array_equal(found, expected)


def test_an_oblique_scan_takes_the_nearest_axes(tmp_path):
    """Turned by 20 degrees about x and 35 about z, in three orders."""
    a, b = np.radians(20), np.radians(35)
    turn = np.array([[np.cos(b), -np.sin(b), 0], [np.sin(b), np.cos(b), 0], [0, 0, 1]]) @ np.array(
        [[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    image = itk_image()
    image.SetDirection(turn.ravel())
    expected = None
    for i, (order, flips) in enumerate((((0, 1, 2), (False,) * 3), ((2, 0, 1), (True, False, True)), ((1, 0, 2), (False, True, False)))):
        name = f"oblique{i}"
        path = tmp_path / f"{name}.nrrd"
        sitk.WriteImage(sitk.Flip(sitk.PermuteAxes(image, order), flips, False), str(path), True)
        headrace("ingest", "volumes", path, "--out", tmp_path / f"{name}.zarr", "--val-fraction", 0)
        np.testing.assert_array_equal(voxels(tmp_path / f"{name}.zarr", name), sitk.GetArrayFromImage(image))
        _, images = facts(tmp_path / f"{name}.zarr")
        affine = np.array(images[name]["affine_lps"]).reshape(4, 4)
        np.testing.assert_allclose(affine[:3, :3], turn * image.GetSpacing(), atol=1e-6)
        np.testing.assert_allclose(affine[:3, 3], image.GetOrigin(), atol=1e-4)
        same = (images[name]["spacing_mm"], images[name]["levels"], images[name]["body"])
        expected = expected or same
        assert same == expected and same[0] == [3.27, 0.976562, 0.976562]


def test_pictures_are_as_radiologists_look_at_them(stores, tmp_path):
    """The patient's right at the left, front on top; coronal and sagittal the head on top; whatever the file's order."""
    hu = sitk.GetArrayFromImage(itk_image())  # z up, y to the back, x to the left
    depth, height, width = hu.shape
    grey = lambda plane: np.clip((plane.astype(float) + 160) / 400 * 255, 0, 255)
    cases = (("25,0,0", f"1,{height},{width}", hu[25]), ("0,60,0", f"{depth},1,{width}", hu[::-1, 60]),
             ("0,0,70", f"{depth},{height},1", hu[::-1, :, 70]))
    for name in ("dicom", "nifti-RAS", "nifti-ASR"):
        for origin, size, expected in cases:
            headrace("read", stores[name], "scan", "--origin", origin, "--size", size, "--out", tmp_path / "p.png")
            picture = np.asarray(Image.open(tmp_path / "p.png")).astype(int)[..., 0]
            assert picture.shape == expected.shape
            assert np.abs(picture - grey(expected)).max() <= 0.5, (name, size)


def test_the_montage_marks_the_sides(stores, tmp_path):
    pictures = []
    for name in ("dicom", "nifti-SPL"):
        config = tmp_path / f"{name}.yaml"
        config.write_text(CONFIG.format(store=stores[name]))
        headrace("sample", "--config", config, "--count", 2, "--out", tmp_path / f"{name}.png")
        pictures.append((tmp_path / f"{name}.png").read_bytes())
    assert pictures[0] == pictures[1]
    pixels = np.asarray(Image.open(tmp_path / "dicom.png")).astype(int)
    ink = (np.abs(pixels - [255, 214, 96]).sum(2) < 12).sum()
    assert ink > 2 * 3 * 4 * 5, "four letters in each of three planes of two samples"


def test_a_store_of_an_earlier_format_is_refused(stores, tmp_path):
    old = tmp_path / "old.zarr"
    shutil.copytree(stores["dicom"], old)
    for name in ("zarr.json", "manifest.json"):
        text = (old / name).read_text()
        assert text.count('"format": 2') == 1 or text.count('"format":2') == 1
        (old / name).write_text(text.replace('"format": 2', '"format": 1').replace('"format":2', '"format":1'))
    for command in (("info", old), ("read", old, "scan", "--out", tmp_path / "x.nii.gz"),
                    ("ingest", "volumes", CT / "sts-008/image", "--out", old, "--key-file", key_file(tmp_path))):
        message = message_of(headrace(*command, code=1))
        assert "store format 1, made by an earlier version (this one reads 2); ingest it again" in message
