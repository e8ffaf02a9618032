//===- Linear.cpp - kernels of matrix products ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each product is one loop nest that accumulates products and reads the
// operands in place: no operand is transposed or repeated first.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Linear.h"
#include "Transforms/Legalize/Registry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::relax;

using Scalars = ScalarBuilder;

/// The type in which products are accumulated.
static Type getSumType(Type in, Type out) {
  Type from = getComputeType(getKernelElementType(in)),
       to = getComputeType(getKernelElementType(out));
  if (isa<FloatType>(from) &&
      (!isa<FloatType>(to) ||
       from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth()))
    return from;
  return to;
}

static Value toSumType(Scalars &s, Value element, Type in, Type out) {
  Type type = getSumType(in, out);
  if (isa<FloatType>(element.getType()))
    return s.convertFloat(element, type);
  return s.convert(element, in, isa<FloatType>(type) ? type : out);
}

/// Accumulates products, in the destination if it has the right type.
static Value contract(KernelBuilder &kernel, ArrayRef<SymExprAttr> loops,
                      ArrayRef<Access> reads, ArrayRef<int64_t> kept, Type in,
                      Type out) {
  Value destination = kernel.destination();
  Type type = getSumType(in, out);
  Value init = getElementType(destination) == type
                   ? destination
                   : kernel.empty(SymDims(kernel.dims(destination)), type);
  init = kernel.fill(init, kernel.builder().number(type, 0));
  return kernel.loop(loops, reads, {init, kept}, [&](Scalars &s, ValueRange x) {
    Value product;
    for (Value element : x.drop_back()) {
      Value factor = toSumType(s, element, in, out);
      product = product ? s.mul(product, factor) : factor;
    }
    return s.add(x.back(), product);
  });
}

/// Stores the sums in the result.
static LogicalResult finish(KernelBuilder &kernel, Value sums, Type in,
                            Type out, ArrayRef<Access> addends = {}) {
  if (addends.empty() && sums.getType() == kernel.destination().getType())
    return kernel.yield(sums);
  return kernel.yield(kernel.update(
      sums, addends, kernel.destination(), [&](Scalars &s, ValueRange x) {
        Value sum = x[0];
        for (Value addend : x.drop_front())
          sum = s.add(sum, toSumType(s, addend, in, out));
        bool toInteger = isa<FloatType>(sum.getType()) && !isa<FloatType>(out);
        return toInteger ? s.convert(sum, sum.getType(), out) : sum;
      }));
}

//===----------------------------------------------------------------------===//
// Matmul, linear, outer
//===----------------------------------------------------------------------===//

/// Loops: batches, row, column, then the contracted dimension.
static LogicalResult matmul(MatmulOp op, KernelBuilder &kernel) {
  Value lhs = kernel.input(op.getLhs()), rhs = kernel.input(op.getRhs());
  SymDims l(kernel.dims(lhs)), r(kernel.dims(rhs));
  SymDims loops(kernel.dims(kernel.destination()));
  bool hasRow = l.size() > 1, hasColumn = r.size() > 1;
  int64_t kept = loops.size(), batches = kept - hasRow - hasColumn;
  int64_t row = batches, column = batches + hasRow, inner = kept;
  loops.push_back(l.back());

  auto batchLoops = [&](int64_t rank) {
    int64_t count = std::max<int64_t>(rank - 2, 0);
    return llvm::to_vector(llvm::seq(batches - count, batches));
  };
  SmallVector<int64_t> lhsLoops = batchLoops(l.size()),
                       rhsLoops = batchLoops(r.size());
  int64_t lhsBatches = lhsLoops.size(), rhsBatches = rhsLoops.size();
  if (hasRow)
    lhsLoops.push_back(row);
  lhsLoops.push_back(inner);
  rhsLoops.push_back(inner);
  if (hasColumn)
    rhsLoops.push_back(column);

  Type in = getElementType(op.getLhs()), out = getElementType(op.getResult());
  Value sums = contract(
      kernel, loops,
      {Access(lhs, lhsLoops, lhsBatches), Access(rhs, rhsLoops, rhsBatches)},
      llvm::to_vector(llvm::seq(kept)), in, out);
  return finish(kernel, sums, in, out);
}

