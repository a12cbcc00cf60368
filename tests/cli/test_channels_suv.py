"""SUV of DICOM PET: the same pixels with headers of every kind that the rule knows give the same voxels, and headers that give none are refused
by name. Factors are computed here, from the numbers that the sample's headers have."""
import json
import re

import numpy as np
import pydicom
import pytest
from channel_inputs import channel
from ct_inputs import facts, new_series
from driving import message_of
from pet_inputs import NAMED, ingest, pet_slices, study
from pydicom.uid import ExplicitVRLittleEndian

WEIGHT, DOSE, HALF_LIFE = 55.0, 386818624.0, 6588.0  # kg, Bq, s
SECONDS = 65 * 60 + 37                               # injected at 15:15:00, scanned at 16:20:37
LEFT = 0.5 ** (SECONDS / HALF_LIFE)


def agent_of(data):
    return data.RadiopharmaceuticalInformationSequence[0]


def in_units(units, factor):
    """Slices whose rescaled values are others, of which `factor` makes SUV."""
    slices = pet_slices()
    for data in slices:
        data.Units = units
        data.RescaleSlope = f"{float(data.RescaleSlope) / factor:.9e}"
        del data.SUVType
    return slices


def activity(decay="ADMIN", left=1.0):
    slices = in_units("BQML", 1000 * WEIGHT / (DOSE * left))
    for data in slices:
        assert (data.PatientWeight, agent_of(data).RadionuclideTotalDose, agent_of(data).RadionuclideHalfLife) == (WEIGHT, DOSE, HALF_LIFE)
        assert (data.SeriesTime, data.AcquisitionTime, agent_of(data).RadiopharmaceuticalStartTime) == ("162037.00", "162037.00", "151500.00")
        data.DecayCorrection = decay
    return slices


