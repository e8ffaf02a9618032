//===- KernelGraph.cpp - kernels as a graph of stages ---------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Schedule/KernelGraph.h"

#include "Analysis/KernelPattern.h"
#include "Target/Schedule/Combiner.h"
#include "Target/Schedule/NormalForm.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::relax;

linalg::GenericOp KernelGraph::producer(Value tensor) {
  return lookThroughCasts(tensor).getDefiningOp<linalg::GenericOp>();
}

/// Adds the tensors whose elements `tensor` has, looking through reshapes,
/// slices, and tensors that are assembled from others. `map`: from loops to
/// dimensions of `tensor`.
static void addSources(Value tensor, AffineMap map,
                       SmallVector<std::pair<Value, AffineMap>> &found) {
  tensor = lookThroughCasts(tensor);
  Operation *op = tensor.getDefiningOp();
  if (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                      tensor::ExtractSliceOp, tensor::PadOp>(op))
    return addSources(op->getOperand(0), AffineMap(), found);
  if (auto insertion = dyn_cast_or_null<tensor::InsertSliceOp>(op)) {
    addSources(insertion.getSource(), AffineMap(), found);
    return addSources(insertion.getDest(), AffineMap(), found);
  }
  if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op)) {
    for (Value input : concat.getInputs())
      addSources(input, AffineMap(), found);
    return;
  }
  found.emplace_back(tensor, map);
}

SmallVector<std::pair<Value, AffineMap>>
KernelGraph::reads(linalg::GenericOp op) {
  SmallVector<std::pair<Value, AffineMap>> found;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand) && !op.payloadUsesValueFromOperand(&operand))
      continue;
    addSources(operand.get(), op.getMatchingIndexingMap(&operand), found);
  }
  op.getBody()->walk([&](tensor::ExtractOp extract) {
    addSources(extract.getTensor(), AffineMap(), found);
  });
  return found;
}

FailureOr<KernelGraph> KernelGraph::read(func::FuncOp kernel, bool rowBlocks) {
  KernelGraph graph;
  if (failed(graph.collect(kernel)))
    return failure();
  graph.relateAxes();
  graph.chooseStages();
  graph.formNests();
  if (rowBlocks)
    graph.joinRowBlocks();
  return graph;
}

/// Whether elements of the result can be computed individually.
static bool isView(Operation *op) {
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return pad.getConstantPaddingValue() != nullptr;
  return isa<bufferization::ToTensorOp, tensor::EmptyOp, linalg::FillOp,
             tensor::CastOp, tensor::CollapseShapeOp, tensor::ConcatOp,
             tensor::ExpandShapeOp, tensor::ExtractSliceOp,
             tensor::InsertSliceOp, tensor::SplatOp>(op) ||
         matchPattern(op, m_Constant());
}

/// Whether an op is a loop that only writes scratch memory, which the nests
/// after it read.
static bool fillsScratch(Operation *op) {
  if (!isa<scf::ForOp>(op) || op->getNumResults())
    return false;
  return !op->walk([](Operation *inner) {
              auto store = dyn_cast<memref::StoreOp>(inner);
              bool isScratch =
                  store && store.getMemRef().getDefiningOp<memref::AllocOp>();
              return isScratch || isPure(inner) ||
                             isa<scf::ForOp, scf::YieldOp, memref::LoadOp>(
                                 inner)
                         ? WalkResult::advance()
                         : WalkResult::interrupt();
            }).wasInterrupted();
}

