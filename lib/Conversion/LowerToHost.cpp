//===- LowerToHost.cpp - turn graph functions into host code --------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/CallOrder.h"
#include "Conversion/FunctionLowering.h"
#include "Conversion/Passes.h"
#include "Relax/Ops/Manipulate.h"
#include "Target/Common/ConvertKernelBoundary.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::relax {
#define GEN_PASS_DEF_LOWERTOHOSTPASS
#include "Conversion/Passes.h.inc"
} // namespace mlir::relax

using namespace mlir;
using namespace mlir::relax;

std::string relax::hostName(StringRef function) {
  return ("relax.graph." + function).str();
}

void relax::makeInternal(func::FuncOp function) {
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(function.getContext(), LLVM::Linkage::Internal));
}

//===----------------------------------------------------------------------===//
// Ops and blocks
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerOp(Operation &op) {
  builder.setLoc(op.getLoc());
  auto setIndices = [&](ArrayRef<SymExprAttr> dims) {
    Values host;
    for (SymExprAttr dim : dims) {
      host.push_back(evaluate(&op, dim));
      if (!host.back())
        return failure();
    }
    set(op.getResult(0), host);
    return success();
  };
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](CallTIRInplaceOp op) { return lowerKernelCall(op); })
      .Case<ReshapeOp, FlattenOp, ExpandDimsOp, SqueezeOp>(
          [&](auto op) { return lowerReshape(op); })
      .Case([&](MatchCastOp op) { return lowerMatchCast(op); })
      .Case([&](ConstantOp op) { return lowerConstant(op); })
      .Case([&](IfOp op) { return lowerIf(op); })
      .Case([&](WhileOp op) { return lowerWhile(op); })
      .Case([&](CallOp op) { return lowerCall(op); })
      .Case([&](MakeClosureOp op) { return lowerMakeClosure(op); })
      .Case([&](CallClosureOp op) { return lowerCallClosure(op); })
      .Case([&](CallLibraryInplaceOp op) { return lowerLibraryCall(op); })
      .Case([&](ShapeToTensorOp op) { return lowerShapeToTensor(op); })
      .Case([&](TensorToShapeOp op) { return lowerTensorToShape(op); })
      .Case([&](AllocStorageOp op) { return lowerAlloc(op); })
      .Case([&](TensorFromStorageOp op) { return lowerTensorFromStorage(op); })
      .Case([&](KillOp op) {
        for (Value value : get(op.getInput()))
          if (Value storage = builder.storageOf(value))
            builder.call("relax_rt_release", {}, {storage});
        return success();
      })
      .Case([&](SymOp op) { return setIndices(op.getExpr()); })
      .Case([&](ShapeOp op) -> LogicalResult {
        ArrayRef<SymExprAttr> dims = op.getDims().getDims();
        if (failed(setIndices(dims)))
          return failure();
        for (auto [dim, size] : llvm::zip(dims, get(op.getResult())))
          checkNotNegative(op, dim, size);
        return success();
      })
      .Case([&](MakeShapeOp op) {
        Values host;
        for (Value operand : op.getOperands())
          host.push_back(getOne(operand));
        set(op.getResult(), host);
        return success();
      })
      .Case([&](ShapeOfOp op) {
        Values host;
        Value tensor = getOne(op.getInput());
        for (int64_t i = 0; i < cast<MemRefType>(tensor.getType()).getRank();
             ++i)
          host.push_back(builder.dim(tensor, i));
        set(op.getResult(), host);
        return success();
      })
      .Case([&](DimOp op) {
        ArrayRef<Value> host = get(op.getInput());
        int64_t index = op.getIndex();
        if (auto type = dyn_cast<RankedTensorType>(op.getInput().getType())) {
          index += index < 0 ? type.getRank() : 0;
          set(op.getResult(), {builder.dim(host.front(), index)});
        } else {
          index += index < 0 ? static_cast<int64_t>(host.size()) : 0;
          set(op.getResult(), {host[index]});
        }
        return success();
      })
      .Case([&](TupleOp op) {
        Values host;
        for (Value operand : op.getOperands())
          llvm::append_range(host, get(operand));
        set(op.getResult(), host);
        return success();
      })
      .Case([&](GetOp op) {
        ArrayRef<Value> host = get(op.getInput());
        auto tuple = cast<TupleType>(op.getInput().getType());
        for (Type member : tuple.getTypes().take_front(op.getIndex()))
          host = host.drop_front(countHostValues(member));
        set(op.getResult(),
            Values(host.take_front(countHostValues(op.getType()))));
        return success();
      })
      .Case([&](CheckIndicesOp op) { return lowerCheckIndices(op); })
      .Case([&](AssertOp op) {
        auto shown = [&](Value value) { return value ? getOne(value) : value; };
        builder.check(context, condition(op.getCondition()), "ValueError",
                      functionName + ": " + op.getMessage(),
                      shown(op.getFirst()), shown(op.getSecond()));
        return success();
      })
      .Default([&](Operation *op) -> LogicalResult {
        // Scalar ops stay as they are.
        auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
        if (op->getDialect() && op->getDialect()->getNamespace() != "relax" &&
            op->getNumRegions() == 0 &&
            llvm::all_of(op->getOperandTypes(), isScalar) &&
            llvm::all_of(op->getResultTypes(), isScalar)) {
          IRMapping mapping;
          for (Value operand : op->getOperands())
            mapping.map(operand, getOne(operand));
          Operation *copy = builder.clone(*op, mapping);
          for (auto [from, to] :
               llvm::zip(op->getResults(), copy->getResults()))
            set(from, {to});
          return success();
        }
        if (isa<CallTIROp, CallLibraryOp>(op))
          return op->emitOpError()
                 << "allocates its results; run relax-lower-call-tir first";
        if (isa<DataflowOp>(op))
          return op->emitOpError() << "must be inlined before it is lowered; "
                                      "run relax-inline-dataflow first";
        return op->emitOpError()
               << "cannot be lowered to host code; run relax-legalize first";
      });
}

