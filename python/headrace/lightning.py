"""Batches for Lightning: `headrace.lightning.DataModule`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import UsageError
from ._run_config import Config, read_run_config, section_names
from .loader import Loader

if TYPE_CHECKING:
    from lightning.pytorch import LightningDataModule
else:
    try:
        from lightning.pytorch import LightningDataModule
    except ImportError:
        try:
            from pytorch_lightning import LightningDataModule
        except ImportError:
            raise ImportError("headrace.lightning needs Lightning, which is not installed: pip install lightning") from None

__all__ = ["DataModule"]


class DataModule(LightningDataModule):
    """Training samples, and tiles of the splits to validate, test and predict.

    `val`: None for the config's `data.val`; "" for none. `test`, `predict`: names of splits, where they are wanted. `config` and the
    other arguments are those of `headrace.Loader`; batches are its dicts, as torch tensors.

    Each process makes its part of every batch: of one with `sampling.batch` samples, so that a step is the same on any number of
    processes. Lightning keeps the place of training in its checkpoints and goes on there, in the middle of an epoch too. No
    DataLoader and no worker processes are used; Lightning's samplers for several processes are not needed.
    """

    def __init__(
        self, config: Config = None, *, val: str | None = None, test: str | None = None, predict: str | None = None, **options: Any
    ) -> None:
        super().__init__()
        self._config, self._options = config, {**options, "as_": "torch"}
        self._of_tiles = {key: value for key, value in self._options.items() if key not in ("split", "epoch", "start", "count")}
        if val is None:
            sections = {key: value for key, value in options.items() if key in section_names()}
            val = read_run_config(config, sections)[0]["data"]["val"]
        self._splits = {"val": val, "test": test, "predict": predict}
        self._loaders: dict[str, Loader] = {}

    def _loader(self, of: str, options: dict[str, Any]) -> Loader:
        """A new one in place of that of before, whose threads end."""
        before, loader = self._loaders.get(of), Loader(self._config, **options)
        if before is not None:
            if of == "train":  # asked for again within a training: it goes on
                loader.seek(*before.place)
            before.close()
        self._loaders[of] = loader
        return loader

    def _tiles(self, of: str) -> Any:
        """No loader, as Lightning writes it, where no split is named."""
        split = self._splits[of]
        return self._loader(of, {**self._of_tiles, "split": split, "tiles": True}) if split else []

    def train_dataloader(self) -> Loader:
        if getattr(self.trainer, "overfit_batches", 0):
            raise UsageError("overfit_batches wants the same batches in each epoch; samples are drawn anew. Give a small split or count instead")
        return self._loader("train", self._options)

    def val_dataloader(self) -> Any:
        return self._tiles("val")

    def test_dataloader(self) -> Any:
        return self._tiles("test")

    def predict_dataloader(self) -> Any:
        return self._tiles("predict")

    def teardown(self, stage: str) -> None:
        """Ends the threads of all loaders; a training that begins after it begins anew."""
        for loader in self._loaders.values():
            loader.close()
        self._loaders.clear()
