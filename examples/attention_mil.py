"""Features of whole slides, and attention over them for one label a slide.  python attention_mil.py [STORE [OUT]]"""
import sys

import h5py
import headrace
import torch
from torchvision.models import resnet18

STORE, OUT = sys.argv[1] if len(sys.argv) > 1 else "phantoms.zarr", sys.argv[2] if len(sys.argv) > 2 else "features"
PATCH, MPP, EPOCHS = 64, 2.0, 30
torch.manual_seed(0)
encoder = resnet18()  # with random weights; weights="DEFAULT" fetches ImageNet's, and networks that have seen slides are better still
encoder.fc = torch.nn.Identity()
report = headrace.features(STORE, encoder, OUT, patch=PATCH, mpp=MPP)  # the files that CLAM and TRIDENT read; goes on where it was stopped
print(f"features of {report['patches']} patches of {report['slides']} slides made, those of {report['kept']} slides were there")


class AttentionMil(torch.nn.Module):  # Ilse et al., Attention-based deep multiple instance learning, ICML 2018
    def __init__(self, width):
        super().__init__()
        self.value, self.gate, self.weight = torch.nn.Linear(width, 64), torch.nn.Linear(width, 64), torch.nn.Linear(64, 1)
        self.score = torch.nn.Linear(width, 1)

    def forward(self, features):  # (patch, width) -> the slide's score (1,) and each patch's attention (patch,)
        attention = self.weight(self.value(features).tanh() * self.gate(features).sigmoid())[:, 0].softmax(0)
        return self.score(attention @ features), attention


bags = {"train": [], "val": []}
for slide in headrace.open(STORE):
    with h5py.File(report["files"][slide.id]) as file:
        features, coords = torch.from_numpy(file["features"][:]), file["coords"][:]
    if len(features) and slide.grade_group is not None and slide.split in bags:
        bags[slide.split].append((slide.id, features, coords, torch.tensor([float(slide.grade_group >= 3)])))
if not all(bags.values()):
    sys.exit(f"{STORE}: has no slides with tissue and a grade group in train or in val; the column grade_group of ingest's table states it")
centre, spread = (f(torch.cat([features for _, features, _, _ in bags["train"]]), 0) for f in (torch.mean, torch.std))
network = AttentionMil(len(centre))
optimizer = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.1)
for epoch in range(EPOCHS):
    for number in torch.randperm(len(bags["train"])).tolist():
        _, features, _, label = bags["train"][number]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(network((features - centre) / (spread + 1e-6))[0], label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.inference_mode():
    for split, of_split in bags.items():
        right = 0
        for name, features, coords, label in of_split:
            score, attention = network((features - centre) / (spread + 1e-6))
            right += int((score > 0) == (label > 0))
            if split == "val":
                x, y = coords[attention.argmax()]
                print(f"{name}: grade group 3 or more: {score.sigmoid().item():.2f}, in truth {label.item():.0f}; looked most at ({x}, {y})")
        print(f"{split}: {right} of {len(of_split)} slides right")