LogicalResult
FunctionLowering::lowerBlock(Block &block,
                             function_ref<void(Operation *)> finish) {
  Operation *terminator = block.getTerminator();
  Block::iterator kills(terminator);
  while (kills != block.begin() && isa<KillOp>(*std::prev(kills)))
    --kills;
  for (Operation &op : llvm::make_range(block.begin(), kills))
    if (failed(lowerOp(op)))
      return failure();
  builder.setLoc(terminator->getLoc());
  finish(terminator);
  for (Operation &op : llvm::make_range(kills, Block::iterator(terminator)))
    if (failed(lowerOp(op)))
      return failure();
  builder.setLoc(terminator->getLoc());
  return success();
}

LogicalResult FunctionLowering::lower(FuncOp function, func::FuncOp host,
                                      bool mayRecurse) {
  builder.setInsertionPointToStart(&host.front());
  builder.setLoc(function.getLoc());
  if (mayRecurse)
    builder.call("relax_rt_check_stack", {},
                 {context, builder.string(describeLocation(builder.getLoc()))});
  bind(function.getArguments(), host.getArguments().drop_front());
  SmallVector<Claim> claims;
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    std::string what = describeArgument(argument);
    ArrayRef<Value> left = get(argument);
    claim(argument.getType(), left, what, claims);
    if (auto symbol = function.getArgAttrOfType<StringAttr>(
            index, RelaxDialect::kSymbolAttr)) {
      Value value = getOne(argument);
      if (!value.getType().isIndex())
        value =
            arith::IndexCastOp::create(builder, builder.getIndexType(), value);
      auto expr =
          SymExprAttr::getSymbol(builder.getContext(), symbol.getValue());
      if (!symbols.define(expr, value))
        claims.push_back({expr, value, what});
    }
  }
  checkRanges(function);
  if (failed(checkClaims(claims)))
    return failure();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "must have one block to be compiled";
  Block &body = function.getBody().front();
  Values returned;
  if (failed(lowerBlock(body, [&](Operation *op) {
        returned = handOn(op->getOperands(), function.getResultTypes());
      })))
    return failure();
  func::ReturnOp::create(builder, returned);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Fails if an exported function has a name that is not a valid object-file
/// symbol, or a signature that external callers cannot use.
static LogicalResult checkExport(FuncOp function) {
  if (!function.isPublic() || function.isExternal())
    return success();
  StringRef name = function.getSymName();
  if (name.empty() || name.contains('\0'))
    return function.emitOpError()
           << "has a name that "
           << (name.empty() ? "is empty" : "contains a NUL")
           << "; a public function is a symbol of the object file, and needs "
              "another name";
  for (auto [what, types] :
       {std::pair("parameter", TypeRange(function.getArgumentTypes())),
        std::pair("result", TypeRange(function.getResultTypes()))})
    for (auto [index, type] : llvm::enumerate(types))
      if (type.walk([](StorageType) { return WalkResult::interrupt(); })
              .wasInterrupted())
        return function.emitOpError()
               << what << " " << index << " is of type " << type
               << ", and a storage lives within one call; make the function "
                  "private, or pass a tensor";
  return success();
}

