//===- LowerValues.cpp - lowers tensors, shapes and constants -------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/FunctionLowering.h"
#include "Conversion/Slots.h"

#include "Target/Common/Booleans.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::relax;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value FunctionLowering::allocate(Operation *op, Value bytes,
                                 int64_t alignment) {
  return builder.call(deviceOf(op->getResult(0)) ? "relax_rt_device_alloc"
                                                 : "relax_rt_alloc",
                      builder.pointer(),
                      {context, bytes, builder.word(alignment),
                       builder.string(describeLocation(op->getLoc()))});
}

Value FunctionLowering::readElement(Value value, int64_t index) {
  Value tensor = getOne(value);
  auto type = cast<MemRefType>(tensor.getType());
  Type element = type.getElementType();
  if (element.isInteger(1))
    element = builder.getI8Type();
  if (!deviceOf(value)) {
    Values indices(type.getRank(), builder.index(index));
    return memref::LoadOp::create(
        builder, bytesOfBooleans(builder, builder.getLoc(), tensor), indices);
  }
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Value address = LLVM::GEPOp::create(
      builder, builder.pointer(), element, builder.dataOf(tensor),
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  Value word = builder.call("relax_rt_device_read", builder.getI64Type(),
                            {context, address, builder.word(bytes)});
  return bytes == 8 ? word : LLVM::TruncOp::create(builder, element, word);
}

LogicalResult FunctionLowering::lowerAlloc(AllocStorageOp op) {
  Value bytes = evaluate(op, op.getBytes());
  if (!bytes)
    return failure();
  set(op.getStorage(),
      {allocate(op, builder.toWord(bytes), op.getAlignment())});
  return success();
}

LogicalResult FunctionLowering::lowerTensorFromStorage(TensorFromStorageOp op) {
  Value storage = getOne(op.getStorage());
  Value data = builder.storageData(storage);
  if (!op.getOffset().isConstant(0)) {
    Value offset = evaluate(op, op.getOffset());
    if (!offset)
      return failure();
    data = LLVM::GEPOp::create(builder, builder.pointer(), builder.getI8Type(),
                               data,
                               ArrayRef<LLVM::GEPArg>{builder.toWord(offset)});
  }
  auto type = cast<RankedTensorType>(op.getType());
  Values sizes;
  for (SymExprAttr dim : getSymDims(type)) {
    sizes.push_back(dim ? evaluate(op, dim) : Value());
    if (!sizes.back())
      return failure();
    checkNotNegative(op, dim, sizes.back());
  }
  set(op.getResult(),
      {builder.makeTensor(getHostTensor(type), storage, data, sizes)});
  return success();
}

LogicalResult FunctionLowering::lowerReshape(Operation *op) {
  Value input = getOne(op->getOperand(0));
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return op->emitOpError() << "needs a result of known rank to be compiled";
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  // Sizes come from the type if it has them, otherwise from the shape operand.
  Values sizes, given;
  if (op->getNumOperands() > 1)
    given.assign(get(op->getOperand(1)).begin(), get(op->getOperand(1)).end());
  SymDims dims = getSymDims(type);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    if (dim)
      sizes.push_back(evaluate(op, dim));
    else if (!given.empty())
      sizes.push_back(given[axis]);
    else
      sizes.push_back({}); // inferred from the number of elements
    if (dim && !sizes.back())
      return failure();
  }
  Values inputSizes;
  for (int64_t axis = 0; axis < from.getRank(); ++axis)
    inputSizes.push_back(builder.dim(input, axis));
  auto product = [&](ValueRange factors) {
    Values known;
    llvm::copy_if(factors, std::back_inserter(known),
                  [](Value factor) { return bool(factor); });
    return symbols.product(known, "the number of elements of a reshape");
  };
  Value elements = product(inputSizes);
  if (llvm::count(sizes, Value()) > 1)
    return op->emitOpError() << "has more than one unknown size in " << type;
  auto unknown = llvm::find(sizes, Value());
  if (unknown != sizes.end()) {
    Value others = product(sizes);
    Value positive = arith::MaxSIOp::create(builder, others, builder.index(1));
    *unknown = arith::DivSIOp::create(builder, elements, positive);
  }
  SymBuilder math(builder.getContext());
  SymDims fromDims = getSymDims(from);
  bool proved = !llvm::is_contained(dims, SymExprAttr()) &&
                !llvm::is_contained(fromDims, SymExprAttr()) &&
                math.product(dims) == math.product(fromDims);
  if (!proved) {
    checkEqual(elements, product(sizes),
               "cannot reshape a tensor of %0 elements into one of %1");
  }
  set(op->getResult(0),
      {builder.makeTensor(getHostTensor(type), builder.storageOf(input),
                          builder.dataOf(input), sizes)});
  return success();
}

