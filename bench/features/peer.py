"""The peers: a loop of openslide-python and a DataLoader for each slide, as TRIDENT's WSIPatcherDataset, Pillow, transforms and save_h5 do it."""
import h5py
import numpy as np
import openslide
import torch
from torchvision import transforms

TRANSFORM = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])


class Patches(torch.utils.data.Dataset):
    """Opens the slide in the process that reads."""

    def __init__(self, path, coords, patch):
        self._path, self._coords, self._patch, self._slide = path, coords, patch, None

    def __len__(self):
        return len(self._coords)

    def __getitem__(self, index):
        if self._slide is None:
            self._slide = openslide.OpenSlide(self._path)
        x, y = (int(one) for one in self._coords[index])
        tile = self._slide.read_region((x, y), 0, (self._patch, self._patch)).convert("RGB")
        return TRANSFORM(tile), (x, y)


@torch.inference_mode()
def extract(slides, coords, network, out, patch, batch, workers):
    """coords: for each slide, x and y of its patches. One file a slide, as TRIDENT writes it."""
    network.eval()
    for path in slides:
        loader = torch.utils.data.DataLoader(Patches(path, coords[path.stem], patch), batch_size=batch, num_workers=workers)
        features = np.concatenate([network(patches).numpy() for patches, _ in loader])
        with h5py.File(out / f"{path.stem}.h5", "w") as file:
            file.create_dataset("features", data=features, chunks=(1, features.shape[1]), maxshape=(None, features.shape[1]))
            file.create_dataset("coords", data=coords[path.stem], chunks=(1, 2), maxshape=(None, 2))
