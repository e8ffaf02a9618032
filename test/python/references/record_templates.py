# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records templates.json: how transformers renders chats with templates of each kind.

    pip install transformers==5.24.0 tokenizers jinja2
    python test/python/references/record_templates.py

The templates are written for this purpose, each in the style of a family of models. Every chat is rendered with every
template; failures are recorded as null.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tokenizers
import transformers

HERE = Path(__file__).resolve().parent

TEMPLATES = {
    "turns": (
        "{% for message in messages %}\n<|im_start|>{{ message.role }}\n{{ message['content'] }}<|im_end|>\n"
        "{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}\n"
    ),
    "whitespace": (
        "  {%- for m in messages -%}\n    {% if loop.first %}first {% endif %}\n"
        "    {%+ if loop.last %}last{% endif %}\n"
        "\t{# comment #}\n {{- m.content | trim }}|\n   {%- endfor %}\n\n  end  \n"
    ),
    "instructions": (
        "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] %}"
        "{% set messages = messages[1:] %}{% else %}{% set system = '' %}{% endif %}"
        "{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('roles must alternate') }}{% endif %}{% if message['role'] == 'user' %}"
        "[INST] {{ ('<<SYS>>\n' + system + '\n<</SYS>>\n\n' if loop.first and system else '')"
        " + message['content'].strip() }}"
        " [/INST]{% else %} {{ message['content'] }} {{ eos_token }}{% endif %}{% endfor %}"
    ),
    "special tokens": (
        "{% for name, token in [('bos', bos_token), ('eos', eos_token), ('pad', pad_token), ('unk', unk_token),"
        " ('sep', sep_token), ('cls', cls_token), ('mask', mask_token)] %}{{ name }}={{ token }}"
        "{{ '' if token is defined else '?' }} {% endfor %}{% if pad_token is defined %}P{% endif %}"
        "{% if mask_token is defined %}M{% endif %}{{ tokenizer is defined }}{{ builtin_tools is defined }}"
    ),
    "absent": (
        "{{ tools is none }} {{ documents is none }} {{ tools is defined }} {{ documents is defined }} {{ tools }}"
        "{% if tools is not none %}TOOLS{% endif %}{% if not documents %}none{% endif %} {{ add_generation_prompt }}"
        "{{ enable_thinking is defined }}{{ messages[0].name is defined }}{{ messages[0].tool_calls is defined }}"
    ),
    "tools": (
        "{% if tools %}# Tools\n{% for tool in tools %}{{ tool | tojson }}\n{{ tool | tojson(indent=2) }}\n"
        "{{ tool | tojson(separators=(',', ':')) }}\n{{ tool | tojson(ensure_ascii=True) }}\n"
        "{{ tool | tojson(sort_keys=True, indent=4, separators=(', ', ' = ')) }}\n{{ tool | tojson(false, 3) }}\n"
        "{% endfor %}{% endif %}{% for m in messages %}{% if m.tool_calls %}{% for call in m.tool_calls %}"
        "<tool_call>{{ call.function | tojson }}{{ call.function.arguments | tojson }}</tool_call>"
        "{% for key, value in call.function.arguments | items %}{{ key }}: {{ value }}; {% endfor %}{% endfor %}"
        "{% endif %}{% if m.content is defined %}{{ m.role }}: {{ m.content }}{% endif %}\n{% endfor %}"
    ),
    "json": (
        "{{ messages | tojson }} {{ {'é': [1, 2.5, none, true, '<&>\\'\"', '\\u2028'], 'b': {}, 'a': [] } | tojson }}"
        "{{ {'b': 1, 'a': {'d': 1, 'c': 2}} | tojson(sort_keys=true) }}{{ 'é' | tojson(ensure_ascii=true) }}"
        "{{ [1, [2, {'x': 3}]] | tojson(indent='--') }}{{ (1, 2) | tojson }}{{ 0.1 | tojson }}{{ 1e100 | tojson }}"
    ),
    "documents": (
        "{% if documents %}{% for d in documents %}[{{ loop.index }}] {{ d['title'] }}: {{ d.text }} {{ d | tojson }}\n"
        "{% endfor %}{% endif %}{{ messages[-1].content }}"
    ),
    "generation": (
        "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}\n{{ m.content }}{{ eos_token }}\n"
        "{% set inner = 1 %}{% endgeneration %}{% else %}{{ m.role }}: {{ m.content }}\n{% endif %}{% endfor %}"
        "{{ inner is defined }}{% generation %}{% set outer = 1 %}{% endgeneration %}{{ outer is defined }}"
        "{%- generation -%}  {{ 'tail' }}  {%- endgeneration -%}\n\n"
    ),
    "namespace": (
        "{% set ns = namespace(seen=0, last='') %}{% for m in messages %}{% set ns.seen = ns.seen + 1 %}"
        "{% if m.role == 'user' %}{% set ns.last = m.content %}{% endif %}{% endfor %}{{ ns.seen }}{{ ns.last }}"
        "{% set d = dict(a=1, b=2) %}{{ d.a }}{{ dict.fromkeys(['x'], 0) }}{{ dict([('k', 'v')]) }}"
        "{% set self = namespace(self=3) %}{{ self.self }}"
    ),
    "private namespace": "{% set ns = namespace(_x=1) %}{{ ns._x }}",
    "private name": "{% set ns = namespace() %}{% set ns._x = 1 %}",
    "loops": (
        "{% for m in messages %}{% if m.role == 'system' %}{% continue %}{% endif %}{{ m.content }}"
        "{% if loop.index > 2 %}{% break %}{% endif %}{% else %}none{% endfor %}"
        "{% for i in range(3) if i != 1 %}{{ i }}{{ loop.cycle('a', 'b') }}{{ ', ' if not loop.last }}{% endfor %}"
    ),
    "macros": (
        "{% macro turn(role, text='') -%}\n<{{ role }}>{{ text | trim }}</{{ role }}>\n{%- endmacro %}"
        "{% for m in messages %}{{ turn(m.role, m.content) }}{% endfor %}"
        "{{ turn('assistant') if add_generation_prompt }}"
        "{% filter upper %}up{% endfilter %}"
        "{% macro wrap() %}[{{ caller('z') }}]{% endmacro %}{% call(x) wrap() %}{{ x }}{% endcall %}"
    ),
    "thinking": (
        "{% for m in messages %}{{ m.role }}:{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>"
        "{% endif %}{% if m.thinking %}({{ m.thinking }}){% endif %}{{ m.reasoning }}"
        "{% set parts = m.content.split('</think>') %}{{ parts[-1].lstrip('\n') }}\n{% endfor %}"
        "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>{% endif %}"
    ),
    "strings": (
        "{{ messages[0].content.upper() }}{{ messages[0].content | length }}{{ messages[0].content[:3] }}"
        "{{ 'a' in messages[0].content }}{{ messages[0].content is string }}{{ messages is iterable }}"
        "{{ messages[0] is mapping }}{{ messages | map(attribute='role') | join(',') }}"
        "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ '%s-%d' | format('x', 3) }}"
        "{{ messages[0].content.replace('a', 'b').startswith('H') }}{{ 'a' ~ 1 }}{{ 7 // 2 }}{{ nothing }}"
        "{{ messages[0].keys() | list }}{{ strftime_now('%Y') | length }}"
        "{{ '<b>' }}{{ '<b>' | safe }}{{ true }}{{ none }}"
    ),
    "attribute of nothing": "{{ nothing.attribute }}",
    "missing message": "{{ messages[9].content }}",
    "private attribute": "{{ messages.__class__ }}",
    "changes messages": "{{ messages.append(1) }}",
    "break outside": "{% break %}",
    "unclosed generation": "{% generation %}x",
    "numbers": "{{ n + 1 }}{{ 2.5 * 2 }}{{ [3, 1, 2] | sort }}{{ n | tojson }}{{ flag }}{{ values | tojson }}",
}

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": 'The weather of a city, e.g. "Zürich" <&>',
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CALL = {"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Zürich", "days": 2}}}
USER = {"role": "user", "content": "  Hello, what is it? é \n"}
SYSTEM = {"role": "system", "content": "Be kind."}
ANSWER = {"role": "assistant", "content": "It is <b>&\n"}

