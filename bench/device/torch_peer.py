"""The same work by torch on a GPU, as Kornia and MONAI put it together: grid_sample of an affine map with a smooth deformation, then
element-wise operations, eager. A Markdown table on stdout; without a GPU one line that says so.
The stain matrix is given, not estimated; windows lie in device memory, as they do for Headrace. Results are not compared: border
rules and random numbers differ.
"""
import importlib.util
import math
import statistics
import sys
import time


def median_seconds(torch, work, batches, repeats):
    times = []
    for repeat in range(repeats + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(batches):
            work()
        torch.cuda.synchronize()
        if repeat:  # the first warms up
            times.append((time.perf_counter() - start) / batches)
    return statistics.median(times)


def turned(torch, count, dims, shape):
    """Sampling grids of turned and scaled patches with a deformation of control points, enlarged."""
    functional = torch.nn.functional
    angle = (torch.rand(count, device="cuda") - 0.5) * (2 * math.pi if dims == 2 else math.pi / 6)
    theta = torch.zeros(count, dims, dims + 1, device="cuda")
    for axis in range(dims):
        theta[:, axis, axis] = 0.7
    theta[:, 0, 0] = theta[:, 1, 1] = 0.7 * torch.cos(angle)
    theta[:, 0, 1], theta[:, 1, 0] = -0.7 * torch.sin(angle), 0.7 * torch.sin(angle)
    grid = functional.affine_grid(theta, (count, 1, *shape), align_corners=False)
    control = torch.randn(count, dims, *([10] * dims), device="cuda") * 0.01
    mode = "bicubic" if dims == 2 else "trilinear"
    offset = functional.interpolate(control, size=shape, mode=mode, align_corners=False)
    return grid + offset.movedim(1, -1)


def slides(torch, count=64, size=512):
    functional = torch.nn.functional
    windows = torch.randint(0, 256, (count, 3, 768, 768), dtype=torch.uint8, device="cuda")
    to_stains = torch.randn(count, 3, 3, device="cuda")
    mean = torch.tensor([0.7, 0.55, 0.7], device="cuda").view(1, 3, 1, 1)
    std = torch.tensor([0.2, 0.22, 0.18], device="cuda").view(1, 3, 1, 1)

    def work():
        grid = turned(torch, count, 2, (size, size))
        x = functional.grid_sample(windows.float(), grid, mode="bilinear", padding_mode="reflection", align_corners=False)
        density = -torch.log((x + 1) / 256)
        density = torch.einsum("bij,bjyx->biyx", to_stains, density)
        x = torch.exp(-density).clamp(0, 1)
        x = (x * 1.1 + 0.02).clamp(0, 1)
        return ((x - mean) / std).to(torch.bfloat16, memory_format=torch.channels_last)

    return count, work


def volumes(torch, count=2, size=128):
    functional = torch.nn.functional
    windows = torch.randint(-1000, 1000, (count, 1, 192, 192, 192), dtype=torch.int16, device="cuda")
    labels = torch.randint(0, 3, (count, 1, 192, 192, 192), dtype=torch.uint8, device="cuda")

    def work():
        grid = turned(torch, count, 3, (size, size, size))
        x = functional.grid_sample(windows.float(), grid, mode="bilinear", padding_mode="border", align_corners=False)
        truth = functional.grid_sample(labels.float(), grid, mode="nearest", padding_mode="border", align_corners=False).to(torch.uint8)
        x = ((x + 160) / 400).clamp(0, 1)
        x = x.pow(1.2)
        x = x + torch.randn_like(x) * 0.05
        return x.to(torch.bfloat16), truth

    return count, work


def main():
    if importlib.util.find_spec("torch") is None:
        print("not measured: there is no torch")
        return 0
    import torch

    if not torch.cuda.is_available():
        print("not measured: torch sees no GPU")
        return 0
    print(f"torch {torch.__version__}, eager, on {torch.cuda.get_device_name()}; medians of 9\n\n"
          "| work | ms a batch | patches/s | Gvoxel/s |\n|---|---|---|---|")
    for name, (count, work), voxels in [("64 patches of 512×512: affine, elastic, stains, colour, normalize", slides(torch), 512**2),
                                        ("2 patches of 128³ with labels: affine, elastic, window, gamma, noise", volumes(torch), 128**3)]:
        seconds = median_seconds(torch, work, 50, 9)
        print(f"| {name} | {seconds * 1e3:.3f} | {count / seconds:.0f} | {count * voxels / seconds * 1e-9:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
