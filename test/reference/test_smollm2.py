# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SmolLM2-135M-Instruct against transformers, which loads the same file. Numbers are in f32 on both sides."""

import numpy as np
import pytest

from relax_mlir import models
from relax_mlir.models import Cache

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make reference` installs it")
transformers = pytest.importorskip("transformers", reason="`make reference` installs transformers")

TOLERANCE = 2e-3
LONGEST = 500

PROMPTS = [
    "What is the capital of France?",
    "Write a haiku about the sea.",
    "Explain in one sentence why the sky is blue.",
    "List three prime numbers.",
    "Translate 'good morning' to Spanish.",
    "Who wrote Romeo and Juliet?",
    "What is 12 times 12?",
    "Name the planets of the solar system.",
    "Give me a recipe for pancakes.",
    "What does a compiler do?",
    "Write a Python function that adds two numbers.",
    "Tell me a short story about a cat.",
    "What is the boiling point of water?",
    "How many legs does a spider have?",
    "Describe the colour red to someone who cannot see.",
    "Why do leaves fall in autumn?",
    "What is the difference between a list and a tuple?",
    "Give three tips for sleeping better.",
    "Who was Ada Lovelace?",
    "Say hello in five languages.",
]


@pytest.fixture(scope="module")
def reference():
    path = models.find_model("smollm2")
    model = transformers.AutoModelForCausalLM.from_pretrained(
        str(path.parent), gguf_file=path.name, dtype=torch.float32, attn_implementation="eager"
    )
    return model.eval()


@pytest.fixture(scope="module", params=["panels", "quantised"])
def model(request):
    program = models.build(models.find_model("smollm2"), layout=request.param, functions=("forward", "forward_all"))
    return program.compile()


def tokens_of(model, batch, length):
    """Texts of the given length, a different one in each row."""
    text = " ".join(f"{index}. {prompt}" for index, prompt in enumerate(PROMPTS * 20))
    ids = np.array(model.tokenizer.encode(text), np.int64)
    assert len(ids) >= length + 37 * (batch - 1)
    return np.stack([ids[37 * row : 37 * row + length] for row in range(batch)])


def expected_logits(reference, tokens):
    with torch.inference_mode():
        return reference(torch.from_numpy(tokens)).logits.numpy()


def furthest(name, found, expected):
    difference = float(np.abs(found - expected).max())
    print(f"\n{name}: max |difference| {difference:.2e} of logits up to {np.abs(expected).max():.1f}")
    assert difference <= TOLERANCE
    return difference


# The logits at each position of a text of 500 tokens equal the logits of prompts of 1 to 500 tokens.
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_logits_at_every_length(model, reference, batch):
    tokens = tokens_of(model, batch, LONGEST)
    cache = Cache(model.config, batch, LONGEST)
    found = model.executable["forward_all"](tokens, cache.start, cache.keys, cache.values, 0)
    furthest(f"batch {batch}, 1 to {LONGEST} tokens", np.from_dlpack(found), expected_logits(reference, tokens))


# Prompts have lengths around the boundaries of blocks.
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_prompts(model, reference, batch):
    tokens = tokens_of(model, batch, LONGEST)
    expected = expected_logits(reference, tokens)
    for length in (1, 2, 3, 7, 16, 31, 64, 127, 128, 129, 255, 256, 257, 400, LONGEST):
        found = model.logits(tokens[:, :length], Cache(model.config, batch, length))
        furthest(f"batch {batch}, a prompt of {length}", found, expected[:, length - 1])


# A prompt gives the same results token by token and in one piece, up to rounding.
@pytest.mark.parametrize("batch", [1, 2])
def test_token_by_token(model, reference, batch):
    tokens = tokens_of(model, batch, 96)
    expected = expected_logits(reference, tokens)
    cache = Cache(model.config, batch, 96)
    steps = np.stack([model.logits(tokens[:, [at]], cache) for at in range(96)], 1)
    furthest(f"batch {batch}, token by token", steps, expected)
    whole = model.logits(tokens, Cache(model.config, batch, 96))
    furthest(f"batch {batch}, in one piece", steps[:, -1], whole)


# In a batch, padding precedes shorter prompts.
def test_prompts_of_different_lengths(model, reference):
    lengths = [5, 61, 120]
    text = tokens_of(model, 3, 120)
    tokens = np.zeros((3, 120), np.int64)
    cache = Cache(model.config, 3, 120)
    for row, length in enumerate(lengths):
        tokens[row, 120 - length :] = text[row, :length]
        cache.start[row] = 120 - length
    found = model.logits(tokens, cache)
    for row, length in enumerate(lengths):
        expected = expected_logits(reference, text[row : row + 1, :length])[0, -1]
        furthest(f"a prompt of {length} among longer ones", found[row], expected)


def test_greedy_text(model, reference):
    wanted, found = [], []
    for prompt in PROMPTS:
        ids = model.tokenizer.encode_chat([{"role": "user", "content": prompt}])
        found.append([step[0] for step in model.generate_tokens([ids], max_new_tokens=48)])
        with torch.inference_mode():
            given = torch.tensor([ids])
            answer = reference.generate(
                given,
                attention_mask=torch.ones_like(given),
                do_sample=False,
                max_new_tokens=48,
                eos_token_id=sorted(model.tokenizer.stop_ids),
                pad_token_id=model.tokenizer.pad_id,
            )
        wanted.append(answer[0, len(ids) :].tolist())
    same = sum(a == b for a, b in zip(found, wanted, strict=True))
    print(f"\ngreedy text: {same} of {len(PROMPTS)} answers are the same")
    assert found == wanted
