# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Image networks of the kinds in torchvision, with any batch and any image size."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

ONE_OF = 3  # each case exports and compiles a program

AUTO = torch.export.Dim.AUTO


def convolution(inner, outer, size=3, stride=1, groups=1, activation=nn.ReLU):
    """A convolution with a norm, whose running statistics differ from a new layer's."""
    norm = nn.BatchNorm2d(outer)
    nn.init.uniform_(norm.running_mean, -0.5, 0.5)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    layers = [nn.Conv2d(inner, outer, size, stride, size // 2, groups=groups, bias=False), norm]
    return nn.Sequential(*layers, activation(inplace=True)) if activation else nn.Sequential(*layers)


class Residual(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.main = nn.Sequential(convolution(inner, outer, 3, stride), convolution(outer, outer, activation=None))
        self.short = convolution(inner, outer, 1, stride, activation=None) if stride > 1 else nn.Identity()

    def forward(self, x):
        return functional.relu(self.main(x) + self.short(x), inplace=True)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(convolution(3, 8, 7, 2), nn.MaxPool2d(3, 2, 1))
        self.blocks = nn.Sequential(Residual(8, 8, 1), Residual(8, 16, 2))
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.head(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))


class Inverted(nn.Module):
    """The block of MobileNet v2 and v3, and, with squeeze and excitation, of EfficientNet."""

    def __init__(self, inner, outer, stride, activation, squeezed=0):
        super().__init__()
        wide = inner * 4
        self.expand = convolution(inner, wide, 1, activation=activation)
        self.depthwise = convolution(wide, wide, 3, stride, groups=wide, activation=activation)
        self.project = convolution(wide, outer, 1, activation=None)
        self.is_residual = stride == 1 and inner == outer
        self.squeeze = nn.Conv2d(wide, squeezed, 1) if squeezed else None
        self.excite = nn.Conv2d(squeezed, wide, 1) if squeezed else None

    def forward(self, x):
        y = self.depthwise(self.expand(x))
        if self.squeeze is not None:
            scale = functional.silu(self.squeeze(functional.adaptive_avg_pool2d(y, 1)))
            y = torch.sigmoid(self.excite(scale)) * y
        y = self.project(y)
        return x + y if self.is_residual else y


class Mobile(nn.Module):
    def __init__(self, activation, squeezed=0):
        super().__init__()
        self.features = nn.Sequential(
            convolution(3, 8, 3, 2, activation=activation),
            Inverted(8, 8, 1, activation, squeezed),
            Inverted(8, 12, 2, activation, squeezed),
            convolution(12, 16, 1, activation=activation),
        )
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(16, 10))

    def forward(self, x):
        return self.head(self.features(x).mean([2, 3]))


class UNet(nn.Module):
    """Downsampling and upsampling, with a transposed convolution and with interpolation; odd sizes are padded."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = convolution(3, 8), convolution(8, 16), convolution(16, 16)
        self.up = nn.ConvTranspose2d(16, 16, 2, 2)
        self.join, self.last = convolution(32, 8), nn.Conv2d(16, 2, 1)

    def forward(self, x):
        first = self.first(x)
        second = self.second(functional.max_pool2d(first, 2))
        third = self.third(functional.max_pool2d(second, 2))
        up = self.up(third)
        rows, columns = second.shape[2] - up.shape[2], second.shape[3] - up.shape[3]
        up = functional.pad(up, [columns // 2, columns - columns // 2, rows // 2, rows - rows // 2])
        up = self.join(torch.cat([second, up], 1))
        up = functional.interpolate(up, size=first.shape[2:], mode="bilinear", align_corners=False)
        return self.last(torch.cat([first, up], 1))


class Detector(nn.Module):
    """SSD heads on feature maps of two sizes: scores, and boxes relative to a grid of anchors."""

    def __init__(self):
        super().__init__()
        self.features = nn.ModuleList([convolution(3, 8, 3, 4), convolution(8, 8, 3, 2)])
        self.scores = nn.ModuleList(nn.Conv2d(8, 2 * 5, 3, padding=1) for _ in range(2))
        self.boxes = nn.ModuleList(nn.Conv2d(8, 2 * 4, 3, padding=1) for _ in range(2))
        self.register_buffer("sizes", torch.tensor([0.1, 0.2]))

    def forward(self, x):
        scores, boxes = [], []
        for layer, score, box in zip(self.features, self.scores, self.boxes):
            x = layer(x)
            batch, _, height, width = x.shape
            scores.append(score(x).permute(0, 2, 3, 1).reshape(batch, -1, 5))
            offsets = box(x).permute(0, 2, 3, 1).reshape(batch, -1, 4)
            rows = (torch.arange(height) + 0.5) / height
            columns = (torch.arange(width) + 0.5) / width
            rows, columns = torch.meshgrid(rows, columns, indexing="ij")
            centers = torch.stack([columns, rows], -1).reshape(-1, 1, 2).expand(-1, 2, -1)
            sizes = self.sizes[None, :, None].expand(height * width, -1, 2)
            anchors = torch.cat([centers, sizes], 2).reshape(-1, 4)
            middle = anchors[:, :2] + offsets[..., :2] * 0.1 * anchors[:, 2:]
            half = anchors[:, 2:] * torch.exp(offsets[..., 2:] * 0.2) / 2
            boxes.append(torch.cat([middle - half, middle + half], -1))
        scores, boxes = torch.cat(scores, 1).softmax(-1), torch.cat(boxes, 1)
        best, classes = scores[..., 1:].max(-1)
        values, index = best.topk(4, 1)
        return values, classes.gather(1, index), boxes.gather(1, index[..., None].expand(-1, -1, 4))


NETWORKS = {
    "resnet": ResNet,
    "mobilenet v2": lambda: Mobile(nn.ReLU6),
    "mobilenet v3": lambda: Mobile(nn.Hardswish),
    "efficientnet": lambda: Mobile(nn.SiLU, squeezed=4),
    "unet": UNet,
    "ssd": Detector,
}


MORE = ("mobilenet v2", "mobilenet v3")
"""Networks of the same kind as another one in the list."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.more) if n in MORE else n for n in NETWORKS])
def test_networks(name):
    torch.manual_seed(0)
    model = NETWORKS[name]().eval()
    images = [torch.randn(batch, 3, *size) for batch, size in ((2, (36, 52)), (3, (29, 35)), (2, (64, 40)))]
    shapes = ({0: AUTO, 2: AUTO, 3: AUTO},)
    programs.compare(model, images[:1], *([x] for x in images), shapes=shapes, tolerance=1e-4, check_small=False)


def test_one_image():
    model = ResNet().eval()
    images = [torch.randn(batch, 3, 36, 52) for batch in (3, 1, 0)]
    programs.compare(model, images[:1], *([x] for x in images), shapes=({0: AUTO},), tolerance=1e-4)
