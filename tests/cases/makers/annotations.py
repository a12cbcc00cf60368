"""Slides of 300 × 400 pixels with annotations and tables as other programs write them. Every annotation shows the same square, rows 50 to 150 and
columns 60 to 200, unless its case says otherwise."""
import json

import imagecodecs
import numpy as np
import tifffile
from PIL import Image

HEIGHT, WIDTH = 300, 400
SQUARE = (slice(50, 150), slice(60, 200))


def tissue(seed):
    image = np.full((HEIGHT, WIDTH, 3), 242, np.uint8)
    noise = np.random.default_rng(seed).integers(0, 40, (200, 280, 3))
    image[40:240, 50:330] = np.array([150, 80, 140]) + noise
    return image


def write_image(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(pixels, list):
        tifffile.imwrite(path, np.stack(pixels), volumetric=True, tile=(len(pixels), 128, 128), photometric="minisblack", metadata=None)
    elif path.suffix == ".png":
        path.write_bytes(imagecodecs.png_encode(np.ascontiguousarray(pixels)))
    else:
        tifffile.imwrite(path, pixels, tile=(128, 128), compression="zlib", photometric="rgb" if pixels.shape[-1] in (3, 4) else "minisblack",
                         extrasamples=["unassalpha"] if pixels.shape[-1] == 4 else None,
                         resolution=(20000, 20000), resolutionunit="CENTIMETER")


def painted(dtype, *values, size=(HEIGHT, WIDTH)):
    """values: outside and inside of the square."""
    mask = np.full(size, values[0], dtype)
    mask[SQUARE] = values[1]
    return mask


def coloured(outside, inside):
    mask = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    mask[:] = outside
    mask[SQUARE] = inside
    return mask


def with_more(mask, value, rows=10):
    mask[-rows:] = value
    return mask


MASKS = {
    "0_1": lambda: painted(np.uint8, 0, 1),
    "0_255": lambda: painted(np.uint8, 0, 255),
    "0_65535": lambda: painted(np.uint16, 0, 65535),
    "255": lambda: painted(np.uint8, 255, 255),
    "0": lambda: painted(np.uint8, 0, 0),
    "1_255": lambda: painted(np.uint8, 255, 1),
    "0_128": lambda: painted(np.uint8, 0, 128),
    "0_1_3_7": lambda: with_more(with_more(painted(np.uint8, 0, 1), 3, 20), 7),
    "int8": lambda: painted(np.int8, 0, 1),
    "int16": lambda: painted(np.int16, 0, 1),
    "int32": lambda: painted(np.int32, 0, 1),
    "uint32": lambda: painted(np.uint32, 0, 1),
    "int64": lambda: painted(np.int64, 0, 1),
    "float16": lambda: painted(np.float16, 0, 1),
    "float32": lambda: painted(np.float32, 0, 0.9999999),
    "float64": lambda: painted(np.float64, 0.0004, 1.0004),
    "float_255": lambda: painted(np.float32, 0, 255),
    "fraction": lambda: painted(np.float32, 0, 0.5),
    "nan": lambda: painted(np.float32, 0, np.nan),
    "minus": lambda: painted(np.int16, -1, 1),
    "objects": lambda: with_more(painted(np.int32, 0, 70000), 3),
    "grey_rgb": lambda: coloured((0, 0, 0), (1, 1, 1)),
    "grey_rgb_255": lambda: coloured((0, 0, 0), (255, 255, 255)),
    "colours": lambda: coloured((0, 255, 0), (255, 0, 0)),
    "red": lambda: coloured((0, 0, 0), (255, 0, 0)),
    "first_channel": lambda: coloured((0, 0, 0), (1, 0, 0)),
    "half": lambda: painted(np.uint8, 0, 1)[::2, ::2],
    "third_down": lambda: painted(np.uint8, 0, 1)[::3, :399:3],  # 400 / 3 = 133.3
    "third_up": lambda: painted(np.uint8, 0, 1)[::3, ::3],
    "row_less": lambda: painted(np.uint8, 0, 1)[:-1],
    "row_more": lambda: np.pad(painted(np.uint8, 0, 1), ((0, 1), (0, 0))),
    "two_rows_more": lambda: np.pad(painted(np.uint8, 0, 1), ((0, 2), (0, 0))),
    "turned": lambda: painted(np.uint8, 0, 1).T.copy(),
    "alpha": lambda: np.dstack([coloured((0, 0, 0), (0, 0, 0)), painted(np.uint8, 0, 255)]),
    "deep": lambda: [painted(np.uint8, 0, 1)] * 2,
    "opaque": lambda: np.dstack([coloured((0, 0, 0), (1, 1, 1)), painted(np.uint8, 255, 255)]),
}


def write_palette(path, mask):
    """As labelme and the VOC challenge write masks: the value is a place in a table of colours."""
    image = Image.fromarray(mask, "P")
    image.putpalette([0, 0, 0, 128, 0, 0] + [17, 99, 3] * 254)
    image.save(path)


def turned_mask(folder, name="case1.png", orientation=6):
    """A mask whose file says that its picture is to be turned."""
    cohort(folder)
    path = folder / "annotations" / name
    mask = MASKS["0_1"]()
    if name.endswith(".png"):
        exif = Image.Exif()
        exif[274] = orientation
        Image.fromarray(mask).save(path, exif=exif)
    else:
        tifffile.imwrite(path, mask, extratags=[(274, "H", 1, orientation, True)])


def cohort(folder, images=("case1.tif",), masks=None, palettes=None, texts=None, encoding="utf-8", tables=None):
    """images: below slides/. masks: files of annotations/ by kind. texts: files of annotations/, objects as JSON. tables: files beside the slides,
    with their text."""
    for number, name in enumerate(images):
        write_image(folder / "slides" / name, tissue(number))
    (folder / "annotations").mkdir(exist_ok=True)
    for name, kind in (masks or {}).items():
        write_image(folder / "annotations" / name, MASKS[kind]())
    for name, kind in (palettes or {}).items():
        write_palette(folder / "annotations" / name, MASKS[kind]())
    for name, text in (texts or {}).items():
        (folder / "annotations" / name).write_bytes((text if isinstance(text, str) else json.dumps(text)).encode(encoding))
    for name, text in (tables or {}).items():
        (folder / name).write_bytes(text.encode(encoding))


SCN = """<?xml version="1.0"?><scn xmlns="http://www.leica-microsystems.com/scn/2010/10/01" uuid="urn:uuid:1">
<collection name="c" uuid="urn:uuid:2" sizeX="{canvas[0]}" sizeY="{canvas[1]}"><barcode>MTIz</barcode><image name="i" uuid="urn:uuid:3">
<creationDate>2010</creationDate><device model="Leica SCN400;" version="1"/><pixels sizeX="{size[0]}" sizeY="{size[1]}">
<dimension sizeX="{size[0]}" sizeY="{size[1]}" r="0" ifd="0"/></pixels><view sizeX="{view[0]}" sizeY="{view[1]}" offsetX="{origin[0]}"
offsetY="{origin[1]}" spacingZ="0"/><scanSettings><objectiveSettings><objective>20</objective></objectiveSettings><illuminationSettings>
<numericalAperture>0.4</numericalAperture><illuminationSource>brightfield</illuminationSource></illuminationSettings></scanSettings></image>
</collection></scn>"""


def scan_on_canvas(folder, canvas=(1024, 768), origin=(100, 200), masks=None, texts=None):
    """A Leica SCN, as OpenSlide reads it: the scan of 400 x 300 pixels lies at `origin` (x, y) of a larger canvas. masks: of `canvas` or `scan`."""
    nanometres = {"canvas": canvas, "view": (WIDTH, HEIGHT), "origin": origin}
    text = SCN.format(size=(WIDTH, HEIGHT), **{key: [500 * pixels for pixels in size] for key, size in nanometres.items()})
    (folder / "slides").mkdir()
    tifffile.imwrite(folder / "slides/case1.scn", tissue(0), bigtiff=True, tile=(256, 128), photometric="rgb", compression="jpeg",
                     compressionargs={"level": 97}, description=text.replace("\n", " "), metadata=None)
    cohort(folder, (), texts=texts)
    for name, kind in (masks or {}).items():
        x, y = origin if kind == "canvas" else (0, 0)
        mask = np.zeros(canvas[::-1] if kind == "canvas" else (HEIGHT, WIDTH), np.uint8)
        mask[y + 50:y + 150, x + 60:x + 200] = 1
        write_image(folder / "annotations" / name, mask)


def paged_mask(folder):
    """A mask of two pages."""
    cohort(folder)
    tifffile.imwrite(folder / "annotations/case1.tif", np.stack([painted(np.uint8, 0, value) for value in (1, 0)]), photometric="minisblack",
                     metadata=None)


def animated(folder):
    """A mask of two frames."""
    cohort(folder)
    first, second = (Image.fromarray(painted(np.uint8, 0, value)) for value in (1, 0))
    first.save(folder / "annotations/case1.png", save_all=True, append_images=[second])
