//===- Attention.cpp - kernels of attention and rotary embedding ----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention, with heads as [key heads, heads of a group]:
//
//   scores [b, k, g, n, m] = query * key       contraction over d
//   scores = scores * scale + bias, hidden ones minus infinity
//   greatest [b, k, g, n], powers = exp(scores - greatest), sums
//   mixed [b, n, k, g, e] = powers * value     contraction over m
//   result [b, n, h, e] = mixed / sums
//
// Heads are split and joined by views, which move no data; if every query head
// has its own key head, the loop over g has a single iteration.
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Attention.h"
#include "Transforms/Legalize/Registry.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Scalars = ScalarBuilder;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Splits dimension `axis` of `tensor` into the two dimensions `parts`, or
/// joins them.
static Value splitHeads(KernelBuilder &kernel, Value tensor, int64_t axis,
                        ArrayRef<SymExprAttr> parts) {
  SymDims dims(kernel.dims(tensor));
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, parts.begin(), parts.end());
  if (!parts[0].isConstant() && !parts[1].isConstant()) {
    Value group = kernel.size(parts[1]);
    return kernel.generate(kernel.empty(dims, getElementType(tensor)),
                           [&](Scalars &s, ValueRange position) -> Value {
                             SmallVector<Value> from(position);
                             from[axis] = s.add(s.mul(from[axis], group),
                                                from[axis + 1]);
                             from.erase(from.begin() + axis + 1);
                             return tensor::ExtractOp::create(s, tensor, from);
                           });
  }
  SmallVector<ReassociationIndices> groups;
  for (int64_t index = 0, count = dims.size(); index < count; ++index) {
    groups.push_back({index});
    if (index == axis)
      groups.back().push_back(++index);
  }
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> sizes;
  for (SymExprAttr dim : dims) {
    auto value = dim.getConstantValue();
    shape.push_back(value ? *value : ShapedType::kDynamic);
    sizes.push_back(value ? OpFoldResult(kernel.builder().getIndexAttr(*value))
                          : OpFoldResult(kernel.size(dim)));
  }
  auto type = RankedTensorType::get(shape, getElementType(tensor));
  return kernel.withDims(tensor::ExpandShapeOp::create(kernel.builder(), type,
                                                       tensor, groups, sizes),
                         dims);
}

/// The inverse of `splitHeads`, always a view.
static Value joinHeads(KernelBuilder &kernel, Value tensor, int64_t axis,
                       SymExprAttr whole) {
  SymDims dims(kernel.dims(tensor));
  dims.erase(dims.begin() + axis);
  dims[axis] = whole;
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  for (int64_t index = 0, count = dims.size() + 1; index < count; ++index) {
    groups.push_back({index});
    if (index == axis)
      groups.back().push_back(++index);
  }
  auto result =
      tensor::CollapseShapeOp::create(kernel.builder(), tensor, groups);
  Value joined = result;
  for (SymExprAttr dim : dims)
    shape.push_back(dim.getConstantValue().value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, getElementType(tensor));
  if (joined.getType() != type)
    joined = tensor::CastOp::create(kernel.builder(), type, joined);
  return kernel.withDims(joined, dims);
}

/// Whether a query sees a key; null if every query sees all keys.
static Value isVisible(AttentionOp op, Scalars &s, Value query, Value key,
                       Value queries, Value keys) {
  if (!op.getCausalMask())
    return {};
  Value last = query;
  if (*op.getCausalMask() == "BottomRight")
    last = s.add(query, s.sub(keys, queries));
  Value visible = s.compare(CmpIPredicate::sle, key, last);
  if (std::optional<uint64_t> window = op.getWindowSize()) {
    Value first = s.sub(last, s.index(*window - 1));
    visible = s.both(visible, s.compare(CmpIPredicate::sge, key, first));
  }
  return visible;
}

