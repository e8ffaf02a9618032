//===- Einsum.cpp - the deduction rule of einsum --------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The subscripts are parsed into one term per operand and one for the result.
// Each operand then contributes the sizes of its letters and of the ellipsis,
// from which the result shape is assembled.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Linear.h"
#include "Relax/Rules.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::relax;

namespace {

/// The letters of an operand or the result, before and after the ellipsis.
struct EinsumTerm {
  std::string before, after; // around the ellipsis, if there is one
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

  /// The known sizes of the letters and of the ellipsis so far.
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
  std::string name =
      (Twine("'") + Twine(letter) + "' of operand " + Twine(index)).str();
  FailureOr<SymExprAttr> both = deduction.equalDim(
      it->second, "the sizes of " + Twine(name), dim, "its repetition");
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

  // For an unranked operand only the number of dimensions is known.
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
  FailureOr<SymDims> both =
      deduction.broadcast(ellipsis, "the ellipsis of the operands before",
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
