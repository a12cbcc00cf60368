"""The page of `headrace view` in a real browser: what is on the screen is the image's own pixels, at the right place, and what is clicked
reaches the server."""
import contextlib
import io
import shutil
import time

import imageio.v3 as iio
import numpy as np
import pytest
import scipy.ndimage
import tifffile
import zarr
from chromium import CHROMIUM, Browser
from view_server import serving

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="not run: there is no Chromium")

WINDOW = (-160, 240)


@pytest.fixture(scope="module")
def served(cohort, predicted, ct_cohort, predicted_ct_val, tmp_path_factory):
    """Slides and scans with annotations and with results, beside which verdicts are kept."""
    folder = tmp_path_factory.mktemp("view")
    slides, scans = shutil.copytree(predicted, folder / "slides"), shutil.copytree(predicted_ct_val, folder / "scans")
    with serving(cohort / "s.zarr", slides, ct_cohort / "ct.zarr", scans) as server:
        yield server


@pytest.fixture
def page(served, tmp_path):
    browser = Browser(tmp_path / "profile")
    browser.open(served.url)
    browser.wait("document.querySelector('#items [aria-selected=true]') && document.querySelector('#place')?.dataset.x")
    yield browser
    browser.close()
    others = [url for url in browser.requests if not url.startswith((served.base + "/", "data:", f"blob:{served.base}/", "about:"))]
    assert not others, f"the page asked other hosts: {others}"
    assert not [problem for problem in browser.problems if "Content Security" in problem], browser.problems


def item_of(served, kind):
    """The first item of this kind with findings, whole."""
    listed = served.get("/api/items")["items"]
    n = next(item["n"] for item in listed if item["kind"] == kind and item["findings"])
    return served.get(f"/api/items/{n}")


def choose(page, item):
    page.click_on(f"#items-{item['n']}")
    page.wait(f"location.hash === '#{item['n']}' && document.querySelectorAll('#findings li').length === {item['findings']}")
    settle(page)


def settle(page):
    """Waits until nothing is being loaded and the stage's picture stands still."""
    last = None
    for _ in range(100):
        page.wait(lambda: not page.pending())
        now = page.screenshot(page.box("#stage"))
        if now == last:
            return
        last = now
        time.sleep(0.7)
    raise AssertionError("the picture does not come to rest")


def picture(page, selector):
    return iio.imread(io.BytesIO(page.screenshot(page.box(selector))))[..., :3].astype(float)


def place(page):
    """(y, x, level-0 pixels a screen pixel) of the middle of the first pane."""
    return tuple(float(page.evaluate(f"document.querySelector('#place').dataset.{key}")) for key in ("y", "x", "pixels"))


def middle(page, selector):
    x, y, width, height = page.box(selector)
    return np.array([x + width / 2, y + height / 2])


