//===- Attention.cpp - attention and rotary embedding ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Attention.h"
#include "Relax/AttrChecks.h"
#include "Relax/Rules.h"

using namespace mlir;
using namespace mlir::relax;

#define GET_OP_CLASSES
#include "Relax/Ops/Attention.cpp.inc"

void RelaxDialect::registerAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "Relax/Ops/Attention.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

/// Requires `bias` to broadcast to `target` without widening it.
static LogicalResult checkBias(Deduction &deduction, Value value,
                               Type elementType, ArrayRef<SymExprAttr> target) {
  FailureOr<Deduction::Tensor> bias = deduction.tensor(value, "bias");
  if (failed(bias))
    return failure();
  if (!bias->elementType.isInteger(1) &&
      failed(deduction.sameElementType(elementType, "query", bias->elementType,
                                       "bias")))
    return failure();
  if (!bias->ranked)
    return success();
  return checkBroadcastTo(deduction, bias->dims, "bias", target,
                          "the scores [batch, heads, queries, keys]");
}

/// Requires the query heads to be a multiple of the key heads.
static LogicalResult checkHeads(Deduction &deduction, SymExprAttr query,
                                SymExprAttr key) {
  if (!query || !key)
    return success();
  const Prover &prover = deduction.prover();
  SymExprAttr zero = deduction.constant(0);
  Truth keyEmpty = prover.equal(key, zero);
  // Zero is the only multiple of zero; a divisor that may be zero proves
  // nothing.
  bool wrong =
      keyEmpty == Truth::Yes
          ? prover.equal(query, zero) == Truth::No
          : keyEmpty == Truth::No && prover.divisible(query, key) == Truth::No;
  if (!wrong)
    return success();
  return deduction.emitError()
         << "the heads of query must be a multiple of the heads of key, "
         << describe(key) << ", got " << describe(query);
}

LogicalResult AttentionOp::deduce(Deduction &deduction, Adaptor op,
                                  SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> query = deduction.tensor(op.getQuery(), "query");
  FailureOr<Deduction::Tensor> key = deduction.tensor(op.getKey(), "key");
  FailureOr<Deduction::Tensor> value = deduction.tensor(op.getValue(), "value");
  if (failed(query) || failed(key) || failed(value) ||
      failed(deduction.sameElementType(query->elementType, "query",
                                       key->elementType, "key")) ||
      failed(deduction.sameElementType(query->elementType, "query",
                                       value->elementType, "value")))
    return failure();
  FailureOr<SymDims> q = getDimsOfRank(deduction, "query", *query, 4);
  FailureOr<SymDims> k = getDimsOfRank(deduction, "key", *key, 4);
  FailureOr<SymDims> v = getDimsOfRank(deduction, "value", *value, 4);
  if (failed(q) || failed(k) || failed(v))
    return failure();

  FailureOr<SymExprAttr> batch = deduction.equalDim(
      (*q)[0], "the batch of query", (*k)[0], "the batch of key");
  if (failed(batch))
    return failure();
  batch = deduction.equalDim(*batch, "the batch of query and key", (*v)[0],
                             "the batch of value");
  if (failed(batch))
    return failure();
  FailureOr<SymExprAttr> keys = deduction.equalDim(
      (*k)[1], "the length of key", (*v)[1], "the length of value");
  FailureOr<SymExprAttr> heads = deduction.equalDim(
      (*k)[2], "the heads of key", (*v)[2], "the heads of value");
  if (failed(keys) || failed(heads) ||
      failed(deduction.equalDim((*q)[3], "the head size of query", (*k)[3],
                                "the head size of key")) ||
      failed(checkHeads(deduction, (*q)[2], *heads)))
    return failure();

  SymExprAttr scores[] = {*batch, (*q)[2], (*q)[1], *keys};
  if (op.getBias() &&
      failed(checkBias(deduction, op.getBias(), query->elementType, scores)))
    return failure();
  if (op.getCausalMask() &&
      failed(checkOneOf(deduction, "causal_mask", *op.getCausalMask(),
                        {"TopLeft", "BottomRight"})))
    return failure();
  if (std::optional<uint64_t> window = op.getWindowSize()) {
    if (failed(checkAtLeast(deduction, "window_size", *window, 1)))
      return failure();
    if (!op.getCausalMask())
      return deduction.emitError()
             << "window_size needs a causal_mask, 'TopLeft' or 'BottomRight'";
  }
  results.push_back(
      getTensorType({*batch, (*q)[1], (*q)[2], (*v)[3]}, query->elementType));
  return success();
}

//===----------------------------------------------------------------------===//
// RotaryEmbeddingOp
//===----------------------------------------------------------------------===//

