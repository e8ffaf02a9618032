//===- Create.cpp - kernels of ops that create tensors --------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relax/Ops/Create.h"
#include "Transforms/Legalize/Registry.h"

using namespace mlir;
using namespace mlir::relax;

using arith::CmpIPredicate;
using Scalars = ScalarBuilder;

//===----------------------------------------------------------------------===//
// Tensors filled with one value
//===----------------------------------------------------------------------===//

/// `full`, `full_like`
template <typename OpT>
static LogicalResult full(OpT op, KernelBuilder &kernel) {
  Type from = getElementType(op.getFillValue()),
       to = getElementType(op.getResult());
  Value value = kernel.inputOrNumber(op.getFillValue());
  if (!isa<RankedTensorType>(value.getType()))
    return kernel.yield(kernel.fill(kernel.destination(),
                                    kernel.builder().convert(value, from, to)));
  return kernel.yield(
      kernel.map({value}, kernel.destination(), [&](Scalars &s, ValueRange x) {
        // Kernels read narrow floats as wider ones.
        return s.convert(s.convertFloat(x[0], getKernelElementType(from)), from,
                         to);
      }));
}

/// `zeros`, `ones`, `zeros_like`, `ones_like`
template <typename OpT>
static void constant(KernelRegistry &registry, double number) {
  registry.add<OpT>([number](OpT op, KernelBuilder &kernel) {
    Type type = getKernelElementType(getElementType(op.getResult()));
    return kernel.yield(kernel.fill(kernel.destination(),
                                    kernel.builder().number(type, number)));
  });
}

//===----------------------------------------------------------------------===//
// Patterns of values
//===----------------------------------------------------------------------===//

static LogicalResult arange(ArangeOp op, KernelBuilder &kernel) {
  Value start = kernel.size(op.getStart()), step = kernel.size(op.getStep());
  Type i64 = kernel.builder().getI64Type();
  return kernel.yield(kernel.generate(
      kernel.destination(), [&](Scalars &s, ValueRange position) {
        Value number = s.add(start, s.mul(position[0], step));
        return s.convert(arith::IndexCastOp::create(s, i64, number), i64,
                         getElementType(op.getResult()));
      }));
}

/// Compares the column with the row plus `k` by `predicate`.
static Value compareDiagonal(Scalars &s, CmpIPredicate predicate, Value row,
                             Value column, int64_t k) {
  return s.compare(predicate, column, s.add(row, s.index(k)));
}

static LogicalResult eye(EyeOp op, KernelBuilder &kernel) {
  Type type = getKernelElementType(getElementType(op.getResult()));
  return kernel.yield(kernel.generate(
      kernel.destination(), [&](Scalars &s, ValueRange position) {
        Value isOne = compareDiagonal(s, CmpIPredicate::eq, position[0],
                                      position[1], op.getK());
        return s.select(isOne, s.number(type, 1), s.number(type, 0));
      }));
}

template <typename OpT, CmpIPredicate keeps>
static LogicalResult triangle(OpT op, KernelBuilder &kernel) {
  Value x = kernel.input(op.getX());
  int64_t rank = kernel.dims(x).size();
  return kernel.yield(
      kernel.map({x}, kernel.destination(), [&](Scalars &s, ValueRange x) {
        Value isKept = compareDiagonal(s, keeps, s.position(rank - 2),
                                       s.position(rank - 1), op.getK());
        return s.select(isKept, x[0], s.number(x[0].getType(), 0));
      }));
}

static LogicalResult meshgrid(MeshgridOp op, KernelBuilder &kernel) {
  SmallVector<Value> results;
  bool exchanged = op.getIndexing() == "xy" && op.getTensors().size() >= 2;
  for (auto [index, tensor] : llvm::enumerate(op.getTensors())) {
    Value x = kernel.input(tensor);
    int64_t loop = exchanged && index < 2 ? 1 - index : index;
    Access read(x, kernel.dims(x).empty() ? ArrayRef<int64_t>() : loop);
    results.push_back(kernel.move(read, kernel.destination(index)));
  }
  return kernel.yield(results);
}

void relax::populateCreateKernels(KernelRegistry &registry) {
  registry.add<FullOp>(full<FullOp>);
  registry.add<FullLikeOp>(full<FullLikeOp>);
  constant<ZerosOp>(registry, 0);
  constant<ZerosLikeOp>(registry, 0);
  constant<OnesOp>(registry, 1);
  constant<OnesLikeOp>(registry, 1);
  registry.add<ArangeOp>(arange);
  registry.add<EyeOp>(eye);
  registry.add<TrilOp>(triangle<TrilOp, CmpIPredicate::sle>);
  registry.add<TriuOp>(triangle<TriuOp, CmpIPredicate::sge>);
  registry.add<MeshgridOp>(meshgrid);
}
