"""Reports in a real browser: nothing is asked for, nothing is refused, nothing sticks out on a screen or on a telephone, and it prints. The slice
that a report of CT shows, against the file, in radiological convention."""
import base64
import json
import re

import numpy as np
import pytest
import SimpleITK as sitk
from chromium import CHROMIUM, Browser
from driving import SAMPLES, headrace
from made_once import made_once
from predictions import maps_of
from PIL import Image
from test_report import train

in_browser = pytest.mark.skipif(CHROMIUM is None, reason="not run: there is no Chromium")


@pytest.fixture(scope="module")
def pages(tmp_path_factory, ct_cohort):
    """Reports of a run on slides and of one on CT, and one of both."""
    slides, out = made_once(tmp_path_factory, "report-run", train) / "run", tmp_path_factory.mktemp("pages")
    headrace("report", slides, "--out", out / "slides.html")
    headrace("report", ct_cohort / "run", "--out", out / "ct.html")
    headrace("report", slides, ct_cohort / "run", "--out", out / "both.html")
    return out


@in_browser
@pytest.mark.matrix(telling=["ct-1280"])
@pytest.mark.parametrize("width", (1280, 390))
@pytest.mark.parametrize("name", ("slides", "ct", "both"))
def test_it_is_shown_whole_and_asks_for_nothing(pages, tmp_path, name, width):
    browser = Browser(tmp_path / "profile", width=width, height=900)
    try:
        browser.open((pages / f"{name}.html").as_uri())
        browser.wait("document.readyState === 'complete'")
        asked = [url for url in browser.requests if not url.startswith("data:")]
        assert asked in ([(pages / f"{name}.html").as_uri()], ["about:blank", (pages / f"{name}.html").as_uri()])
        assert not browser.problems
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
        # Only what scrolls by itself may be wider than the page.
        wide = browser.evaluate("""[...document.querySelectorAll('main *')].filter((e) => !e.closest('.scroll, pre, svg')
            && e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML.slice(0, 80))""")
        assert not wide
        assert browser.evaluate("[...document.images].every((i) => i.naturalWidth > 0)")
        # The policy holds: what is put in afterwards does not run.
        assert browser.evaluate("""new Promise((done) => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';
            document.body.append(s); done(window.ran === undefined); })""")
    finally:
        browser.close()


@in_browser
@pytest.mark.parametrize("name", ("slides", "ct"))
def test_it_prints_on_paper(pages, tmp_path, name):
    browser = Browser(tmp_path / "profile")
    try:
        browser.open((pages / f"{name}.html").as_uri())
        browser.wait("document.readyState === 'complete'")
        pdf = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])
        boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
        assert len(boxes) > 3 and {tuple(round(float(edge)) for edge in box) for box in boxes} == {(595, 842)}  # A4 in points
        # At the paper's width, 186 mm of 96 pixels an inch, tables end inside the page as well: there is nothing to scroll there.
        browser.call("Emulation.setEmulatedMedia", media="print")
        browser.call("Emulation.setDeviceMetricsOverride", width=703, height=1000, deviceScaleFactor=1, mobile=False)
        assert not browser.evaluate("""[...document.querySelectorAll('main td, main th, main img')].filter((e) => e.offsetParent
            && !e.closest('svg') && e.getBoundingClientRect().right > 704).map((e) => e.outerHTML.slice(0, 80))""")
    finally:
        browser.close()


@in_browser
def test_dark_screens_get_dark_pages_and_paper_stays_white(pages, tmp_path):
    browser = Browser(tmp_path / "profile")
    try:
        light = {}
        for media in ("screen", "print"):
            browser.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark"}])
            browser.open((pages / "slides.html").as_uri())
            browser.wait("document.readyState === 'complete'")
            light[media] = browser.evaluate("getComputedStyle(document.querySelector('section')).backgroundColor")
        assert light == {"screen": "rgb(26, 33, 42)", "print": "rgb(255, 255, 255)"}
    finally:
        browser.close()


def test_the_slice_of_ct_is_the_one_with_most_wrong_voxels_and_lies_as_the_file_does(ct_cohort, predicted_ct_val):
    """The file by SimpleITK, turned to LPS: rows to the back, columns to the left, so that the picture's left is the patient's right. Wrong
    voxels by the class map of a prediction of the same images; single voxels may fall otherwise there, as its batches are others."""
    run = ct_cohort / "run"
    (example,) = json.loads((run / "eval.json").read_text())["examples"]
    assert (example["rank"], example["number"], example["image"]) == ("worst", 1, "sts-012")
    folder = SAMPLES / "ct/sarcoma"
    image, truth = (sitk.DICOMOrient(sitk.ReadImage(folder / name), "LPS") for name in ("sts-012.nii.gz", "sts-012-gtv.nii.gz"))
    hu, truth = sitk.GetArrayFromImage(image).astype(float), sitk.GetArrayFromImage(truth) > 0
    assert example["slices"] == len(hu)
    z = example["slice"]
    wrong = ((maps_of(predicted_ct_val / "sts-012")[0] > 0) != truth).sum((1, 2))
    assert wrong[z] > 0.98 * wrong.max()
    grey = np.clip((hu[z] + 160) / 400, 0, 1) * 255
    for key, border in (("original", False), ("truth", True)):
        picture = Image.open(run / example[key]).convert("RGB")
        rows, columns = np.array(grey.shape) * np.array(image.GetSpacing())[1::-1]
        assert max(picture.size) == 512 and picture.size[1] / picture.size[0] == pytest.approx(rows / columns, rel=0.01)
        expected = np.asarray(Image.fromarray(grey.astype(np.uint8)).resize(picture.size, Image.BILINEAR)).astype(float)
        got = np.asarray(picture).astype(float)
        if not border:
            assert np.abs(got.mean(2) - expected).mean() < 6 < np.abs(got.mean(2)[:, ::-1] - expected).mean()
        else:
            inside = np.asarray(Image.fromarray(truth[z]).resize(picture.size, Image.NEAREST))
            coloured = np.ptp(got, axis=2) > 80
            assert coloured.any() == bool(truth[z].any()) and (coloured & ~inside).sum() <= 0.1 * max(1, coloured.sum())
