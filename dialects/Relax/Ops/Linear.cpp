//===- Linear.cpp - matrix products ---*- C++ -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Linear.h"
#include "Relax/Rules.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Linear.cpp.inc"

void RelaxDialect::registerLinearOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Linear.cpp.inc"
      >();
}

/// The element type of a product: `asked`, or that of the operands.
static FailureOr<Type> productType(Deduction &deduction,
                                   std::optional<Type> asked, Type element) {
  if (!asked)
    return element;
  return elementTypeAttr(deduction, *asked, "out_dtype", Elements::Number);
}

/// Reads two factors, of one element type.
static LogicalResult readFactors(Deduction &deduction, Value lhs,
                                 StringRef lhsName, Value rhs,
                                 StringRef rhsName, Deduction::Tensor &lhsOut,
                                 Deduction::Tensor &rhsOut) {
  FailureOr<Deduction::Tensor> l =
      tensorOf(deduction, lhs, lhsName, Elements::Number);
  if (failed(l))
    return failure();
  FailureOr<Deduction::Tensor> r =
      tensorOf(deduction, rhs, rhsName, Elements::Number);
  if (failed(r))
    return failure();
  lhsOut = *l;
  rhsOut = *r;
  return deduction.sameElementType(l->elementType, lhsName, r->elementType,
                                   rhsName);
}

static LogicalResult requireNoScalar(Deduction &deduction,
                                     const Deduction::Tensor &tensor,
                                     StringRef name) {
  if (!tensor.ranked || !tensor.dims.empty())
    return success();
  return deduction.emitError()
         << name << " must have rank 1 or more, got a scalar";
}

LogicalResult MatmulOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  Deduction::Tensor lhs, rhs;
  if (failed(readFactors(deduction, op.getLhs(), "lhs", op.getRhs(), "rhs", lhs,
                         rhs)) ||
      failed(requireNoScalar(deduction, lhs, "lhs")) ||
      failed(requireNoScalar(deduction, rhs, "rhs")))
    return failure();
  FailureOr<Type> element =
      productType(deduction, op.getOutDtype(), lhs.elementType);
  if (failed(element))
    return failure();
  if (!lhs.ranked || !rhs.ranked) {
    results.push_back(UnrankedTensorType::get(*element));
    return success();
  }
  ArrayRef<SymExprAttr> l = lhs.dims, r = rhs.dims;
  SymExprAttr lhsK = l.back(), rhsK = r.size() == 1 ? r[0] : r[r.size() - 2];
  if (failed(deduction.equalDim(lhsK, "contracting dimension of lhs", rhsK,
                                "of rhs")))
    return failure();
  FailureOr<SymDims> dims =
      deduction.broadcast(l.drop_back(std::min<size_t>(l.size(), 2)), "lhs",
                          r.drop_back(std::min<size_t>(r.size(), 2)), "rhs");
  if (failed(dims))
    return failure();
  if (l.size() > 1)
    dims->push_back(l[l.size() - 2]);
  if (r.size() > 1)
    dims->push_back(r.back());
  results.push_back(getTensorType(*dims, *element));
  return success();
}

LogicalResult LinearOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  Deduction::Tensor x, weight;
  if (failed(readFactors(deduction, op.getX(), "x", op.getWeight(), "weight", x,
                         weight)) ||
      failed(requireNoScalar(deduction, x, "x")) ||
      failed(requireRank(deduction, weight, "weight", 2)))
    return failure();
  FailureOr<Type> element =
      productType(deduction, op.getOutDtype(), x.elementType);
  if (failed(element))
    return failure();
  SymExprAttr out;
  if (weight.ranked) {
    out = weight.dims[0];
    if (x.ranked &&
        failed(deduction.equalDim(x.dims.back(), "last dimension of x",
                                  weight.dims[1], "dimension 1 of weight")))
      return failure();
  }
  if (op.getBias()) {
    FailureOr<Deduction::Tensor> bias =
        tensorOf(deduction, op.getBias(), "bias", Elements::Number);
    if (failed(bias) ||
        failed(deduction.sameElementType(x.elementType, "x", bias->elementType,
                                         "bias")) ||
        failed(requireRank(deduction, *bias, "bias", 1)))
      return failure();
    if (bias->ranked) {
      FailureOr<SymExprAttr> both =
          deduction.equalDim(out, "dimension 0 of weight", bias->dims[0],
                             "dimension 0 of bias");
      if (failed(both))
        return failure();
      out = *both;
    }
  }
  if (!x.ranked) {
    results.push_back(UnrankedTensorType::get(*element));
    return success();
  }
  x.dims.back() = out;
  results.push_back(getTensorType(x.dims, *element));
  return success();
}

