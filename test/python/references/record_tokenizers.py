# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records tokenizers.json: the tokens of llama.cpp and transformers, with small vocabularies made here.

    python -m venv references && . references/bin/activate
    pip install transformers==5.24.0 tokenizers gguf regex sentencepiece protobuf jinja2 xllamacpp==2026.10.11549
    python test/python/references/record_tokenizers.py

A vocabulary is trained on the unsplit texts themselves, so that its merges cross each position where some rule splits:
two rules that split a text differently give different tokens. Whole words without merges reveal which kinds accept a
word that is a token without merging.
"""

from __future__ import annotations

import json
import tempfile
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import regex
import sentencepiece
import tokenizers
import transformers
from llama_cpp import VERSION, Vocabulary

HERE = Path(__file__).resolve().parent

# Every name of a splitting rule that relax_mlir.models.pre_tokenizers knows.
NAMES = """
llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano smaug-bpe dbrx
qwen2 deepseek-r1-qwen stablelm2 megrez kormo hunyuan solar-open grok-2 qwen35
gpt-2 phi-2 mpt olmo jais trillion exaone4 mellum gigachat granite-docling
smollm starcoder refact command-r codeshell exaone minerva-7b
falcon default tekken gpt-4o llama4 kanana2 minimax-m2 deepseek-v3 hunyuan-dense joyai-llm deepseek-coder
bloom poro-chat gpt3-finnish viking seed-coder
""".split()

TEXTS = [
    "Hello world, this is a test of the words that are cut.",
    "I'll we've DON'T you'Re it'S they'd I'M o'clock ’s l'été",
    "'soft 'tis 'remote 'vest 'map 'llama 'dog 'Dog 'Remote it'sx we'vex he'dx",
    "1 12 123 1234 12345 3.14159 1,000,000 x86 a1b2 7th ½²³ ٣٤٥ 第12章",
    "  two  spaces   three    four\ttab\t\ttabs \t mixed ",
    "line\nline\n\nparagraph\r\nwindows\r\n\r\n end \n \n  indented\n    code\n",
    "trailing spaces   ",
    "\n",
    " ",
    "",
    "a",
    "punctuation: !!! ??? ... --- ((a)) [b] {c} <d> \"e\" 'f' `g` a/b a\\b http://x.y/z?q=1&r=2#s",
    "def f(x):\n\treturn x**2 + y[0] != {'k': \"v\"} # note\n\n\n",
    "$5+3=8 <=> ^~|` a+b c$d e^f g~h i|j k`l =m",
    "camelCase HTTPServer XMLHttpRequest iPhone ABCdefGHI ÀÉîõ ĲǅǆΣσς",
    "path/to/file\n/\n//comment\n///\n",
    "日本語のテキスト、漢字とひらがな。カタカナ 中文字符，标点！한국어 텍스트",
    "مرحبا بالعالم، كيف الحال؟ नमस्ते दुनिया। สวัสดี",
    "emoji 😀👩\u200d👧 🇩🇪 ❤️ ☃ ∑∫√ €£¥ ™©",
    "word。word，word、word…word!word?word(word)word،word۔",
    "\u00a0no\u00a0break\u2003em\u200bzero\u3000ideographic",
    "under_score __init__ snake_case_name _x x_",
    "ÄÖÜ äöü ß ẞ ñ ç ø å",
    "zyxw unmergeable zyxwvu unmergeables ZYXW 'zyxw unmergeable,",
    "#hashtag @user &amp; %20 *bold* ~~strike~~ -dash +plus =eq",
    "!a ?b .c ,d -e /f :g ;h (i )j _k *l",
]
# Characters with combining marks: some tokenizers compose them first.
MARKS = ["e\u0301te\u0301 nai\u0308ve", "\u0301ABC a\u0301B\u0301c", "का कि"]
SPECIAL = [
    "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n",
    "a <|im_start|> b<|im_end|>c",
    "<tool>x</tool> <unk>",
]

# For some kinds, llama.cpp replaces the pattern in the models' tokenizer.json by its own, which differs for characters
# with combining marks and for spaces that are not ASCII. These are the patterns of the models.
_CASES = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%s"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s"
    r"|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_ENGLISH = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
ORIGINAL = {
    "tekken": (_CASES % ("", "", ""),),
    **dict.fromkeys(("gpt-4o", "llama4", "kanana2", "minimax-m2"), (_CASES % (_ENGLISH, _ENGLISH, "{1,3}"),)),
    "deepseek-coder": (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}"),
}

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def byte_level() -> dict[str, Any]:
    """A byte-level vocabulary: tokens with their types, and merges."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    pre_tokenizers = tokenizers.pre_tokenizers
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=900, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, max_token_length=12
    )
    texts = [text for text in TEXTS if "unmergeable" not in text] + MARKS
    tokenizer.train_from_iterator(texts * 3, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    merges = [" ".join(merge) for merge in model["merges"]]
    whole = ["zyxw", "Ġunmergeable", "ZYXW", "Ġzyxw"]
    special = ["<|begin|>", "<|end_of_text|>", "<|im_start|>", "<|im_end|>"]
    added = ["<tool>", "</tool>"]
    types = [NORMAL] * (len(tokens) + len(whole)) + [CONTROL] * len(special) + [USER_DEFINED] * len(added) + [UNKNOWN]
    return {"tokens": [*tokens, *whole, *special, *added, "<unk>"], "token_type": types, "merges": merges}


# Texts that reveal where text is split, for each part of a pattern.
CUTS = [
    *TEXTS,
    *(
        f"x{mark}{end}y X{mark.upper()}{end}Y"
        for mark in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
        for end in ("", "a")
    ),
    *(f"1'{end}a .'{end}" for end in ("s", "T", "re", "VE", "m", "LL", "d")),
    "\ra\nb\r\nc\r\r\nd \re \nf\n\rg!\rh!\ni!\r\n\rj/\r/\n/k./\n.\n/l",
    "a  b   c\u3000\u3000d\u00a0 e \u2003f\t g \t h  ! 1  2   \n  i \n\n  \n j\r\n  k  ",
    "a1b22c333d4444e55555 1 22 333 4444 ½¾ ²³¹ ٣٤٥٦ a½b²c٣ 1½ 2² Ⅷ ⅧⅧa",
    "a.b..c,d;e:f!g?h-i_j(k)l[m]n{o}p\"q'r/s\\t|u~v`w^x<y>z=+a*b&c%d$e#f@g",
    " .a ..b ,c ;d :e !f ?g -h _i (j )k [l ]m {n }o \"p 'q /r \\s |t ~u `v ^w <x >y =z +a *b &c %d $e #f @g",
    ".A +b <c =d >e ~f $g ^h `i |j !K *L /m \\n [o ]p {q }r (s )t @u #v %w &x -y _z 1.a 2+b 3<c",
    "``a ~~b $$c ++d <<e >>f ==g ^^h ||i `1 ~2 $3 +4 <5 >6 =7 ^8 |9 €a £b ©c √d",
    "aBc ABc aBC ABC abC Abc ABcD aBCd ǅa aǅ ǅA Aǅ ʰa aʰ Aʰ ʰA ªA Aª "
    "中A A中 a中 中a 中中 A中a a中A ʰ中 .aB -Ab 1AB 1aB",
    "日本a日b本カc龥d一ゟeヿf゠g가h퟿i中1文2 日 本\n中.文!ア、イ。",
    "a。b，c、d！e？f…g।h۔i،j(k)l a |b |c (d ) e  .f  ,g  !h  ?i",
]


def cuts_vocabulary() -> dict[str, Any]:
    """A vocabulary of pairs of bytes, with two orders of merging them.

    Wherever text is not split, the two bytes can merge. The order decides which of two pairs that share a byte merges
    first: pairs of bytes of different classes come first, or last.
    """
    level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)

    def kind(letter: str) -> int:
        return 0 if letter.isalpha() and letter < "\x7f" else 1 if letter.isdigit() else 2

    pairs = set()
    for text in [*CUTS, *MARKS]:
        ((letters, _),) = level.pre_tokenize_str(text) if text else (("", None),)
        pairs |= set(zip(letters, letters[1:]))
    ranked = sorted(pairs, key=lambda pair: (kind(pair[0]) == kind(pair[1]), pair))
    changed = [pair for pair in ranked if kind(pair[0]) != kind(pair[1])]
    same = ranked[len(changed) :]
    tokens = [*sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()), *(a + b for a, b in ranked), "<|end|>"]
    return {
        "tokens": tokens,
        "token_type": [NORMAL] * (len(tokens) - 1) + [CONTROL],
        "merges": [[f"{a} {b}" for a, b in order] for order in (changed + same, same[::-1] + changed[::-1])],
    }


