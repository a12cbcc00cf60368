"""Where volumes of `damage` lie."""
import numpy as np
from checks.dicom_images import facts


def is_in_centimetres(store, _folder):
    """A header in centimetres: voxels of 2 x 2 x 3 mm, the first at (10, 20, 30) mm."""
    found = facts(store, "case")
    np.testing.assert_allclose(found["spacing_mm"], [3, 2, 2], rtol=1e-6)


def is_2_2_3_mm(store, _folder):
    np.testing.assert_allclose(facts(store, "case")["spacing_mm"], [3, 2, 2], rtol=1e-6)
