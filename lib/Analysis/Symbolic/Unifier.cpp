// Placeholder until the real unifier lands (in progress).
#include "Analysis/Symbolic/Unifier.h"
using namespace mlir;
using namespace mlir::relax;
void Unifier::add(SymExprAttr pattern, SymExprAttr actual, const Twine &where) { equations.push_back({pattern, actual, where.str()}); }
LogicalResult Unifier::solve(EmitErrorFn) { undecided = equations; return success(); }
SymExprAttr Unifier::instantiate(SymExprAttr) const { return {}; }
