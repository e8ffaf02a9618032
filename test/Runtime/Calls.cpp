//===- Calls.cpp - calls: arguments, results, weights, callables ----------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "FFI.h"

#include <cstring>

using namespace relax_test;

namespace {

/// The words of a tensor of 32-bit floats in a signature.
std::vector<int64_t> tensorWords(std::vector<int64_t> dims, int64_t flags = 0) {
  std::vector<int64_t> words{RelaxTensor, relax_rt::kDLFloat, 32, flags,
                             static_cast<int64_t>(dims.size())};
  words.insert(words.end(), dims.begin(), dims.end());
  return words;
}

std::vector<int64_t> join(const std::vector<std::vector<int64_t>> &parts) {
  std::vector<int64_t> words;
  for (const std::vector<int64_t> &part : parts)
    words.insert(words.end(), part.begin(), part.end());
  return words;
}

/// Names end in zeros, in the middle of the text too.
template <size_t size>
std::string names(const char (&text)[size]) {
  return std::string(text, size);
}

float *floatsOf(int64_t slot) { return reinterpret_cast<float *>(slot); }

/// Fills the slots of a new tensor of rank 1.
float *makeResult(RelaxContext *context, int64_t *out, int64_t count) {
  RelaxStorage *storage =
      relax_rt_alloc(context, count * int64_t(sizeof(float)), 64, "m.py:1:1");
  out[0] = reinterpret_cast<int64_t>(storage);
  out[1] = reinterpret_cast<int64_t>(storage->data);
  out[2] = count;
  return static_cast<float *>(storage->data);
}

/// main(x: f32 [n]) -> f32 [n], which is x + 1, computed in parallel.
const Function addsOne{
    join({{1, 1, 3, 3, 0}, tensorWords({-1}), tensorWords({-1})}),
    names("main\0x\0tensor f32 [n]"),
    [](RelaxContext *context, int64_t *in, int64_t *out) {
      float *pointers[] = {floatsOf(in[1]), makeResult(context, out, in[2])};
      relax_rt_parallel_for(
          [](void *closure, int64_t begin, int64_t end) {
            auto **pointers = static_cast<float **>(closure);
            for (int64_t i = begin; i < end; ++i)
              pointers[1][i] = pointers[0][i] + 1;
          },
          pointers, in[2], 16);
    }};

/// returns(x: f32 [n]) -> f32 [n], which is x itself.
const Function returnsArgument{
    join({{1, 1, 3, 3, 0}, tensorWords({-1}), tensorWords({-1})}),
    names("returns\0x\0tensor f32 [n]"),
    [](RelaxContext *, int64_t *in, int64_t *out) {
      memcpy(out, in, 3 * sizeof(int64_t));
      relax_rt_retain(reinterpret_cast<RelaxStorage *>(in[0]));
    }};

bool isFilled(const Value &result, int64_t count, float value) {
  if (result.any.typeIndex != relax_rt::kTensor || result.tensor().ndim != 1 ||
      result.tensor().shape[0] != count)
    return false;
  for (int64_t i = 0; i < count; ++i)
    if (result.floats()[i] != value)
      return false;
  return true;
}

int64_t bytesInUse() {
  RelaxPoolStatistics found;
  relax_rt_pool_statistics(&found);
  return found.used;
}

} // namespace

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

RELAX_CASE(callsOfManyThreads) {
  int64_t before = bytesInUse();
  inThreads(4, [](int thread) {
    for (int64_t round = 0; round < 100; ++round) {
      int64_t count = 1 + (round * 37 + thread) % 500;
      FloatTensor x({count}, static_cast<float>(round));
      RELAX_CHECK(isFilled(addsOne.call({x.arg()}), count,
                           static_cast<float>(round + 1)));
    }
  });
  RELAX_CHECK(bytesInUse() == before);
}

