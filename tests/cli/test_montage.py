"""The picture that `sample` makes: outside of a slide the stored pixels have the colour of its glass."""
import imageio.v3 as iio
import numpy as np
from driving import headrace, write_config


def test_beside_grey_glass_the_padding_is_grey(tmp_path):
    rng = np.random.default_rng(4)
    pixels = np.full((256, 256, 3), (245, 244, 246), np.uint8)
    pixels[:, 96:] = rng.integers(0, 60, (256, 160, 3)) + np.array([150, 60, 140])
    iio.imwrite(tmp_path / "slide.png", pixels.astype(np.uint8))
    headrace("ingest", "slides", tmp_path / "slide.png", "--mpp", 0.5, "--val-fraction", 0, "--out", tmp_path / "s.zarr")
    config = write_config(tmp_path / "run.yaml", tmp_path / "s.zarr", patch=160, transforms="")
    text = config.read_text().replace("batch: 4", "batch: 4, keep_inside: false, balance: tissue").replace("data: {store", "data: {labels: null, store")
    config.write_text(text)
    headrace("sample", "--config", config, "--count", 12, "--out", tmp_path / "m.png")
    picture = iio.imread(tmp_path / "m.png").astype(int)
    # Blocks of 160 pixels: the stored one, a gap of 4, the model's; whatever the page's colour, the stored ones have no white.
    white = (picture == 255).all(-1)
    glass = (picture == (245, 244, 246)).all(-1)
    left = np.zeros_like(white)
    for x in range(12, picture.shape[1] - 320, 2 * 160 + 4 + 12):
        left[:, x:x + 160] = True
    assert white.sum() > 1000, "no patch leaves the slide: the test shows nothing"
    assert not (white & left).any() and (glass & left).sum() > (glass & ~left).sum()
