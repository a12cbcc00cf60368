"""The phantom CT cohort as an independent reader sees it: geometry, Hounsfield units, planted lesions."""
import numpy as np
import pytest
import SimpleITK as sitk
from driving import headrace, json_of, message_of, rows_of


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    folder = tmp_path_factory.mktemp("phantoms") / "cohort"
    made = json_of("phantom", "volumes", "--out", folder, "--count", 3, "--size", 160, "--phases", 3, "--seed", 5)
    assert (made["patients"], made["volumes"]) == (3, 9)
    return folder


def test_phases_of_a_case_share_grid_and_labels_but_not_voxels(cohort):
    by_case = {}
    for row in rows_of(cohort / "cases.csv"):
        by_case.setdefault(row["case"], []).append(row)
    assert len(by_case) == 3
    for rows in by_case.values():
        assert [row["phase"] for row in rows] == ["native", "arterial", "portal-venous"]
        assert len({row["labels"] for row in rows}) == 1 and len({row["split"] for row in rows}) == 1
        labels = sitk.ReadImage(str(cohort / rows[0]["labels"]))
        seen = []
        for row in rows:
            image = sitk.ReadImage(str(cohort / row["file"]))
            assert image.GetPixelID() == sitk.sitkInt16
            for of in ("GetSize", "GetSpacing", "GetOrigin", "GetDirection"):
                assert getattr(image, of)() == getattr(labels, of)()
            assert image.GetDirection() == (1, 0, 0, 0, 1, 0, 0, 0, 1)
            assert image.GetSpacing()[0] == 2.5
            seen.append(sitk.GetArrayFromImage(image))
        assert not (seen[0] == seen[1]).all() and not (seen[1] == seen[2]).all()


def test_planted_lesions_are_in_the_masks(cohort):
    planted = rows_of(cohort / "lesions.csv")
    assert len(planted) >= 4
    for case in {row["case"] for row in planted}:
        labels = sitk.ReadImage(str(cohort / f"labels/{case}.nii.gz"))
        parts = sitk.ConnectedComponent(labels == 2, True)
        shapes = sitk.LabelShapeStatisticsImageFilter()
        shapes.Execute(parts)
        wanted = [row for row in planted if row["case"] == case]
        assert len(shapes.GetLabels()) == len(wanted)
        for row in wanted:
            at = np.array([float(row[f"{axis}_lps_mm"]) for axis in "xyz"])
            near = min(shapes.GetLabels(), key=lambda k: np.linalg.norm(np.array(shapes.GetCentroid(k)) - at))
            volume = float(row["volume_mm3"])
            radius = (volume / (4 / 3 * np.pi)) ** (1 / 3)
            assert np.linalg.norm(np.array(shapes.GetCentroid(near)) - at) < 0.2 * radius + 1
            # Counting voxel centres errs by about a third of a voxel of the surface's share.
            voxel = np.prod(labels.GetSpacing())
            assert abs(shapes.GetPhysicalSize(near) / volume - 1) < 0.03 + 0.5 * np.sqrt(voxel / volume)


def test_contrast_agent_shows_by_phase(cohort):
    medians = {}
    for row in rows_of(cohort / "cases.csv"):
        voxels = sitk.GetArrayFromImage(sitk.ReadImage(str(cohort / row["file"])))
        lesion = sitk.GetArrayFromImage(sitk.ReadImage(str(cohort / row["labels"]))) == 2
        if lesion.any():
            medians.setdefault(row["phase"], []).append(np.median(voxels[lesion]))
        assert voxels.min() >= -1024 and np.median(voxels[:, :8]) < -950
    native, arterial, venous = (np.mean(medians[p]) for p in ("native", "arterial", "portal-venous"))
    assert 20 < native < 60 and native + 20 < arterial < venous + 5 < 135


def test_a_lesion_that_is_too_large_is_refused(tmp_path):
    done = headrace("phantom", "volumes", "--out", tmp_path / "x", "--lesion-mm", "12,90", code=2)
    assert "--lesion-mm 90; 12 to 60" in message_of(done)
    assert not (tmp_path / "x").exists()