LogicalResult OuterOp::deduce(Deduction &deduction, Adaptor op,
                              SmallVectorImpl<Type> &results) {
  Deduction::Tensor x1, x2;
  if (failed(readFactors(deduction, op.getX1(), "x1", op.getX2(), "x2", x1,
                         x2)) ||
      failed(requireRank(deduction, x1, "x1", 1)) ||
      failed(requireRank(deduction, x2, "x2", 1)))
    return failure();
  results.push_back(getTensorType({x1.ranked ? x1.dims[0] : SymExprAttr(),
                                   x2.ranked ? x2.dims[0] : SymExprAttr()},
                                  x1.elementType));
  return success();
}

//===----------------------------------------------------------------------===//
// EinsumOp
//===----------------------------------------------------------------------===//

namespace {

/// The letters of one operand or of the result, around an ellipsis.
struct EinsumTerm {
  std::string before, after; // the ellipsis is between them, if there is one
  bool ellipsis = false;

  int64_t letterCount() const { return before.size() + after.size(); }
  std::string letters() const { return before + after; }
};

/// Deduces the result of an einsum, step by step.
class EinsumRule {
public:
  EinsumRule(Deduction &deduction, StringRef subscripts)
      : deduction(deduction), subscripts(subscripts) {}

  LogicalResult parse(size_t operandCount);
  LogicalResult addOperand(size_t index, const Deduction::Tensor &operand);
  /// The dimensions of the result; nullopt if its rank is unknown.
  std::optional<SymDims> getResult() const;

private:
  InFlightDiagnostic emitError() {
    return deduction.emitError() << "subscripts \"" << subscripts << "\": ";
  }
  LogicalResult parseTerm(StringRef text, EinsumTerm &term);
  LogicalResult addLetter(char letter, SymExprAttr dim, size_t index,
                          llvm::SmallMapVector<char, SymExprAttr, 8> &own);

  Deduction &deduction;
  StringRef subscripts;
  SmallVector<EinsumTerm> inputs;
  EinsumTerm output;

  /// What is known of the letters so far, and of the ellipsis.
  llvm::SmallMapVector<char, SymExprAttr, 8> sizes;
  SymDims ellipsis;
  bool ellipsisRanked = true;
};

} // namespace

LogicalResult EinsumRule::parseTerm(StringRef text, EinsumTerm &term) {
  while (!text.empty()) {
    if (text.consume_front("...")) {
      if (term.ellipsis)
        return emitError() << "more than one ellipsis in a term";
      term.ellipsis = true;
      continue;
    }
    if (!llvm::isAlpha(text.front()))
      return emitError() << "expected letters and at most one ellipsis in a "
                            "term, got '"
                         << text.take_front(1) << "'";
    (term.ellipsis ? term.after : term.before) += text.front();
    text = text.drop_front();
  }
  return success();
}

LogicalResult EinsumRule::parse(size_t operandCount) {
  std::string text;
  llvm::copy_if(subscripts, std::back_inserter(text),
                [](char c) { return c != ' '; });
  auto [inputText, outputText] = StringRef(text).split("->");
  bool isExplicit = StringRef(text).contains("->");
  SmallVector<StringRef> terms;
  inputText.split(terms, ',');
  if (terms.size() != operandCount)
    return emitError() << "names " << terms.size() << " operands, got "
                       << operandCount;
  llvm::SmallMapVector<char, unsigned, 8> uses;
  for (StringRef term : terms) {
    if (failed(parseTerm(term, inputs.emplace_back())))
      return failure();
    for (char letter : inputs.back().letters())
      ++uses[letter];
  }
  if (isExplicit) {
    if (failed(parseTerm(outputText, output)))
      return failure();
    llvm::SmallMapVector<char, unsigned, 8> seen;
    for (char letter : output.letters()) {
      if (!uses.count(letter))
        return emitError() << "the result names '" << Twine(letter)
                           << "', which no operand has";
      if (++seen[letter] > 1)
        return emitError() << "the result repeats '" << Twine(letter) << "'";
    }
    return success();
  }
  output.ellipsis = llvm::any_of(
      inputs, [](const EinsumTerm &term) { return term.ellipsis; });
  for (auto [letter, count] : uses)
    if (count == 1)
      output.after += letter;
  llvm::sort(output.after);
  return success();
}