LogicalResult KernelGraph::collect(func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  if (!llvm::hasSingleElement(kernel.getBody()))
    return failure();
  for (Operation &op : body) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (!generic.hasPureTensorSemantics())
        return failure();
      auto isPlain = [&](OpOperand &init) {
        return generic.getMatchingIndexingMap(&init).isProjectedPermutation();
      };
      if (!llvm::all_of(generic.getDpsInitsMutable(), isPlain))
        return failure();
      ops.push_back(generic);
    } else if (auto root =
                   dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
      roots.push_back(root);
    } else if (isView(&op) || fillsScratch(&op)) {
      continue;
    } else if (llvm::any_of(op.getResultTypes(), llvm::IsaPred<TensorType>) ||
               op.getNumRegions() || isa<tensor::ExtractOp>(op)) {
      return failure();
    }
  }
  for (auto root : roots) {
    linalg::GenericOp op = producer(root.getSource());
    if (!op || !isa<MemRefType>(root.getDest().getType()))
      return failure();
    outputs.push_back(
        {cast<OpResult>(lookThroughCasts(root.getSource())), root.getDest()});
  }
  // A destination may also be read, but only at the point that is written.
  for (linalg::GenericOp op : ops)
    for (auto [tensor, map] : reads(op)) {
      auto view = tensor.getDefiningOp<bufferization::ToTensorOp>();
      if (!view || !view.getWritable())
        continue;
      bool isAtPoint = llvm::all_of(outputs, [&](const Output &output) {
        return output.buffer != view.getBuffer() ||
               (output.value.getOwner() == op && map &&
                map == op.getIndexingMapMatchingResult(output.value));
      });
      bool isOutput = llvm::any_of(outputs, [&](const Output &output) {
        return output.buffer == view.getBuffer();
      });
      if (!isAtPoint || !isOutput)
        return failure();
    }
  return success(!roots.empty());
}

SmallVector<std::pair<linalg::GenericOp, bool>>
KernelGraph::readersOf(OpResult result, const Nest &nest) const {
  SmallVector<std::pair<linalg::GenericOp, bool>> readers;
  for (linalg::GenericOp reader :
       result.getOwner()->getBlock()->getOps<linalg::GenericOp>()) {
    if (!llvm::is_contained(reader.getDpsInits(), Value(result)) &&
        llvm::none_of(reads(reader),
                      [&](auto read) { return read.first == Value(result); }))
      continue;
    bool here = false;
    for (const Stage &stage : nest.stages)
      visitInlined(stage.op,
                   [&](linalg::GenericOp op) { here |= op == reader; });
    readers.emplace_back(reader, here);
  }
  return readers;
}

bool KernelGraph::isReadLater(OpResult result, const Nest &nest) const {
  return llvm::any_of(readersOf(result, nest),
                      [](auto reader) { return !reader.second; });
}

Axis KernelGraph::axisOf(linalg::GenericOp op, unsigned loop) const {
  return classes.getLeaderValue(firstLoop.lookup(op) + loop);
}

void KernelGraph::relateAxes() {
  unsigned count = 0;
  for (linalg::GenericOp op : ops) {
    firstLoop[op] = count;
    for (unsigned i = 0; i < op.getNumLoops(); ++i)
      classes.insert(count++);
  }
  // Distinct loops of one op are never the same axis, even if they read the
  // same tensor.
  auto wouldClash = [&](unsigned first, unsigned second) {
    unsigned a = classes.getLeaderValue(first);
    unsigned b = classes.getLeaderValue(second);
    return a != b && llvm::any_of(ops, [&](linalg::GenericOp op) {
             bool hasFirst = false, hasSecond = false;
             for (unsigned i = 0; i < op.getNumLoops(); ++i) {
               hasFirst |= axisOf(op, i) == a;
               hasSecond |= axisOf(op, i) == b;
             }
             return hasFirst && hasSecond;
           });
  };
  SmallVector<unsigned> odd;
  for (linalg::GenericOp op : ops) {
    for (auto [tensor, map] : reads(op)) {
      linalg::GenericOp source = producer(tensor);
      if (!source)
        continue;
      AffineMap own = source.getIndexingMapMatchingResult(
          cast<OpResult>(lookThroughCasts(tensor)));
      for (auto [dim, expr] : llvm::enumerate(own.getResults())) {
        unsigned loop =
            firstLoop[source] + cast<AffineDimExpr>(expr).getPosition();
        unsigned at = 0;
        bool isPlain = map && isa<AffineDimExpr>(map.getResult(dim));
        if (isPlain)
          at = firstLoop[op] + map.getDimPosition(dim);
        if (isPlain && !wouldClash(at, loop))
          classes.unionSets(at, loop);
        else
          odd.push_back(loop);
      }
    }
  }
  for (unsigned loop : odd)
    irregular.insert(classes.getLeaderValue(loop));
}

