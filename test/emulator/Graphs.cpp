//===- Graphs.cpp - streams, graphs and links of the emulator -------------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include <cstdio>
#include <cstring>
#include <utility>

using namespace emulator;

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

Result emulator::submit(Stream stream, std::function<Result()> work) {
  {
    State &all = state();
    Lock lock(all.mutex);
    auto *captured = static_cast<EmulatedStream *>(stream);
    if (all.captured.count(captured)) {
      captured->nodes.push_back(std::move(work));
      return kSuccess;
    }
  }
  return work();
}

Result emulator::refuseInCapture(Stream stream) {
  State &all = state();
  Lock lock(all.mutex);
  Result result = kSuccess;
  for (EmulatedStream *captured : all.captured)
    if (!stream || stream == captured) {
      captured->isInvalid = true;
      result = kCaptureUnsupported;
    }
  return result;
}

Result emulator::refuseIfCaptured(Stream stream) {
  return stream ? refuseInCapture(stream) : kSuccess;
}

//===----------------------------------------------------------------------===//
// Streams and graphs
//===----------------------------------------------------------------------===//

RELAX_EXPORT Result cuStreamCreate(Stream *stream, unsigned) {
  RELAX_ENTER("cuStreamCreate");
  *stream = makeObject(EmulatedStream());
  return kSuccess;
}

RELAX_EXPORT Result cuStreamDestroy_v2(Stream stream) {
  RELAX_ENTER("cuStreamDestroy_v2");
  RELAX_REFUSE(refuseIfCaptured(stream));
  return destroyObject<EmulatedStream>(stream) ? kSuccess : kInvalidValue;
}

RELAX_EXPORT Result cuStreamBeginCapture_v2(Stream stream, int mode) {
  RELAX_ENTER("cuStreamBeginCapture_v2");
  State &all = state();
  Lock lock(all.mutex);
  auto *begun = static_cast<EmulatedStream *>(stream);
  if (mode != kCaptureRelaxed || !all.objects.count(stream) ||
      !all.captured.insert(begun).second)
    return kInvalidValue;
  *begun = {true, false, {}};
  return kSuccess;
}

RELAX_EXPORT Result cuStreamEndCapture(Stream stream, Graph *graph) {
  *graph = nullptr;
  State &all = state();
  Lock lock(all.mutex);
  auto *ended = static_cast<EmulatedStream *>(stream);
  if (!all.captured.erase(ended))
    return kInvalidValue;
  Nodes nodes = std::exchange(ended->nodes, {});
  RELAX_ENTER("cuStreamEndCapture");
  if (ended->isInvalid)
    return kCaptureInvalidated;
  *graph = makeObject(std::move(nodes));
  return kSuccess;
}

RELAX_EXPORT Result cuGraphInstantiateWithFlags(GraphExec *executable,
                                                Graph graph,
                                                unsigned long long) {
  RELAX_ENTER("cuGraphInstantiateWithFlags");
  *executable = makeObject(Nodes(*static_cast<Nodes *>(graph)));
  return kSuccess;
}

RELAX_EXPORT Result cuGraphDestroy(Graph graph) {
  RELAX_ENTER("cuGraphDestroy");
  return destroyObject<Nodes>(graph) ? kSuccess : kInvalidValue;
}

RELAX_EXPORT Result cuGraphExecDestroy(GraphExec executable) {
  RELAX_ENTER("cuGraphExecDestroy");
  return destroyObject<Nodes>(executable) ? kSuccess : kInvalidValue;
}

RELAX_EXPORT Result cuGraphLaunch(GraphExec executable, Stream stream) {
  RELAX_ENTER("cuGraphLaunch");
  Nodes nodes;
  {
    Lock lock(state().mutex);
    if (!state().objects.count(executable))
      return kInvalidValue;
    nodes = *static_cast<Nodes *>(executable);
  }
  return submit(stream, [nodes] {
    for (const std::function<Result()> &node : nodes)
      if (Result result = node())
        return result;
    return kSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

/// The image that a fake PTX text stands for, or null.
const void *emulator::imageOf(const void *text) {
  void *image = nullptr;
  return std::sscanf(static_cast<const char *>(text), ".version emulated %p",
                     &image) == 1
             ? image
             : nullptr;
}

RELAX_EXPORT Result cuLinkCreate_v2(unsigned, JitOption *, void **,
                                    Link *link) {
  RELAX_ENTER("cuLinkCreate_v2");
  *link = makeObject(EmulatedLink());
  return kSuccess;
}

RELAX_EXPORT Result cuLinkAddData_v2(Link link, int type, void *data,
                                     size_t bytes, const char *, unsigned,
                                     JitOption *, void **) {
  RELAX_ENTER("cuLinkAddData_v2");
  if (type != kInputPTX || !bytes || static_cast<char *>(data)[bytes - 1] ||
      !imageOf(data))
    return kInvalidPTX;
  static_cast<EmulatedLink *>(link)->cubin = {
      {'C', 'U', 'B', 'I', 'N', 'E', 'M', 'U'}, imageOf(data)};
  return kSuccess;
}

RELAX_EXPORT Result cuLinkComplete(Link link, void **cubin, size_t *bytes) {
  RELAX_ENTER("cuLinkComplete");
  *cubin = &static_cast<EmulatedLink *>(link)->cubin;
  *bytes = sizeof(Cubin);
  return kSuccess;
}

RELAX_EXPORT Result cuLinkDestroy(Link link) {
  RELAX_ENTER("cuLinkDestroy");
  return destroyObject<EmulatedLink>(link) ? kSuccess : kInvalidValue;
}
