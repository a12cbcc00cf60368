"""Plain PyTorch: a network of torchvision learns the labels of slides.  python train_torch.py [STORE [EPOCHS]]"""
import sys

import headrace
import torch
from torchvision.models import resnet18
from torchvision.models.feature_extraction import create_feature_extractor
from torchvision.models.segmentation.fcn import FCN, FCNHead

STORE, EPOCHS = sys.argv[1] if len(sys.argv) > 1 else "nuclei.zarr", int(sys.argv[2]) if len(sys.argv) > 2 else 4
CONFIG = {"task": "segmentation", "data": {"store": STORE}, "patch": {"size": [128, 128], "mpp": 0.5},
          "sampling": {"seed": 7, "batch": 8, "batches_per_epoch": 20}, "eval": {"batch": 8, "overlap": 0},
          "transforms": [{"affine": {"rotate_deg": [-180, 180], "scale": [0.8, 1.25], "flip": True}}, {"hed_jitter": {"sigma": 0.1}},
                         {"normalize": {"mean": [0.7, 0.55, 0.7], "std": [0.2, 0.22, 0.18]}}]}
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
train, val = headrace.Loader(CONFIG), headrace.Loader(CONFIG, split="val")
classes = len(train.classes)
network = FCN(create_feature_extractor(resnet18(), {"layer2": "out"}), FCNHead(128, classes)).to(device)
optimizer = torch.optim.AdamW(network.parameters(), 1e-3)


def scores_and_labels(batch):  # of images (sample, context, 3, y, x) the one context; in labels 255 is where nothing is known
    return network(batch["image"][:, 0].to(device))["out"], batch["label"].to(device).long()


for epoch in range(EPOCHS):
    network.train()
    for batch in train:
        loss = torch.nn.functional.cross_entropy(*scores_and_labels(batch), ignore_index=255)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    network.eval()
    pairs = torch.zeros(classes, classes, dtype=torch.int64, device=device)  # pixels that are of a class (row) and called a class (column)
    with torch.inference_mode():
        for scores, label in map(scores_and_labels, val):
            known = label != 255
            pairs += torch.bincount(label[known] * classes + scores.argmax(1)[known], minlength=classes**2).view(classes, classes)
    dice = (2 * pairs.diag() / (pairs.sum(0) + pairs.sum(1))).tolist()
    print(f"epoch {epoch}: loss {loss:.3f}, Dice of val:", ", ".join(f"{name} {d:.2f}" for name, d in zip(train.classes, dice)))