static LogicalResult linear(LinearOp op, KernelBuilder &kernel) {
  Value x = kernel.input(op.getX()), weight = kernel.input(op.getWeight());
  SymDims loops(kernel.dims(kernel.destination()));
  int64_t kept = loops.size(), inner = kept, column = kept - 1;
  loops.push_back(kernel.dims(x).back());
  SmallVector<int64_t> xLoops = llvm::to_vector(llvm::seq(column));
  xLoops.push_back(inner);

  Type in = getElementType(op.getX()), out = getElementType(op.getResult());
  Value sums = contract(kernel, loops,
                        {Access(x, xLoops), Access(weight, {column, inner})},
                        llvm::to_vector(llvm::seq(kept)), in, out);
  SmallVector<Access> bias;
  if (op.getBias())
    bias.push_back(Access(kernel.inputOrNumber(op.getBias()), column));
  return finish(kernel, sums, in, out, bias);
}

static LogicalResult outer(OuterOp op, KernelBuilder &kernel) {
  return kernel.yield(
      kernel.map({Access(kernel.inputOrNumber(op.getX1()), int64_t(0)),
                  Access(kernel.inputOrNumber(op.getX2()), int64_t(1))},
                 kernel.destination(),
                 [](Scalars &s, ValueRange x) { return s.mul(x[0], x[1]); }));
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

/// A letter, or a dimension of the ellipsis counted from the last.
using Label = std::pair<char, int64_t>;

/// The labels of a term for a tensor of this rank; the subscripts are valid.
static SmallVector<Label> getLabels(StringRef term, int64_t rank) {
  SmallVector<Label> labels;
  int64_t letters = llvm::count_if(term, llvm::isAlpha);
  while (!term.empty()) {
    if (term.consume_front("...")) {
      for (int64_t index = rank - letters; index-- > 0;)
        labels.push_back({'.', index});
      continue;
    }
    labels.push_back({term.front(), 0});
    term = term.drop_front();
  }
  return labels;
}

static LogicalResult einsum(EinsumOp op, KernelBuilder &kernel) {
  std::string text;
  llvm::copy_if(op.getSubscripts(), std::back_inserter(text),
                [](char c) { return c != ' '; });
  auto [inputText, outputText] = StringRef(text).split("->");
  SmallVector<StringRef> terms;
  inputText.split(terms, ',');
  std::string implicit;
  if (!StringRef(text).contains("->")) {
    for (char letter = 'A'; letter <= 'z'; ++letter)
      if (llvm::isAlpha(letter) && llvm::count(inputText, letter) == 1)
        implicit += letter;
    if (inputText.contains("..."))
      implicit = "..." + implicit;
    outputText = implicit;
  }

  // One loop per label: first the labels of the result, then the labels that
  // are summed over.
  SymDims loops(kernel.dims(kernel.destination()));
  int64_t kept = loops.size();
  llvm::MapVector<Label, int64_t> loopOf;
  for (Label label : getLabels(outputText, kept))
    loopOf.insert({label, loopOf.size()});
  SmallVector<Access> reads;
  SmallVector<SmallVector<int64_t>> placed;
  for (auto [operand, term] : llvm::zip(op.getOperands(), terms)) {
    ArrayRef<SymExprAttr> dims = kernel.dims(kernel.input(operand));
    SmallVector<int64_t> onLoops;
    for (auto [label, dim] : llvm::zip(getLabels(term, dims.size()), dims)) {
      auto [it, inserted] = loopOf.insert({label, loops.size()});
      if (inserted)
        loops.push_back(dim);
      else if (it->second >= kept)
        loops[it->second] = kernel.math().broadcast({loops[it->second], dim});
      onLoops.push_back(it->second);
    }
    reads.push_back(Access(kernel.input(operand), onLoops, Access::kAll));
  }
  Type type = getElementType(op.getResult());
  Value sums = contract(kernel, loops, reads, llvm::to_vector(llvm::seq(kept)),
                        type, type);
  return finish(kernel, sums, type, type);
}

void relax::populateLinearKernels(KernelRegistry &registry) {
  registry.add<MatmulOp>(matmul);
  registry.add<LinearOp>(linear);
  registry.add<OuterOp>(outer);
  registry.add<EinsumOp>(einsum);
}
