//===- DispatchLibrary.cpp - pattern-based library dispatch ---------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   1. match the ops of a pattern from its returned value upwards, which binds
//      its parameters to values
//   2. unify the parameters' types with theirs; all must be proved
//   3. call the library with these values
//
//===----------------------------------------------------------------------===//

#include "Analysis/RangeProof.h"
#include "Relax/CallUtils.h"
#include "Relax/Notes.h"
#include "Relax/Ops/Call.h"
#include "Relax/Ops/Control.h"
#include "Relax/Ops/Core.h"
#include "Relax/Ops/Function.h"
#include "Transforms/Dispatch/Passes.h"
#include "Transforms/Memory/Writes.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::relax {
#define GEN_PASS_DEF_DISPATCHLIBRARYPASS
#include "Transforms/Dispatch/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

namespace {

/// Maps values and ops of a pattern to values and ops of the program.
struct Match {
  DenseMap<Value, Value> values;
  llvm::SmallMapVector<Operation *, Operation *, 4> ops; // program -> pattern
};

/// Whether two ops compute the same function of their operands.
bool isSameOp(Operation *pattern, Operation *op) {
  return pattern->getName() == op->getName() &&
         pattern->getNumOperands() == op->getNumOperands() &&
         pattern->getNumResults() == op->getNumResults() &&
         op->getNumRegions() == 0 &&
         pattern->getDiscardableAttrDictionary() ==
             op->getDiscardableAttrDictionary() &&
         op->getName().compareOpProperties(pattern->getPropertiesStorage(),
                                           op->getPropertiesStorage());
}

class Matcher {
public:
  /// Matches `pattern` at `root`; fails if the ops differ.
  static std::optional<Match> match(FuncOp pattern, Operation *root) {
    Value returned = pattern.getBody().front().getTerminator()->getOperand(0);
    Match match;
    if (root->getNumResults() != 1 ||
        !matchValue(returned, root->getResult(0), match) ||
        !isClosed(match, root))
      return std::nullopt;
    return match;
  }

private:
  static bool matchValue(Value pattern, Value value, Match &match) {
    if (Value known = match.values.lookup(pattern))
      return known == value;
    Operation *patternOp = pattern.getDefiningOp();
    Operation *op = value.getDefiningOp();
    if (patternOp && (!op ||
                      cast<OpResult>(pattern).getResultNumber() !=
                          cast<OpResult>(value).getResultNumber() ||
                      !matchOp(patternOp, op, match)))
      return false;
    match.values[pattern] = value;
    return true;
  }

  static bool matchOp(Operation *pattern, Operation *op, Match &match) {
    if (match.ops.contains(op))
      return match.ops[op] == pattern;
    if (!isSameOp(pattern, op))
      return false;
    SmallVector<Value> operands(op->getOperands());
    unsigned orders =
        op->hasTrait<OpTrait::IsCommutative>() && operands.size() == 2 ? 2 : 1;
    for (unsigned order = 0; order < orders; ++order) {
      Match attempt = match;
      if (llvm::all_of(llvm::zip(pattern->getOperands(), operands),
                       [&](auto pair) {
                         auto [wanted, actual] = pair;
                         return matchValue(wanted, actual, attempt);
                       })) {
        match = std::move(attempt);
        match.ops[op] = pattern;
        return true;
      }
      std::reverse(operands.begin(), operands.end());
    }
    return false;
  }

  /// Whether intermediate results are used only within the match, and the match
  /// lies in the block of its root.
  static bool isClosed(const Match &match, Operation *root) {
    return llvm::all_of(match.ops, [&](auto pair) {
      Operation *op = pair.first;
      if (op == root || op->hasTrait<OpTrait::ConstantLike>())
        return true;
      return op->getBlock() == root->getBlock() &&
             llvm::all_of(op->getUsers(), [&](Operation *user) {
               return match.ops.contains(user);
             });
    });
  }
};

class Dispatcher {
public:
  Dispatcher(ArrayRef<FuncOp> patterns, const Writes &writes)
      : patterns(patterns), writes(writes) {}

  void run(FuncOp function) {
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) { ops.push_back(op); });
    // A match is erased with its root, which is visited first.
    DenseSet<Operation *> erased;
    for (Operation *op : llvm::reverse(ops)) {
      if (erased.contains(op))
        continue;
      for (FuncOp pattern : patterns) {
        std::optional<Match> match = Matcher::match(pattern, op);
        if (!match || !mayMove(*match, op) || !replace(pattern, op, *match))
          continue;
        // Erase users before the ops they use.
        for (auto &[matched, _] : llvm::reverse(match->ops))
          if (matched->use_empty()) {
            erased.insert(matched);
            matched->erase();
          }
        break;
      }
    }
  }

private:
  bool replace(FuncOp pattern, Operation *root, const Match &match);
  /// Whether all matched ops may be computed at the root instead.
  bool mayMove(const Match &match, Operation *root) const {
    return llvm::all_of(match.ops, [&](auto pair) {
      Operation *op = pair.first;
      return op == root || op->hasTrait<OpTrait::ConstantLike>() ||
             writes.mayMove(op, root);
    });
  }

  ArrayRef<FuncOp> patterns;
  const Writes &writes;
};