def test_the_slide_on_the_screen_is_the_slide(page, served, cohort):
    item = item_of(served, "slide")
    choose(page, item)
    page.key("o")
    page.key("0")
    settle(page)
    shown = picture(page, ".pane .slide")
    y, x, pixels = place(page)
    slide = tifffile.imread(cohort / f"in/slides/{item['id']}.tif", level=0).astype(float)
    assert slide.shape[:2] == (item["height"], item["width"])
    # Every tenth screen pixel in the middle of the slide, away from navigator and bars, against the mean of the pixels below it.
    size = int(pixels)
    rows, columns = np.mgrid[-200:201:10, -200:201:10]
    smooth = scipy.ndimage.uniform_filter(slide, (2 * size + 1, 2 * size + 1, 1))
    expected = smooth[(y + rows * pixels).astype(int), (x + columns * pixels).astype(int)]
    blurred = scipy.ndimage.uniform_filter(shown, (3, 3, 1))
    found = blurred[shown.shape[0] // 2 + rows, shown.shape[1] // 2 + columns]
    assert expected.std() > 15
    assert np.abs(found - expected).mean() < 8
    assert np.abs(found - expected[::-1]).mean() > 12  # a mirrored slide would not do


def test_a_finding_is_gone_to_and_outlined(page, served):
    item = item_of(served, "slide")
    choose(page, item)
    finding = served.get(f"/api/items/{item['n']}/findings")["findings"][0]
    page.click_on("#findings-0")
    settle(page)
    y0, x0, y1, x1 = finding["box"]
    y, x, pixels = place(page)
    assert abs(y - (y0 + y1) / 2) < 2 * pixels and abs(x - (x0 + x1) / 2) < 2 * pixels
    _, _, width, height = page.box(".pane .marks .box:not(.under)")
    assert np.allclose([height * pixels, width * pixels], [y1 - y0, x1 - x0], atol=6 * pixels)
    assert np.abs(middle(page, ".pane .marks .box:not(.under)") - middle(page, ".pane .slide")).max() < 2
    assert finding["title"] in page.evaluate("document.querySelector('#verdict').textContent")


def test_overlay_and_opacity_change_the_picture(page, served):
    item = item_of(served, "slide")
    choose(page, item)
    page.key("0")
    settle(page)
    half = picture(page, ".pane .slide")
    page.key("o")
    page.wait(lambda: np.abs(half - picture(page, ".pane .slide")).mean() > 1)
    settle(page)
    bare = picture(page, ".pane .slide")
    page.key("o")
    page.key("]")
    page.key("]")
    page.wait(lambda: np.abs(picture(page, ".pane .slide") - bare).mean() > 1.1 * np.abs(half - bare).mean())


def test_side_by_side_moves_together(page, served):
    item = item_of(served, "slide")
    choose(page, item)
    page.key("j")
    page.key("s")
    page.wait("document.querySelectorAll('.pane .marks .box.under').length === 3")
    settle(page)
    assert page.evaluate("[...document.querySelectorAll('.pane-title')].map((t) => t.textContent)")[1:] == ["Prediction", "Annotation"]

    def offsets():
        return [middle(page, f".pane:nth-child({i}) .marks .box.under") - middle(page, f".pane:nth-child({i}) .slide") for i in (1, 2, 3)]

    before = offsets()
    start = middle(page, ".pane:nth-child(2) .slide")
    page.drag(start, start + [40, 60])
    settle(page)
    after = offsets()
    assert np.abs(after[1] - before[1] - [40, 60]).max() < 4
    assert np.abs(after[0] - after[1]).max() < 1.5 and np.abs(after[2] - after[1]).max() < 1.5


def test_verdicts_are_saved_and_come_back(page, served):
    item = item_of(served, "slide")
    choose(page, item)
    finding = served.get(f"/api/items/{item['n']}/findings")["findings"][0]
    names = [entry["name"] for layer in item["layers"] if layer["name"] == "prediction" for entry in layer["classes"] if entry["value"] > 0]
    other = next(k for k, name in enumerate(names) if name != finding["class"])
    page.key("j")
    for key, word, expected in (("a", "accepted", {"verdict": "accept"}), ("r", "rejected", {"verdict": "reject"}),
                                (str(other + 1), f"changed to {names[other]}", {"verdict": "reclass", "class": names[other]})):
        page.key(key)
        page.wait(f"document.querySelector('#verdict-state').textContent.startsWith('{word}')")
        assert expected.items() <= served.verdict(item["n"]).items()
    page.open(served.base + "/")
    page.wait(f"!document.querySelector('#verdict-state') && document.querySelector('#items-{item['n']}')")
    choose(page, item)
    assert f"changed to {names[other]}" in page.evaluate("document.querySelector('#findings-0').textContent")
    page.key("j")
    page.key("x")
    page.wait("document.querySelector('#verdict-state').textContent.startsWith('no verdict')")
    assert served.verdict(item["n"]) is None


def test_a_drawn_outline_is_saved_where_it_was_drawn(page, served):
    item = item_of(served, "slide")
    choose(page, item)
    page.click_on("#findings-0")
    settle(page)
    page.key("d")
    centre = middle(page, ".pane .slide")
    corners = [(-60, -50), (70, -40), (10, 80)]
    for dx, dy in corners:
        page.click(*(centre + [dx, dy]))
        time.sleep(0.5)  # two clicks closer in time are a double click
    y, x, pixels = place(page)
    page.key("Enter")
    page.key("a")
    page.wait("document.querySelector('#verdict-state').textContent.startsWith('accepted, outline corrected')")
    (ring,) = served.verdict(item["n"])["outline"]
    assert np.allclose(ring, [[y + dy * pixels, x + dx * pixels] for dx, dy in corners], atol=1.5 * pixels)
    assert page.evaluate("document.querySelectorAll('.pane .marks polygon').length") == 2
    page.key("x")
    page.wait("document.querySelector('#verdict-state').textContent.startsWith('no verdict')")


def planes_of(page):
    """[left, top, width, height] of the planes on the screen, in Neuroglancer's order."""
    return page.evaluate("[...document.querySelector('iframe').contentDocument.querySelectorAll('.neuroglancer-rendered-data-panel')].map((p) => "
                         "{ const b = p.getBoundingClientRect(), f = document.querySelector('iframe').getBoundingClientRect(); "
                         "return [f.x + b.x, f.y + b.y, b.width, b.height]; })")


def test_ct_shows_three_planes_as_radiologists_look_at_them(page, served, ct_cohort):
    item = item_of(served, "volume")
    choose(page, item)
    page.wait("document.querySelector('iframe')?.contentWindow.viewer?.position.value.length === 3")
    page.key("o")
    page.key("0")
    settle(page)
    state = page.evaluate("document.querySelector('iframe').contentWindow.viewer.state.toJSON()")
    spacing = np.array(item["spacing_zyx_mm"])
    mm = state.get("crossSectionScale", 1) * spacing.min()  # a screen pixel
    middle_zyx = np.array(item["shape_zyx"]) // 2 + 0.5
    (store,) = [path for path in (ct_cohort / "ct.zarr/images").iterdir() if path.name == item["id"]]
    volume = zarr.open_array(store / "0", mode="r")[:]
    grey = np.clip((volume.reshape(item["shape_zyx"]).astype(float) - WINDOW[0]) / (WINDOW[1] - WINDOW[0]), 0, 1) * 255
    rows, columns = np.mgrid[-90:91:6, -90:91:6]
    rows, columns = rows[np.abs(rows[:, 0]) > 3], columns[np.abs(rows[:, 0]) > 3]
    screen = iio.imread(io.BytesIO(page.screenshot()))[..., :3].astype(float)
    # (axis and sign of right, of down): left of the patient on the right, front above; head above.
    planes = (((2, 1), (1, 1)), ((2, 1), (0, -1)), ((1, 1), (0, -1)))
    boxes = planes_of(page)
    assert len(boxes) == 3
    for (left, top, width, height), ((right, _), (down, sign)) in zip(boxes, planes):
        index = np.broadcast_to(middle_zyx[:, None, None], (3, *rows.shape)).copy()
        index[right] += columns * mm / spacing[right]
        index[down] += sign * rows * mm / spacing[down]
        inside = np.all((index >= 0) & (index < np.array(item["shape_zyx"])[:, None, None]), axis=0)
        expected = np.where(inside, grey[tuple(np.clip(np.floor(index).astype(int), 0, np.array(item["shape_zyx"])[:, None, None] - 1))], 0)
        away = np.abs(columns) > 6  # the crosshair's lines

        def likeness(expected):
            """The best correlation with the screen within a pixel."""
            grey_at = [screen[int(top + height / 2) + rows + dy, int(left + width / 2) + columns + dx].mean(axis=-1)
                       for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
            return max(np.corrcoef(found[away], expected[away])[0, 1] for found in grey_at)

        assert likeness(expected) > 0.93
        assert max(likeness(expected[::-1]), likeness(expected[:, ::-1])) < 0.85


def test_ct_findings_windows_and_keys_inside_the_planes(page, served):
    item = item_of(served, "volume")
    choose(page, item)
    page.wait("document.querySelector('iframe')?.contentWindow.viewer?.position.value.length === 3")
    settle(page)
    page.click_on("#findings-0")
    z, y, x = served.get(f"/api/items/{item['n']}/findings")["findings"][0]["centre"]
    page.wait("JSON.stringify([...document.querySelector('iframe').contentWindow.viewer.position.value]) === "
              f"JSON.stringify([...new Float32Array([{x + 0.5}, {y + 0.5}, {z + 0.5}])])")
    settle(page)
    left, top, width, height = planes_of(page)[0]
    page.wheel(left + width / 3, top + height / 3, 120)
    page.wait("Math.round(Math.abs(document.querySelector('iframe').contentWindow.viewer.position.value[2] - " f"{z + 0.5})) === 1")
    page.click_on("#findings-0")
    settle(page)
    soft = picture(page, "#panes")
    page.key("o")
    page.wait(lambda: (np.abs(picture(page, "#panes") - soft).max(axis=-1) > 20).sum() > 100)  # the finding's voxels were coloured
    page.key("o")
    settle(page)
    page.evaluate("(() => { const w = document.querySelector('#window'); w.value = '-1350,150'; w.dispatchEvent(new Event('change')); })()")
    page.wait(lambda: picture(page, "#panes").mean() > soft.mean() + 5)
    assert page.evaluate("[...document.querySelector('iframe').contentWindow.viewer.position.value][2]") == pytest.approx(z + 0.5)
    page.click(left + width / 3, top + height / 3)
    assert page.evaluate("document.activeElement.tagName") == "IFRAME"
    page.key("a")
    page.wait("document.querySelector('#verdict-state').textContent.startsWith('accepted')")
    page.key("s")
    page.wait("document.querySelectorAll('.pane-title').length === 3")
    page.wait(lambda: len(planes_of(page)) == 9)
    page.key("x")
    page.wait("document.querySelector('#verdict-state').textContent.startsWith('no verdict')")


def test_the_list_is_filtered_and_stepped_through(page, served):
    items = served.get("/api/items")["items"]
    page.key("n")
    page.wait("location.hash === '#1'")
    page.key("p")
    page.wait("location.hash === '#0'")
    page.evaluate(f"(() => {{ const f = document.querySelector('#filter'); f.value = '{items[-1]['id'].upper()}'; "
                  "f.dispatchEvent(new Event('input')); })()")
    assert page.evaluate("document.querySelectorAll('#items li').length") == sum(items[-1]["id"] in item["id"] for item in items)


def test_everything_has_a_name_and_says_that_it_is_research(page):
    nameless = page.evaluate("""[...document.querySelectorAll('button, input, select, iframe, [role=listbox]')].filter((e) =>
      !(e.textContent.trim() || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.title || e.labels?.length)
    ).map((e) => e.outerHTML)""")
    assert nameless == []
    x, y, width, height = page.box("#notice")
    assert "no diagnosis" in page.evaluate("document.querySelector('#notice').textContent") and width > 50 and x + width <= 1280
    page.key("?")
    assert page.evaluate("document.querySelector('#help').open && document.querySelectorAll('#help dt').length") >= 12


def test_a_server_that_went_away_is_said(cohort, predicted, tmp_path):
    browser = Browser(tmp_path / "profile")
    with serving(cohort / "s.zarr", shutil.copytree(predicted, tmp_path / "out")) as server, contextlib.closing(browser):
        browser.open(server.url)
        item = item_of(server, "slide")
        browser.wait(f"document.querySelector('#items-{item['n']}')")
        choose(browser, item)
        browser.key("j")
        before = browser.evaluate("document.querySelector('#verdict-state').textContent")
        server.stop()
        browser.key("a")
        browser.wait("!document.querySelector('#message').hidden")
        assert "does not answer" in browser.evaluate("document.querySelector('#message').textContent")
        assert browser.evaluate("document.querySelector('#verdict-state').textContent") == before