LogicalResult
EinsumRule::addLetter(char letter, SymExprAttr dim, size_t index,
                      llvm::SmallMapVector<char, SymExprAttr, 8> &own) {
  auto [it, inserted] = own.insert({letter, dim});
  if (inserted)
    return success();
  std::string name = (Twine("'") + Twine(letter) + "' of operand " +
                      Twine(index)).str();
  FailureOr<SymExprAttr> both =
      deduction.equalDim(it->second, "the sizes of " + Twine(name), dim,
                         "its repetition");
  if (failed(both))
    return failure();
  it->second = *both;
  return success();
}

LogicalResult EinsumRule::addOperand(size_t index,
                                     const Deduction::Tensor &operand) {
  const EinsumTerm &term = inputs[index];
  int64_t letters = term.letterCount();
  if (operand.ranked &&
      (term.ellipsis ? operand.rank() < letters : operand.rank() != letters))
    return emitError() << "operand " << index << " has rank " << operand.rank()
                       << ", but " << (term.ellipsis ? "at least " : "")
                       << letters << " letters";

  // The dimensions of the letters; of an unranked operand, the number is known.
  ArrayRef<SymExprAttr> dims = operand.dims;
  SymDims unknown(letters);
  size_t broadcastRank = 0;
  if (operand.ranked)
    broadcastRank = operand.rank() - letters;
  else
    dims = unknown;
  llvm::SmallMapVector<char, SymExprAttr, 8> own;
  for (auto [position, letter] : llvm::enumerate(term.before))
    if (failed(addLetter(letter, dims[position], index, own)))
      return failure();
  size_t afterStart = term.before.size() + broadcastRank;
  for (auto [position, letter] : llvm::enumerate(term.after))
    if (failed(addLetter(letter, dims[afterStart + position], index, own)))
      return failure();

  for (auto [letter, dim] : own) {
    auto [it, inserted] = sizes.insert({letter, dim});
    if (inserted)
      continue;
    FailureOr<SymExprAttr> both = deduction.broadcastDim(it->second, dim);
    if (failed(both))
      return emitError() << "the sizes of '" << Twine(letter)
                         << "' differ: operand " << index << " has "
                         << describe(dim) << ", those before it have "
                         << describe(it->second);
    it->second = *both;
  }
  if (!term.ellipsis)
    return success();
  if (!operand.ranked) {
    ellipsisRanked = false;
    return success();
  }
  FailureOr<SymDims> both = deduction.broadcast(
      ellipsis, "the ellipsis of the operands before",
      dims.slice(term.before.size(), broadcastRank),
      "the ellipsis of operand " + std::to_string(index));
  if (failed(both))
    return failure();
  ellipsis = *both;
  return success();
}

std::optional<SymDims> EinsumRule::getResult() const {
  if (output.ellipsis && !ellipsisRanked)
    return std::nullopt;
  SymDims dims;
  for (char letter : output.before)
    dims.push_back(sizes.lookup(letter));
  if (output.ellipsis)
    dims.append(ellipsis);
  for (char letter : output.after)
    dims.push_back(sizes.lookup(letter));
  return dims;
}

LogicalResult EinsumOp::deduce(Deduction &deduction, Adaptor op,
                               SmallVectorImpl<Type> &results) {
  if (op.getOperands().empty())
    return deduction.emitError() << "needs at least 1 operand, got 0";
  EinsumRule rule(deduction, op.getSubscripts());
  if (failed(rule.parse(op.getOperands().size())))
    return failure();
  Type element;
  for (auto [index, value] : llvm::enumerate(op.getOperands())) {
    std::string name = "operand " + std::to_string(index);
    FailureOr<Deduction::Tensor> operand =
        tensorOf(deduction, value, name, Elements::Number);
    if (failed(operand))
      return failure();
    if (!element)
      element = operand->elementType;
    if (failed(deduction.sameElementType(element, "operand 0",
                                         operand->elementType, name)) ||
        failed(rule.addOperand(index, *operand)))
      return failure();
  }
  std::optional<SymDims> dims = rule.getResult();
  std::optional<ArrayRef<SymExprAttr>> known;
  if (dims)
    known = *dims;
  results.push_back(Deduction::tensorType(known, element));
  return success();
}
