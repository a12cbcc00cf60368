"""The usual choice."""

PACKAGES = ("albumentations", "opencv-python-headless")
NOTE = "without stain normalisation"
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def chain():
    import albumentations as A
    import cv2
    from albumentations.pytorch import ToTensorV2
    cv2.setNumThreads(0)
    border = cv2.BORDER_REFLECT_101
    return A.Compose([
        A.Affine(scale=(0.8, 1.25), translate_percent=(-0.1, 0.1), rotate=(-180, 180), shear=(-5, 5), border_mode=border, p=1),
        A.ElasticTransform(alpha=120, sigma=6, noise_distribution="uniform", border_mode=border, p=1),
        A.HEStain(method="random_preset", intensity_scale_range=(0.95, 1.05), intensity_shift_range=(-0.05, 0.05),
                  augment_background=True, p=1),
        A.ColorJitter(brightness=(0.8, 1.2), contrast=(0.8, 1.2), saturation=(0.8, 1.2), hue=(-0.05, 0.05), p=1),
        A.GaussNoise(std_range=(0.02, 0.02), p=1), A.Normalize(mean=MEAN, std=STD), ToTensorV2()])


def augment(context, patches, reference):
    import torch
    torch.set_num_threads(1)
    steps = chain()
    return lambda: torch.stack([steps(image=p)["image"] for p in patches])
