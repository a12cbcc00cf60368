"""The same work as the fused transforms by plain torch and by Kornia on a GPU: an affine map with a smooth deformation, then element-wise
operations, eager, out as bfloat16. A Markdown table on stdout; without a GPU one line that says so.
The stain matrix is given, not estimated; pixels lie in device memory, as they do for Headrace. Results are not compared: border
rules and random numbers differ.

Usage: python torch_peer.py [--trial]    --trial: on the CPU, with small shapes, to see that it runs; no figures
"""
import importlib.util
import math
import statistics
import sys
import time

STEPS_2D = "affine, elastic, stains, HED, colour, noise, normalize"
STEPS_3D = "with labels: affine, elastic, window, gamma, noise"


def median_seconds(torch, work, batches, repeats):
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    times = []
    for repeat in range(repeats + 1):
        wait()
        start = time.perf_counter()
        for _ in range(batches):
            work()
        wait()
        if repeat:  # the first warms up
            times.append((time.perf_counter() - start) / batches)
    return statistics.median(times)


def turned(torch, device, count, dims, shape):
    """Sampling grids of turned and scaled patches with a deformation of control points, enlarged."""
    functional = torch.nn.functional
    angle = (torch.rand(count, device=device) - 0.5) * (2 * math.pi if dims == 2 else math.pi / 6)
    theta = torch.zeros(count, dims, dims + 1, device=device)
    for axis in range(dims):
        theta[:, axis, axis] = 0.7
    theta[:, 0, 0] = theta[:, 1, 1] = 0.7 * torch.cos(angle)
    theta[:, 0, 1], theta[:, 1, 0] = -0.7 * torch.sin(angle), 0.7 * torch.sin(angle)
    grid = functional.affine_grid(theta, (count, 1, *shape), align_corners=False)
    control = torch.randn(count, dims, *([10] * dims), device=device) * 0.01
    mode = "bicubic" if dims == 2 else "trilinear"
    offset = functional.interpolate(control, size=shape, mode=mode, align_corners=False)
    return grid + offset.movedim(1, -1)


def stains(torch, device, count):
    """Stain normalisation and HED jitter of a batch in 0..1: densities through one 3×3 matrix a patch, and back."""
    matrix = torch.eye(3, device=device).repeat(count, 1, 1) + 0.05 * torch.randn(count, 3, 3, device=device)

    def apply(x):
        density = torch.einsum("bij,bjyx->biyx", matrix, -torch.log(x.clamp_min(1 / 256)))
        density = density * (1 + 0.05 * torch.randn(count, 3, 1, 1, device=device))
        return torch.exp(-density).clamp(0, 1)

    return apply


def statistics_of(torch, device):
    mean = torch.tensor([0.7, 0.55, 0.7], device=device).view(1, 3, 1, 1)
    return mean, torch.tensor([0.2, 0.22, 0.18], device=device).view(1, 3, 1, 1)


def slides(torch, device, count, size, window):
    functional = torch.nn.functional
    windows = torch.randint(0, 256, (count, 3, window, window), dtype=torch.uint8, device=device)
    restain, (mean, std) = stains(torch, device, count), statistics_of(torch, device)

    def work():
        grid = turned(torch, device, count, 2, (size, size))
        x = functional.grid_sample(windows.float(), grid, mode="bilinear", padding_mode="reflection", align_corners=False)
        x = restain(x / 255)
        grey = x.mean((1, 2, 3), keepdim=True)
        x = ((x - grey) * 1.1 + grey * 1.02).clamp(0, 1)
        x = (x + 0.02 * torch.randn_like(x)).clamp(0, 1)
        return ((x - mean) / std).to(torch.bfloat16, memory_format=torch.channels_last)

    return work


def slides_kornia(torch, device, count, size, _):
    """Of patches that have their size already: no window around them is read."""
    import kornia.augmentation as K
    patches = torch.randint(0, 256, (count, 3, size, size), dtype=torch.uint8, device=device)
    restain, (mean, std) = stains(torch, device, count), statistics_of(torch, device)
    amplitude = 120 * 2 / size
    first = [K.RandomAffine(degrees=180.0, translate=(0.1, 0.1), scale=(0.8, 1.25), shear=5.0, padding_mode="reflection", p=1.0),
             K.RandomElasticTransform(kernel_size=(49, 49), sigma=(6.0, 6.0), alpha=(amplitude, amplitude), padding_mode="reflection", p=1.0)]
    last = [K.ColorJitter(0.2, 0.2, 0.2, 0.05, p=1.0), K.RandomGaussianNoise(std=0.02, p=1.0),
            K.Normalize(mean=mean.flatten(), std=std.flatten())]

    def work():
        with torch.inference_mode():
            x = patches.float() / 255
            for step in first:
                x = step(x)
            x = restain(x)
            for step in last:
                x = step(x)
            return x.to(torch.bfloat16, memory_format=torch.channels_last)

    return work


