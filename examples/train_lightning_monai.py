"""Lightning and MONAI: a 3D U-Net learns the labels of CT.  python train_lightning_monai.py [STORE [EPOCHS]]"""
import sys

import headrace
import torch
from lightning.pytorch import LightningModule, Trainer, seed_everything
from monai.losses import DiceLoss
from monai.networks.nets import UNet
from torchmetrics.classification import MulticlassF1Score

STORE = sys.argv[1] if len(sys.argv) > 1 else "organs.zarr"
EPOCHS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
CONFIG = {"task": "segmentation", "data": {"store": STORE}, "patch": {"size": [16, 48, 48], "spacing_mm": [4, 4, 4]},
          "sampling": {"seed": 7, "batch": 2, "batches_per_epoch": 60}, "eval": {"batch": 2, "overlap": 0},
          "transforms": [{"affine": {"rotate_deg": [-15, 15], "in_plane": True, "scale": [0.8, 1.25]}},
                         {"window_hu": {"low": -100, "high": 250}}, {"gaussian_noise": {"sigma": [0, 0.05]}}]}


class Organs(LightningModule):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes
        self.network = UNet(3, in_channels=1, out_channels=len(classes), channels=(16, 32, 64), strides=(2, 2), num_res_units=1)
        self.dice_loss = DiceLoss(to_onehot_y=True, softmax=True, ignore_index=255)  # 255: outside of the scan, or not annotated
        self.dice = MulticlassF1Score(len(classes), average=None, ignore_index=255)  # of each class over all voxels: its Dice

    def training_step(self, batch, number):  # image (sample, channel, z, y, x), label (sample, z, y, x)
        scores, label = self.network(batch["image"]), batch["label"].long()
        return self.dice_loss(scores, label[:, None]) + torch.nn.functional.cross_entropy(scores, label, ignore_index=255)

    def validation_step(self, batch, number):
        self.dice.update(self.network(batch["image"]), batch["label"])

    def on_validation_epoch_end(self):
        dice = zip(self.classes, self.dice.compute().tolist())
        self.print(f"epoch {self.current_epoch}: Dice of val:", ", ".join(f"{name} {d:.2f}" for name, d in dice))
        self.dice.reset()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 2e-3)


if __name__ == "__main__":
    seed_everything(0)
    trainer = Trainer(max_epochs=EPOCHS, logger=False, num_sanity_val_steps=0, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Organs(list(headrace.open(STORE).classes)), datamodule=headrace.lightning.DataModule(CONFIG))
