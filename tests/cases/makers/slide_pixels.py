"""Slides as converters write them: missing blocks, pages, planes, units, padding, bits, profiles, links."""
import imagecodecs
import numpy as np
import tifffile
from PIL import Image, ImageCms

SIZE = 320
TILE = 128
CM = {"resolution": (20000, 20000), "resolutionunit": "CENTIMETER"}  # 0.5 micrometres


def slide(height=SIZE, width=SIZE, seed=0):
    """Noisy tissue in the middle of white glass."""
    image = np.full((height, width, 3), 242, np.uint8)
    noise = np.random.default_rng(seed).integers(0, 40, (height // 2, width // 2, 3))
    image[height // 4:height // 4 + height // 2, width // 4:width // 4 + width // 2] = np.array([150, 80, 140]) + noise
    return image


def path_of(folder, name="s.tif"):
    path = folder / "slides" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def expect(folder, pixels):
    """What level 0 of the store must hold."""
    np.save(folder / "expected.npy", pixels)


def write(folder, pixels, name="s.tif", **options):
    options.setdefault("photometric", "rgb" if pixels.ndim == 3 else "minisblack")
    options.setdefault("metadata", None)
    tifffile.imwrite(path_of(folder, name), pixels, **options)


def layout_of(layout):
    return {"tiles": {"tile": (TILE, TILE)}, "strips": {"rowsperstrip": 40},
            "planes": {"tile": (TILE, TILE), "planarconfig": "separate"},
            "plane-strips": {"rowsperstrip": 40, "planarconfig": "separate"}}[layout]


def lose_blocks(path, blocks, keep_offsets=False, keep_counts=False):
    """Blocks of the first page that the file does not store: no bytes, no place, or both."""
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        tags = page.tags
        kinds = ("TileOffsets", "TileByteCounts") if "TileOffsets" in tags else ("StripOffsets", "StripByteCounts")
        places = []
        for kind, keep in zip(kinds, (keep_offsets, keep_counts)):
            tag = tags[kind]
            step = {3: 2, 4: 4, 16: 8}[int(tag.dtype)]
            if not keep:
                places += [(tag.valueoffset + step * block, step) for block in blocks]
    with open(path, "r+b") as file:
        for at, step in places:
            file.seek(at)
            file.write(bytes(step))


def sparse(folder, compression=None, layout="tiles", blocks=(0, 2), keep_offsets=False, keep_counts=False, big=False,
           predictor=False, mask=False):
    """A slide some of whose blocks are not in the file; its description must not become pixels."""
    pixels = slide()
    options = layout_of(layout) | CM | {"description": "accession X-0000 (made up)", "bigtiff": big}
    if layout.startswith("plane"):
        pixels = np.ascontiguousarray(np.moveaxis(pixels, -1, 0))
    if mask:
        pixels, options["photometric"] = np.ones((SIZE, SIZE), np.uint8), "minisblack"
        write(folder, slide(), "s.tif", tile=(TILE, TILE), compression="zlib", **CM)
        (folder / "masks").mkdir()
        path = folder / "masks/s.tif"
        tifffile.imwrite(path, pixels, compression=compression, metadata=None, **options)
    else:
        write(folder, pixels, compression=compression, predictor=predictor or None, **options)
        path = path_of(folder)
    lose_blocks(path, blocks, keep_offsets, keep_counts)
    if compression != "jpeg":
        expect(folder, without_blocks(np.ones((SIZE, SIZE, 3), np.uint8) if mask else slide(), layout, blocks, 0 if mask else 255))


def without_blocks(pixels, layout, blocks, fill):
    """The picture with some of its blocks filled; planes have their blocks one after the other."""
    h, w = (TILE, TILE) if layout in ("tiles", "planes") else (40, SIZE)
    across, down = -(-SIZE // w), -(-SIZE // h)
    for block in blocks:
        plane, place = divmod(block, across * down)
        y, x = place // across * h, place % across * w
        channels = [plane] if layout.startswith("plane") else [0, 1, 2]
        pixels[y:y + h, x:x + w, channels] = fill
    return pixels


def pages(folder, kinds, compression="zlib", name="s.tif"):
    """Pages in this order, of a slide of 320 x 320 and what lies beside it."""
    small = slide()[::2, ::2]
    label = np.full((90, 120, 3), (200, 30, 30), np.uint8)
    big_label = np.full((500, 900, 3), (200, 30, 30), np.uint8)
    with tifffile.TiffWriter(path_of(folder, name)) as file:
        for kind in kinds:
            options = {"tile": (TILE, TILE), "compression": compression, "photometric": "rgb", "metadata": None}
            strips = {**options, "tile": None, "rowsperstrip": 32}
            match kind:
                case "slide": file.write(slide(), **options, **CM)
                case "slide-strips": file.write(slide(), **strips, **CM)
                case "second": file.write(slide(seed=1), **options)
                case "level": file.write(small, **options, subfiletype=1)
                case "level-unmarked": file.write(small, **options)
                case "thumbnail": file.write(slide()[::4, ::4], **strips, subfiletype=1)
                case "slide-named": file.write(slide(), **options, **CM, description="Scanner 1.0\r\nlabel 387x463")
                case "slide-reduced": file.write(slide(), **options, **CM, subfiletype=1)
                case "thumbnail-of-part": file.write(slide()[::4, ::4], **strips, subifds=1, subfiletype=1)
                case "part": file.write(slide(), **options, **CM, subfiletype=0)
                case "label": file.write(label, **strips)
                case "label-tiles": file.write(label, **options)
                case "big-label-marked": file.write(big_label, **strips, subfiletype=1)
                case "big-label-named": file.write(big_label, **strips, description="Scanner 1.0\r\nlabel 900x500")
                case "big-macro-page-name": file.write(big_label, **strips, extratags=[(285, "s", 0, "macro", True)])
                case "big-macro-json": file.write(big_label, **options, description='{"vendor": "x", "type": "MACRO image"}')
                case "big-macro-list": file.write(big_label, **options, description="Scanner 1.0\nImage Type = Macro\nLamp = 3")
                case "big-unknown": file.write(big_label, **strips)
                case "mask": file.write(np.zeros((SIZE, SIZE), np.uint8), **options | {"photometric": "minisblack"}, subfiletype=1)
                case "grey": file.write(slide()[..., 0], **options | {"photometric": "minisblack"})
                case _: raise ValueError(kind)
    if "mask" in kinds:  # tifffile writes no transparency masks
        with tifffile.TiffFile(path_of(folder, name)) as file:
            at = file.pages[kinds.index("mask")].tags["NewSubfileType"].valueoffset
        with open(path_of(folder, name), "r+b") as file:
            file.seek(at)
            file.write(b"\4")
    expect(folder, slide())


def planes(folder, channels=("Red", "Green", "Blue"), slices=1, order=None, ome=True, attributes="", strips=False, levels=False):
    """One grey page a colour, with OME-XML that says which."""
    pixels = slide()
    by_channel = [pixels[..., i % 3] for i in range(len(channels))]
    order = order or list(range(len(channels)))
    described = "".join(f'<Channel ID="C:{i}" SamplesPerPixel="1" Name="{name}" {attributes}/>' for i, name in enumerate(channels))
    data = "".join(f'<TiffData FirstC="{channel}" IFD="{place * slices}" PlaneCount="{slices}"/>' for place, channel in enumerate(order))
    xml = ('<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">'
           f'<Pixels ID="P:0" DimensionOrder="XYZCT" Type="uint8" SizeX="{SIZE}" SizeY="{SIZE}" SizeC="{len(channels)}" SizeZ="{slices}" '
           f'SizeT="1" PhysicalSizeX="0.5" PhysicalSizeY="0.5">{described}{data}</Pixels></Image></OME>')
    layout = {"rowsperstrip": 64} if strips else {"tile": (TILE, TILE)}
    with tifffile.TiffWriter(path_of(folder)) as file:
        first = True
        for channel in order:
            for _ in range(slices):
                options = {"compression": "zlib", "photometric": "minisblack", "metadata": None, **layout}
                file.write(by_channel[channel], **options, subifds=1 if levels else 0, description=xml.encode() if first and ome else None)
                if levels:
                    file.write(np.ascontiguousarray(by_channel[channel][::2, ::2]), **options, subfiletype=1)
                first = False
    expect(folder, pixels)


def ome_unit(folder, attributes, name="s.tif", description=None, quote='"'):
    """One RGB page with OME-XML whose Pixels have these attributes."""
    xml = description or (
        f"<?xml version={quote}1.0{quote}?><!-- <Pixels PhysicalSizeX='9'/> --><OME xmlns={quote}http://www.openmicroscopy.org/Schemas/OME/2016-06{quote}>"
        f"<Image ID={quote}Image:0{quote}><Pixels {attributes} SizeX={quote}{SIZE}{quote} SizeY={quote}{SIZE}{quote} SizeC={quote}3{quote}>"
        f"<Channel SamplesPerPixel={quote}3{quote}/><TiffData/></Pixels></Image></OME>")
    write(folder, slide(), name, tile=(TILE, TILE), compression="zlib", description=xml.encode())


def resolution(folder, x, y, unit, layout="tiles", name="s.tif"):
    """Resolution tags; unit as a number, also the private ones."""
    write(folder, slide(), name, compression="zlib", resolution=(x, y), resolutionunit=unit, **layout_of(layout))


def density(folder, kind, dots):
    """A PNG or JPEG with the density of a screen or a printer, in dots an inch."""
    Image.fromarray(slide()).save(path_of(folder, f"s.{kind}"), dpi=(dots, dots), **({"quality": 95} if kind == "jpg" else {}))


def padded(folder, colour=(0, 0, 0), kind="tiles", gap=False, quality=None, second=None, uneven=False):
    """The slide in a canvas of one colour, or of a black that rises to 22, and the same without it."""
    pixels = slide(600, 600)
    canvas = np.empty((900, 1000, 3), np.uint8)
    canvas[:] = colour
    canvas[:, 800:] = second or colour
    if uneven:
        canvas[:] = np.linspace(0, 20, 1000)[None, :, None] + np.random.default_rng(3).integers(0, 3, canvas.shape)
    canvas[150:750, 200:800] = pixels
    scanned = np.zeros((900, 1000), bool)
    scanned[150:750, 200:800] = True
    if gap:
        canvas[:] = 242
        canvas[150:750, 200:800] = pixels
        canvas[400:500, 420:560] = colour
        scanned = np.ones((900, 1000), bool)
        scanned[400:500, 420:560] = False
    np.save(folder / "scanned.npy", scanned)
    if kind == "png":
        Image.fromarray(canvas).save(path_of(folder, "s.png"))
    elif quality:
        write(folder, canvas, tile=(TILE, TILE), compression="jpeg", compressionargs={"level": quality}, **CM)
    else:
        write(folder, canvas, compression="zlib", **layout_of(kind), **CM)


def clear(folder, kind="tiles", grey=False, associated=False, colour=(0, 0, 0)):
    """Transparent outside the middle, black below it."""
    pixels = slide()
    alpha = np.zeros((SIZE, SIZE), np.uint8)
    alpha[40:280, 40:280] = 255
    alpha[100:110, 60:260] = 128
    pixels[alpha == 0] = colour
    if associated:
        pixels = (pixels.astype(int) * alpha[..., None] // 255).astype(np.uint8)
    if grey:
        pixels = pixels[..., :1]
    stacked = np.dstack([pixels, alpha])
    on_white = stacked[..., :-1].astype(int)
    if not associated:
        on_white = (on_white * alpha[..., None] + 127) // 255
    expect(folder, np.broadcast_to(on_white + 255 - alpha[..., None], (SIZE, SIZE, 3)).astype(np.uint8))
    if kind == "png":
        Image.fromarray(stacked, "LA" if grey else "RGBA").save(path_of(folder, "s.png"))
        return
    options = layout_of(kind)
    if kind.startswith("plane"):
        stacked = np.ascontiguousarray(np.moveaxis(stacked, -1, 0))
    write(folder, stacked, compression="zlib", photometric="minisblack" if grey else "rgb",
          extrasamples=["assocalpha" if associated else "unassalpha"], **options, **CM)


def deep(folder, kind="tiles", dtype="uint16", bits=12, grey=False):
    """More than 8 bits a sample."""
    pixels = (slide().astype(np.float64) / 255 * (2**bits - 1)).astype(dtype)
    if dtype.startswith("float"):
        pixels = (slide() / 255).astype(dtype)
    if grey:
        pixels = np.ascontiguousarray(pixels[..., 1])
    if kind == "png":
        path_of(folder, "s.png").write_bytes(imagecodecs.png_encode(pixels))
    elif kind == "jpeg2000":
        write(folder, pixels, tile=(TILE, TILE), compression="jpeg2000", **CM)
    else:
        write(folder, pixels, compression="zlib", **layout_of(kind), **CM)


def one_block(folder, kind="tile", compression="zlib", edge=6000, predictor=False):
    """A whole picture in one tile or strip."""
    pixels = np.tile(slide(600, 600), (edge // 600, edge // 600, 1))
    edge16 = (edge + 15) // 16 * 16
    layout = {"tile": (edge16, edge16)} if kind == "tile" else {"rowsperstrip": edge}
    write(folder, pixels, compression=compression, predictor=predictor or None, **layout, **CM)
    expect(folder, pixels if compression != "jpeg" else tifffile.imread(path_of(folder)))


def profile():
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def with_profile(folder, kind="tiles", repeat=1):
    """The same colour profile in each kind of file; repeated, so that a JPEG needs several segments."""
    icc = profile() + bytes((repeat - 1) * 60000)
    image = Image.fromarray(slide())
    if kind in ("png", "jpg"):
        image.save(path_of(folder, f"s.{kind}"), icc_profile=icc)
    else:
        write(folder, slide(), compression="zlib", iccprofile=icc, **layout_of(kind), **CM)
    (folder / "profile.icc").write_bytes(icc)


def exif_of(orientation):
    exif = Image.Exif()
    exif[274] = orientation
    return exif


def turned_by_exif(folder, kind="jpg", orientation=6):
    """As cameras and phones write: the tag is in a block of its own, in a PNG before or behind the pixels."""
    image, name = Image.fromarray(slide()), f"s.{kind.removesuffix('-behind')}"
    image.save(path_of(folder, name), exif=exif_of(orientation), **({"quality": 95} if kind == "jpg" else {}))
    if kind.endswith("-behind"):
        path = path_of(folder, name)
        data = path.read_bytes()
        begin = data.index(b"eXIf") - 4
        size = 12 + int.from_bytes(data[begin:begin + 4], "big")
        chunk, rest = data[begin:begin + size], data[:begin] + data[begin + size:]
        end = rest.index(b"IEND") - 4
        path.write_bytes(rest[:end] + chunk + rest[end:])
    expect(folder, np.asarray(Image.open(path_of(folder, name)).convert("RGB")))


def turned(folder, kind="tiles", orientation=3):
    write(folder, slide(), compression="zlib", **layout_of(kind), extratags=[(274, "H", 1, orientation, True)])


def colours(folder, photometric, kind="tiles"):
    """Colours that are not RGB, and their RGB by the same library as in tiles."""
    pixels = slide()
    if photometric == "cmyk":
        write(folder, np.dstack([255 - pixels, np.zeros((SIZE, SIZE), np.uint8)]), photometric="separated", compression="zlib",
              **layout_of(kind))
        expect(folder, pixels)
    elif photometric == "white-is-zero":
        write(folder, 255 - pixels[..., 1], photometric="miniswhite", compression="zlib", **layout_of(kind))
        expect(folder, np.repeat(pixels[..., 1:2], 3, axis=2))
    elif photometric == "palette":
        ramp = np.arange(256, dtype=np.uint16) * 257
        expect(folder, np.dstack([pixels[..., 1], 255 - pixels[..., 1], pixels[..., 1]]))
        write(folder, pixels[..., 1], photometric="palette", colormap=np.stack([ramp, ramp[::-1], ramp]), compression="zlib",
              **layout_of(kind))
    elif photometric == "lab":
        write(folder, pixels, photometric="cielab", compression="zlib", **layout_of(kind))
    elif photometric == "five-channels":
        write(folder, np.dstack([pixels, pixels[..., :2]]), photometric="minisblack", planarconfig="contig", compression="zlib",
              **layout_of(kind))
    elif photometric == "rgb-and-one":
        expect(folder, pixels)
        write(folder, np.dstack([pixels, pixels[..., :1]]), photometric="rgb", extrasamples=["unspecified"], compression="zlib",
              **layout_of(kind))


def cmyk_jpeg(folder):
    """As programs for print save it."""
    Image.fromarray(slide()).convert("CMYK").save(path_of(folder, "s.jpg"), quality=95)


def folders(folder):
    """Linked folders and files, loops, no endings, other files."""
    real, other = folder / "slides/real", folder / "other"
    real.mkdir(parents=True)
    other.mkdir()
    options = {"tile": (TILE, TILE), "compression": "zlib", "photometric": "rgb", "metadata": None}
    tifffile.imwrite(real / "a.TIF", slide(seed=1), **options)
    tifffile.imwrite(real / "b.qptiff", slide(seed=2), **options)
    tifffile.imwrite(real / "noending", slide(seed=3), **options)
    Image.fromarray(slide(seed=4)).save(other / "c.png")
    Image.fromarray(slide(seed=5)).save(real / "1.2.840.77", format="PNG")
    (folder / "slides/linked").symlink_to(other)
    (real / "loop").symlink_to(folder / "slides")
    (other / "back").symlink_to(real)
    (folder / "slides/again.png").symlink_to(other / "c.png")
    (real / "gone.svs").symlink_to(folder / "nowhere.svs")
    (real / "notes.txt").write_text("nothing")
    (real / "case.vsi").write_bytes((real / "a.TIF").read_bytes())
    (real / "README").write_text("read me")


def damaged(folder, kind="tile"):
    """Files that scanners or transfers left damaged."""
    name = {"png": "s.png", "png-header": "s.png", "jpg": "s.jpg"}.get(kind, "s.tif")
    if name == "s.tif":
        layout = "strips" if kind == "strip" else "tiles"
        codec = {"raw-cut": None, "lzw": "lzw", "jpeg": "jpeg", "jpeg2000": "jpeg2000", "zstd": "zstd"}.get(kind, "zlib")
        write(folder, slide(), compression=codec, **layout_of(layout), **CM)
        path = path_of(folder)
        with tifffile.TiffFile(path) as file:
            at, count = file.pages[0].dataoffsets[3], file.pages[0].databytecounts[3]
        data = bytearray(path.read_bytes())
        if kind == "raw-cut":
            # the directory lies in front, the last tile's bytes are gone
            data = data[:-1000]
        elif kind == "directory":
            data = data[:200]
        else:
            data[at:at + count] = bytes(b ^ 0x5A for b in data[at:at + count])
        path.write_bytes(data)
        return
    Image.fromarray(slide()).save(path_of(folder, name))
    path = path_of(folder, name)
    data = path.read_bytes()
    path.write_bytes(data[:20] if kind == "png-header" else data[:len(data) // 2])


def text_as_slide(folder):
    path_of(folder, "s.tif").write_text("Dear colleague, here is the slide")


def imagej(folder):
    """One directory, the other planes behind its strip."""
    tifffile.imwrite(path_of(folder), np.stack([slide()[..., 0]] * 4), imagej=True)
    with tifffile.TiffFile(path_of(folder)) as file:
        first = file.pages[0]
        at = first.offset + 2 + 12 * len(first.tags)
    with open(path_of(folder), "r+b") as file:
        file.seek(at)
        file.write(bytes(4))


def stack(folder, count):
    write(folder, np.stack([slide()[..., 0]] * count), photometric="minisblack", compression="zlib", tile=(TILE, TILE))


def ome_label(folder):
    """Two images of OME, of which the larger one is the label."""
    label = np.full((400, 900, 3), (200, 30, 30), np.uint8)
    image = '<Image ID="Image:{0}" Name="{1}"><Pixels SizeX="{2}" SizeY="{3}" SizeC="3"><Channel SamplesPerPixel="3"/><TiffData IFD="{0}" PlaneCount="1"/></Pixels></Image>'
    xml = '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">' + image.format(0, "label image", 900, 400) + image.format(1, "Slide", SIZE, SIZE) + "</OME>"
    with tifffile.TiffWriter(path_of(folder)) as file:
        options = {"tile": (TILE, TILE), "compression": "zlib", "photometric": "rgb", "metadata": None}
        file.write(label, **options, description=xml)
        file.write(slide(), **options)
    expect(folder, slide())


def clear_palette(folder):
    image = Image.fromarray(slide()).quantize(64)
    clear_index = int(np.bincount(np.asarray(image).ravel()).argmax())
    image.save(path_of(folder, "s.png"), transparency=clear_index)
    shown = np.asarray(image.convert("RGB")).copy()
    shown[np.asarray(image) == clear_index] = 255
    expect(folder, shown)


def only_others(folder):
    path_of(folder, "notes.txt").write_text("nothing")
    path_of(folder, "README").write_text("nothing")


def loop(folder):
    write(folder, slide(), tile=(TILE, TILE), compression="zlib")
    (folder / "slides/again").symlink_to(folder / "slides")
    (folder / "slides/again-file.tif").symlink_to(path_of(folder))


def damaged_and_text(folder):
    damaged(folder, "directory")
    path_of(folder, "t.tif").write_text("Dear colleague, here is the slide")


def damaged_and_good(folder):
    damaged(folder, "tile")
    write(folder, slide(), "good.tif", tile=(TILE, TILE), compression="zlib")


def deep_tiles(folder):
    """SGI's extension: planes of a volume in one page."""
    write(folder, np.stack([slide(128, 128, seed) for seed in range(4)]), photometric="rgb", volumetric=True, tile=(4, 128, 128), **CM)


def animated(folder):
    frames = [Image.fromarray(slide(seed=seed)) for seed in range(3)]
    frames[0].save(path_of(folder, "s.png"), save_all=True, append_images=frames[1:])


def imagej_unit(folder, unit, pixels):
    """As ImageJ writes it: no unit in the tags, pixels in a unit of the description."""
    write(folder, slide(), tile=(TILE, TILE), resolution=(pixels, pixels), resolutionunit="NONE",
          description=f"ImageJ=1.53t\nunit={unit}\nmin=0.0\nmax=255.0\n")
