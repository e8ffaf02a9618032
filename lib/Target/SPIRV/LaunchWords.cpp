//===- LaunchWords.cpp - the words of a launch ----------------------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/SPIRV/LaunchWords.h"

using namespace mlir;
using namespace mlir::relax;

Operation *LaunchWords::makePlace() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function.getBody().front().getTerminator());
  return UnrealizedConversionCastOp::create(builder, TypeRange(type),
                                            ValueRange());
}

Value LaunchWords::parameter(int64_t word) {
  int64_t position = positionOf(word);
  if (position == static_cast<int64_t>(parameters.size())) {
    parameters.push_back(word);
    places.push_back(makePlace());
  }
  return places[position]->getResult(0);
}

Value LaunchWords::upperHalf(int64_t word) {
  Operation *&place = upperPlaces[word];
  if (!place)
    place = makePlace();
  return place->getResult(0);
}

Value LaunchWords::firstBlock() {
  if (!first)
    first = makePlace();
  return first->getResult(0);
}

void LaunchWords::requestHead() {
  if (!waits())
    for (Operation *&place : heads)
      place = makePlace();
}

int64_t LaunchWords::bind(int64_t pointer) {
  int64_t binding = llvm::find(bindings, pointer) - bindings.begin();
  if (binding == getNumBindings())
    bindings.push_back(pointer);
  return binding;
}

SmallVector<int64_t> LaunchWords::getBindings() const {
  return llvm::map_to_vector(bindings,
                             [&](int64_t word) { return positionOf(word); });
}

SmallVector<int64_t> LaunchWords::getNarrow() const {
  SmallVector<int64_t> found;
  for (auto [position, word] : llvm::enumerate(parameters))
    if (!scalars.contains(word) && !llvm::is_contained(bindings, word))
      found.push_back(position);
  return found;
}

void LaunchWords::replace(function_ref<Value(int64_t)> readHead,
                          function_ref<Value(int64_t, int64_t)> readParameter) {
  auto replace = [](Operation *place, Value value) {
    place->getResult(0).replaceAllUsesWith(value);
    place->erase();
  };
  if (first) // its users only need 32 bits
    replace(first, readHead(0));
  if (waits())
    for (auto [number, place] : llvm::enumerate(heads))
      replace(place, readHead(number));
  for (auto [word, place] : upperPlaces)
    replace(place, readParameter(positionOf(word), 1));
  for (auto [position, place] : llvm::enumerate(places))
    replace(place, readParameter(position, 0));
}