namespace {

class LowerToHostPass
    : public relax::impl::LowerToHostPassBase<LowerToHostPass> {
public:
  using LowerToHostPassBase::LowerToHostPassBase;

  void runOnOperation() override {
    if (failed(lower(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult lower(ModuleOp module) {
    int64_t type = StringSwitch<int64_t>(device)
                       .Case("", 0)
                       .Case("cuda", kCUDA)
                       .Case("vulkan", kVulkan)
                       .Default(-1);
    if (type < 0)
      return module.emitError() << "there is no device '" << device
                                << "'; there are \"\", \"cuda\" and \"vulkan\"";
    HostBuilder builder(module, type);
    builder.setInsertionPointToEnd(module.getBody());
    DenseMap<FuncOp, Placement> placements;
    SymbolTableCollection beforehand;
    for (FuncOp function : module.getOps<FuncOp>()) {
      FailureOr<Placement> placement = Placement::of(function, beforehand);
      if (failed(placement))
        return failure();
      placements[function] = std::move(*placement);
    }
    FailureOr<WeightTable> weights = WeightTable::of(module, builder);
    if (failed(weights))
      return failure();
    SymbolTable kernels(module);
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!kernel.isExternal() &&
          failed(
              kernels.rename(kernel, (kKernelPrefix + kernel.getName()).str())))
        return failure();
    if (failed(convertKernelBoundaries(module)))
      return failure();
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!kernel.isExternal())
        makeInternal(kernel);
    }
    // Build the symbol table before adding to the module: only the original
    // functions are called.
    SymbolTableCollection symbolTable;
    symbolTable.getSymbolTable(module);
    SmallVector<FuncOp> functions(module.getOps<FuncOp>());
    for (FuncOp function : functions) {
      StringRef name = function.getSymName();
      if (name.starts_with("relax_rt_") || name == "relax_unload" ||
          (name == "bind_weight" && !weights->empty()))
        return function.emitOpError()
               << "has a name that compiled code uses itself; names that begin "
                  "with 'relax_rt_' are reserved, and so is 'bind_weight' in "
                  "modules with weights";
      if (failed(checkExport(function)))
        return failure();
    }
    Writes writes(module);
    DenseSet<FuncOp> recursive = findRecursive(module);
    SmallVector<ExportedFunction> exports;
    for (FuncOp function : functions)
      if (function.isPublic() && !function.isExternal())
        exports.push_back(ExportedFunction::of(function, writes, symbolTable));
    // Create the host functions next to the originals and erase those at the
    // end, since calls look at the original signatures.
    for (FuncOp function : functions) {
      if (function.isExternal())
        continue;
      SmallVector<Type> args = {builder.pointer()}, results;
      for (auto [types, flat] :
           {std::pair(function.getArgumentTypes(), &args),
            std::pair(function.getResultTypes(), &results)})
        for (Type type : types)
          if (failed(flattenType(type, *flat)))
            return function.emitOpError()
                   << "cannot be compiled with a parameter or result of type "
                   << type
                   << "; declare a tensor of known rank, whose sizes a "
                      "relax.match_cast may state";
      builder.setLoc(function.getLoc());
      builder.setInsertionPointToEnd(module.getBody());
      auto host = func::FuncOp::create(builder, function.getLoc(),
                                       hostName(function.getSymName()),
                                       builder.getFunctionType(args, results));
      makeInternal(host);
      host.addEntryBlock();
      FunctionLowering lowering(function, host, builder, *weights,
                                placements[function], symbolTable);
      if (failed(lowering.lower(function, host, recursive.contains(function))))
        return failure();
    }
    for (FuncOp function : functions)
      function.erase();
    builder.setInsertionPointToEnd(module.getBody());
    builder.setLoc(module.getLoc());
    for (const ExportedFunction &function : exports)
      exportFunction(builder, function, hostName(function.name), *weights);
    if (builder.device || !weights->empty())
      builder.exportUnload();
    weights->exportBinding(builder);
    return success();
  }
};

} // namespace
