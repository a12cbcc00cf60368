"""Writes golden_reference.json: what independent libraries make of the operations of headrace/transform.

    python tests/transform/golden_reference.py

Made with numpy 2.4.6, scipy 1.17.1, scikit-image 0.26.0, torchstain 1.3.0 on samples/tissue/*.png.
"""
import json
import pathlib

import numpy as np
import scipy
import skimage
from scipy.interpolate import BSpline
from scipy.ndimage import gaussian_filter
from skimage import color, io, transform
from torchstain.numpy.normalizers import NumpyMacenkoNormalizer

HERE = pathlib.Path(__file__).parent
TISSUE = HERE.parents[1] / "samples" / "tissue"
IO = 256  # OD = -log((v + 1) / 256), as in core/image_colour.hpp


def od10(rgb):
    return -np.log10((np.asarray(rgb, float) + 1) / 256)


def from_od10(od):
    return 256 * 10.0 ** -od - 1


def colours():
    return np.random.default_rng(1).integers(0, 256, (48, 3))


def hed():
    """Ruifrok's matrix as scikit-image has it; concentrations in base-10 OD."""
    factor, shift = [0.04, -0.03, 0.05], [-0.02, 0.03, 0.01]
    c = od10(colours()) @ color.hed_from_rgb
    out = from_od10((c * (1 + np.array(factor)) + np.array(shift)) @ color.rgb_from_hed)
    return {"factor": factor, "shift": shift, "in": colours().tolist(), "out": out.round(5).tolist()}


def jitter():
    """torchvision's blends (brightness with black, saturation with grey), contrast about 0.5, hue by YIQ."""
    brightness, contrast, saturation, hue = 1.13, 0.86, 1.21, 0.035
    v = colours() / 255
    v = v * brightness
    v = v * contrast + 0.5 * (1 - contrast)
    grey = v @ np.array([0.299, 0.587, 0.114])
    v = v * saturation + grey[:, None] * (1 - saturation)
    yiq = color.rgb2yiq(v[None])[0]
    turn = np.exp(2j * np.pi * hue)
    chroma = (yiq[:, 1] + 1j * yiq[:, 2]) * turn
    out = color.yiq2rgb(np.stack([yiq[:, 0], chroma.real, chroma.imag], 1)[None])[0]
    return {"brightness": brightness, "contrast": contrast, "saturation": saturation, "hue": hue,
            "in": colours().tolist(), "out": (255 * out).round(5).tolist()}


def oriented(he):
    return he * np.sign(he.sum(0))


def estimate(rgb, any_channel):
    """The paper's steps with numpy alone, base-10 OD."""
    od = od10(rgb.reshape(-1, 3))
    beta = 0.15 if any_channel else 0.15 / np.log(10)
    od = od[(od > beta).any(1) if any_channel else (od > beta).all(1)]
    _, v = np.linalg.eigh(np.cov(od.T))
    v = v[:, [2, 1]] * np.sign(v[:, [2, 1]].sum(0))
    t = od @ v
    lo, hi = np.percentile(np.arctan2(t[:, 1], t[:, 0]), [1, 99])
    pair = [v @ [np.cos(a), np.sin(a)] for a in (lo, hi)]
    he = oriented(np.stack(sorted(pair, key=lambda s: -s[0]), 1))
    c = np.linalg.lstsq(he, od.T, rcond=None)[0]
    return {"he": he.ravel().tolist(), "max": np.percentile(c, 99, axis=1).tolist(), "pixels": len(od),
            "od_mean": od.mean(0).tolist(), "od_std": od.std(0).tolist()}


def torchstain_estimate(rgb):
    """torchstain sees only the pixels that it takes for stained, since its maxima count the others too."""
    flat = rgb.reshape(-1, 3)
    stained = flat[(-np.log((flat.astype(float) + 1) / IO) >= 0.15).all(1)]
    n = NumpyMacenkoNormalizer()
    n.fit(stained[:, None, :], Io=IO)
    return {"he": oriented(n.HERef).ravel().tolist(), "max": (n.maxCRef / np.log(10)).tolist(),
            "pixels": len(stained)}