// Every wrong argument is refused before the code runs, and names what it got
// and what was expected.
RELAX_CASE(badArguments) {
  static int64_t runCount = 0;
  Function wants{
      join(
          {{2, 0, 6, 0, 0}, tensorWords({4}), tensorWords({-1}, RelaxMutable)}),
      names("main\0x\0tensor f32 [4]\0y\0tensor f32 [n]"),
      [](RelaxContext *, int64_t *, int64_t *) { ++runCount; }};
  struct Wrong {
    const char *error;
    void (*spoil)(DLTensor &x, DLTensor &y);
  };
  static int64_t negative[] = {-3}, vast[] = {INT64_MAX / 2}, three[] = {3},
                 two[] = {2};
  const Wrong wrongs[] = {
      {"ValueError: main: argument 0 'x' (tensor f32 [4]): expected 1 "
       "dimensions, got 2",
       [](DLTensor &x, DLTensor &) {
         static int64_t sizes[] = {2, 2};
         x.ndim = 2;
         x.shape = sizes;
       }},
      {"ValueError: main: argument 0 'x' (tensor f32 [4]): expected 1 "
       "dimensions, got -1",
       [](DLTensor &x, DLTensor &) { x.ndim = -1; }},
      {"ValueError: main: argument 0 'x' (tensor f32 [4]): dimension 0 must be "
       "4, got 3",
       [](DLTensor &x, DLTensor &) { x.shape = three; }},
      {"ValueError: main: argument 0 'x' (tensor f32 [4]): dimension 0 must be "
       "at least 0, got -3",
       [](DLTensor &x, DLTensor &) { x.shape = negative; }},
      {"ValueError: main: argument 1 'y' (tensor f32 [n])",
       [](DLTensor &, DLTensor &y) { y.shape = vast; }},
      {"TypeError: main: argument 0 'x' (tensor f32 [4]): expected elements of "
       "type f32, got i32",
       [](DLTensor &x, DLTensor &) { x.dtype.code = relax_rt::kDLInt; }},
      {"TypeError: main: argument 0 'x' (tensor f32 [4]): expected elements of "
       "type f32, got f32x2",
       [](DLTensor &x, DLTensor &) { x.dtype.lanes = 2; }},
      {"ValueError: main: argument 0 'x' (tensor f32 [4]): expected a tensor "
       "on",
       [](DLTensor &x, DLTensor &) { x.device.type = relax_rt::kDLCUDA; }},
      {"ValueError: main: argument 1 'y' (tensor f32 [n]): the function writes "
       "into this tensor, so it must be contiguous",
       [](DLTensor &, DLTensor &y) { y.strides = two; }},
      {"ValueError", // y lies within x
       [](DLTensor &x, DLTensor &y) { y.data = x.data; }},
  };
  for (const Wrong &wrong : wrongs) {
    FloatTensor x({4}, 1), y({4}, 2);
    wrong.spoil(x.tensor, y.tensor);
    RELAX_CHECK(!wants.call({x.arg(), y.arg()}).any.typeIndex);
    std::string error = takeError();
    if (error.compare(0, strlen(wrong.error), wrong.error))
      reportFailure(__FILE__, __LINE__,
                    "expected '" + std::string(wrong.error) + "', got '" +
                        error + "'");
  }
  FloatTensor x({4}, 1), y({4}, 2);
  TVMFFIAny number{};
  number.typeIndex = relax_rt::kInteger;
  wants.call({number, y.arg()});
  RELAX_CHECK(takeError() ==
              "TypeError: main: argument 0 'x' (tensor f32 [4]): expected a "
              "tensor, got the integer 0");
  wants.call({x.arg()});
  RELAX_CHECK(takeError() == "TypeError: main: expected 2 arguments, got 1");
  RELAX_CHECK(runCount == 0);
  wants.call({x.arg(), y.arg()});
  RELAX_CHECK(takeError() == "no error" && runCount == 1);
}

// A strided argument is copied for the call.
RELAX_CASE(stridedArguments) {
  int64_t before = bytesInUse(), stride = -2;
  FloatTensor x({10});
  for (size_t i = 0; i < 10; ++i)
    x.elements[i] = static_cast<float>(i);
  x.tensor.shape[0] = 5;
  x.tensor.strides = &stride;
  x.tensor.byteOffset = 9 * sizeof(float);
  {
    Value result = addsOne.call({x.arg()});
    for (int64_t i = 0; i < 5; ++i)
      RELAX_CHECK(result.floats()[i] == static_cast<float>(10 - 2 * i));
  }
  RELAX_CHECK(bytesInUse() == before);
}

// Results outlive their calls, and are freed by other threads than their
// callers'.
RELAX_CASE(resultsOutliveCalls) {
  int64_t before = bytesInUse();
  std::vector<Value> results(40);
  inThreads(4, [&](int thread) {
    for (size_t i = static_cast<size_t>(thread); i < 40; i += 4) {
      FloatTensor x({100}, static_cast<float>(i));
      results[i] = addsOne.call({x.arg()});
    }
  });
  inThreads(4, [&](int thread) {
    for (size_t i = 0; i < 40; ++i) {
      RELAX_CHECK(isFilled(results[i].copy(), 100, static_cast<float>(i + 1)));
      if (i % 4 == (static_cast<size_t>(thread) + 1) % 4)
        addsOne.call({results[i].any});
    }
  });
  inThreads(4, [&](int thread) {
    for (size_t i = static_cast<size_t>(thread); i < 40; i += 4)
      results[39 - i] = Value();
  });
  RELAX_CHECK(bytesInUse() == before);
}