def timed(series=("20010902", "162037"), acquisition=("20010902", "162037"), bed=0, **agent):
    """Corrected to the scan's start. `bed`: minutes from one bed of four slices to the next, the last bed first."""
    slices = activity("START", LEFT)
    for i, data in enumerate(slices):
        hour, minute, second = (int(acquisition[1][k:k + 2]) for k in (0, 2, 4))
        minute += bed * (2 - i // 4)
        data.SeriesDate, data.SeriesTime, data.AcquisitionDate = *series, acquisition[0]
        data.AcquisitionTime = f"{hour + minute // 60:02}{minute % 60:02}{second:02}"
        if agent:
            del agent_of(data).RadiopharmaceuticalStartTime
        for key, value in agent.items():
            setattr(agent_of(data), key, value)
    return slices


def given_at_the_injection_alone():
    slices = activity()
    for data in slices:
        del agent_of(data).RadionuclideHalfLife, agent_of(data).RadiopharmaceuticalStartTime, data.SeriesTime, data.AcquisitionTime
    return slices


def of_one_slope():
    """And with an intercept, which counts too."""
    slices = activity()
    slope = max(float(data.RescaleSlope) for data in slices)
    for data in slices:
        data.PixelData = (np.rint(data.pixel_array * (float(data.RescaleSlope) / slope)) - 700).astype("<i2").tobytes()
        data.RescaleSlope, data.RescaleIntercept = f"{slope:.9e}", f"{700 * slope:.9e}"
    return slices


def philips(syntax=None, element=0x00):
    """Counts and a private factor: of SUV (7053,1000), or of activity (7053,1009)."""
    factor = 0.00123
    slices = in_units("CNTS", factor if element == 0 else factor * 1000 * WEIGHT / DOSE)
    for data in slices:
        block = data.private_block(0x7053, "Philips PET Private Group", create=True)
        block.add_new(0x00, "DS", str(factor) if element == 0 else "0")
        block.add_new(0x09, "DS", str(factor) if element == 9 else "0")
        data.file_meta.TransferSyntaxUID = syntax or data.file_meta.TransferSyntaxUID
    return slices


def without_type():
    slices = pet_slices()
    for data in slices:
        del data.SUVType
    return slices


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Of the sample as it is: SUV by its own slopes."""
    folder = tmp_path_factory.mktemp("gml")
    study(folder / "in")
    return channels_of(folder)


def channels_of(folder):
    ingest(folder, *NAMED)
    [image] = facts(folder / "ct.zarr")[1]
    return [channel(folder / "ct.zarr", image, number).astype(int) for number in (0, 1)]


@pytest.mark.parametrize("slices", [
    pytest.param(without_type, id="GML without a type"),
    pytest.param(activity, id="ADMIN"),
    pytest.param(given_at_the_injection_alone, id="ADMIN needs no times"),
    pytest.param(of_one_slope, id="one slope and intercept"),
    pytest.param(timed, id="START"),
    pytest.param(lambda: timed(RadiopharmaceuticalStartDateTime="20010902151500.000", RadiopharmaceuticalStartTime="010203"), id="date and time go first"),
    pytest.param(lambda: timed(("20000301", "002037"), ("20000301", "002037"), RadiopharmaceuticalStartDateTime="20000229231500"), id="a leap day"),
    pytest.param(lambda: timed(("20010903", "002037.00"), ("20010903", "002037"), RadiopharmaceuticalStartTime="2315"), id="over midnight"),
    pytest.param(lambda: timed(bed=4), id="beds after the series' time"),
    pytest.param(lambda: timed(("20010902", "162037"), ("20010902", "162950"), bed=3), id="acquired after the series' time"),
    pytest.param(lambda: timed(("20010902", "190000"), bed=4), id="made later"),
    pytest.param(lambda: timed(("20010903", "090000"), bed=4), id="made the next day"),
    pytest.param(philips, id="Philips' counts"),
    pytest.param(lambda: philips(ExplicitVRLittleEndian), id="Philips' counts, explicit"),
    pytest.param(lambda: philips(element=9), id="Philips' counts to activity"),
])
def test_every_header_gives_the_same_suv(stored, tmp_path, slices):
    study(tmp_path / "in", slices())
    ct, pet = channels_of(tmp_path)
    np.testing.assert_array_equal(ct, stored[0])
    assert stored[1].max() > 500
    assert np.abs(pet - stored[1]).max() <= 1 and (pet == stored[1]).mean() > 0.98


def changed(slices, **values):
    """None deletes; of the radiopharmaceutical what stands there."""
    for data in slices:
        for key, value in values.items():
            at = agent_of(data) if key.startswith("Radio") and key not in data else data
            if value is None:
                delattr(at, key)
            else:
                setattr(at, key, value)
    return slices


@pytest.mark.parametrize("slices, pattern", [
    pytest.param(lambda: changed(activity(), PatientWeight=None), "PatientWeight", id="no weight"),
    pytest.param(lambda: changed(activity(), PatientWeight=""), "PatientWeight", id="an empty weight"),
    pytest.param(lambda: changed(activity(), PatientWeight="0"), "PatientWeight", id="a weight of nothing"),
    pytest.param(lambda: changed(activity(), RadionuclideTotalDose=None), "RadionuclideTotalDose", id="no dose"),
    pytest.param(lambda: changed(timed(), RadionuclideHalfLife=None), "RadionuclideHalfLife", id="no half-life"),
    pytest.param(lambda: changed(timed(), RadiopharmaceuticalStartTime=None), "RadiopharmaceuticalStart(Date)?Time", id="no injection"),
    pytest.param(lambda: changed(timed(), SeriesTime=None, AcquisitionTime=None), "SeriesTime|AcquisitionTime", id="no time of the scan"),
    pytest.param(lambda: changed(activity(), RadiopharmaceuticalInformationSequence=None), "RadionuclideTotalDose|RadiopharmaceuticalInformationSequence",
                 id="no radiopharmaceutical"),
    pytest.param(lambda: changed(activity(), DecayCorrection="NONE"), "DecayCorrection.*NONE", id="decay not corrected"),
    pytest.param(lambda: changed(activity(), DecayCorrection=None), "DecayCorrection", id="no word of decay"),
    pytest.param(lambda: changed(pet_slices(), SUVType="LBM"), "SUVType.*LBM|LBM.*SUVType", id="by lean body mass"),
    pytest.param(lambda: in_units("PROPCPS", 1), "Units.*PROPCPS", id="counts a second"),
    pytest.param(lambda: changed(pet_slices(), Units=None), "Units", id="no units"),
    pytest.param(lambda: in_units("CNTS", 1), "CNTS", id="counts without a factor"),
    pytest.param(lambda: changed(pet_slices(), CorrectedImage=["DECY", "SCAT", "NORM"]), "attenuation", id="attenuation not corrected"),
    pytest.param(lambda: changed(pet_slices(), FrameOfReferenceUID="1.2.3.10"), "frame of reference", id="another frame of reference"),
])
def test_headers_that_give_no_suv(tmp_path, slices, pattern):
    study(tmp_path / "in", slices())
    said = message_of(ingest(tmp_path, *NAMED, code=1))
    assert re.search(pattern, said.replace(str(tmp_path), "")), said
    assert not (tmp_path / "ct.zarr").exists()


def test_a_series_without_correction_of_attenuation_beside_one_with_it(stored, tmp_path):
    raw = new_series(changed(pet_slices(), CorrectedImage=["DECY", "SCAT"]), number=9, series="1.2.3.4.5.9")
    for data in raw:
        data.PixelData = (data.pixel_array // 3).astype("<i2").tobytes()
    study(tmp_path / "in", raw, pet_slices())
    done = json.loads(ingest(tmp_path, *NAMED, "--json").stdout)
    assert done["images"] == 1 and any("attenuation" in note and "left out" in note for note in done["notes"])
    [image] = facts(tmp_path / "ct.zarr")[1]
    np.testing.assert_array_equal(channel(tmp_path / "ct.zarr", image, 1), stored[1])


def test_two_series_of_pet(tmp_path):
    study(tmp_path / "in", pet_slices(), new_series(pet_slices(), number=9, series="1.2.3.4.5.9"))
    said = message_of(ingest(tmp_path, *NAMED, code=2))
    assert "second channel 'PET'" in said and not (tmp_path / "ct.zarr").exists()


def test_what_is_wrong_with_one_study_leaves_the_other(stored, tmp_path):
    """By --on-error skip, with the attribute that it lacks."""
    study(tmp_path / "in/one")
    study(tmp_path / "in/two", changed(activity(), PatientWeight=None))
    for path in sorted((tmp_path / "in/two").rglob("*.dcm")):
        data = pydicom.dcmread(path)
        for keyword in ("StudyInstanceUID", "SeriesInstanceUID", "FrameOfReferenceUID"):
            setattr(data, keyword, getattr(data, keyword)[:-2] + "77")
        data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid(entropy_srcs=[data.SOPInstanceUID])
        data.save_as(path)
    done = json.loads(ingest(tmp_path, *NAMED, "--on-error", "skip", "--json").stdout)
    [left] = done["left_out"]
    assert done["images"] == 1 and "PatientWeight" in left["reason"]
    [image] = facts(tmp_path / "ct.zarr")[1]
    np.testing.assert_array_equal(channel(tmp_path / "ct.zarr", image, 1), stored[1])


def test_a_missing_slice_is_resampled_where_it_is_asked_for(tmp_path):
    """As if the mean of its neighbours had been there."""
    slices = pet_slices()
    value = [data.pixel_array * float(data.RescaleSlope) for data in slices]
    slices[5].PixelData = np.rint((value[4] + value[6]) / 2 / float(slices[5].RescaleSlope)).astype("<i2").tobytes()
    study(tmp_path / "whole/in", slices)
    study(tmp_path / "gap/in", slices[:5] + slices[6:])
    said = message_of(ingest(tmp_path / "gap", *NAMED, code=1))
    assert "1 of 12 slices missing" in said, said
    ingest(tmp_path / "gap", *NAMED, "--irregular", "resample")
    ingest(tmp_path / "whole", *NAMED)
    [one] = facts(tmp_path / "gap/ct.zarr")[1]
    expected, found = (channel(tmp_path / name / "ct.zarr", one, 1).astype(int) for name in ("whole", "gap"))
    assert (found != 0).any() and np.abs(found - expected).max() <= 1
