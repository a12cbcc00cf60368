"""What a reviewer does on the page of `headrace view` and then saves: verdicts by keys, outlines drawn with the mouse on a slide and on a CT, and the
button that makes a label set of them; its pixels are those of the outlines."""
import contextlib
import json
import shutil
import time

import numpy as np
import pytest
import scipy.ndimage
import zarr
from chromium import CHROMIUM, Browser
from driving import headrace, label_group
from outline_voxels import inside
from view_server import serving

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="not run: there is no Chromium")

CORNERS = [(-70, -60), (80, -45), (60, 75), (-20, 40)]  # screen pixels from the middle, (x, y)
BETWEEN = 0.6  # seconds: two clicks closer in time are a double click


@contextlib.contextmanager
def page_on(server, folder):
    browser = Browser(folder / "profile")
    try:
        browser.open(server.url)
        browser.wait("document.querySelector('#items [aria-selected=true]') && document.querySelector('#place')?.dataset.x")
        yield browser
        assert not browser.problems, browser.problems
    finally:
        browser.close()


def choose(page, item):
    page.click_on(f"#items-{item['n']}")
    page.wait(f"location.hash === '#{item['n']}' && document.querySelectorAll('#findings li').length === {item['findings']}")


def place(page, *names):
    return [float(page.evaluate(f"document.querySelector('#place').dataset.{name}")) for name in names]


def at_rest(page):
    """Waits until the picture stays where it is: on a slow machine it is still on its way when the text beside it is there."""
    before = None
    for _ in range(50):
        now = page.evaluate("JSON.stringify(document.querySelector('#place').dataset)")
        if now == before:
            return
        before = now
        time.sleep(0.4)
    raise AssertionError(f"the picture still moves: {before}")


def draw(page, selector, corners=CORNERS):
    """Clicks the corners around the middle of an element; Enter closes the outline."""
    at_rest(page)
    x, y, width, height = page.box(selector)
    for dx, dy in corners:
        page.click(x + width / 2 + dx, y + height / 2 + dy)
        time.sleep(BETWEEN)
    page.key("Enter")


def says(page, text):
    page.wait(f"document.querySelector('#verdict-state')?.textContent.startsWith({json.dumps(text)})")


def save(page):
    """Presses the button; the layers that the page offers then, and which of them are switched on."""
    page.click_on("#save-labels")
    page.wait("!document.querySelector('#message').hidden")
    assert "Saved as label set review-mm" in page.evaluate("document.querySelector('#message').textContent")
    page.wait("!document.querySelector('#save-labels').disabled")
    return page.evaluate("Object.fromEntries([...document.querySelectorAll('#layers fieldset')].map((f) => "
                         "[f.dataset.layer, f.querySelector('[type=checkbox]').checked]))")


def labels_of(store, image):
    return zarr.open_array(store / label_group(store, image, "review-mm") / "0", mode="r")[:]


def test_a_reviewed_slide_is_saved(cohort, tmp_path):
    store = shutil.copytree(cohort / "s.zarr", tmp_path / "s.zarr")
    headrace("predict", "--run", cohort / "run", store, "--split", "val", "--min-region-mm2", 0.001, "--out", tmp_path / "out")
    with serving(store, tmp_path / "out", "--reviewer", "mm") as server, page_on(server, tmp_path) as page:
        item = max(server.items().values(), key=lambda item: item["findings"])
        classes = {entry["name"]: entry["value"] for layer in item["layers"] if layer["name"] == "prediction" for entry in layer["classes"]}
        findings = server.get(f"/api/items/{item['n']}/findings")["findings"]
        choose(page, item)
        page.key("j")
        page.key("r")
        says(page, "rejected")
        page.key("j")
        says(page, "no verdict")
        other = next(name for name in classes if name != findings[1]["class"])
        page.key(str(list(classes).index(other) + 1))
        says(page, f"changed to {other}")
        page.key("j")
        box = findings[2]["box"]
        page.wait(f"Math.abs(document.querySelector('#place').dataset.x - {(box[1] + box[3]) / 2}) < 5")
        page.key("d")
        draw(page, ".pane .slide")
        y, x, pixels = place(page, "y", "x", "pixels")
        page.key("a")
        says(page, "accepted, outline corrected")
        layers = save(page)
        assert layers["annotation:review-mm"] and layers["prediction"]
        verdicts = [finding["verdict"] for finding in server.get(f"/api/items/{item['n']}/findings")["findings"]]
    assert [verdict and verdict["verdict"] for verdict in verdicts[:4]] == ["reject", "reclass", "accept", None]
    (ring,) = verdicts[2]["outline"]
    assert np.allclose(ring, [[y + dy * pixels, x + dx * pixels] for dx, dy in CORNERS], atol=1.5 * pixels)
    stored = labels_of(store, item["id"])
    predicted = zarr.open_array(tmp_path / f"out/{item['id']}/labels/classes/0", mode="r")[:]
    expected = np.full(stored.shape, 255, np.uint8)
    for finding, value in ((findings[0], 0), (findings[1], classes[other])):
        expected[region_of(predicted == classes[finding["class"]], finding["box"], stored.shape)] = value
    drawn = inside([ring], stored.shape)
    expected[drawn] = classes[findings[2]["class"]]
    np.testing.assert_array_equal(stored, expected)
    assert drawn.sum() > 1000 and {0, classes[other]} <= set(stored[~drawn])
    headrace("verify", store)


