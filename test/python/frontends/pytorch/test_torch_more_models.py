# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of other kinds: images with text, packed images, recommendation, graphs of nodes."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

from relax_mlir.frontends import torch as relax_torch  # noqa: E402

AUTO = torch.export.Dim.AUTO


class Recommender(torch.nn.Module):
    """DLRM: bags of embeddings, dense features, and products of all pairs."""

    def __init__(self):
        super().__init__()
        self.bags = torch.nn.ModuleList(torch.nn.EmbeddingBag(50, 8, mode=mode) for mode in ("sum", "mean"))
        self.bottom, self.top = torch.nn.Linear(4, 8), torch.nn.Linear(8 + 3, 1)

    def forward(self, dense, values, offsets):
        dense = torch.relu(self.bottom(dense))
        features = torch.stack([dense, *(bag(values, offsets) for bag in self.bags)], 1)
        pairs = torch.bmm(features, features.mT)
        rows, columns = torch.tril_indices(3, 3, -1)
        return torch.sigmoid(self.top(torch.cat([dense, pairs[:, rows, columns]], 1)))


def test_recommendation():
    def some(batch, count):
        return torch.randn(batch, 4), torch.randint(50, (count,)), torch.arange(batch) * (count // batch)

    shapes = {"dense": {0: AUTO}, "values": {0: AUTO}, "offsets": {0: AUTO}}
    cases = [some(3, 11), some(2, 5), some(4, 4)]
    programs.compare(Recommender(), cases[0], *cases, shapes=shapes, check_small=False)


class Nodes(torch.nn.Module):
    """Attention over the neighbors of each node, and a mean for each graph of a batch."""

    def __init__(self):
        super().__init__()
        self.project, self.score = torch.nn.Linear(6, 8), torch.nn.Linear(16, 1)

    def forward(self, x, edges, graph, count):
        x = self.project(x)
        source, target = edges
        scores = torch.nn.functional.leaky_relu(self.score(torch.cat([x[source], x[target]], 1)))[:, 0]
        most = torch.full((x.shape[0],), -torch.inf).scatter_reduce(0, target, scores, "amax")
        weights = torch.exp(scores - most[target])
        total = torch.zeros(x.shape[0]).index_add(0, target, weights)
        mixed = torch.zeros_like(x).index_add(0, target, x[source] * (weights / total[target])[:, None])
        sums = x.new_zeros(count.shape[0], 8).scatter_add(0, graph[:, None].expand_as(mixed), mixed)
        return sums / count[:, None]


def test_graphs_of_nodes():
    def some(nodes, edges, graphs):
        graph = torch.arange(nodes) % graphs
        count = torch.bincount(graph, minlength=graphs).float()
        return torch.randn(nodes, 6), torch.randint(nodes, (2, edges)), graph, count

    shapes = {"x": {0: AUTO}, "edges": {1: AUTO}, "graph": {0: AUTO}, "count": {0: AUTO}}
    cases = [some(7, 13, 3), some(5, 20, 2), some(9, 2, 4)]
    programs.compare(Nodes(), cases[0], *cases, shapes=shapes, check_small=False)


SIGHT = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 64}


def test_packed_images_of_any_grid():
    """The tower of Qwen2-VL. The library splits by lengths only known at run time; attention with a mask does not."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VisionTransformerPretrainedModel
    from transformers.vision_utils import get_vision_attention_seqlens, get_vision_position_ids

    def attend(module, query, key, value, attention_mask, scaling=None, cu_seq_lens_q=None, **options):
        image = torch.bucketize(torch.arange(query.shape[2]), cu_seq_lens_q, right=True)
        mask = image[:, None] == image[None]
        made = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scaling)
        return made.transpose(1, 2), None

    transformers.AttentionInterface.register("flash_attention_of_packed_images", attend)
    options = {"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 4, "patch_size": 4}
    config = transformers.Qwen2VLConfig(vision_config=options).vision_config
    model = Qwen2VisionTransformerPretrainedModel(config).eval()

    class Tower(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, patches, lengths, positions):
            extra = {"cu_seqlens": lengths, "max_seqlen": 1, "position_ids": positions}
            return self.model(patches, grid_thw=None, **extra).pooler_output

    def some(grid):
        grid = torch.tensor(grid)
        lengths, _ = get_vision_attention_seqlens(grid, config)
        return torch.randn(int(grid.prod(1).sum()), 96), lengths, get_vision_position_ids(grid, 2), grid

    cases = [some(grid) for grid in ([[1, 4, 4], [1, 4, 8]], [[2, 4, 4], [1, 8, 4], [1, 8, 8]], [[1, 4, 12]])]
    with torch.no_grad():
        expected = [model(patches, grid_thw=grid).pooler_output for patches, _, _, grid in cases]
    config._attn_implementation = "flash_attention_of_packed_images"
    shapes = {"patches": {0: AUTO}, "lengths": {0: AUTO}, "positions": {0: AUTO}}
    program = relax_torch.export(Tower(), cases[0][:3], dynamic_shapes=shapes, check_small=False)
    run = program.compile(cached=False)
    for (*args, _), wanted in zip(cases, expected):
        torch.testing.assert_close(run(*args), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.more
def test_images_among_text():
    """Llava: images replace tokens. PyTorch makes the number of images static; the length stays dynamic."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    text = {**SIGHT, "model_type": "llama", "num_key_value_heads": 2, "vocab_size": 128}
    sight = {**SIGHT, "model_type": "clip_vision_model", "image_size": 16, "patch_size": 8}
    config = transformers.LlavaConfig(vision_config=sight, text_config=text, image_token_index=120)
    model = transformers.LlavaForConditionalGeneration(config).eval()

    class Answer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, pixel_values):
            return self.model(input_ids=input_ids, pixel_values=pixel_values, use_cache=False).logits

    def some(length):
        ids = torch.randint(3, 120, (2, length))
        ids[:, 1:5] = 120
        return ids, torch.randn(2, 3, 16, 16)

    shapes = {"input_ids": {1: "length"}, "pixel_values": None}
    program = relax_torch.export(Answer(), some(12), dynamic_shapes=shapes, check_small=False)
    run = program.compile(cached=False)
    for length in (12, 7, 23):
        programs.check(run, Answer(), some(length), 1e-4)
    ids, images = some(9)
    ids[0, 1] = 7
    with pytest.raises(ValueError, match="assertion"):
        run(ids, images)


@pytest.mark.more
def test_an_encoder_of_segments():
    """The encoder of SAM: windows, and relative positions."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    options = {"image_size": 64, "patch_size": 8, "output_channels": 16, "window_size": 3, "global_attn_indexes": [1]}
    config = transformers.SamVisionConfig(**SIGHT | options | {"num_hidden_layers": 2})
    model = transformers.SamVisionModel(config).eval()

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, pixel_values):
            return self.model(pixel_values).last_hidden_state

    images = [torch.randn(batch, 3, 64, 64) for batch in (2, 1, 3)]
    shapes = {"pixel_values": {0: "batch"}}
    programs.compare(Encoder(), images[:1], *([x] for x in images), shapes=shapes, tolerance=1e-4)