def gguf_byte_level(vocabulary: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    tokens = vocabulary["tokens"]
    ids = {"bos_token_id": tokens.index("<|begin|>"), "eos_token_id": tokens.index("<|end_of_text|>")}
    return gguf_metadata({"model": "gpt2", **vocabulary, **ids, **changes})


def gguf_metadata(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"tokenizer.ggml.{key}": value for key, value in values.items() if value is not None}


def encoded(metadata: Mapping[str, Any], texts: list[str]) -> dict[str, Any]:
    """The tokens of texts in llama.cpp, with and without parsing the names of special tokens."""
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = Vocabulary(Path(folder), metadata)
    found = {
        "bos": vocabulary.bos(),
        "stops": vocabulary.stops(),
        "ids": [vocabulary.encode(text) for text in texts],
        "plain": [vocabulary.encode(text, special=False, begin=False) for text in SPECIAL],
    }
    vocabulary.close()
    return found


def encoded_by(
    patterns: tuple[str, ...], vocabulary: Mapping[str, Any], text: str, ignore_merges: bool = False
) -> list[int]:
    """The tokens of a text that Python's `regex` splits, one pattern after another."""
    merges = [tuple(merge.split(" ")) for merge in vocabulary["merges"]]
    ids = {token: i for i, token in enumerate(vocabulary["tokens"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(ids, merges, ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    pieces = [text]
    for pattern in patterns:
        pieces = [part for piece in pieces for part in regex.split(f"({pattern})", piece) if part]
    return [token for piece in pieces for token in tokenizer.encode(piece).ids]


def record_kinds(vocabulary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each name of a splitting rule; names with equal results are grouped."""
    kinds: list[dict[str, Any]] = []
    for name in NAMES:
        texts = [*TEXTS, *SPECIAL, *MARKS]
        found = encoded(gguf_byte_level(vocabulary, pre=name), texts)
        if name in ORIGINAL:
            begin = [found["bos"]] * (found["bos"] is not None)
            for index, text in enumerate(texts):
                if text in MARKS or any(unicodedata.category(c)[0] == "M" or c.isspace() and c > "\x7f" for c in text):
                    found["ids"][index] = begin + encoded_by(ORIGINAL[name], vocabulary, text)
                else:  # for other texts, both agree
                    assert text in SPECIAL or found["ids"][index] == begin + encoded_by(
                        ORIGINAL[name], vocabulary, text, ignore_merges=name == "tekken"
                    )
        marks = found["ids"][-len(MARKS) :]
        found["ids"] = found["ids"][: -len(MARKS)]
        same = next((kind for kind in kinds if all(kind[key] == found[key] for key in found)), None)
        if same is None:
            kinds.append(same := {"names": [], **found, "marks": marks})
        same["names"].append(name)
    return kinds


def record_cuts(kinds: list[dict[str, Any]]) -> dict[str, Any]:
    """The positions where each kind splits the texts of `CUTS`."""
    vocabulary = cuts_vocabulary()
    end = {"eos_token_id": len(vocabulary["tokens"]) - 1, "bos_token_id": len(vocabulary["tokens"]) - 1}
    found: dict[str, list[Any]] = {}
    for kind in kinds:
        name = kind["names"][0]
        found[name] = []
        for merges in vocabulary["merges"]:
            values = {**vocabulary, **end, "model": "gpt2", "pre": name, "merges": merges}
            with tempfile.TemporaryDirectory() as folder:
                read = Vocabulary(Path(folder), gguf_metadata(values))
            rows = [read.encode(text, begin=False) for text in CUTS]
            read.close()
            if name in ORIGINAL:
                rows = [encoded_by(ORIGINAL[name], values, text, name == "tekken") for text in CUTS]
            found[name].append(rows)
    return {"texts": CUTS, "vocabulary": vocabulary, "ids": found}


# --- tokens that end an answer


def record_ends() -> list[dict[str, Any]]:
    """Tokens that end answers, with every type that converters give them."""
    ends = """<|eot_id|> <|im_end|> <|end|> <|return|> <|call|> <|flush|> <|calls|> <end_of_turn> <|endoftext|> </s>
    <|eom_id|> <EOT> _<EOT> [EOT] [EOS] <|end_of_text|> <end_of_utterance> <eos>
    <｜end▁of▁sentence｜> [e~[ <|start_header_id|>""".split()
    rows = [[end] for end in ends]
    rows += [["<|return|>", "<|call|>", "<|end|>"], ["<|calls|>", "<|flush|>", "<|end|>"]]
    rows += [["<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|endoftext|>"]]
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    found = []
    for row in rows:
        for kind in (NORMAL, CONTROL, USER_DEFINED):
            tokens = [*alphabet, "<last>", *row, "ab"]
            types = [NORMAL] * len(alphabet) + [CONTROL] + [kind] * len(row) + [NORMAL]
            ids = {"eos_token_id": len(alphabet), "bos_token_id": len(alphabet)}
            values = {"model": "gpt2", "pre": "gpt-2", "tokens": tokens, "token_type": types, "merges": ["a b"], **ids}
            with tempfile.TemporaryDirectory() as folder:
                vocabulary = Vocabulary(Path(folder), gguf_metadata(values))
            stops = [tokens[i] for i in vocabulary.stops()]
            texts = [[tokens[i] for i in vocabulary.encode(f"a{end}b")] for end in row]
            vocabulary.close()
            found.append({"added": row, "type": kind, "stops": stops, "texts": texts})
    return found


# --- SentencePiece


def sentence_piece() -> dict[str, Any]:
    """A vocabulary of characters with scores, as in Llama 2."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "texts").write_text("\n".join(TEXTS * 3))
        sentencepiece.SentencePieceTrainer.train(
            input=f"{folder}/texts",
            model_prefix=f"{folder}/model",
            model_type="bpe",
            vocab_size=600,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            character_coverage=0.98,
            user_defined_symbols=["<tool>"],
            minloglevel=2,
        )
        processor = sentencepiece.SentencePieceProcessor(f"{folder}/model.model")
    size = processor.get_piece_size()
    types = [
        UNKNOWN
        if processor.is_unknown(i)
        else CONTROL
        if processor.is_control(i)
        else BYTE
        if processor.is_byte(i)
        else USER_DEFINED
        if processor.id_to_piece(i) == "<tool>"
        else NORMAL
        for i in range(size)
    ]
    vocabulary = {
        "tokens": [processor.id_to_piece(i) for i in range(size)],
        "scores": [processor.get_score(i) for i in range(size)],
        "token_type": types,
    }
    with tempfile.TemporaryDirectory() as folder:
        read = Vocabulary(Path(folder), gguf_metadata({"model": "llama", **vocabulary}))
    for text in TEXTS:
        assert read.encode(text, begin=False, special=False) == processor.encode(text), text
    read.close()
    return vocabulary


SENTENCE_PIECE_SPECIAL = ["a <s>a b</s> c", "a</s>b <tool> c", "x<tool>y", "<unk> a", "<0x41>"]


def record_sentence_piece(vocabulary: Mapping[str, Any]) -> list[dict[str, Any]]:
    cases = []
    for options in ({}, {"add_space_prefix": False}, {"add_bos_token": False}, {"bos_token_id": 1, "eos_token_id": 2}):
        with tempfile.TemporaryDirectory() as folder:
            read = Vocabulary(Path(folder), gguf_metadata({"model": "llama", **vocabulary, **options}))
        ids = [read.encode(text) for text in [*TEXTS, *SENTENCE_PIECE_SPECIAL]]
        plain = [read.encode(text, special=False, begin=False) for text in SENTENCE_PIECE_SPECIAL]
        cases.append({"options": options, "bos": read.bos(), "stops": read.stops(), "ids": ids, "plain": plain})
        read.close()
    return cases


# --- folders, as transformers reads them


def folder_of(tokenizer: Any, eos: Any = None) -> dict[str, str]:
    """The files that transformers writes for a tokenizer."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        if eos is not None:
            (Path(folder) / "generation_config.json").write_text(json.dumps({"eos_token_id": eos}))
        return {path.name: path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.json*"))}


def record_folders(bytes_: Mapping[str, Any], pieces: Mapping[str, Any]) -> list[dict[str, Any]]:
    vocabulary = {token: i for i, token in enumerate(bytes_["tokens"])}
    merges = [tuple(merge.split(" ")) for merge in bytes_["merges"]]
    begin = ["<|begin|>", "$A"]
    special = dict(bos_token="<|begin|>", eos_token="<|end_of_text|>", unk_token="<unk>", pad_token="<|im_end|>")

    def llama3() -> Any:
        # Llama 3 files have the BOS token only in tokenizer.json.
        backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges, ignore_merges=True))
        pattern = tokenizers.Regex(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
            r"|\s+(?!\S)|\s+"
        )
        level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        backend.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
            [tokenizers.pre_tokenizers.Split(pattern, "isolated"), level]
        )
        backend.decoder = tokenizers.decoders.ByteLevel()
        backend.post_processor = tokenizers.processors.Sequence(
            [
                tokenizers.processors.ByteLevel(trim_offsets=False),
                tokenizers.processors.TemplateProcessing(
                    single=begin, pair=[*begin, "$B:1"], special_tokens=[("<|begin|>", vocabulary["<|begin|>"])]
                ),
            ]
        )
        return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **special)

    scores = pieces["scores"]
    piece_ids = {token: i for i, token in enumerate(pieces["tokens"])}
    piece_merges = []
    for token, score in zip(pieces["tokens"], scores):
        for at in range(1, len(token)):
            if pieces["token_type"][piece_ids[token]] == NORMAL and {token[:at], token[at:]} <= piece_ids.keys():
                piece_merges.append((-score, piece_ids[token[:at]], piece_ids[token[at:]], (token[:at], token[at:])))
    piece_merges = [merge for *_, merge in sorted(piece_merges)]
    made = {
        "llama 3": (llama3(), [vocabulary["<|end_of_text|>"], vocabulary["<|im_end|>"]]),
        "qwen 2": (
            transformers.Qwen2Tokenizer(
                vocab=vocabulary, merges=merges, eos_token="<|im_end|>", pad_token="<|end_of_text|>"
            ),
            vocabulary["<|im_end|>"],
        ),
        "llama 2": (transformers.LlamaTokenizer(vocab=piece_ids, merges=piece_merges, add_bos_token=True), None),
    }
    found = []
    for name, (tokenizer, eos) in made.items():
        files = folder_of(tokenizer, eos)
        with tempfile.TemporaryDirectory() as folder:
            for file, content in files.items():
                (Path(folder) / file).write_text(content, encoding="utf-8")
            read = transformers.AutoTokenizer.from_pretrained(folder)
        ids = [read(text).input_ids for text in [*TEXTS, *MARKS, *SPECIAL]]
        found.append(
            {
                "name": name,
                "files": files,
                "ids": ids,
                "decoded": [read.decode(row, skip_special_tokens=True) for row in ids],
                "special_tokens": read.special_tokens_map,
                "eos": eos,
            }
        )
    return found


def record_decoded(pieces: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Texts of tokens with control tokens among them, by transformers."""
    ids = {token: i for i, token in enumerate(pieces["tokens"])}
    a, b = [i for token, i in ids.items() if token.startswith("▁") and token[1:].isalpha()][:2]
    space = ids["▁"]
    rows = [
        [1, a, b], [a, 2, b], [1, 1, a, 2, 2, b, 2], [2, b], [a, space, 2, b], [space, space, a], [a, 2, ids["<0xE6>"],
        ids["<0x97>"], ids["<0xA5>"], 2, b], [2, space, 1, space, b], [a, ids["<0x0A>"], 2, b], [ids["<0xC3>"], 2, a],
    ]  # fmt: skip
    tokenizer = transformers.LlamaTokenizer(vocab=ids, merges=[])
    return [{"ids": row, "text": tokenizer.decode(row, skip_special_tokens=True)} for row in rows]


def main() -> None:
    bytes_, pieces = byte_level(), sentence_piece()
    kinds = record_kinds(bytes_)
    record = {
        "by": f"record_tokenizers.py with {VERSION}, transformers {transformers.__version__}, "
        f"sentencepiece {sentencepiece.__version__}",
        "texts": TEXTS,
        "marks": MARKS,
        "special": SPECIAL,
        "sentence_piece_special": SENTENCE_PIECE_SPECIAL,
        "byte_level": bytes_,
        "kinds": kinds,
        "cuts": record_cuts(kinds),
        "ends": record_ends(),
        "sentence_piece": pieces,
        "sentence_piece_cases": record_sentence_piece(pieces),
        "folders": record_folders(bytes_, pieces),
        "decoded": record_decoded(pieces),
    }
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    (HERE / "tokenizers.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
