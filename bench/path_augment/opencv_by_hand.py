"""What a careful user writes by hand: one remap for affine and elastic, Macenko fitted on every fourth pixel each way, stain and HED
jitter as one 3×3 in optical density, the rest in place in float32. Not a package: the best that Python reached here."""
import numpy as np

PACKAGES = ("opencv-python-headless", "numpy")
NOTE = "hand-fused; Macenko fitted on a sixteenth of each patch's pixels"
PATCH, ALPHA, SIGMA = 512, 120.0, 6.0
MEAN, ISTD = np.array((0.485, 0.456, 0.406), np.float32), 1 / np.array((0.229, 0.224, 0.225), np.float32)
DENSITY = -np.log((np.arange(256, dtype=np.float32) + 1) / 256)
STAINS = np.array([[0.65, 0.70, 0.29], [0.07, 0.99, 0.11], [0.27, 0.57, 0.78]], np.float32)
STAINS /= np.linalg.norm(STAINS, axis=1, keepdims=True)
UNMIX = np.linalg.inv(STAINS)
ROWS, COLUMNS = np.mgrid[0:PATCH, 0:PATCH].astype(np.float32)


def fit(pixels):
    od = DENSITY[pixels[::4, ::4].reshape(-1, 3)]
    od = od[(od > 0.15).all(1)]
    _, vectors = np.linalg.eigh(np.cov(od.T))
    plane = vectors[:, 1:3]
    on_plane = od @ plane
    low, high = np.percentile(np.arctan2(on_plane[:, 1], on_plane[:, 0]), [1, 99])
    a, b = plane @ [np.cos(low), np.sin(low)], plane @ [np.cos(high), np.sin(high)]
    he = np.stack([a, b] if a[0] > b[0] else [b, a])
    he *= np.sign(he.sum(1, keepdims=True))
    return he, np.percentile(od @ np.linalg.pinv(he), 99, axis=0)


def stain_map(pixels, reference, rng, macenko):
    he, most = fit(pixels) if macenko else (None, None)
    to_reference = np.linalg.pinv(he) @ np.diag(reference[1] / most) @ reference[0] if macenko else np.eye(3)
    scale, shift = rng.uniform(0.95, 1.05, 3), rng.uniform(-0.05, 0.05, 3)
    jitter = UNMIX @ np.diag(scale) @ STAINS
    return np.hstack([(to_reference @ jitter).T, (shift @ STAINS)[:, None]]).astype(np.float32)


def warp(cv2, pixels, rng):
    noise = rng.random((2, PATCH, PATCH), dtype=np.float32)
    noise -= 0.5
    dx, dy = cv2.GaussianBlur(noise[0], (0, 0), SIGMA), cv2.GaussianBlur(noise[1], (0, 0), SIGMA)
    angle, scale, shear = np.deg2rad(rng.uniform(-180, 180)), rng.uniform(0.8, 1.25), np.deg2rad(rng.uniform(-5, 5))
    m = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ np.array([[1, np.tan(shear)], [0, 1]]) / scale
    c, move = (PATCH - 1) / 2, rng.uniform(-0.1, 0.1, 2) * PATCH
    x, y = COLUMNS - np.float32(c), ROWS - np.float32(c)
    map_x = np.float32(m[0, 0]) * x + np.float32(m[0, 1]) * y + np.float32(c + move[0]) + np.float32(2 * ALPHA) * dx
    map_y = np.float32(m[1, 0]) * x + np.float32(m[1, 1]) * y + np.float32(c + move[1]) + np.float32(2 * ALPHA) * dy
    return cv2.remap(pixels, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)


def colour(cv2, rgb, rng):
    rgb *= rng.uniform(0.8, 1.2)
    grey, contrast = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY).mean(), rng.uniform(0.8, 1.2)
    rgb *= contrast
    rgb += (1 - contrast) * grey
    np.clip(rgb, 0, 1, out=rgb)
    hsv = cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV)
    hsv[..., 1] *= rng.uniform(0.8, 1.2)
    hsv[..., 0] += rng.uniform(-18, 18)
    np.mod(hsv[..., 0], 360, out=hsv[..., 0])
    np.clip(hsv[..., 1], 0, 1, out=hsv[..., 1])
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)


def one_patch(reference):
    import cv2
    cv2.setNumThreads(0)
    rng, fitted = np.random.default_rng(0), fit(reference)

    def one(pixels, out, macenko=True):
        density = cv2.transform(cv2.LUT(warp(cv2, pixels, rng), DENSITY), stain_map(pixels, fitted, rng, macenko))
        rgb = cv2.exp(-density)
        np.clip(rgb, 0, 1, out=rgb)
        rgb = colour(cv2, rgb, rng)
        rgb += rng.standard_normal(rgb.shape, dtype=np.float32) * np.float32(0.02)
        rgb -= MEAN
        rgb *= ISTD
        out[:] = rgb.transpose(2, 0, 1)
    return one


def augment(context, patches, reference):
    one = one_patch(reference)
    out = np.empty((len(patches), 3, PATCH, PATCH), np.float32)

    def run():
        for pixels, place in zip(patches, out):
            one(pixels, place)
        return out
    return run