CHATS: dict[str, dict[str, Any]] = {
    "one": {"messages": [USER]},
    "no prompt": {"messages": [USER], "add_generation_prompt": False},
    "turns": {"messages": [SYSTEM, USER, ANSWER, {"role": "user", "content": "and?"}]},
    "two users": {"messages": [USER, USER]},
    "tools": {
        "messages": [
            USER,
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "content": "rain", "name": "get_weather"},
        ],
        "tools": [WEATHER, {"b": 1, "a": [True, None]}],
    },
    "call without content": {"messages": [USER, {"role": "assistant", "tool_calls": [CALL]}]},
    "no tools": {"messages": [USER], "tools": [], "documents": []},
    "documents": {"messages": [USER], "documents": [{"title": "T", "text": "long é"}, {"title": "U", "text": ""}]},
    "reasoning": {
        "messages": [
            USER,
            {"role": "assistant", "content": "so", "reasoning_content": "R", "name": None},
            {"role": "assistant", "content": "so", "thinking": "T"},
            {"role": "assistant", "content": "<think>x</think>\nso", "reasoning": "Q", "thinking": None},
        ],
        "enable_thinking": False,
    },
    "variables": {"messages": [USER], "n": 3, "flag": True, "values": [1, {"a": None}], "pad_token": "<other>"},
}

TOKENS = {
    "two": {"bos_token": "<s>", "eos_token": "</s>"},
    "all": {f"{name}_token": f"<{name}>" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")},
}


def main() -> None:
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    results = []
    for tokens, special in TOKENS.items():
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, **special)
        for name, template in TEMPLATES.items():
            for chat, arguments in CHATS.items():
                arguments = {"add_generation_prompt": True, **arguments}
                messages = arguments.pop("messages")
                try:
                    text = tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False, **arguments)
                except Exception:  # a template may raise anything
                    text = None
                results.append([tokens, name, chat, text])
    # Several templates of one model: one is for chats with tools.
    named = {"default": "default {{ messages[0].role }}", "tool_use": "tools {{ tools | length }}"}
    tokenizer.chat_template = named
    chosen = {}
    for chat in ("one", "tools", "no tools"):
        tools = {"tools": CHATS[chat]["tools"]} if "tools" in CHATS[chat] else {}
        chosen[chat] = tokenizer.apply_chat_template(CHATS[chat]["messages"], tokenize=False, **tools)
    record = {
        "by": f"record_templates.py with transformers {transformers.__version__}",
        "templates": TEMPLATES,
        "chats": CHATS,
        "tokens": TOKENS,
        "rendered": results,
        "named": {"templates": named, "rendered": chosen},
    }
    text = json.dumps(record, ensure_ascii=False, indent=1)
    (HERE / "templates.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