static LogicalResult attention(AttentionOp op, KernelBuilder &kernel) {
  Value query = kernel.input(op.getQuery()), key = kernel.input(op.getKey()),
        value = kernel.input(op.getValue());
  SymDims q(kernel.dims(query)), k(kernel.dims(key)), v(kernel.dims(value));
  SymExprAttr batch = q[0], queries = q[1], heads = q[2], keys = k[1],
              keyHeads = k[2], one = kernel.constant(1);
  SymBuilder &math = kernel.math();
  SymExprAttr group = one;
  if (!kernel.provedEqual(heads, keyHeads)) {
    group = math.exactDiv(heads, keyHeads);
    if (!group)
      group = math.floordiv(heads, keyHeads);
    kernel.requireEqual(
        math.mul(group, keyHeads), heads,
        "the heads of query must be a multiple of the heads of key");
  }
  Type type = getComputeType(getElementType(query));
  Scalars &builder = kernel.builder();

  // Scores.
  enum { B, K, G, N, M, D };
  SymDims loops{batch, keyHeads, group, queries, keys, q[3]};
  SymDims scoreDims(loops.begin(), loops.end() - 1);
  Value splitQuery = splitHeads(kernel, query, 2, {keyHeads, group});
  Value scores = kernel.reduce(
      loops, {{splitQuery, {B, N, K, G, D}}, {key, {B, M, K, D}}},
      {B, K, G, N, M}, builder.number(type, 0),
      [](Scalars &s, ValueRange x) { return s.add(x[2], s.mul(x[0], x[1])); });

  // Scale, bias and mask, applied in place.
  Value scale;
  if (op.getScale()) {
    scale = builder.number(type, op.getScale()->convertToDouble());
  } else {
    Value size = arith::IndexCastOp::create(builder, builder.getI64Type(),
                                            kernel.size(q[3]));
    scale = math::RsqrtOp::create(builder,
                                  arith::SIToFPOp::create(builder, type, size));
  }
  SmallVector<Access> reads;
  if (op.getBias()) {
    Value bias = kernel.input(op.getBias());
    SymDims dims(kernel.dims(bias));
    int64_t rank = dims.size();
    SmallVector<int64_t> all{B, K, G, N, M}, onLoops;
    if (rank < 3) {
      onLoops = SmallVector<int64_t>(all.end() - rank, all.end());
    } else if (kernel.provedEqual(dims[rank - 3], one)) {
      onLoops = {K, N, M};
    } else if (kernel.provedEqual(group, one)) {
      onLoops = {K, N, M};
    } else {
      kernel.requireEqual(dims[rank - 3], heads,
                          "the heads of bias must equal the heads of query");
      bias = splitHeads(kernel, bias, rank - 3, {keyHeads, group});
      onLoops = {K, G, N, M};
    }
    if (rank == 4)
      onLoops.insert(onLoops.begin(), B);
    reads.push_back({bias, onLoops, Access::kAll});
  }
  Value queryCount = kernel.size(queries), keyCount = kernel.size(keys);
  Value hidden = builder.number(type, -INFINITY);
  scores = kernel.update(scores, reads, scores, [&](Scalars &s, ValueRange x) {
    Value score = s.mul(x[0], scale);
    if (op.getBias()) {
      if (x[1].getType().isInteger(1))
        score = s.select(x[1], score, hidden);
      else
        score = s.add(score, x[1]);
    }
    if (Value visible = isVisible(op, s, s.position(N), s.position(M),
                                  queryCount, keyCount))
      score = s.select(visible, score, hidden);
    return score;
  });

  // Softmax without the division; a row without visible keys has the sum zero.
  SmallVector<int64_t> rows{B, K, G, N};
  Value greatest =
      kernel.reduce(scoreDims, {scores}, rows, hidden,
                    [](Scalars &s, ValueRange x) { return s.max(x[1], x[0]); });
  Value powers =
      kernel.update(scores, {{greatest, rows}}, scores,
                    [&](Scalars &s, ValueRange x) -> Value {
                      Value isHidden =
                          s.compare(CmpFPredicate::OEQ, x[1], hidden);
                      Value shift = s.select(isHidden, s.number(type, 0), x[1]);
                      return math::ExpOp::create(s, s.sub(x[0], shift));
                    });
  Value sums =
      kernel.reduce(scoreDims, {powers}, rows, builder.number(type, 0),
                    [](Scalars &s, ValueRange x) { return s.add(x[1], x[0]); });

  // The weighted sum of the values.
  enum { MB, MN, MK, MG, ME, MM };
  SymDims mixLoops{batch, queries, keyHeads, group, v[3], keys};
  Value mixed = kernel.reduce(
      mixLoops, {{powers, {MB, MK, MG, MN, MM}}, {value, {MB, MM, MK, ME}}},
      {MB, MN, MK, MG, ME}, builder.number(type, 0),
      [](Scalars &s, ValueRange x) { return s.add(x[2], s.mul(x[0], x[1])); });
  auto divide = [&](Scalars &s, ValueRange x) {
    Value zero = s.number(type, 0);
    Value isEmpty = s.compare(CmpFPredicate::OEQ, x[1], zero);
    return s.select(isEmpty, zero, s.div(x[0], x[1]));
  };
  // Heads are joined last, so that all loops share their rows.
  if (keyHeads.isConstant() || group.isConstant()) {
    Value split =
        splitHeads(kernel, kernel.destination(), 2, {keyHeads, group});
    Value result = kernel.map({mixed, {sums, {0, 2, 3, 1}}}, split, divide);
    return kernel.yield(joinHeads(kernel, result, 2, heads));
  }
  mixed = joinHeads(kernel, mixed, 2, heads);
  sums = joinHeads(kernel, sums, 1, heads); // [b, h, n]
  return kernel.yield(
      kernel.map({mixed, {sums, {0, 2, 1}}}, kernel.destination(), divide));
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// The position of each token, as i64; `token` and `batch` are indices.
static Value getPosition(RotaryEmbeddingOp op, KernelBuilder &kernel,
                         Value offset, Scalars &s, Value batch, Value token) {
  Type i64 = s.getI64Type();
  if (!op.getPositions()) {
    Value position = offset ? s.add(token, offset) : token;
    return arith::IndexCastOp::create(s, i64, position);
  }
  Value positions = kernel.input(op.getPositions());
  int64_t rank = kernel.dims(positions).size();
  SmallVector<Value> at;
  if (rank == 2)
    at.push_back(batch);
  if (rank >= 1)
    at.push_back(token);
  Value position = s.convert(tensor::ExtractOp::create(s, positions, at),
                             getElementType(op.getPositions()), i64);
  if (rank == 0)
    position = s.add(position, arith::IndexCastOp::create(s, i64, token));
  return position;
}

static LogicalResult rotaryEmbedding(RotaryEmbeddingOp op,
                                     KernelBuilder &kernel) {
  Value x = kernel.input(op.getX());
  SymDims dims(kernel.dims(x));
  Type type = getComputeType(getElementType(x));
  Scalars &builder = kernel.builder();
  SymBuilder &math = kernel.math();
  SymExprAttr turned =
      op.getRotaryDim() ? kernel.constant(*op.getRotaryDim()) : dims[3];
  if (op.getRotaryDim())
    kernel.require(CmpIPredicate::sle, turned, dims[3],
                   "rotary_dim must be at most the last dimension of x");
  SymExprAttr two = kernel.constant(2);
  if (kernel.prover().divisible(turned, two) != Truth::Yes)
    kernel.requireEqual(math.mod(turned, two), kernel.constant(0),
                        "the last dimension of x must be even");
  SymExprAttr pairs = math.floordiv(turned, two);

  // Tables of sine and cosine for each token and pair, and for each batch if
  // positions differ between batches.
  Value offset = op.getOffset() ? kernel.size(*op.getOffset()) : Value();
  bool perBatch = false;
  if (op.getPositions()) {
    SymDims positions(kernel.dims(kernel.input(op.getPositions())));
    perBatch = positions.size() == 2;
    if (!positions.empty())
      kernel.requireEqual(positions.back(), dims[1],
                          "positions must have the length of x");
    if (perBatch)
      kernel.requireEqual(positions[0], dims[0],
                          "positions must have the batch size of x");
  }
  SymDims tableDims{dims[1], pairs};
  if (perBatch)
    tableDims.insert(tableDims.begin(), dims[0]);
  Value factor = builder.number(type, op.getAttnFactor().convertToDouble());
  SmallVector<Access> reads;
  int64_t pairLoop = tableDims.size() - 1;
  if (op.getFreqFactors())
    reads.push_back({kernel.input(op.getFreqFactors()), pairLoop});
  Value rows;
  if (op.getCos()) {
    SymDims cos(kernel.dims(kernel.input(op.getCos()))),
        sin(kernel.dims(kernel.input(op.getSin())));
    for (const SymDims &table : {cos, sin}) {
      kernel.requireEqual(table[0], cos[0],
                          "cos and sin must have equal sizes");
      kernel.requireEqual(table[1], pairs,
                          "cos and sin must have a column for each pair");
      if (!op.getPositions()) {
        SymExprAttr end = math.add(
            dims[1], op.getOffset() ? *op.getOffset() : kernel.constant(0));
        kernel.require(CmpIPredicate::sle, end, table[0],
                       "positions must be rows of cos and sin");
      }
    }
    rows = arith::IndexCastOp::create(builder, builder.getI64Type(),
                                      kernel.size(cos[0]));
  }
  Value turnedSize = kernel.size(turned);
  Value turnedFloat = arith::SIToFPOp::create(
      builder, type,
      arith::IndexCastOp::create(builder, builder.getI64Type(), turnedSize));
  SmallVector<Value> tables = kernel.nest(
      tableDims, reads,
      {kernel.empty(tableDims, type), kernel.empty(tableDims, type)},
      [&](Scalars &s, ValueRange elements) {
        Value batch = perBatch ? s.position(0) : s.index(0);
        Value token = s.position(pairLoop - 1), pair = s.position(pairLoop);
        Value position = getPosition(op, kernel, offset, s, batch, token);
        if (op.getCos()) {
          // Stay in bounds for any position.
          if (op.getPositions()) {
            Value last = s.sub(rows, s.number(rows.getType(), 1));
            position =
                s.max(s.min(position, last), s.number(rows.getType(), 0));
          }
          SmallVector<Value> at{s.toIndex(position), pair};
          auto read = [&](Value table) {
            Value element =
                tensor::ExtractOp::create(s, kernel.input(table), at);
            return s.mul(s.convertFloat(element, type), factor);
          };
          return SmallVector<Value>{read(op.getCos()), read(op.getSin())};
        }
        Value twice = arith::SIToFPOp::create(
            s, type,
            arith::IndexCastOp::create(s, s.getI64Type(),
                                       s.mul(pair, s.index(-2))));
        Value frequency = math::PowFOp::create(
            s, s.number(type, op.getTheta().convertToDouble()),
            s.div(twice, turnedFloat));
        Value angle =
            s.mul(s.mul(arith::SIToFPOp::create(s, type, position),
                        s.number(type, op.getScale().convertToDouble())),
                  frequency);
        if (op.getFreqFactors())
          angle = s.div(angle, s.convertFloat(elements[0], type));
        return SmallVector<Value>{s.mul(math::CosOp::create(s, angle), factor),
                                  s.mul(math::SinOp::create(s, angle), factor)};
      });

  Value pairCount = kernel.size(pairs);
  bool isInterleaved = op.getLayout() == "interleaved";
  return kernel.yield(kernel.map(
      {x}, kernel.destination(), [&](Scalars &s, ValueRange elements) {
        SmallVector<Value> at;
        for (int64_t loop = 0; loop < 4; ++loop)
          at.push_back(s.position(loop));
        Value index = at[3], one = s.index(1), zero = s.index(0);
        Value isSecond, pair, partner;
        if (isInterleaved) {
          Value bit = arith::AndIOp::create(s, index, one);
          isSecond = s.compare(CmpIPredicate::ne, bit, zero);
          pair = arith::ShRUIOp::create(s, index, one);
          partner = arith::XOrIOp::create(s, index, one);
        } else {
          isSecond = s.compare(CmpIPredicate::uge, index, pairCount);
          pair = s.select(isSecond, s.sub(index, pairCount), index);
          partner = s.select(isSecond, pair, s.add(index, pairCount));
        }
        // Elements beyond `rotary_dim` read a table entry but do not use it.
        Value isTurned;
        if (turned != dims[3]) {
          isTurned = s.compare(CmpIPredicate::ult, index, turnedSize);
          pair = s.select(isTurned, pair, zero);
          partner = s.select(isTurned, partner, index);
        }
        at[3] = partner;
        Value other = s.convertFloat(tensor::ExtractOp::create(s, x, at), type);
        SmallVector<Value> row{at[1], pair};
        if (perBatch)
          row.insert(row.begin(), at[0]);
        Value cos = tensor::ExtractOp::create(s, tables[0], row);
        Value sin = tensor::ExtractOp::create(s, tables[1], row);
        Value across = s.mul(other, sin);
        Value moved =
            s.add(s.mul(elements[0], cos),
                  s.select(isSecond, across, arith::NegFOp::create(s, across)));
        return isTurned ? s.select(isTurned, moved, elements[0]) : moved;
      }));
}

void relax::populateAttentionKernels(KernelRegistry &registry) {
  registry.add<AttentionOp>(attention);
  registry.add<RotaryEmbeddingOp>(rotaryEmbedding);
}