def test_outlines_drawn_on_a_ct_are_saved(ct_cohort, predicted_ct_val, tmp_path):
    store, out = shutil.copytree(ct_cohort / "ct.zarr", tmp_path / "ct.zarr"), shutil.copytree(predicted_ct_val, tmp_path / "out")
    lesions = zarr.open_group(out / "sts-012", mode="r")["labels/lesions/0"][:]
    with serving(store, out, "--reviewer", "mm") as server, page_on(server, tmp_path) as page:
        item = server.items()["sts-012"]
        path = f"/api/items/{item['n']}/outlines"
        choose(page, item)
        facts = server.get(f"/api/items/{item['n']}")
        page.key("j")
        page.key("j")
        page.key("r")
        says(page, "rejected")
        z = round(server.get(f"/api/items/{item['n']}/findings")["findings"][1]["centre"][0])
        page.wait(f"document.querySelector('#place').dataset.z == {z + 0.5}")
        page.key("d")
        page.wait(f"document.querySelector('canvas.slice') && document.querySelector('#place').textContent.startsWith('slice {z + 1} of')")
        page.evaluate("document.querySelector('input[name=drawn-class][value=tumour]').click()")
        draw(page, "canvas.slice")
        y, x, mm = place(page, "y", "x", "mm")
        page.wait("document.querySelectorAll('.drawn-list li').length === 1")
        _, sy, sx = facts["spacing_zyx_mm"]
        expected = [[y + dy * mm / sy, x + dx * mm / sx] for dx, dy in CORNERS]
        ring = page_ring(server, path, z)
        np.testing.assert_allclose(ring, expected, atol=0.02)
        # A corner is dragged; the change is taken back and the corner dragged elsewhere.
        left, top, width, height = page.box("canvas.slice")
        middle = np.array([left + width / 2, top + height / 2])
        for end in ((20, -90), (95, -80)):
            page.drag(middle + CORNERS[1], middle + end)
            server_has(server, path, z, lambda rings, end=end: np.allclose(rings[0][1], [y + end[1] * mm / sy, x + end[0] * mm / sx], atol=0.02))
            if end == (20, -90):
                page.key("u")
                server_has(server, path, z, lambda rings: rings[0] == ring)
        # On the next slice a copy of it, and a hole erased in it.
        page.key("ArrowUp")
        page.wait(f"document.querySelector('#place').textContent.startsWith('slice {z + 2} of')")
        page.key("c")
        page.wait("document.querySelectorAll('.drawn-list li').length === 1")
        page.evaluate("document.querySelector('input[name=drawn-class][value=background]').click()")
        draw(page, "canvas.slice", [(0, -30), (30, 0), (0, 30), (-30, 0)])
        page.wait("document.querySelectorAll('.drawn-list li').length === 2")
        # Lesion 1 as it is on the slice above, as an outline of its class.
        page.click_on("#findings-0")  # the list has the focus then
        k = round(server.get(f"/api/items/{item['n']}/findings")["findings"][0]["centre"][0])
        page.wait(f"document.querySelector('#place').textContent.startsWith('slice {k + 1} of')")
        page.key("t")
        page.wait("[...document.querySelectorAll('.drawn-list li')].at(-1)?.textContent.startsWith('tumour')")
        slices = server.get(path)["slices"]
        assert set(slices) == {str(z), str(z + 1), str(k)}
        rings, (_, height, width) = json.dumps(slices[str(z)][0]["rings"]), lesions.shape
        filled = page.evaluate("import('/assets/slice_pixels.js').then(({eachInside}) => { const found = []; "
                               f"eachInside({rings}, {width}, {height}, (i) => found.push(i)); return found; }})")
        layers = save(page)
        assert layers["annotation:review-mm"]
        page.open(server.base + "/")  # all of it is still there
        page.wait(f"document.querySelector('#items-{item['n']}')")
        choose(page, item)
        page.wait("document.querySelector('#outlines-count')?.textContent.includes('slices')")
        page.wait("document.querySelector('iframe')?.contentWindow.viewer?.position.value.length === 3")
    expected = np.full(lesions.shape, 255, np.uint8)
    expected[lesions == 2] = 0
    for key, outlines in slices.items():
        for outline in outlines:
            expected[int(key)][inside(outline["rings"], lesions.shape[1:])] = {"tumour": 1, "background": 0}[outline["class"]]
    np.testing.assert_array_equal(np.flatnonzero(inside(slices[str(z)][0]["rings"], lesions.shape[1:])), filled)
    taken = slices[str(k)][-1]
    assert taken["class"] == "tumour" and (inside(taken["rings"], lesions.shape[1:]) == (lesions[k] == 1)).all()
    stored = labels_of(store, "sts-012")
    np.testing.assert_array_equal(stored, expected)
    assert (stored[z] == 1).sum() > (stored[z + 1] == 1).sum() > 0
    headrace("verify", store)


def region_of(there, box, shape):
    """Level-0 pixels of the one connected part of a map, whose pixels are 8 wide, that fills this box."""
    marked, _ = scipy.ndimage.label(there)
    found = [k for k, (y, x) in enumerate(scipy.ndimage.find_objects(marked), 1) if [8 * n for n in (y.start, x.start, y.stop, x.stop)] == box]
    assert len(found) == 1
    return np.kron(marked == found[0], np.ones((8, 8), bool))[:shape[0], :shape[1]]


def page_ring(server, path, z):
    (outline,) = server.get(path)["slices"][str(z)]
    (ring,) = outline["rings"]
    return ring


def server_has(server, path, z, good):
    """Waits until the first outline of a slice is as wanted."""
    until = time.monotonic() + 60
    while not good(rings := server.get(path)["slices"][str(z)][0]["rings"]):
        assert time.monotonic() < until, rings
        time.sleep(0.1)