void KernelGraph::visitInlined(
    linalg::GenericOp stage,
    function_ref<void(linalg::GenericOp)> visit) const {
  llvm::SetVector<Operation *> seen;
  seen.insert(stage);
  for (size_t i = 0; i < seen.size(); ++i) {
    auto op = cast<linalg::GenericOp>(seen[i]);
    visit(op);
    for (auto [tensor, map] : reads(op))
      if (linalg::GenericOp source = producer(tensor))
        if (!isStage(source))
          seen.insert(source);
    // Initial values of a reduction.
    for (Value init : op.getDpsInits())
      if (linalg::GenericOp source = producer(init))
        if (!isStage(source))
          seen.insert(source);
  }
}

/// Whether recomputing a point of `op` costs more than storing it.
static bool isExpensive(linalg::GenericOp op) {
  unsigned count = 0;
  for (Operation &inner : *op.getBody()) {
    if (isa_and_nonnull<math::MathDialect>(inner.getDialect()) ||
        isa<arith::DivFOp, tensor::ExtractOp>(inner) || inner.getNumRegions())
      return true;
    ++count;
  }
  return count > 12;
}

/// Whether `op` has the loops of a contraction that it reads, so that it can
/// use the results in registers.
static bool isEpilogue(linalg::GenericOp op) {
  return llvm::any_of(KernelGraph::reads(op), [&](auto read) {
    linalg::GenericOp source = KernelGraph::producer(read.first);
    return source && Stage{source, {}, {}}.isContraction() &&
           source.getNumParallelLoops() == op.getNumLoops();
  });
}

void KernelGraph::chooseStages() {
  for (linalg::GenericOp op : ops)
    if (op.getNumReductionLoops())
      stageOps.insert(op);
  for (Output &output : outputs)
    stageOps.insert(output.value.getOwner());
  // Results that depend on a reduction and are used in more loops than they
  // have.
  DenseSet<Operation *> afterReduction;
  for (linalg::GenericOp op : ops) {
    bool depends = op.getNumReductionLoops() > 0;
    for (auto [tensor, map] : reads(op)) {
      linalg::GenericOp source = producer(tensor);
      if (!source || !afterReduction.contains(source))
        continue;
      depends = true;
      if (source.getNumLoops() < op.getNumLoops())
        stageOps.insert(source);
    }
    if (depends)
      afterReduction.insert(op);
  }
  // Ops that more than one stage would recompute.
  DenseMap<Operation *, unsigned> users;
  for (Operation *stage : stageOps)
    visitInlined(cast<linalg::GenericOp>(stage),
                 [&](linalg::GenericOp op) { ++users[op]; });
  for (linalg::GenericOp op : ops)
    if (!isStage(op) && users.lookup(op) > 1 &&
        (isExpensive(op) || isEpilogue(op)))
      stageOps.insert(op);
}

std::optional<Axis> KernelGraph::chooseLanes(const Stage &stage,
                                             ArrayRef<Axis> outer) const {
  // The axis along which most reads and writes are contiguous.
  DenseMap<Axis, int> votes;
  auto vote = [&](linalg::GenericOp op, AffineMap map, int weight) {
    if (!map || map.getNumResults() == 0)
      return;
    if (auto dim = dyn_cast<AffineDimExpr>(map.getResults().back()))
      votes[axisOf(op, dim.getPosition())] += weight * int(map.getNumResults());
  };
  // Sums that are computed together count once, and operands that are the same
  // for all of their terms do not count.
  bool areCombined = stage.isReduction();
  for (unsigned i = 0; i < stage.op->getNumResults(); ++i)
    areCombined &= Combiner::match(stage.op, i).has_value();
  auto isOfTerms = [&](linalg::GenericOp op, AffineMap map) {
    return map && llvm::any_of(map.getResults(), [&](AffineExpr expr) {
             auto dim = dyn_cast<AffineDimExpr>(expr);
             auto loop = dim ? stage.loopOf(axisOf(op, dim.getPosition()))
                             : std::nullopt;
             return loop && !stage.isParallel(*loop);
           });
  };
  bool onlyTerms = areCombined && stage.op->getNumResults() > 1;
  visitInlined(stage.op, [&](linalg::GenericOp op) {
    for (auto [tensor, map] : reads(op))
      if (!producer(tensor) || isStage(producer(tensor)))
        if (!tensor.getDefiningOp<linalg::FillOp>() &&
            !tensor.getDefiningOp<tensor::EmptyOp>() &&
            (!onlyTerms || isOfTerms(op, map)))
          vote(op, map, 2);
  });
  SmallVector<AffineMap> seen;
  for (OpOperand &init : stage.op.getDpsInitsMutable()) {
    AffineMap map = stage.op.getMatchingIndexingMap(&init);
    if (areCombined && llvm::is_contained(seen, map))
      continue;
    seen.push_back(map);
    vote(stage.op, map, 3);
  }
  std::optional<Axis> best;
  int most = 0;
  for (Axis axis : stage.axes)
    if (votes.lookup(axis) > most && !llvm::is_contained(outer, axis)) {
      best = axis;
      most = votes.lookup(axis);
    }
  return best;
}

