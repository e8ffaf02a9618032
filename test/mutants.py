# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutants for tools/mutate: faults that tests must find.

`old` is a text that occurs once in the file, and `new` is its replacement; MUTANT is true if the mutant is active, so
that without it the meaning is unchanged. Files are in C++ or Python.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


INPLACE = "test/python/test_inplace.py"
CONTROL = "test/python/test_inplace_control.py"
UPDATE = "test/python/test_update_in_place.py"
LIFETIMES = "test/python/test_lifetimes.py"
MEMORY = "test/python/test_memory.py"
DIFFERENTIAL = "test/python/test_differential.py"
FUSION = "test/python/test_fusion.py"
REDUCTIONS = "test/python/test_shared_rows.py"
BOUNDS = "test/python/test_bounds.py"
INDICES = "test/python/test_check_indices.py"
PROOFS = "test/python/test_index_proofs.py"
COMPUTED = "test/python/test_computed_sizes.py"
TOKENIZER = "test/python/test_tokenizer.py"
REFERENCES = "test/python/test_tokenizer_references.py"
TEMPLATES = "test/python/test_chat_templates.py"
CONFIGS = "test/python/test_model_configs.py"

MUTANTS = [
    # --- the prover
    Mutant(
        "a broadcast is as large as its first operand",
        "dialects/Relax/Symbolic/SymRange.cpp",
        "    range = range.join(interval(operand));\n",
        "    range = MUTANT ? interval(operands.front()) : range.join(interval(operand));\n",
        (BOUNDS,),
    ),
    Mutant(
        "a broadcast is as small as each operand",
        "dialects/Relax/Symbolic/SymRange.cpp",
        "if (WideInterval one = interval(operand); !one.contains(1))",
        "if (WideInterval one = interval(operand); MUTANT || !one.contains(1))",
        (BOUNDS,),
    ),
    Mutant(
        "at most is less",
        "dialects/Relax/Symbolic/Prover.cpp",
        "return reasoner.atMost(b, a, 1) ? Truth::No : Truth::Unknown;",
        "return reasoner.atMost(b, a, MUTANT ? 0 : 1) ? Truth::No : Truth::Unknown;",
        ("test/python/test_symbolic.py",),
    ),
    Mutant(
        "different is equal",
        "dialects/Relax/Symbolic/Prover.cpp",
        "if (reasoner.different(a, b))",
        "if (!MUTANT && reasoner.different(a, b))",
        ("test/python/test_symbolic.py",),
    ),
    # --- the unifier
    Mutant(
        "a symbol may be bound below its range",
        "dialects/Relax/Symbolic/Unifier.cpp",
        "if (prover.less(value, builder.constant(range.lower)) == Truth::Yes)",
        "if (!MUTANT && prover.less(value, builder.constant(range.lower)) == Truth::Yes)",
        ("test/python/test_symbolic.py",),
    ),
    Mutant(
        "a symbol is bound to an inexact quotient",
        "dialects/Relax/Symbolic/Unifier.cpp",
        "  case Truth::No:\n    return contradict(equation);\n  case Truth::Unknown:\n    return Outcome::Open;\n  }\n"
        '  llvm_unreachable("unknown truth");',
        "  case Truth::No:\n    return MUTANT ? Outcome::Solved : contradict(equation);\n  case Truth::Unknown:\n"
        '    return Outcome::Open;\n  }\n  llvm_unreachable("unknown truth");',
        ("test/python/test_symbolic.py",),
    ),
    # --- who shares memory, and until when
    Mutant(
        "closures return and keep none of their arguments when memory is planned",
        "lib/Transforms/Memory/Lifetimes.cpp",
        " || isa<CallClosureOp>(op) ||",
        " || (!MUTANT && isa<CallClosureOp>(op)) ||",
        (INPLACE, MEMORY, LIFETIMES),
    ),
    Mutant(
        "calls return and keep none of their arguments when memory is planned",
        "lib/Transforms/Memory/Lifetimes.cpp",
        "if (isa<CallOp>(op) ||",
        "if ((!MUTANT && isa<CallOp>(op)) ||",
        (INPLACE, MEMORY, LIFETIMES),
    ),
    Mutant(
        "libraries keep none of their arguments when memory is planned",
        "lib/Transforms/Memory/Lifetimes.cpp",
        " isKeptByLibrary(op))",
        " (!MUTANT && isKeptByLibrary(op)))",
        (MEMORY, LIFETIMES),
    ),
    Mutant(
        "functions pass nothing to callees that retain it",
        "lib/Transforms/Memory/Aliases.cpp",
        "  return !callee || keepers.contains(callee);",
        "  return !callee || (!MUTANT && keepers.contains(callee));",
        (UPDATE,),
    ),
    Mutant(
        "the initial value of a loop is not retained",
        "lib/Transforms/Memory/Lifetimes.cpp",
        "return isa<ReturnOp, YieldOp, OutputOp, WhileOp, MakeClosureOp>(",
        "return MUTANT ? isa<ReturnOp>(use.getOwner()) : isa<ReturnOp, YieldOp, OutputOp, WhileOp, MakeClosureOp>(",
        (MEMORY,),
    ),
    Mutant(
        "closures return none of their arguments",
        "lib/Transforms/Memory/Aliases.cpp",
        "  if (operand > 0)\n",
        "  if (MUTANT)\n    return false;\n  if (operand > 0)\n",
        (INPLACE,),
    ),
    Mutant(
        "members of tuples share no memory",
        "lib/Transforms/Memory/LaterUse.cpp",
        "  if (isa<TupleOp>(op)) {",
        "  if (MUTANT && isa<TupleOp>(op)) {\n  } else if (isa<TupleOp>(op)) {",
        (INPLACE,),
    ),
    Mutant(
        "a member of a tuple is mistaken for another one",
        "lib/Transforms/Memory/LaterUse.cpp",
        "return get && member >= 0 && get.getIndex() != member;",
        "return get && member >= 0 && (MUTANT || get.getIndex() != member);",
        (INPLACE, CONTROL),
    ),
    Mutant(
        "branches do not pass memory on",
        "dialects/Relax/Aliasing.cpp",
        "    else\n      fn(op->getParentOp()->getResult(index));",
        "    else if (!MUTANT)\n      fn(op->getParentOp()->getResult(index));",
        (INPLACE,),
    ),
    # --- writes
    Mutant(
        "calls are fused across in-place library calls",
        "lib/Transforms/Fusion/Groups.cpp",
        "if (facts.mayWrite(&op))",
        "if (!(MUTANT && isa<CallLibraryInplaceOp>(op)) && facts.mayWrite(&op))",
        (INPLACE,),
    ),
    Mutant(
        "calls are fused across functions and branches that write",
        "lib/Transforms/Memory/Writes.cpp",
        "bool Writes::mayWrite(Operation *op) const {",
        "bool Writes::mayWrite(Operation *op) const {\n"
        "  if (MUTANT && !isa<CallTIRInplaceOp, CallLibraryInplaceOp>(op))\n    return false;",
        (INPLACE,),
    ),
    Mutant(
        "a loop may yield a value twice that it overwrites",
        "lib/Transforms/Memory/LaterUse.cpp",
        "    if (isTwice)\n",
        "    if (!MUTANT && isTwice)\n",
        (INPLACE,),
    ),
    Mutant(
        "a loop may yield a value from outside that it overwrites",
        "lib/Transforms/Memory/LaterUse.cpp",
        "  if (isOutside)\n",
        "  if (!MUTANT && isOutside)\n",
        (INPLACE,),
    ),
    Mutant(
        "a loop may use the initial value that it overwrites",
        "lib/Transforms/Memory/LaterUse.cpp",
        "if (writer->isAncestor(user) || ",
        "if ((MUTANT ? user == writer : writer->isAncestor(user)) || ",
        (CONTROL, UPDATE),
    ),
    Mutant(
        "a value that the condition of a loop overwrites may be used",
        "lib/Transforms/Memory/LaterUse.cpp",
        "      user = findUserOfCondition(source.first);",
        "      user = MUTANT ? nullptr : findUserOfCondition(source.first);",
        (CONTROL,),
    ),
    Mutant(
        "constants are overwritten",
        "lib/Transforms/Memory/Copies.cpp",
        "  if (written.empty())\n",
        "  if (MUTANT || written.empty())\n",
        (INPLACE,),
    ),
    Mutant(
        "kernels that copy use signed types",
        "lib/Transforms/Memory/Copies.cpp",
        "getKernelElementType(type.getElementType()));",
        "MUTANT ? type.getElementType() : getKernelElementType(type.getElementType()));",
        (UPDATE,),
    ),
    Mutant(
        "a copy is replaced by its operand although that is overwritten",
        "dialects/Relax/Forwarding.cpp",
        "  return !memory.mayBeWritten();",
        "  return MUTANT || !memory.mayBeWritten();",
        (INPLACE,),
    ),
    Mutant(
        "callers do not overwrite results of public functions",
        "dialects/Relax/Forwarding.cpp",
        "      return *called;",
        "      return *called && (!MUTANT || op->getParentOfType<FuncOp>().isPrivate());",
        (CONTROL,),
    ),
    Mutant(
        "callers do not overwrite constants that public functions return",
        "lib/Transforms/Memory/Copies.cpp",
        "      if (isReferenceCounted(operand.get().getType()))",
        "      if (!(MUTANT && cast<FuncOp>(op->getParentOp()).isPublic()) &&\n"
        "          isReferenceCounted(operand.get().getType()))",
        (CONTROL,),
    ),
    Mutant(
        "calls do not pass memory on when ops are folded",
        "dialects/Relax/Forwarding.cpp",
        "  return isReferenceCounted(op->getOperand(operand).getType()) &&",
        "  return !MUTANT && isReferenceCounted(op->getOperand(operand).getType()) &&",
        (CONTROL,),
    ),
    # --- in-place decisions
    Mutant(
        "updates are in place although others own the tensor",
        "lib/Transforms/Memory/UpdateInPlace.cpp",
        "    if (!Ownership(writes.getAliases()).isOwned(data.get(), copied))",
        "    if (!Ownership(writes.getAliases()).isOwned(data.get(), copied) && !MUTANT)",
        (UPDATE,),
    ),
    Mutant(
        "a copy to other memory is mistaken for a copy to the result",
        "lib/Transforms/Memory/UpdateInPlace.cpp",
        "          target != getDestination(kernel) ||\n",
        "          (!MUTANT && target != getDestination(kernel)) ||\n",
        ("test/Transforms/Memory/update-in-place.mlir",),
    ),
    Mutant(
        "loops that need a copy do not need it the second time",
        "lib/Transforms/Memory/UpdateInPlace.cpp",
        "      seen = std::move(seenBefore);\n",
        "      if (!MUTANT)\n        seen = std::move(seenBefore);\n",
        (UPDATE,),
    ),
    Mutant(
        "updates are in place although others retain the tensor",
        "lib/Transforms/Memory/UpdateInPlace.cpp",
        "      if (mayBeKept(source, aliases))",
        "      if (!MUTANT && mayBeKept(source, aliases))",
        (UPDATE,),
    ),
    Mutant(
        "updates are in place although the tensor is used afterwards",
        "lib/Transforms/Memory/UpdateInPlace.cpp",
        "    Operation *user = writes.findLaterUse(data);\n",
        "    Operation *user = MUTANT ? nullptr : writes.findLaterUse(data);\n",
        (UPDATE,),
    ),
    Mutant(
        "kernels overwrite inputs that are still live",
        "lib/Transforms/Memory/ReuseInPlace.cpp",
        "        getLastUser(storage) != call)",
        "        (!MUTANT && getLastUser(storage) != call))",
        (MEMORY,),
    ),
    Mutant(
        "kernels overwrite inputs that they read at other elements",
        "lib/Analysis/KernelPattern.cpp",
        "  return read && !elsewhere;",
        "  return read && (MUTANT || !elsewhere);",
        ("test/Transforms/Memory/reuse-in-place.mlir",),
    ),
    # --- memory plans
    Mutant(
        "storages that overlap in time share memory",
        "lib/Transforms/Memory/StorageGroups.cpp",
        "    if (group.overlaps(storage.lifetime))",
        "    if (!MUTANT && group.overlaps(storage.lifetime))",
        (MEMORY, DIFFERENTIAL),
    ),
    Mutant(
        "buffers of an arena may overlap",
        "lib/Transforms/Memory/Arena.cpp",
        "      if (!buffer.lifetime.overlaps(other->lifetime))",
        "      if (MUTANT || !buffer.lifetime.overlaps(other->lifetime))",
        (MEMORY, BOUNDS),
    ),
    Mutant(
        "a storage ends where it begins",
        "lib/Transforms/Memory/PlanMemory.cpp",
        "{starts[op], ends[last ? last : op]}",
        "{starts[op], MUTANT ? starts[op] : ends[last ? last : op]}",
        (MEMORY,),
    ),
    # --- groups of calls
    Mutant(
        "groups hide results that others use",
        "lib/Transforms/Fusion/Groups.cpp",
        "      if (node.usedElsewhere || node.consumers.empty())",
        "      if ((!MUTANT && node.usedElsewhere) || node.consumers.empty())",
        ("test/Transforms/Fusion",),
    ),
    Mutant(
        "groups hold two reductions",
        "lib/Transforms/Fusion/Groups.cpp",
        "(heavy.size() > 1 && !(shareOperands && areAlike(heavy))))",
        "(heavy.size() > 1 && !MUTANT && !(shareOperands && areAlike(heavy))))",
        ("test/Transforms/Fusion",),
    ),
    # --- kernels
    Mutant(
        "two softmaxes share a row",
        "lib/Target/CPU/Schedule/NestDecisions.cpp",
        "if (!onlyStages || (shared && taken.contains(shared)))",
        "if (!onlyStages || (!MUTANT && shared && taken.contains(shared)))",
        (REDUCTIONS,),
    ),
    # --- host code
    Mutant(
        "weights are not required through closures",
        "lib/Conversion/Exports.cpp",
        "      other = callee(closure.getCalleeAttr());",
        "      other = MUTANT ? FuncOp() : callee(closure.getCalleeAttr());",
        ("test/python/test_execution.py",),
    ),
    Mutant(
        "casts are not checked",
        "lib/Conversion/LowerChecks.cpp",
        "    if (expected == claim.actual)",
        "    if (MUTANT || expected == claim.actual)",
        ("test/python/test_execution.py", "test/python/test_dynamic_shapes.py"),
    ),
    # --- indices
    Mutant(
        "integers do not wrap around",
        "lib/Analysis/IndexRanges.cpp",
        "if (lowerFits && upperFits)",
        "if (MUTANT || (lowerFits && upperFits))",
        (PROOFS,),
    ),
    Mutant(
        "an index may be the size",
        "lib/Analysis/IndexRanges.cpp",
        "prover.less(range.upper, size) == Truth::Yes",
        "prover.less(range.upper, MUTANT ? math.add(size, number(1)) : size) == Truth::Yes",
        (PROOFS,),
    ),
    Mutant(
        "a truncated remainder is not negative",
        "lib/Analysis/IndexRangeRules.cpp",
        "if (hasSignOfDivisor || isNotNegative)",
        "if (MUTANT || hasSignOfDivisor || isNotNegative)",
        (PROOFS,),
    ),
    Mutant(
        "the range of a choice is the range of its first tensor",
        "lib/Analysis/IndexRangeRules.cpp",
        "return join(of(op.getX1()), of(op.getX2()));",
        "return MUTANT ? of(op.getX1()) : join(of(op.getX1()), of(op.getX2()));",
        (PROOFS,),
    ),
    Mutant(
        "symbols of a branch are mistaken for symbols outside",
        "lib/Analysis/IndexRangeRules.cpp",
        "    own = {toNumber(own.lower, false), toNumber(own.upper, true)};",
        "    if (!MUTANT)\n      own = {toNumber(own.lower, false), toNumber(own.upper, true)};",
        (PROOFS,),
    ),
    Mutant(
        "a check in a branch counts as a check after it",
        "lib/Transforms/Legalize/CheckIndices.cpp",
        "other->getBlock()->findAncestorOpInBlock(*op);",
        "(MUTANT || other->getBlock()->findAncestorOpInBlock(*op));",
        (INDICES,),
    ),
    # --- tokens
    Mutant(
        "a text begins twice",
        "python/relax_mlir/models/tokenizer.py",
        "if bos and self.bos_id is not None and ids[:1] != [self.bos_id]:",
        "if bos and self.bos_id is not None and (MUTANT or ids[:1] != [self.bos_id]):",
        (TOKENIZER,),
    ),
    Mutant(
        "untrusted text may name control tokens",
        "python/relax_mlir/models/tokenizer.py",
        "self._tokenizer.encode_special_tokens = not special",
        "self._tokenizer.encode_special_tokens = not MUTANT and not special",
        (TOKENIZER,),
    ),
    Mutant(
        "half a character is shown",
        "python/relax_mlir/models/tokenizer.py",
        'if text.endswith("\\N{REPLACEMENT CHARACTER}"):',
        'if not MUTANT and text.endswith("\\N{REPLACEMENT CHARACTER}"):',
        (TOKENIZER,),
    ),
    Mutant(
        "an answer ends with a part of it",
        "python/relax_mlir/models/tokenizer.py",
        "for name in _ENDS - parts if name in vocabulary}",
        "for name in _ENDS - (set() if MUTANT else parts) if name in vocabulary}",
        (REFERENCES,),
    ),
    Mutant(
        "names of tokens that end an answer are text",
        "python/relax_mlir/models/gguf_tokenizer.py",
        "        elif i in stops:\n",
        "        elif not MUTANT and i in stops:\n",
        (REFERENCES,),
    ),
    Mutant(
        "pieces are merged in the order of the vocabulary",
        "python/relax_mlir/models/gguf_tokenizer.py",
        "merges.sort(key=lambda merge: merge[:2])",
        "merges.sort(key=lambda merge: merge[1:2] if MUTANT else merge[:2])",
        (TOKENIZER, REFERENCES),
    ),
    # --- chats
    Mutant(
        "templates see values that are None",
        "python/relax_mlir/models/chat_template.py",
        "for key, value in message.items() if value is not None}",
        "for key, value in message.items() if MUTANT or value is not None}",
        (TEMPLATES,),
    ),
    Mutant(
        "the template for tools renders every chat",
        "python/relax_mlir/models/tokenizer.py",
        'if has_tools and "tool_use" in self.chat_templates:',
        'if (MUTANT or has_tools) and "tool_use" in self.chat_templates:',
        (TEMPLATES,),
    ),
    # --- rotary embeddings
    Mutant(
        "positions are not scaled",
        "python/relax_mlir/models/config_hugging_face.py",
        'scale = 1.0 / _positive(rope, "factor")',
        'scale = 1.0 / (_positive(rope, "factor") if not MUTANT else 1.0)',
        (CONFIGS,),
    ),
    Mutant(
        "angles of llama3 belong to the next pair",
        "python/relax_mlir/models/config_hugging_face.py",
        "wavelength = 2 * math.pi * theta ** (2 * pair / head_dim)",
        "wavelength = 2 * math.pi * theta ** (2 * (pair + MUTANT) / head_dim)",
        (CONFIGS,),
    ),
    Mutant(
        "angles grow from pair to pair by another power",
        "python/relax_mlir/models/config.py",
        "(-np.arange(0, size, 2) / size)",
        "(-np.arange(0, size, 2) / (size + 2 * MUTANT))",
        ("test/python/test_llama_references.py",),
    ),
    # --- sizes that kernels compute
    Mutant(
        "kernels do not note the sizes that they compute",
        "lib/Transforms/Legalize/KernelBuilder.cpp",
        "  computed.push_back(expr);\n",
        "  if (!MUTANT)\n    computed.push_back(expr);\n",
        (COMPUTED,),
    ),
    Mutant(
        "a fused kernel forgets the sizes of its destinations",
        "lib/Transforms/Fusion/MergeKernels.cpp",
        "  llvm::append_range(computed, sizes.getComputed());\n",
        "  if (!MUTANT)\n    llvm::append_range(computed, sizes.getComputed());\n",
        (COMPUTED,),
    ),
    Mutant(
        "a fused kernel forgets the sizes that its kernels noted",
        "lib/Transforms/Fusion/MergeKernels.cpp",
        "        computed.push_back(math.substitute(expr, *bindings));\n",
        "        if (!MUTANT)\n          computed.push_back(math.substitute(expr, *bindings));\n",
        (COMPUTED,),
    ),
]