// A parameter that is returned is the same object, which both references keep
// alive; the memory behind a bare pointer is copied.
RELAX_CASE(returnedArguments) {
  int64_t before = bytesInUse();
  std::atomic<int64_t> freed{0};
  {
    Value given = Value::makeTensor(8, 3, &freed);
    Value result = returnsArgument.call({given.any});
    RELAX_CHECK(result.any.object == given.any.object);
    given = Value();
    RELAX_CHECK(freed == 0 && isFilled(result, 8, 3));
  }
  RELAX_CHECK(freed == 1);
  {
    Value result;
    {
      FloatTensor lent({8}, 4);
      result = returnsArgument.call({lent.arg()});
    }
    RELAX_CHECK(isFilled(result, 8, 4));
  }
  RELAX_CHECK(bytesInUse() == before);
}

// Threads share arguments; the last reference, of whichever thread, frees them.
RELAX_CASE(sharedArguments) {
  std::atomic<int64_t> freed{0};
  for (int round = 0; round < 20; ++round) {
    Value shared = Value::makeTensor(64, 1, &freed);
    std::vector<Value> own;
    own.reserve(4);
    for (int thread = 0; thread < 4; ++thread)
      own.push_back(shared.copy());
    shared = Value();
    inThreads(4, [&](int thread) {
      Value mine = std::move(own[static_cast<size_t>(thread)]);
      Value kept = returnsArgument.call({mine.any});
      mine = Value();
      RELAX_CHECK(isFilled(addsOne.call({kept.any}), 64, 2));
    });
    RELAX_CHECK(freed == round + 1);
  }
}

// Errors are those of their own thread, and a failed call frees its memory.
RELAX_CASE(errorsOfManyThreads) {
  int64_t before = bytesInUse();
  Function fails{
      join({{1, 0, 1, 0, 0}, {RelaxInteger, 64}}), names("fails\0i\0i64"),
      [](RelaxContext *context, int64_t *in, int64_t *) {
        relax_rt_alloc(context, 5000, 64, "m.py:1:1");
        int64_t words[] = {64, 1, 0, 1, 3};
        relax_rt_check_indices(context, in, words,
                               "relax.take\0indices\0dimension 0, of size ",
                               "m.py:2:7");
        relax_rt_fail(context, "ValueError", "%0 and %1", nullptr, in[0],
                      in[0] + 1);
      }};
  inThreads(4, [&](int thread) {
    for (int round = 0; round < 100; ++round) {
      TVMFFIAny index{};
      index.typeIndex = relax_rt::kInteger;
      index.integer = thread;
      fails.call({index});
      std::string wanted =
          thread < 3
              ? "ValueError: " + std::to_string(thread) + " and " +
                    std::to_string(thread + 1)
              : "IndexError: relax.take: index 3 of indices is out of range "
                "for dimension 0, of size 3; expected -3 to 2\n  at m.py:2:7";
      RELAX_CHECK(takeError() == wanted);
    }
  });
  RELAX_CHECK(bytesInUse() == before);
}

//===----------------------------------------------------------------------===//
// Weights and callables
//===----------------------------------------------------------------------===//

namespace {

const std::vector<int64_t> weightWords =
    join({{2}, tensorWords({32}), tensorWords({32})});
const std::string weightNames = names("a\0tensor f32 [32]\0b\0tensor f32 [32]");
void *weightTable = nullptr;

int bindWeights(const Value &a, const Value &b) {
  TVMFFIAny args[4] = {};
  args[0].typeIndex = args[2].typeIndex = relax_rt::kRawString;
  args[0].text = "a";
  args[2].text = "b";
  args[1] = a.any;
  args[3] = b.any;
  TVMFFIAny result{};
  return relax_rt_bind_weights(weightWords.data(), weightNames.data(),
                               &weightTable, args, 4, &result);
}

} // namespace