bool Dispatcher::replace(FuncOp pattern, Operation *root, const Match &match) {
  // The library allocates nothing, so the size of the result must be known.
  auto type = dyn_cast<RankedTensorType>(root->getResult(0).getType());
  if (!type || llvm::is_contained(getSymDims(type), SymExprAttr()))
    return false;
  SmallVector<Value> operands;
  for (BlockArgument parameter : pattern.getArguments())
    operands.push_back(match.values.lookup(parameter));

  // A contradiction is not an error here; it only means no match.
  ScopedDiagnosticHandler silence(root->getContext(),
                                  [](Diagnostic &) { return success(); });
  Prover prover(root->getContext(), SymbolFacts::at(root));
  Unifier unifier(prover, root->getContext());
  if (failed(unifyCall(root, Signature::of(pattern), operands, unifier)) ||
      !unifier.getUndecided().empty())
    return false;
  SymbolFacts conditions(pattern.getSymbolRanges());
  for (auto [symbol, value] : unifier.getBindings())
    if (!value || !isProvedInRange(value, conditions.get(symbol), prover))
      return false;

  auto library = pattern->getAttrOfType<DictionaryAttr>(notes::kLibrary);
  SmallVector<Attribute> integers;
  if (auto exprs = library.getAs<ArrayAttr>("sym"))
    for (Attribute expr : exprs)
      integers.push_back(unifier.instantiate(cast<SymExprAttr>(expr)));
  OpBuilder builder(root);
  auto call =
      CallLibraryOp::create(builder, root->getLoc(), root->getResultTypes(),
                            library.getAs<StringAttr>("function"), operands,
                            builder.getArrayAttr(integers));
  for (NamedAttribute entry : library)
    if (entry.getName() != "function" && entry.getName() != "sym")
      call->setAttr(entry.getName(), entry.getValue());
  root->replaceAllUsesWith(call);
  return true;
}

/// Reports an error if the pass cannot handle a pattern.
LogicalResult verifyPattern(FuncOp pattern) {
  if (pattern.isExternal())
    return pattern.emitError("a pattern needs a body");
  Block &body = pattern.getBody().front();
  for (Operation &op : body.without_terminator())
    if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op))
      return op.emitError("a pattern must not contain control flow or side "
                          "effects");
  Operation *terminator = body.getTerminator();
  if (terminator->getNumOperands() != 1 ||
      !terminator->getOperand(0).getDefiningOp())
    return terminator->emitError(
        "a pattern must return one value that an op computes");
  for (BlockArgument parameter : pattern.getArguments()) {
    if (!isa<TensorType>(parameter.getType()))
      return pattern.emitError()
             << "parameter " << parameter.getArgNumber()
             << " of a pattern must be a tensor, got " << parameter.getType();
    if (parameter.use_empty())
      return pattern.emitError() << "parameter " << parameter.getArgNumber()
                                 << " of a pattern is not used";
  }
  DenseSet<StringAttr> defined;
  pattern.walkParameterSymbols([&](StringAttr name) { defined.insert(name); });
  auto library = pattern->getAttrOfType<DictionaryAttr>(notes::kLibrary);
  auto exprs = library.getAs<ArrayAttr>("sym");
  for (Attribute expr : exprs ? exprs.getValue() : ArrayRef<Attribute>()) {
    if (!isa<SymExprAttr>(expr))
      return pattern.emitError()
             << "'sym' must hold expressions (#relax.expr), got " << expr;
    StringAttr missing;
    walkSymbols(expr, [&](StringAttr name) {
      if (!defined.contains(name))
        missing = name;
    });
    if (missing)
      return pattern.emitError() << "'sym' uses symbol '" << missing.getValue()
                                 << "', which no parameter defines";
  }
  return success();
}

struct DispatchLibrary : relax::impl::DispatchLibraryPassBase<DispatchLibrary> {
  using DispatchLibraryPassBase::DispatchLibraryPassBase;

  void runOnOperation() override {
    OwningOpRef<ModuleOp> file;
    if (!table.empty() &&
        !(file = parseSourceFile<ModuleOp>(table, &getContext())))
      return signalPassFailure();
    SmallVector<FuncOp> patterns, functions;
    for (ModuleOp module : {getOperation(), file.get()})
      for (FuncOp function : module ? llvm::to_vector(module.getOps<FuncOp>())
                                    : SmallVector<FuncOp>())
        if (!function->hasAttr(notes::kLibrary)) {
          // A primitive function becomes one kernel, so its ops stay in it.
          if (module == getOperation() && !function->hasAttr(notes::kPrimitive))
            functions.push_back(function);
        } else if (failed(verifyPattern(function))) {
          return signalPassFailure();
        } else {
          patterns.push_back(function);
        }
    Writes writes(getOperation());
    for (FuncOp function : functions)
      Dispatcher(patterns, writes).run(function);
    for (FuncOp pattern : patterns)
      if (pattern->getParentOp() == getOperation())
        pattern.erase();
  }
};

} // namespace
