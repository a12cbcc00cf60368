"""The networks, losses and steps of `headrace train`, in plain torch: what peers feed is the same model (learn/model)."""


def conv_norm(torch, dims, inside, outside, groups, kernel=3, stride=1):
    nn = torch.nn
    convolution = nn.Conv2d if dims == 2 else nn.Conv3d
    return nn.Sequential(convolution(inside, outside, kernel, stride, kernel // 2, bias=False), nn.GroupNorm(groups, outside))


def unet2d(torch, classes=3, widths=(32, 64, 128, 256)):
    """unet2d with one context: two convolutions a level, means between levels, repetition on the way up."""
    nn, functional = torch.nn, torch.nn.functional

    def conv(inside, outside, kernel=3):
        return nn.Sequential(conv_norm(torch, 2, inside, outside, outside // 8, kernel), nn.ReLU())

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            ins = (3, *widths)
            self.down = nn.ModuleList([nn.Sequential(conv(ins[i], w), conv(w, w)) for i, w in enumerate(widths)])
            self.narrow = nn.ModuleList([conv(widths[i + 1], w, 1) for i, w in enumerate(widths[:-1])])
            self.up = nn.ModuleList([nn.Sequential(conv(2 * w, w), conv(w, w)) for w in widths[:-1]])
            self.head = nn.Conv2d(widths[0], classes, 1)

        def forward(self, x):
            skips = []
            for level, block in enumerate(self.down):
                x = block(x if level == 0 else functional.avg_pool2d(x, 2))
                skips.append(x)
            for level in reversed(range(len(self.up))):
                x = functional.interpolate(self.narrow[level](x), scale_factor=2, mode="nearest")
                x = self.up[level](torch.cat([skips[level], x], 1))
            return [self.head(x)]

    return Net()


def unet3d(torch, classes=3, widths=(32, 64, 128, 256)):
    """unet3d: residual blocks, instance norm, a head for each level of the decoder."""
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self, inside, outside, stride=1):
            super().__init__()
            self.first = conv_norm(torch, 3, inside, outside, outside, 3, stride)
            self.second = conv_norm(torch, 3, outside, outside, outside)
            self.skip = conv_norm(torch, 3, inside, outside, outside, 1) if inside != outside else nn.Identity()
            self.stride = stride

        def forward(self, x):
            beside = self.skip(functional.avg_pool3d(x, 2) if self.stride > 1 else x)
            return functional.leaky_relu(self.second(functional.leaky_relu(self.first(x), 0.01)) + beside, 0.01)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            down = [Block(1, widths[0])]
            for i in range(1, len(widths)):
                down.append(nn.Sequential(Block(widths[i - 1], widths[i], 2), Block(widths[i], widths[i])))
            self.down = nn.ModuleList(down)
            self.narrow = nn.ModuleList([conv_norm(torch, 3, widths[i + 1], w, w, 1) for i, w in enumerate(widths[:-1])])
            self.up = nn.ModuleList([Block(2 * w, w) for w in widths[:-1]])
            self.heads = nn.ModuleList([nn.Conv3d(w, classes, 1) for w in widths[:-1]])

        def forward(self, x):
            skips = []
            for block in self.down:
                x = block(x)
                skips.append(x)
            levels = [None] * len(self.up)
            for level in reversed(range(len(self.up))):
                x = functional.interpolate(functional.leaky_relu(self.narrow[level](x), 0.01), scale_factor=2, mode="nearest")
                x = self.up[level](torch.cat([skips[level], x], 1))
                levels[level] = self.heads[level](x)
            return levels

    return Net()


def loss_of(torch, levels, labels):
    """Cross-entropy plus soft Dice, each level weighted half as much as the one above it."""
    functional = torch.nn.functional
    total, weight, sum_of_weights = 0.0, 1.0, 0.0
    for logits in levels:
        logits = logits.float()
        axes = (0, *range(2, logits.dim()))
        truth = functional.one_hot(labels, logits.shape[1]).movedim(-1, 1).float()
        cross = functional.cross_entropy(logits, labels)
        p = logits.softmax(1)
        dice = (2 * (p * truth).sum(axes) / ((p + truth).sum(axes)).clamp_min(1e-6)).mean()
        total, sum_of_weights = total + weight * (cross + 1 - dice), sum_of_weights + weight
        weight /= 2
        labels = labels[(slice(None), *[slice(None, None, 2)] * (labels.dim() - 1))]
    return total / sum_of_weights


class Training:
    """One step after the other, in mixed precision where there is a GPU."""

    def __init__(self, torch, dims, device, widths=(32, 64, 128, 256)):
        self.torch, self.device, self.dims = torch, device, dims
        net = (unet2d if dims == 2 else unet3d)(torch, widths=widths).to(device)
        self.net = net.to(memory_format=torch.channels_last) if dims == 2 else net
        self.optimiser = torch.optim.AdamW(self.net.parameters(), lr=1e-3, fused=device == "cuda")

    def step(self, images, labels):
        torch = self.torch
        images = images.to(self.device, non_blocking=True)
        if self.dims == 2:
            images = images.contiguous(memory_format=torch.channels_last)
        labels = labels.to(self.device, non_blocking=True).long()
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            levels = self.net(images)
        loss = loss_of(torch, levels, labels)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        return loss.item()  # the step's end on the host, as it is for ours
