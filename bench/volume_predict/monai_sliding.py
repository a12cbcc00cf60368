"""MONAI as its bundles do it: LoadImage, Orientation, Spacing, ScaleIntensityRange, SlidingWindowInferer, Invertd, argmax, scipy's components, NIfTI.
Imports and the network's loading are not counted."""
import json
import struct

import numpy as np

PACKAGES = ("monai", "torch", "scipy", "nibabel")
NOTE = "imports and the network's loading not counted; windows over the whole volume; Spacing in float32; class map alone on disk"


def weights_of(path):
    """Tensors of a safetensors file by name."""
    import torch
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    entries = json.loads(raw[8:8 + size])
    entries.pop("__metadata__", None)
    return {name.removeprefix("model."): torch.frombuffer(bytearray(raw[8 + size + at[0]:8 + size + at[1]]), dtype=torch.float32).reshape(shape)
            for name, (at, shape) in ((name, (entry["data_offsets"], entry["shape"])) for name, entry in entries.items())}


def network(weights):
    """Probabilities of the run's unet3d (learn/model/unet3d.cpp): two levels, kernels of one voxel. As such it takes any order of axes."""
    import torch
    from torch.nn import functional

    def conv(name, x, stride=1):
        weight = weights[f"{name}.weight"].flatten(1)
        x = x[..., ::stride, ::stride, ::stride]
        made = torch.matmul(weight, x.flatten(2)).view(len(x), len(weight), *x.shape[2:])  # faster than conv3d for one voxel
        return functional.group_norm(made, len(weight), weights[f"{name}.norm.scale"], weights[f"{name}.norm.offset"])

    def block(name, x, stride=1):
        inside = conv(f"{name}.1", functional.leaky_relu(conv(f"{name}.0", x, stride)))
        beside = functional.avg_pool3d(x, stride) if stride > 1 else x
        beside = conv(f"{name}.skip", beside) if f"{name}.skip.weight" in weights else beside
        return functional.leaky_relu(inside + beside)

    def forward(x):
        fine = block("encoder.0.0", x)
        coarse = block("encoder.1.1", block("encoder.1.0", fine, 2))
        up = functional.interpolate(functional.leaky_relu(conv("decoder.0.narrow", coarse)), scale_factor=2, mode="nearest")
        made = block("decoder.0", torch.cat([fine, up], 1))
        head = weights["decoder.0.head.weight"].flatten(1)
        logits = torch.matmul(head, made.flatten(2)).view(len(made), len(head), *made.shape[2:])
        return torch.softmax(logits + weights["decoder.0.head.bias"].view(1, -1, 1, 1, 1), 1)
    return forward


def lesions_of(classes, value, voxel_mm3, least_mm3):
    """Volume and centre of each connected part that is large enough."""
    from scipy import ndimage
    marked, count = ndimage.label(classes == value, np.ones((3, 3, 3)))
    sizes = np.bincount(marked.ravel(), minlength=count + 1)[1:]
    centres = ndimage.center_of_mass(marked > 0, marked, np.arange(1, count + 1))
    return [{"volume_mm3": size * voxel_mm3, "centre": centre} for size, centre in zip(sizes, centres) if size * voxel_mm3 >= least_mm3]


def predictor(context):
    import monai.transforms as mt
    import nibabel
    import torch
    from measure import HERE, load
    from monai.data import MetaTensor
    from monai.inferers import SlidingWindowInferer
    work = load(HERE / "volume_predict/work.py")
    torch.set_num_threads(context.threads)
    keys, (low, high), spacing = ["image"], work.WINDOW_HU, (work.SPACING_MM,) * 3
    before = mt.Compose([mt.LoadImaged(keys), mt.EnsureChannelFirstd(keys), mt.Orientationd(keys, axcodes="LPS", labels=None),
                         mt.Spacingd(keys, pixdim=spacing, mode="bilinear", dtype=torch.float32),
                         mt.ScaleIntensityRanged(keys, a_min=low, a_max=high, b_min=0, b_max=1, clip=True)])
    after = mt.Compose([mt.Invertd(["pred"], transform=before, orig_keys="image", nearest_interp=False), mt.AsDiscreted(["pred"], argmax=True)])
    inferer = SlidingWindowInferer((work.PATCH,) * 3, sw_batch_size=4, overlap=work.OVERLAP, mode="gaussian", sigma_scale=0.125)
    study, forward = work.study(context), network(weights_of(work.trained_run(context) / "final.safetensors"))

    def predict(out):
        with torch.inference_mode():
            data = before({"image": study})
            data["pred"] = inferer(data["image"].as_tensor()[None], forward)[0]
            data["pred"] = MetaTensor(data["pred"], meta=data["image"].meta, applied_operations=data["image"].applied_operations)
            classes = after(data)["pred"][0]
        affine = np.asarray(classes.affine)
        values = classes.numpy().astype(np.uint8)
        lesions = lesions_of(values, work.LESION, abs(np.linalg.det(affine[:3, :3])), 50)
        (out / "lesions.json").write_text(json.dumps(lesions, default=float))
        nibabel.save(nibabel.Nifti1Image(values, affine), out / "classes.nii.gz")
        return out / "classes.nii.gz", len(lesions)
    return predict
