"""A training fed the usual way: DataLoader workers read and augment on the CPU, the same network and steps as Headrace's on the GPU.
Slides: JPEG tiles of 256² are decoded from the file, a window of 768² is cut and augmented to 512². Volumes: int16 mapped from files.
Augmentation is MONAI's where this Python has it, else torch's on the CPU; the table says which. OpenSlide is not used: reading tiles by
their offsets is cheaper. A Markdown table on stdout.

Usage: python loader_peer.py SAMPLES FOLDER [SECONDS] [--trial]
    SAMPLES  samples/ of this project   FOLDER  where the data is written, removed at the end   SECONDS  a table's row, 40
    --trial  on the CPU, with small shapes, to see that it runs; no figures
"""
import io
import json
import math
import shutil
import statistics
import sys
import time
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
NEEDED = ("torch", "numpy", "PIL")
TILE = 256


def mirrored(np, image, shape):
    """An array repeated with its mirror image until it has the shape."""
    index = np.ix_(*[np.concatenate([np.arange(n), np.arange(n)[::-1]])[np.arange(want) % (2 * n)]
                     for n, want in zip(image.shape, shape)])
    return image[index]


def write_slides(np, samples, folder, edge, count):
    from PIL import Image
    pixels = np.asarray(Image.open(samples / "tissue" / "tcga-lung-rgb.png").convert("RGB"))
    pixels = np.stack([mirrored(np, pixels[..., c], (1024, 1024)) for c in range(3)], -1)
    tiles = []
    for y in range(0, 1024, TILE):
        for x in range(0, 1024, TILE):
            out = io.BytesIO()
            Image.fromarray(np.ascontiguousarray(pixels[y:y + TILE, x:x + TILE])).save(out, "JPEG", quality=80)
            tiles.append(out.getvalue())
    across = edge // TILE
    for slide in range(count):
        places, at = [], 0
        with open(folder / f"slide-{slide}.bin", "wb") as file:
            for i in range(across * across):
                tile = tiles[(i // across * 7 + i % across * 3 + slide) % len(tiles)]
                file.write(tile)
                places.append((at, len(tile)))
                at += len(tile)
        (folder / f"slide-{slide}.json").write_text(json.dumps(places))


def write_volumes(np, samples, folder, shape, count):
    import gzip
    raw = gzip.decompress((samples / "ct" / "totalseg-abdomen" / "ct.nii.gz").read_bytes())
    x, y, z = np.frombuffer(raw, "<i2", 3, 42)
    if int(np.frombuffer(raw, "<i2", 1, 70)[0]) != 4:
        raise SystemExit("the sample CT is not int16")
    start = int(np.frombuffer(raw, "<f4", 1, 108)[0])
    voxels = np.frombuffer(raw, "<i2", int(x) * int(y) * int(z), start).reshape(int(z), int(y), int(x))
    for case in range(count):
        grown = mirrored(np, np.roll(voxels, case, 0), shape)
        np.save(folder / f"volume-{case}.npy", grown)
        np.save(folder / f"labels-{case}.npy", (grown > 40).astype(np.uint8) + (grown > 200).astype(np.uint8))


class Slides:
    """Windows of slides with labels; a torch Dataset in all but name, made in each worker."""

    def __init__(self, folder, count, edge, window, size):
        self.folder, self.count, self.edge, self.window, self.size = folder, count, edge, window, size
        self.places = None

    def __len__(self):
        return 1 << 30

    def read(self, slide, y0, x0):
        import numpy as np
        from PIL import Image
        if self.places is None:
            self.places = [json.loads((self.folder / f"slide-{i}.json").read_text()) for i in range(self.count)]
            self.files = [open(self.folder / f"slide-{i}.bin", "rb") for i in range(self.count)]
        out = np.empty((self.window, self.window, 3), np.uint8)
        across = self.edge // TILE
        for ty in range(y0 // TILE, (y0 + self.window - 1) // TILE + 1):
            for tx in range(x0 // TILE, (x0 + self.window - 1) // TILE + 1):
                at, size = self.places[slide][ty * across + tx]
                self.files[slide].seek(at)
                tile = np.asarray(Image.open(io.BytesIO(self.files[slide].read(size))))
                y, x = ty * TILE - y0, tx * TILE - x0
                ya, yb, xa, xb = max(0, y), min(self.window, y + TILE), max(0, x), min(self.window, x + TILE)
                out[ya:yb, xa:xb] = tile[ya - y:yb - y, xa - x:xb - x]
        return out

    def __getitem__(self, index):
        import torch
        import torch_peer
        reach = self.edge - self.window
        slide, y, x = (int(torch.randint(0, n, ())) for n in (self.count, reach, reach))
        image = torch.from_numpy(self.read(slide, y, x)).permute(2, 0, 1).float()
        labels = (image.mean(0, keepdim=True) < 160).float()
        image, labels = warp(torch, image, labels, self.size, 2)
        x = torch_peer.stains(torch, "cpu", 1)(image[None] / 255)[0]
        grey = x.mean()
        x = ((x - grey) * (0.8 + 0.4 * float(torch.rand(()))) + grey).clamp(0, 1)
        x = (x + 0.02 * torch.randn_like(x)).clamp(0, 1)
        mean, std = torch_peer.statistics_of(torch, "cpu")
        return ((x - mean[0]) / std[0]), labels[0].round().to(torch.uint8)


class Volumes:
    def __init__(self, folder, count, window, size):
        self.folder, self.count, self.window, self.size = folder, count, window, size

    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        import numpy as np
        import torch
        case = int(torch.randint(0, self.count, ()))
        images = np.load(self.folder / f"volume-{case}.npy", mmap_mode="r")
        labels = np.load(self.folder / f"labels-{case}.npy", mmap_mode="r")
        at = tuple(slice(o := int(torch.randint(0, n - self.window + 1, ())), o + self.window) for n in images.shape)
        image, truth = (torch.from_numpy(np.array(a[at], np.float32))[None] for a in (images, labels))
        image, truth = warp(torch, image, truth, self.size, 3)
        x = ((image + 160) / 400).clamp(0, 1).pow(0.7 + 0.8 * float(torch.rand(())))
        return x + 0.05 * torch.randn_like(x), truth[0].round().to(torch.uint8)


WARPS = {}


def warp(torch, image, labels, size, dims):
    """Affine and elastic in one resampling each, to (…, size, size): MONAI's, or torch's where that is not there."""
    if find_spec("monai") is None:
        import torch_peer
        grid = torch_peer.turned(torch, "cpu", 1, dims, (size,) * dims)
        sample = torch.nn.functional.grid_sample
        padding = "reflection" if dims == 2 else "border"
        return (sample(image[None], grid, "bilinear", padding, align_corners=False)[0],
                sample(labels[None], grid, "nearest", padding, align_corners=False)[0])
    if dims not in WARPS:
        import monai.transforms as M
        common = {"keys": ["image", "label"], "prob": 1.0, "spatial_size": (size,) * dims, "mode": ["bilinear", "nearest"]}
        if dims == 2:
            WARPS[dims] = M.Rand2DElasticd(spacing=(24, 24), magnitude_range=(3, 6), rotate_range=math.pi, shear_range=0.09,
                                           translate_range=size / 10, scale_range=(-0.2, 0.25), padding_mode="reflection", **common)
        else:
            WARPS[dims] = M.Rand3DElasticd(sigma_range=(5, 8), magnitude_range=(50, 150), rotate_range=(math.pi / 12,) * 3,
                                           scale_range=(0.1,) * 3, padding_mode="border", **common)
    out = WARPS[dims]({"image": image, "label": labels})
    return torch.as_tensor(out["image"]), torch.as_tensor(out["label"])


def feed(torch, data, batch, dims, device, workers, seconds, widths):
    from torch.utils.data import DataLoader
    from peer_models import Training
    loader = DataLoader(data, batch_size=batch, num_workers=workers, prefetch_factor=2, persistent_workers=True,
                        pin_memory=device == "cuda", worker_init_fn=lambda _: torch.set_num_threads(1))
    batches = iter(loader)  # workers are forked before CUDA begins
    training = Training(torch, dims, device, widths)
    try:
        for _ in range(3):
            training.step(*next(batches))
        begin, waited, steps = time.perf_counter(), 0.0, []
        while time.perf_counter() - begin < seconds:
            start = time.perf_counter()
            images, labels = next(batches)
            arrived = time.perf_counter()
            waited += arrived - start
            training.step(images, labels)
            steps.append(time.perf_counter() - arrived)
        wall = time.perf_counter() - begin
    finally:
        del batches
    return batch * len(steps) / wall, waited / wall, statistics.median(steps)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--trial"]
    trial = len(arguments) + 1 < len(sys.argv)
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        print(f"CPU loader: not measured: there is no {', '.join(absent)} in this Python")
        return 0
    import numpy as np
    import os
    import torch
    if not trial and not torch.cuda.is_available():
        print("CPU loader: not measured: torch sees no GPU")
        return 0
    torch.multiprocessing.set_sharing_strategy("file_system")
    samples, folder = Path(arguments[0]), Path(arguments[1])
    seconds = 1 if trial else float(arguments[2]) if len(arguments) > 2 else 40
    device, cores = ("cpu", 2) if trial else ("cuda", len(os.sched_getaffinity(0)))
    edge, window, size = (1024, 96, 64) if trial else (8192, 768, 512)
    cube, shape = ((24, 16), (32, 32, 32)) if trial else ((160, 128), (256, 384, 384))
    widths = (8, 16) if trial else (32, 64, 128, 256)
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    try:
        write_slides(np, samples, folder, edge, 4)
        write_volumes(np, samples, folder, shape, 4)
        augmented = f"MONAI {__import__('monai').__version__}" if find_spec("monai") else "torch, since MONAI is not there"
        print(f"torch {torch.__version__}, DataLoader with {cores} workers, augmentation on the CPU by {augmented}, "
              f"{'a trial on the CPU' if trial else f'{seconds:.0f} s a row'}\n\n"
              "| fed by DataLoader workers | patches/s | waiting for data | a step, ms |\n|---|---|---|---|")
        rows = [(f"slides: batches of 32, {size}²", Slides(folder, 4, edge, window, size), 2 if trial else 32, 2),
                (f"volumes: batches of 2, {cube[1]}³", Volumes(folder, 4, *cube), 2, 3)]
        for name, data, batch, dims in rows:
            try:
                rate, waiting, step = feed(torch, data, batch, dims, device, cores, seconds, widths)
            except Exception as error:  # one row that fails must not cost the other its figures
                print(f"| {name} | failed: {type(error).__name__}: {error} | | |")
                failed = 1
                continue
            figures = "ran | ran | ran" if trial else f"{rate:.1f} | {waiting * 100:.1f} % | {step * 1e3:.1f}"
            print(f"| {name} | {figures} |", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