/// The number of elements that are rotated; null if unknown.
static FailureOr<SymExprAttr> deduceRotaryDim(Deduction &deduction,
                                              IntegerAttr attribute,
                                              SymExprAttr headSize) {
  const Prover &prover = deduction.prover();
  SymExprAttr two = deduction.constant(2);
  if (!attribute) {
    if (headSize && prover.divisible(headSize, two) == Truth::No)
      return deduction.emitError()
             << "the last dimension of x must be even, got "
             << describe(headSize)
             << "; give rotary_dim to rotate a part of it";
    return headSize;
  }
  int64_t value = attribute.getInt();
  if (failed(checkAtLeast(deduction, "rotary_dim", value, 2)))
    return failure();
  if (value % 2 != 0)
    return deduction.emitError() << "rotary_dim must be even, got " << value;
  SymExprAttr dim = deduction.constant(value);
  if (prover.less(headSize, dim) == Truth::Yes)
    return deduction.emitError()
           << "rotary_dim must be at most the last dimension of x, "
           << describe(headSize) << ", got " << value;
  return dim;
}

/// Checks `positions` against x. Does not refine the batch dimension, since
/// `positions` may be broadcast.
static LogicalResult checkPositions(Deduction &deduction, Value value,
                                    SymDims &x) {
  FailureOr<Deduction::Tensor> positions = deduction.tensor(value, "positions");
  if (failed(positions))
    return failure();
  if (!positions->ranked || positions->rank() == 0)
    return success();
  if (positions->rank() > 2)
    return deduction.emitError()
           << "positions must have rank 0, 1 or 2, got rank "
           << positions->rank();
  FailureOr<SymExprAttr> tokens =
      deduction.equalDim(x[1], "the length of x", positions->dims.back(),
                         "the length of positions");
  if (failed(tokens))
    return failure();
  x[1] = *tokens;
  if (positions->rank() == 1)
    return success();
  FailureOr<SymExprAttr> batch = deduction.equalDim(
      x[0], "the batch of x", positions->dims[0], "the batch of positions");
  if (failed(batch))
    return failure();
  x[0] = *batch;
  return success();
}

/// Checks one of the tables against the number of pairs.
static LogicalResult checkTable(Deduction &deduction, Value value,
                                StringRef name, int64_t rank,
                                SymExprAttr pairs) {
  FailureOr<Deduction::Tensor> table = deduction.tensor(value, name);
  if (failed(table))
    return failure();
  FailureOr<SymDims> dims = getDimsOfRank(deduction, name, *table, rank);
  if (failed(dims))
    return failure();
  return deduction.equalDim(dims->back(), "the last dimension of " + name,
                            pairs, "half of the rotated elements");
}

LogicalResult RotaryEmbeddingOp::deduce(Deduction &deduction, Adaptor op,
                                        SmallVectorImpl<Type> &results) {
  FailureOr<Deduction::Tensor> x = deduction.tensor(op.getX(), "x");
  if (failed(x) || failed(checkOneOf(deduction, "layout", op.getLayout(),
                                     {"half_split", "interleaved"})))
    return failure();
  FailureOr<SymDims> dims = getDimsOfRank(deduction, "x", *x, 4);
  if (failed(dims))
    return failure();
  if (double theta = op.getTheta().convertToDouble(); !(theta > 0))
    return deduction.emitError() << "theta must be positive, got " << theta;
  FailureOr<SymExprAttr> rotaryDim =
      deduceRotaryDim(deduction, op.getRotaryDimAttr(), dims->back());
  if (failed(rotaryDim))
    return failure();
  SymExprAttr pairs =
      deduction.math().floordiv(*rotaryDim, deduction.constant(2));

  if (op.getPositions()) {
    if (op.getOffset())
      return deduction.emitError() << "positions and offset exclude each other";
    if (failed(checkPositions(deduction, op.getPositions(), *dims)))
      return failure();
  }
  if (!op.getCos() != !op.getSin())
    return deduction.emitError()
           << "cos and sin must be given together, got only "
           << (op.getCos() ? "cos" : "sin");
  if (op.getCos() && op.getFreqFactors())
    return deduction.emitError()
           << "freq_factors and the tables cos and sin exclude each other";
  std::tuple<Value, StringRef, int64_t> tables[] = {
      {op.getCos(), "cos", 2},
      {op.getSin(), "sin", 2},
      {op.getFreqFactors(), "freq_factors", 1}};
  for (auto [table, name, rank] : tables)
    if (table && failed(checkTable(deduction, table, name, rank, pairs)))
      return failure();
  results.push_back(getTensorType(*dims, x->elementType));
  return success();
}
