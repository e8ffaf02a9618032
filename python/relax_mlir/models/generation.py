# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled language model with its cache: from prompts to answers, token by token."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from ..dtypes import to_numpy
from ..errors import ContextLengthError, RelaxError, TokenizerError
from ..runtime import Device, Executable
from .config import LlamaConfig
from .sampling import Sampler, Sampling
from .stopping import check_stop, until
from .tokenizer import Message, Tokenizer

PROMPT_CHUNK = 256
"""Tokens of a prompt that are processed together: attention scores grow with it, speed hardly does."""


ROWS_STEP = 256
"""The increment of the number of cache rows that a device's step reads: each number of rows is a separate graph."""


class Cache:
    """Keys and values of a batch of sequences.

    `length` rows of `capacity` are filled. Sequences that are shorter than others begin at their `start`.
    """

    def __init__(self, config: LlamaConfig, batch: int, capacity: int, device: Device | None = None) -> None:
        if not 0 < capacity <= config.context_length:
            raise ContextLengthError(
                f"a cache of {capacity} tokens: the model's context has from 1 to {config.context_length}"
            )
        layers, heads, size = config.num_layers, config.num_kv_heads, config.head_dim
        # Positions of keys are contiguous: products with a query read memory in order.
        shape, values_shape = (layers, batch, heads, size, capacity), (layers, batch, capacity, heads, size)
        dtype = to_numpy(config.dtype)
        put = device.put if device else np.asarray
        try:
            self.keys, self.values = put(np.zeros(shape, dtype)), put(np.zeros(values_shape, dtype))
        except MemoryError:
            size = 2 * dtype.itemsize * int(np.prod(shape, dtype=object)) >> 20
            raise RelaxError(
                f"no memory for a cache of {capacity} tokens and {batch} sequences, {size} MiB; ask for fewer tokens"
            ) from None
        self._sizes = (batch, capacity)
        self.nbytes = 2 * dtype.itemsize * int(np.prod(shape))
        self.start = np.zeros(batch, np.int64)
        self.length = 0
        self.step: tuple[Any, Any, Any] | None = None
        """On a device: tokens, positions and logits of a step, which keep their addresses."""

    @property
    def batch(self) -> int:
        return self._sizes[0]

    @property
    def capacity(self) -> int:
        return self._sizes[1]


@dataclasses.dataclass
class Statistics:
    """Time and tokens of a generation. Rates are tokens of all sequences per second.

    `end` says why it is over: "stop" after a stop token or a stop string, "length" after the requested number of
    tokens, "context" when the context is full; "" as long as it goes on.
    """

    prompt_tokens: int = 0
    prompt_seconds: float = 0.0
    new_tokens: int = 0
    decode_tokens: int = 0
    decode_seconds: float = 0.0
    end: str = ""

    @property
    def prompt_rate(self) -> float:
        return self.prompt_tokens / self.prompt_seconds if self.prompt_seconds else 0.0

    @property
    def decode_rate(self) -> float:
        return self.decode_tokens / self.decode_seconds if self.decode_seconds else 0.0


def check_lengths(lengths: Sequence[int], max_new_tokens: int | None, limit: int, used: int = 0) -> None:
    """Rejects prompts of these lengths that cannot be answered after `used` tokens of a context of `limit`.

    Raises:
      RelaxError: a prompt is empty, or no token is requested.
      ContextLengthError: a prompt does not fit.
    """
    if not lengths or min(lengths) == 0:
        raise RelaxError("a prompt is empty; expected at least one token")
    if max_new_tokens is not None and max_new_tokens < 1:
        raise RelaxError(f"max_new_tokens is {max_new_tokens}; expected at least 1")
    if used + max(lengths) > limit:
        before = f" after {used} others" if used else ""
        raise ContextLengthError(
            f"the prompt has {max(lengths)} tokens{before}, the context {limit}; shorten the prompt"
        )


