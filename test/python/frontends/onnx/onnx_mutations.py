# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damages ONNX models: the bytes of a file, or any field of any message in it.

A mutation of fields works for all messages alike, by their descriptors. It replaces a number, a name, or text by an
unusual one or by one from elsewhere in the model; it removes, repeats, moves or copies members of lists; and it
replaces a message by another one of its type. As a result, nodes form cycles, types disagree, names are missing, and
sizes are absurd.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor
from mutations import mutate_bytes

INTEGERS = (0, 1, -1, 2, 3, 4, 5, 7, 11, 16, 64, 255, 1 << 20, 1 << 31, 1 << 40, 1 << 62, (1 << 63) - 1, -(1 << 63))
FLOATS = (0.0, -1.0, 0.5, 1e30, float("inf"), float("nan"))
TEXTS = (
    "", "x", "y", "_", "?", "ai.onnx", "ai.onnx.ml", "com.microsoft", "mine", "If", "Loop", "Identity", "Constant",
    "Relu", "Add", "Reshape", "linear", "NOTSET", "SAME_UPPER", "add", "reflect", "FLOAT", "\udcff", "\0",
    "-1", "99999999999999999999", "1e5", "../secret.bin", "/etc/passwd", "link", "away/secret.bin", "weights.bin",
)  # fmt: skip
_WHOLE = (
    FieldDescriptor.CPPTYPE_INT32,
    FieldDescriptor.CPPTYPE_INT64,
    FieldDescriptor.CPPTYPE_UINT32,
    FieldDescriptor.CPPTYPE_UINT64,
)


def messages(root: Any) -> Iterator[Any]:
    """The message and all messages nested in it."""
    yield root
    for field, value in root.ListFields():
        if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            for member in value if field.is_repeated else [value]:
                yield from messages(member)


def mutate_model(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """The bytes of a model after one to three mutations.

    Args:
      others: models from which messages are taken.
    """
    if rng.random() < 0.1:
        return mutate_bytes(rng, data)
    model = onnx.ModelProto.FromString(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _mutate_field(rng, model, rng.choice(others))
    made = model.SerializeToString()
    return mutate_bytes(rng, made) if rng.random() < 0.03 else made


def _mutate_field(rng: random.Random, model: Any, donor: bytes) -> None:
    """Changes one field of one message; does nothing if the model has no messages left."""
    found = list(messages(model))
    # The type of the message is chosen first, so that the only opset is as likely as one of many nodes.
    kind = rng.choice(sorted({message.DESCRIPTOR.name for message in found}))
    message = rng.choice([message for message in found if message.DESCRIPTOR.name == kind])
    filled = [field for field, _ in message.ListFields()]
    fields = filled if filled and rng.random() < 0.9 else list(message.DESCRIPTOR.fields)
    field = rng.choice(fields)
    if not field.is_repeated and rng.random() < 0.08:
        message.ClearField(field.name)
    elif field.is_repeated:
        _mutate_list(rng, model, message, field, donor)
    elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        member = _other_message(rng, model, donor, field.message_type.name)
        if member is not None:
            getattr(message, field.name).CopyFrom(member)
    else:
        setattr(message, field.name, _odd(rng, model, message, field, getattr(message, field.name)))


def _mutate_list(rng: random.Random, model: Any, message: Any, field: FieldDescriptor, donor: bytes) -> None:
    members = getattr(message, field.name)
    kind = rng.randrange(5)
    at = rng.randrange(len(members)) if members else 0
    if kind == 0 and members:
        del members[at]
    elif kind == 1 and members:
        swap = rng.randrange(len(members))
        order = list(members)
        order[at], order[swap] = order[swap], order[at]
        kept = [_copy(member) for member in order]
        del members[:]
        members.extend(kept)
    elif kind == 2 and members:
        members.extend([_copy(members[at])] * rng.choice((1, 1, 7)))
    elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        member = _other_message(rng, model, donor, field.message_type.name)
        if member is not None and members and kind == 3:
            members[at].CopyFrom(member)
        elif member is not None:
            members.extend([member])
    elif members and kind == 3:
        members[at] = _odd(rng, model, message, field, members[at])
    else:
        old = members[at] if members else None
        members.append(_odd(rng, model, message, field, old))


def _copy(member: Any) -> Any:
    if not hasattr(member, "CopyFrom"):
        return member
    made = type(member)()
    made.CopyFrom(member)
    return made


def _other_message(rng: random.Random, model: Any, donor: bytes, kind: str) -> Any | None:
    """A copy of a message of that type, from the model or from another."""
    sources = [model, onnx.ModelProto.FromString(donor)]
    rng.shuffle(sources)
    for source in sources:
        found = [member for member in messages(source) if member.DESCRIPTOR.name == kind]
        if found:
            return _copy(rng.choice(found))
    return None


def _odd(rng: random.Random, model: Any, message: Any, field: FieldDescriptor, old: Any) -> Any:
    """Another value for a field that is not a message."""
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        return rng.choice([value.number for value in field.enum_type.values])
    if field.name in ("data_type", "elem_type"):
        return rng.randrange(28)
    if field.cpp_type in _WHOLE:
        near = [old + step for step in (-1, 1)] if old is not None else []
        value = rng.choice([*near, *near, *INTEGERS])
        bits = 32 if field.cpp_type in (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32) else 64
        unsigned = field.cpp_type in (FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64)
        return value % (1 << bits) if unsigned else (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
    if field.cpp_type in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return rng.choice(FLOATS)
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return not old
    if field.type == FieldDescriptor.TYPE_BYTES:
        if rng.random() < 0.5:
            return rng.choice(TEXTS).encode("utf-8", "surrogateescape")
        return mutate_bytes(rng, (old or b"abcd") * rng.choice((1, 1, 2)))
    text = rng.choice(_texts(model, field.name)) if rng.random() < 0.8 else rng.choice(TEXTS)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _texts(model: Any, name: str) -> list[str]:
    """Texts in the model: from fields of the same name, or names of values if the field holds one."""
    names = {"name", "input", "output"} if name in ("name", "input", "output") else {name}
    found = []
    for message in messages(model):
        for field, value in message.ListFields():
            if field.name in names and field.type == FieldDescriptor.TYPE_STRING:
                found += list(value) if field.is_repeated else [value]
    return sorted(set(found)) or list(TEXTS)
