// Placeholder until the real prover lands (in progress): proves nothing.
#include "Analysis/Symbolic/Prover.h"
using namespace mlir;
using namespace mlir::relax;
SymbolFacts SymbolFacts::at(Operation *) { return {}; }
SymbolFacts::Range SymbolFacts::get(StringAttr) const { return {}; }
Truth Prover::equal(SymExprAttr lhs, SymExprAttr rhs) const { return lhs && lhs == rhs ? Truth::Yes : Truth::Unknown; }
Truth Prover::less(SymExprAttr, SymExprAttr) const { return Truth::Unknown; }
Truth Prover::lessEqual(SymExprAttr, SymExprAttr) const { return Truth::Unknown; }
Truth Prover::divisible(SymExprAttr, SymExprAttr) const { return Truth::Unknown; }
SymInterval Prover::interval(SymExprAttr) const { return {}; }
SymExprAttr Prover::simplify(SymExprAttr value) const { return value; }
