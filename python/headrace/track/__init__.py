"""`headrace track`: brings runs to MLflow, Weights & Biases or TensorBoard. The way in is ``headrace.track.__main__``."""