LogicalResult FunctionLowering::lowerMatchCast(MatchCastOp op) {
  SmallVector<Claim> claims;
  Type type = op.getResult().getType();
  SmallVector<Type> from, to;
  if (failed(flattenType(op.getInput().getType(), from)) ||
      failed(flattenType(type, to)) || from.size() != to.size())
    return op.emitOpError() << "from " << op.getInput().getType() << " to "
                            << type << " cannot be compiled";
  ArrayRef<Value> host = get(op.getInput());
  claim(type, host, "match_cast", claims);
  for (auto [value, wanted] : llvm::zip(get(op.getInput()), to)) {
    auto target = dyn_cast<MemRefType>(wanted);
    if (!target)
      continue;
    auto source = cast<MemRefType>(value.getType());
    if (source.getElementType() != target.getElementType() ||
        source.getRank() != target.getRank())
      return op.emitOpError() << "can never hold";
  }
  if (failed(checkClaims(claims)))
    return failure();
  set(op.getResult(), convert(get(op.getInput()), type));
  return success();
}

Value FunctionLowering::getWeights() {
  if (!weightAddresses) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(cast<BlockArgument>(context).getOwner());
    weightAddresses = weights.getAddresses(builder, context);
  }
  return weightAddresses;
}

LogicalResult FunctionLowering::lowerConstant(ConstantOp op) {
  auto tensor = dyn_cast<RankedTensorType>(op.getType());
  MemRefType type = getHostTensor(op.getType());
  if (!type || !type.hasStaticShape())
    return op.emitOpError() << "needs a static shape to be compiled";
  if (auto weight = dyn_cast<WeightAttr>(op.getValue())) {
    set(op.getResult(),
        {builder.makeTensor(type, builder.null(),
                            weights.load(builder, getWeights(),
                                         weight.getName(),
                                         deviceOf(op.getResult())),
                            {})});
    return success();
  }
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue()))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      elements = DenseElementsAttr::getFromRawBuffer(
          RankedTensorType::get(tensor.getShape(), tensor.getElementType()),
          blob->getData());
  if (!elements)
    return op.emitOpError() << "holds elements of an unknown kind";
  // In memory, integers are signless and a boolean takes a byte.
  Type element = type.getElementType();
  auto plain = RankedTensorType::get(tensor.getShape(), element);
  if (element.isInteger(1)) {
    element = builder.getI8Type();
    SmallVector<int8_t> bytes;
    for (bool value : elements.getValues<bool>())
      bytes.push_back(value);
    elements =
        DenseElementsAttr::get(plain.clone(element), ArrayRef<int8_t>(bytes));
  } else {
    // LLVM has no 8-bit floats.
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
      element = builder.getI8Type();
    if (element != tensor.getElementType())
      elements = elements.bitcast(element);
  }
  elements = elements.reshape(
      RankedTensorType::get({elements.getNumElements()}, element));
  auto global = builder.global(
      "relax.constant",
      LLVM::LLVMArrayType::get(element, elements.getNumElements()), elements,
      /*constant=*/true);
  global.setAlignment(64);
  Value data;
  if (deviceOf(op.getResult())) {
    int64_t bytes =
        elements.getNumElements() * (element.getIntOrFloatBitWidth() / 8);
    data = builder.call(
        "relax_rt_device_constant", builder.pointer(),
        {context, builder.addressOf(builder.deviceConstant(global, bytes)),
         builder.string(describeLocation(op.getLoc()))});
  } else {
    data = builder.addressOf(global);
  }
  set(op.getResult(), {builder.makeTensor(type, builder.null(), data, {})});
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerShapeToTensor(ShapeToTensorOp op) {
  ArrayRef<Value> dims = get(op.getInput());
  MemRefType type = getHostTensor(op.getResult().getType());
  if (!type)
    return op.emitOpError() << "needs a result of known rank to be compiled";
  Value storage = allocate(op, builder.word(8 * dims.size()), 64);
  Value tensor = builder.makeTensor(type, storage, builder.storageData(storage),
                                    builder.index(dims.size()));
  if (deviceOf(op.getResult())) {
    Value words = builder.allocateWords(dims.size());
    Slots(builder, words).write(dims);
    builder.call(
        "relax_rt_device_write", {},
        {context, builder.dataOf(tensor), words, builder.word(dims.size())});
  } else {
    for (auto [index, dim] : llvm::enumerate(dims))
      memref::StoreOp::create(builder, builder.toWord(dim), tensor,
                              ValueRange(builder.index(index)));
  }
  set(op.getResult(), {tensor});
  return success();
}

LogicalResult FunctionLowering::lowerTensorToShape(TensorToShapeOp op) {
  Values dims;
  auto shape = cast<ShapeType>(op.getType());
  for (int64_t i = 0; i < shape.getRank(); ++i) {
    Value dim = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                           readElement(op.getInput(), i));
    builder.check(context,
                  arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, dim,
                                        builder.index(0)),
                  "ValueError",
                  functionName + ": element %1 of a shape is %0, which is "
                                 "negative",
                  dim, builder.index(i));
    dims.push_back(dim);
  }
  set(op.getResult(), dims);
  return success();
}