def intensities(torch, x):
    x = ((x + 160) / 400).clamp(0, 1).pow(1.2)
    return (x + torch.randn_like(x) * 0.05).to(torch.bfloat16)


def volumes(torch, device, count, size, window):
    functional = torch.nn.functional
    windows = torch.randint(-1000, 1000, (count, 1, window, window, window), dtype=torch.int16, device=device)
    labels = torch.randint(0, 3, (count, 1, window, window, window), dtype=torch.uint8, device=device)

    def work():
        grid = turned(torch, device, count, 3, (size, size, size))
        x = functional.grid_sample(windows.float(), grid, mode="bilinear", padding_mode="border", align_corners=False)
        truth = functional.grid_sample(labels.float(), grid, mode="nearest", padding_mode="border", align_corners=False).to(torch.uint8)
        return intensities(torch, x), truth

    return work


def volumes_kornia(torch, device, count, size, _):
    """Kornia has no elastic deformation of volumes: that step is missing here, in its favour."""
    import kornia.augmentation as K
    patches = torch.randint(-1000, 1000, (count, 1, size, size, size), dtype=torch.int16, device=device)
    labels = torch.randint(0, 3, (count, 1, size, size, size), dtype=torch.uint8, device=device)
    affine = K.RandomAffine3D(degrees=15.0, scale=((0.9, 1.1),) * 3, p=1.0)
    same = K.RandomAffine3D(degrees=15.0, scale=((0.9, 1.1),) * 3, resample="nearest", p=1.0)

    def work():
        with torch.inference_mode():
            x = affine(patches.float())
            truth = same(labels.float(), params=affine._params).to(torch.uint8)
            return intensities(torch, x), truth

    return work


def main():
    trial = "--trial" in sys.argv[1:]
    if importlib.util.find_spec("torch") is None:
        print("not measured: there is no torch")
        return 0
    import torch

    if not trial and not torch.cuda.is_available():
        print("not measured: torch sees no GPU")
        return 0
    device = "cpu" if trial else "cuda"
    kornia = importlib.util.find_spec("kornia") is not None
    print(f"torch {torch.__version__}, eager, on {'the CPU, a trial' if trial else torch.cuda.get_device_name()}; medians\n\n"
          "| peer | work | ms a batch | patches/s | Gvoxel/s |\n|---|---|---|---|---|")
    flat, cube = ((2, 32, 48), (1, 16, 24)) if trial else ((64, 512, 768), (2, 128, 192))
    peers = [("torch", slides, flat, f"{STEPS_2D}"), ("Kornia", slides_kornia, flat, f"{STEPS_2D}"),
             ("torch", volumes, cube, STEPS_3D), ("Kornia", volumes_kornia, cube, f"{STEPS_3D}; no elastic")]
    failed = 0
    for name, make, (count, size, window), steps in peers:
        dims = 2 if make in (slides, slides_kornia) else 3
        work = f"{count} of {size}{'²' if dims == 2 else '³'}, {steps}"
        if name == "Kornia" and not kornia:
            print(f"| {name} | {work} | not measured: there is no kornia in this Python | | |")
            continue
        try:
            seconds = median_seconds(torch, make(torch, device, count, size, window), 2 if trial else 30, 1 if trial else 7)
        except ImportError as error:  # what was carried is for another Python
            print(f"| {name} | {work} | not measured: {error} | | |")
            continue
        except Exception as error:  # a peer that fails must not cost the others their figures
            print(f"| {name} | {work} | failed: {type(error).__name__}: {error} | | |")
            failed = 1
            continue
        figures = "ran | ran | ran" if trial else f"{seconds * 1e3:.3f} | {count / seconds:.0f} | {count * size**dims / seconds * 1e-9:.2f}"
        print(f"| {name} | {work} | {figures} |", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
