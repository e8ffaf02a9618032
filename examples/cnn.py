# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small convolutional network whose batch, height and width are all dynamic.

The sizes of each feature map are expressions of `h` and `w`, which the compiler deduces. One compiled function takes
images of every size that the declared bounds allow.

    python examples/cnn.py
"""

import numpy as np

from relax_mlir import Range, Sym, Tensor, compile, nn, op


class Classifier(nn.Module):
    def __init__(self, classes: int) -> None:
        self.layers = nn.ModuleList([nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, strides=2, padding=1)])
        self.head = nn.Linear(16, classes, bias=True)

    def forward(self, image):
        x = image
        for layer in self.layers:
            x = op.relu(layer(x))
            print(f"  feature map: {x.shape}")
        x = op.max_pool2d(x, pool_size=2, strides=2)
        print(f"  after pooling: {x.shape}")
        return op.softmax(self.head(x.mean(axis=(2, 3))), axis=-1)


def main() -> None:
    n, h, w = Sym("n"), Sym("h"), Sym("w")
    model = Classifier(classes=5)
    image = Tensor((n, 3, h, w), "f32", name="image")
    print("shapes deduced while the program is built:")
    module = nn.export(model, {"forward": [image]}, symbols={n: Range(1, 8), h: Range(8, 256), w: Range(8, 256)})

    rng = np.random.default_rng(0)
    weights = {
        name: (rng.standard_normal(parameter.shape) / 4).astype(np.float32)
        for name, parameter in model.named_parameters()
    }
    classify = compile(module, weights=weights)["forward"]
    for shape in ((1, 3, 32, 32), (4, 3, 17, 50)):
        scores = classify(rng.standard_normal(shape).astype(np.float32))
        print(f"images {shape}: scores {scores.shape}, which add up to {scores.sum(axis=1).round(3).tolist()}")


if __name__ == "__main__":
    main()