def macenko(rgb):
    """torchstain's normalisation of a crop to its own reference, at I0 = 256: 256·exp(-OD), so ours and 1."""
    crop = rgb[100:148, 200:248]
    n = NumpyMacenkoNormalizer()
    fitted = NumpyMacenkoNormalizer()
    fitted.fit(crop, Io=IO)
    reference = [0.5626, 0.2159, 0.7201, 0.8012, 0.4062, 0.5581]
    out, _, _ = n.normalize(crop, Io=IO, stains=False)
    return {"crop_yxhw": [100, 200, 48, 48], "he": fitted.HERef.ravel().tolist(),
            "max": (fitted.maxCRef / np.log(10)).tolist(), "reference_he": reference,
            "reference_max": (n.maxCRef / np.log(10)).tolist(), "out": out.ravel().tolist()}


def affine(rgb):
    """skimage.transform.warp, bilinear, with the inverse map written out: centres at + 0.5, about the patch's centre."""
    rotate, scale, shear = 33.0, 1.15, 4.0
    h, w, cy, cx = 24, 30, 120.25, 310.5
    t = np.deg2rad(rotate)
    turn = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])  # of (x, y)
    m = turn @ np.array([[1, np.tan(np.deg2rad(shear))], [0, 1]]) / scale
    shift = np.array([cx, cy]) - 0.5 + m @ (0.5 - np.array([w / 2, h / 2]))  # skimage: centres at whole numbers
    inverse = transform.AffineTransform(matrix=np.block([[m, shift[:, None]], [np.array([[0, 0, 1]])]]))
    out = transform.warp(rgb.astype(float), inverse, output_shape=(h, w), order=1, preserve_range=True)
    return {"rotate_deg": rotate, "scale": scale, "shear_deg": shear, "height": h, "width": w,
            "centre_yx": [cy, cx], "out": out.round(4).ravel().tolist()}


def spline():
    """A tensor-product cubic B-spline by scipy: displacement at pixel centres of a 40 × 50 patch of 4 × 4 cells."""
    grid, h, w = 4, 40, 50
    rng = np.random.default_rng(2)
    control = rng.uniform(-10, 10, (2, grid + 3, grid + 3)).round(6)
    knots = np.arange(-3, grid + 4)
    def basis(size):
        g = (np.arange(size) + 0.5) * grid / size
        return np.stack([BSpline(knots, np.eye(grid + 3)[i], 3)(g) for i in range(grid + 3)], 1)
    field = np.einsum("yi,kij,xj->kyx", basis(h), control, basis(w))
    return {"grid": grid, "height": h, "width": w, "control_y": control[0].ravel().tolist(),
            "control_x": control[1].ravel().tolist(), "y": field[0, ::3, ::3].round(6).ravel().tolist(),
            "x": field[1, ::3, ::3].round(6).ravel().tolist()}


def blur(rgb):
    crop = rgb[10:34, 20:50].astype(float)
    sigma = 1.3
    out = np.stack([gaussian_filter(crop[..., c], sigma, mode="mirror", truncate=4) for c in range(3)])
    return {"crop_yxhw": [10, 20, 24, 30], "sigma": sigma, "out": out.round(4).ravel().tolist()}


def main():
    target, lung = (io.imread(TISSUE / f)[..., :3] for f in ("stain_target.png", "tcga-lung-rgb.png"))
    golden = {
        "made_with": {"numpy": np.__version__, "scipy": scipy.__version__, "skimage": skimage.__version__,
                      "torchstain": "1.3.0"},
        "hed": hed(), "jitter": jitter(), "macenko": macenko(target), "affine": affine(target),
        "spline": spline(), "blur": blur(target),
        "estimate": {name: {"log10_any": estimate(rgb, True), "ln_all": estimate(rgb, False),
                            "torchstain": torchstain_estimate(rgb)}
                     for name, rgb in (("stain_target.png", target), ("tcga-lung-rgb.png", lung))},
    }
    (HERE / "golden_reference.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