// Calls see the weights of one binding, never of two, while another thread
// binds others and drops its references to them.
RELAX_CASE(weightsAreBoundWhileCallsRun) {
  int64_t before = bytesInUse();
  std::atomic<int64_t> freed{0};
  // Returns the sum of b; fails unless all elements of a and b are the same.
  Function sums{join({{0, 1, 0, 1, 0}, {RelaxReal, 64}}), names("sums"),
                [](RelaxContext *context, int64_t *, int64_t *out) {
                  void *const *weights =
                      relax_rt_weights(context, weightWords.data(),
                                       weightNames.data(), &weightTable);
                  double sum = 0;
                  auto *a = static_cast<float *>(weights[0]);
                  auto *b = static_cast<float *>(weights[1]);
                  for (int64_t i = 0; i < 32; ++i) {
                    if (a[i] != a[0] || b[i] != a[0])
                      relax_rt_fail(context, "ValueError", "mixed weights",
                                    nullptr, 0, 0);
                    sum += static_cast<double>(b[i]);
                  }
                  memcpy(out, &sum, sizeof(sum));
                }};
  sums.call({});
  RELAX_CHECK(takeError() == "ValueError: sums: weight 'a' is not bound; bind "
                             "all weights before the first call");
  auto bindBoth = [&](float value) {
    Value a = Value::makeTensor(32, value, &freed);
    Value b = Value::makeTensor(32, value, &freed);
    RELAX_CHECK(bindWeights(a, b) == 0);
  };
  bindBoth(1);
  inThreads(4, [&](int thread) {
    for (int round = 0; round < 200; ++round) {
      if (thread == 0) {
        bindBoth(static_cast<float>(round));
        continue;
      }
      Value result = sums.call({});
      RELAX_CHECK(result.any.typeIndex == relax_rt::kReal &&
                  result.any.real >= 0);
    }
  });
  // All or nothing: the second weight is wrong, so the first is not bound.
  Value right = Value::makeTensor(32, 7, &freed);
  Value wrong = Value::makeTensor(31, 7, &freed);
  RELAX_CHECK(bindWeights(right, wrong) == -1);
  RELAX_CHECK(takeError() == "ValueError: weight 'b' (tensor f32 [32]): "
                             "dimension 0 must be 32, got 31");
  RELAX_CHECK(sums.call({}).any.real == 32 * 199);
  relax_rt_unload_weights(weightWords.data(), &weightTable);
  right = Value();
  wrong = Value();
  RELAX_CHECK(freed == 2 * 201 + 2);
  RELAX_CHECK(bytesInUse() == before);
}

// A callable keeps what it has captured, can be called by many threads, and is
// freed by the last of them.
RELAX_CASE(callablesOfManyThreads) {
  int64_t before = bytesInUse();
  std::atomic<int64_t> freed{0};
  static const std::vector<int64_t> inner =
      join({{0, 1, 0, 3, 0}, tensorWords({-1})});
  std::vector<int64_t> callable{RelaxCallable,
                                static_cast<int64_t>(inner.size())};
  Function captures{
      join({{1, 1, 3, 1, 0}, tensorWords({-1}), callable, inner}),
      names("captures\0x\0tensor f32 [n]"),
      [](RelaxContext *context, int64_t *in, int64_t *out) {
        auto *storage = reinterpret_cast<RelaxStorage *>(in[0]);
        relax_rt_retain(storage);
        out[0] = reinterpret_cast<int64_t>(relax_rt_make_closure(
            context,
            [](RelaxContext *context, int64_t *bound, int64_t *, int64_t *out) {
              float *to = makeResult(context, out, bound[2]);
              for (int64_t i = 0; i < bound[2]; ++i)
                to[i] = floatsOf(bound[1])[i] * 2;
            },
            3, in, 1, &storage, "m.py:1:1"));
      }};
  for (int round = 0; round < 20; ++round) {
    Value function;
    {
      Value x = Value::makeTensor(50, 3, &freed);
      function = captures.call({x.any});
    }
    RELAX_CHECK(function.any.typeIndex == relax_rt::kFunction);
    RELAX_CHECK(freed == round);
    std::vector<Value> own;
    own.reserve(4);
    for (int thread = 0; thread < 4; ++thread)
      own.push_back(function.copy());
    function = Value();
    inThreads(4, [&](int thread) {
      Value mine = std::move(own[static_cast<size_t>(thread)]);
      for (int call = 0; call < 5; ++call)
        RELAX_CHECK(isFilled(mine.call({}), 50, 6));
    });
    RELAX_CHECK(freed == round + 1);
  }
  RELAX_CHECK(bytesInUse() == before);
}

// The features of this CPU are checked by many threads on their first calls.
RELAX_CASE(featuresOfTheCPU) {
  int32_t isChecked = 0;
  inThreads(4, [&](int) {
    RELAX_CHECK(relax_rt_require_cpu("", &isChecked) == 0);
    RELAX_CHECK(relax_rt_require_cpu("no-such-feature", &isChecked) == -1);
    RELAX_CHECK(takeError().find("no-such-feature") != std::string::npos);
    char missing[32];
    RELAX_CHECK(relax_rt_missing_features("no-such-feature,", missing, 32) ==
                16);
    RELAX_CHECK(!strcmp(missing, "no-such-feature"));
  });
  RELAX_CHECK(isChecked == 1);
}