SmallVector<Axis> KernelGraph::sharedAxes(ArrayRef<Stage> stages) const {
  SmallVector<Axis> shared;
  // In the order of the last stage, which determines the layout of the
  // destination.
  const Stage &last = stages.back();
  for (auto [loop, axis] : llvm::enumerate(last.axes)) {
    bool everywhere =
        llvm::all_of(stages, [&, axis = axis](const Stage &stage) {
          auto at = stage.loopOf(axis);
          return at && stage.isParallel(*at);
        });
    if (everywhere && !irregular.contains(axis))
      shared.push_back(axis);
  }
  if (stages.size() > 1)
    return shared;
  // A single stage may use any axis.
  shared.clear();
  for (auto [loop, axis] : llvm::enumerate(last.axes))
    if (last.isParallel(loop))
      shared.push_back(axis);
  return shared;
}

bool Stage::isContraction() const { return relax::isContraction(op); }

bool Stage::isShared(Axis axis, Axis other) const {
  bool first = false, second = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    bool hasAxis = map.isFunctionOfDim(*loopOf(axis));
    bool hasOther = map.isFunctionOfDim(*loopOf(other));
    first |= hasAxis && !hasOther;
    second |= hasOther && !hasAxis;
  }
  return first && second;
}

void KernelGraph::formNests() {
  for (linalg::GenericOp op : ops) {
    if (!isStage(op))
      continue;
    Stage stage{op, {}, std::nullopt};
    for (unsigned i = 0; i < op.getNumLoops(); ++i)
      stage.axes.push_back(axisOf(op, i));
    stage.lanes = chooseLanes(stage);
    if (!nests.empty()) {
      Nest &nest = nests.back();
      SmallVector<Stage> together = nest.stages;
      together.push_back(stage);
      SmallVector<Axis> outer = sharedAxes(together);
      // A contraction deserves its own loops: it only shares a nest if all of
      // its parallel loops are shared.
      bool splits = llvm::any_of(together, [&](const Stage &other) {
        return other.isContraction() &&
               outer.size() < other.op.getNumParallelLoops();
      });
      if (!outer.empty() && !splits) {
        nest.stages.push_back(stage);
        nest.outer = outer;
        continue;
      }
    }
    SmallVector<Axis> outer = sharedAxes({stage});
    nests.push_back({{stage}, outer, {}, std::nullopt});
  }
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

static LogicalResult
replaceOps(func::FuncOp kernel, bool rowBlocks,
           function_ref<LogicalResult(const KernelGraph &, OpBuilder &)> emit) {
  if (failed(bringToNormalForm(kernel)))
    return failure();
  collapseLoops(kernel);
  FailureOr<KernelGraph> graph = KernelGraph::read(kernel, rowBlocks);
  if (failed(graph))
    return failure();
  OpBuilder builder(kernel.getBody().front().getTerminator());
  if (failed(emit(*graph, builder)))
    return failure();
  // The replaced ops are dead, except for uses of their sizes.
  for (bufferization::MaterializeInDestinationOp root : graph->roots)
    root.erase();
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

LogicalResult relax::scheduleKernel(
    func::FuncOp kernel, bool rowBlocks,
    function_ref<LogicalResult(const KernelGraph &, OpBuilder &)> emit) {
  if (kernel.isExternal() || kernel.getNumResults() ||
      kernel.getOps<bufferization::MaterializeInDestinationOp>().empty())
    return success();
  OwningOpRef<func::FuncOp> copy = kernel.clone();
  if (succeeded(replaceOps(kernel, rowBlocks, emit)))
    return success();
  kernel.getBody().takeBody(copy->getBody());
  return failure();
}