class LanguageModel:
    """A compiled decoder: `executable["forward"](tokens, start, keys, values, t)` gives logits.

    On a device, a program with `decode` uses it for decode steps of sequences of equal length, replayed from a graph.
    """

    def __init__(
        self, executable: Any, config: LlamaConfig, tokenizer: Tokenizer | None = None, no_tokenizer: str = ""
    ) -> None:
        self.executable = executable
        self.config = config
        self._forward = executable["forward"]
        kind = executable.code.device if isinstance(executable, Executable) else ""
        self.device = Device(kind) if kind else None
        """The device of the model and its caches; None for the CPU."""
        self._decode = executable.captured("decode") if kind and "decode" in executable.code.functions else None
        self._tokenizer = tokenizer
        self._no_tokenizer = no_tokenizer
        self.statistics = Statistics()

    @property
    def tokenizer(self) -> Tokenizer:
        if self._tokenizer is None:
            why = f": {self._no_tokenizer}" if self._no_tokenizer else ""
            raise TokenizerError(f"the model has no tokenizer, and can be given tokens only{why}")
        return self._tokenizer

    # --- tokens

    def logits(self, tokens: np.ndarray, cache: Cache) -> np.ndarray:
        """The logits [b, vocab] that follow these tokens [b, n], which are added to the cache."""
        tokens = np.ascontiguousarray(tokens, np.int64)
        if tokens.ndim != 2 or len(tokens) != cache.batch or not tokens.shape[1]:
            raise RelaxError(f"expected tokens of shape [{cache.batch}, n], got {list(tokens.shape)}")
        wrong = tokens[(tokens < 0) | (tokens >= self.config.vocab_size)]
        if len(wrong):
            raise RelaxError(f"token {wrong[0]} is none of the {self.config.vocab_size} of the vocabulary")
        if cache.length + tokens.shape[1] > cache.capacity:
            raise ContextLengthError(
                f"{tokens.shape[1]} tokens more than the {cache.length} in the cache do not fit in its {cache.capacity}"
            )
        if tokens.shape[1] == 1 and self.device and self._decode and not cache.start.any():
            return self._next(tokens[:, 0], cache, self.device, self._decode)
        put = self.device.put if self.device else np.asarray
        start = put(cache.start)
        for begin in range(0, tokens.shape[1], PROMPT_CHUNK):
            part = np.ascontiguousarray(tokens[:, begin : begin + PROMPT_CHUNK])
            result = self._forward(put(part), start, cache.keys, cache.values, cache.length)
            cache.length += part.shape[1]
        return self.device.get(result) if self.device else np.from_dlpack(result)

    def _next(self, tokens: np.ndarray, cache: Cache, device: Device, decode: Callable[..., None]) -> np.ndarray:
        """The logits that follow one token of each sequence, from a step that the device replays."""
        places = np.full(cache.batch, cache.length)
        if cache.step is None:
            blank = np.zeros((cache.batch, self.config.vocab_size), np.float32)
            cache.step = (device.put(tokens), device.put(places), device.put(blank))
        on_device, at, logits = cache.step
        device.write(tokens, on_device)
        device.write(places, at)
        cache.length += 1
        rows = min(-(-cache.length // ROWS_STEP) * ROWS_STEP, cache.capacity)
        decode(on_device, at, cache.keys, cache.values, rows, logits)
        return device.get(logits)

    def new_cache(self, batch: int, capacity: int) -> Cache:
        """An empty cache on the model's device."""
        return Cache(self.config, batch, capacity, self.device)

    def generate_tokens(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        max_new_tokens: int | None = None,
        sampling: Sampling | None = None,
        stop_ids: Collection[int] | None = None,
        cache: Cache | None = None,
        history: Sequence[Sequence[int]] | None = None,
    ) -> Iterator[list[int | None]]:
        """Yields the next token of each sequence, step by step; None for a finished sequence.

        A sequence ends with a stop token, which is yielded, too. All end after `max_new_tokens`, or when the context is
        full.

        Args:
          prompts: the tokens of each sequence; with a cache, the tokens that follow its content.
          stop_ids: the tokenizer's by default.
          history: the tokens in the cache, which the repetition penalty concerns in addition to the prompts.
        """
        lengths = [len(prompt) for prompt in prompts]
        used, limit = (cache.length, cache.capacity) if cache else (0, self.config.context_length)
        check_lengths(lengths, max_new_tokens, limit, used)
        longest = max(lengths)
        if stop_ids is None:
            stop_ids = self._tokenizer.stop_ids if self._tokenizer else ()
        room = limit - used - longest + 1  # the last token need not be in the cache
        steps = room if max_new_tokens is None else min(max_new_tokens, room)
        if cache is None:
            cache = self.new_cache(len(prompts), min(limit, longest + steps))
        if cache.length == 0:
            cache.start[:] = [longest - length for length in lengths]
        elif len(set(lengths)) > 1:
            raise RelaxError("prompts of different lengths cannot follow what a cache holds")
        tokens = np.zeros((len(prompts), longest), np.int64)
        for row, prompt in zip(tokens, prompts):
            row[longest - len(prompt) :] = prompt
        seen = [[*before, *prompt] for before, prompt in zip(history or [()] * len(prompts), prompts)]
        sampler = Sampler(sampling or Sampling(), len(prompts), seen)
        end = "context" if max_new_tokens is None or max_new_tokens > room else "length"
        return self._steps(tokens, steps, sampler, frozenset(stop_ids), cache, end)

    def _steps(
        self, tokens: np.ndarray, steps: int, sampler: Sampler, stops: frozenset[int], cache: Cache, end: str
    ) -> Iterator[list[int | None]]:
        """`end`: the reason if all steps are taken."""
        statistics = self.statistics = Statistics(prompt_tokens=tokens.size)
        over = np.zeros(len(tokens), bool)
        for step in range(steps):
            begin = time.perf_counter()
            logits = self.logits(tokens, cache)
            seconds = time.perf_counter() - begin
            if step == 0:
                statistics.prompt_seconds = seconds
            else:
                statistics.decode_tokens += len(tokens)
                statistics.decode_seconds += seconds
            drawn = sampler(logits)
            given = [None if done else int(token) for done, token in zip(over, drawn)]
            statistics.new_tokens += sum(token is not None for token in given)
            over |= np.isin(drawn, list(stops))
            if over.all() or step + 1 == steps:
                statistics.end = "stop" if over.all() else end
            yield given
            if over.all():
                return
            tokens = drawn[:, None]

    # --- text

    def stream(
        self,
        prompt: str | Sequence[Message],
        *,
        max_new_tokens: int | None = None,
        sampling: Sampling | None = None,
        stop: Sequence[str] = (),
    ) -> Iterator[str]:
        """The answer to a prompt, or to the messages of a chat, in pieces as they come.

        Args:
          stop: texts that end the answer, which does not include them.
        """
        check_stop(stop)
        tokenizer = self.tokenizer
        ids = tokenizer.encode(prompt) if isinstance(prompt, str) else tokenizer.encode_chat(prompt)
        steps = self.generate_tokens([ids], max_new_tokens=max_new_tokens, sampling=sampling)
        # An answer in a chat is a separate text; a continuation may begin with a space.
        return self._text(steps, ids if isinstance(prompt, str) else (), stop)

    def _text(
        self, steps: Iterator[list[int | None]], after: Sequence[int] = (), stop: Sequence[str] = ()
    ) -> Iterator[str]:
        if (yield from until(self._pieces(steps, after), stop)):
            self.statistics.end = "stop"

    def _pieces(self, steps: Iterator[list[int | None]], after: Sequence[int]) -> Iterator[str]:
        stream = self.tokenizer.stream(after)
        for (token,) in steps:
            if token is None or token in self.tokenizer.stop_ids:
                break
            if text := stream.push(token):
                yield text
        if text := stream.finish():
            yield text

    def complete(
        self, prompts: Sequence[str], *, max_new_tokens: int | None = None, sampling: Sampling | None = None
    ) -> list[str]:
        """The answers to prompts, computed as one batch."""
        if isinstance(prompts, str):
            raise RelaxError("expected a list of prompts, got one; write complete([prompt]), or stream(prompt)")
        tokenizer = self.tokenizer
        answers: list[list[int]] = [[] for _ in prompts]
        ids = [tokenizer.encode(prompt) for prompt in prompts]
        for step in self.generate_tokens(ids, max_new_tokens=max_new_tokens, sampling=sampling):
            for answer, token in zip(answers, step):
                if token is not None and token not in tokenizer.stop_ids:
                    answer.append(token)
        return [self._continuation(prompt, answer) for prompt, answer in zip(ids, answers)]

    def _continuation(self, prompt: Sequence[int], answer: Sequence[int]) -> str:
        stream = self.tokenizer.stream(prompt)
        return "".join(map(stream.push, answer)) + stream.finish()

    def chat(self, capacity: int | None = None, *, system: str | None = None) -> Chat:
        """A conversation that keeps its history in its cache.

        Args:
          capacity: the maximal number of tokens; the whole context by default.
          system: the message that tells the model how to behave.
        """
        return Chat(self, capacity, system)


class Chat:
    """A conversation. Earlier turns stay in the cache and are not recomputed."""

    def __init__(self, model: LanguageModel, capacity: int | None = None, system: str | None = None) -> None:
        self._model = model
        self._system: list[Message] = [{"role": "system", "content": system}] if system else []
        self._cache = model.new_cache(1, capacity or model.config.context_length)
        self._cached: list[int] = []
        self.messages = list(self._system)

    def say(
        self,
        text: str,
        *,
        max_new_tokens: int | None = None,
        sampling: Sampling | None = None,
        stop: Sequence[str] = (),
    ) -> Iterator[str]:
        """The answer to a message, in pieces. Both are part of the conversation once the answer is over.

        Args:
          stop: texts that end the answer, which does not include them.
        """
        check_stop(stop)
        model, tokenizer = self._model, self._model.tokenizer
        asked = [*self.messages, {"role": "user", "content": text}]
        ids = tokenizer.encode_chat(asked)
        # The generated tokens of an answer may differ from the tokens of its text: go back to the first difference.
        common, known = 0, min(len(ids) - 1, len(self._cached), self._cache.length)
        while common < known and ids[common] == self._cached[common]:
            common += 1
        self._cached = ids[:common]
        self._cache.length = common
        steps = model.generate_tokens(
            [ids[common:]],
            max_new_tokens=max_new_tokens,
            sampling=sampling,
            cache=self._cache,
            history=[ids[:common]],
        )
        self._cached = list(ids)
        answer = ""

        def recorded() -> Iterator[list[int | None]]:
            for (token,) in steps:
                yield [token]
                if token is not None:
                    self._cached.append(token)  # the next step adds it to the cache

        for piece in model._text(recorded(), stop=stop):
            answer += piece
            yield piece
        del self._cached[self._cache.length :]
        self.messages = [*asked, {"role": "assistant", "content": answer}]

    def clear(self) -> None:
        """Clears the conversation."""
        self.messages, self._cached = list(self._system), []
        self._cache.length = 0
