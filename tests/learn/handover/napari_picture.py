"""Run by a Python that has napari: opens a slide of a store and over it the labels of its result, prints the layers that it made of them, and saves a
picture of the window.
    napari_picture.py PICTURE SLIDE RESULT"""
import json
import sys

import napari

viewer = napari.Viewer(show=True)
viewer.window.resize(1200, 800)
_, picture, slide, result = sys.argv
viewer.open(slide, plugin="napari-ome-zarr")
for layer in viewer.open(result, plugin="napari-ome-zarr"):
    layer.visible = isinstance(layer, napari.layers.Labels)  # its probabilities would hide the slide
viewer.reset_view()
viewer.screenshot(picture, canvas_only=False)
layers = [{"name": layer.name, "kind": type(layer).__name__, "shape": list(layer.data.shape if not layer.multiscale else layer.data[0].shape),
           "scale": [float(v) for v in layer.scale]} for layer in viewer.layers]
viewer.close()
print(json.dumps(layers))
