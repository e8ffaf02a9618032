//===- RelaxExtension.cpp - the extension module relax_mlir._relax --------===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions over the objects of the `mlir` package, which cross as capsules;
// the Python classes with their operators and documentation are written in
// Python on top of these (`relax_mlir.symbolic`, `relax_mlir.dialects.relax`).
//
// Where the C interface reports an error, it emits a diagnostic on the context.
// `DiagnosticScope` collects those of the thread that opened it, so that
// builders in several threads may share a context.
//
// One file, because each extension source pays for nanobind's templates again.
//
//===----------------------------------------------------------------------===//

#include "CAPI/Compile.h"
#include "CAPI/Relax.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Pass.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"

#include <map>
#include <thread>

namespace nb = nanobind;
using namespace nb::literals;

using OptionalAttr = std::optional<MlirAttribute>;

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

static void appendTo(MlirStringRef text, void *string) {
  static_cast<std::string *>(string)->append(text.data, text.length);
}

namespace {
struct Diagnostic {
  std::string message;
  MlirLocation location;
  std::vector<Diagnostic> notes;

  static Diagnostic of(MlirDiagnostic diagnostic) {
    Diagnostic result;
    mlirDiagnosticPrint(diagnostic, appendTo, &result.message);
    result.location = mlirDiagnosticGetLocation(diagnostic);
    for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); ++i)
      result.notes.push_back(of(mlirDiagnosticGetNote(diagnostic, i)));
    return result;
  }
};

/// Decodes text that may come from damaged files and so may not be valid UTF-8.
static nb::str toPython(const std::string &text) {
  PyObject *result =
      PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace");
  if (!result)
    throw nb::python_error();
  return nb::steal<nb::str>(result);
}

static nb::str toPython(MlirIdentifier identifier) {
  MlirStringRef text = mlirIdentifierStr(identifier);
  return toPython(std::string(text.data, text.length));
}

/// The first file position in a location, as file, line, column, function.
static std::optional<std::tuple<nb::str, int, int, nb::str>>
readLocation(MlirLocation location) {
  if (mlirLocationIsAFileLineColRange(location))
    return std::make_tuple(
        toPython(mlirLocationFileLineColRangeGetFilename(location)),
        mlirLocationFileLineColRangeGetStartLine(location),
        mlirLocationFileLineColRangeGetStartColumn(location), nb::str(""));
  if (mlirLocationIsAName(location)) {
    auto found = readLocation(mlirLocationNameGetChildLoc(location));
    if (found && nb::len(std::get<3>(*found)) == 0)
      std::get<3>(*found) = toPython(mlirLocationNameGetName(location));
    return found;
  }
  if (mlirLocationIsACallSite(location))
    return readLocation(mlirLocationCallSiteGetCallee(location));
  if (mlirLocationIsAFused(location)) {
    std::vector<MlirLocation> parts(mlirLocationFusedGetNumLocations(location));
    mlirLocationFusedGetLocations(location, parts.data());
    for (MlirLocation part : parts)
      if (auto found = readLocation(part))
        return found;
  }
  return std::nullopt;
}

/// Deduces ops without operands as if they were inside of an op.
class DeductionScope {
public:
  explicit DeductionScope(MlirOperation around)
      : scope(mlirRelaxDeductionScopeCreate(around)) {}
  DeductionScope(const DeductionScope &) = delete;
  ~DeductionScope() { close(); }

  void close() {
    if (scope)
      mlirRelaxDeductionScopeDestroy(scope);
    scope = nullptr;
  }

private:
  void *scope;
};

/// Captures the errors that this thread emits on a context until the scope is
/// closed; passes on warnings and remarks.
class DiagnosticScope {
public:
  explicit DiagnosticScope(MlirContext context)
      : context(context), thread(std::this_thread::get_id()) {
    handler = mlirContextAttachDiagnosticHandler(context, &handle, this,
                                                 /*deleteUserData=*/nullptr);
  }
  DiagnosticScope(const DiagnosticScope &) = delete;
  ~DiagnosticScope() { close(); }

  void close() {
    if (open)
      mlirContextDetachDiagnosticHandler(context, handler);
    open = false;
  }

  const std::vector<Diagnostic> &getDiagnostics() const { return diagnostics; }

  /// The messages of all errors, one per line.
  std::string getMessage() const {
    std::string result;
    for (const Diagnostic &diagnostic : diagnostics) {
      if (!result.empty())
        result += '\n';
      result += diagnostic.message;
    }
    return result;
  }

private:
  static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *userData) {
    auto *self = static_cast<DiagnosticScope *>(userData);
    if (std::this_thread::get_id() != self->thread)
      return mlirLogicalResultFailure(); // another handler's
    if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
      return mlirLogicalResultFailure();
    self->diagnostics.push_back(Diagnostic::of(diagnostic));
    return mlirLogicalResultSuccess();
  }

  MlirContext context;
  MlirDiagnosticHandlerID handler;
  std::thread::id thread;
  bool open = true;
  std::vector<Diagnostic> diagnostics;
};
} // namespace

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static bool mentions(const std::string &message, const char *word) {
  return message.find(word) != std::string::npos;
}

/// Raises the matching exception of Python's arithmetic.
[[noreturn]] static void raise(const std::string &message) {
  PyObject *kind = PyExc_ValueError;
  if (mentions(message, "division by zero"))
    kind = PyExc_ZeroDivisionError;
  else if (mentions(message, "overflow") || mentions(message, "64 bits"))
    kind = PyExc_OverflowError;
  PyErr_SetObject(kind, toPython(message).ptr());
  throw nb::python_error();
}

/// Runs `make`, and raises the reported errors if it returns a null object.
template <typename Make>
static auto checked(MlirContext context, Make make) {
  DiagnosticScope scope(context);
  auto result = make();
  scope.close();
  if (!result.ptr)
    raise(scope.getMessage());
  return result;
}

static MlirStringRef toRef(const std::string &text) {
  return mlirStringRefCreate(text.data(), text.size());
}

static std::string toString(MlirStringRef text) {
  return std::string(text.data, text.length);
}

static MlirAttribute orNull(const OptionalAttr &attr) {
  return attr.value_or(MlirAttribute{nullptr});
}

static OptionalAttr orNone(MlirAttribute attr) {
  return attr.ptr ? OptionalAttr(attr) : std::nullopt;
}

static std::vector<MlirAttribute>
orNulls(const std::vector<OptionalAttr> &attrs) {
  std::vector<MlirAttribute> result;
  for (const OptionalAttr &attr : attrs)
    result.push_back(orNull(attr));
  return result;
}

/// True, False, or None for unknown.
static std::optional<bool> toTruth(MlirRelaxTruth truth) {
  if (truth == MlirRelaxTruthUnknown)
    return std::nullopt;
  return truth == MlirRelaxTruthYes;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

static void populateDiagnostics(nb::module_ &m) {
  m.def("read_location", readLocation, "location"_a);
  nb::class_<Diagnostic>(m, "Diagnostic")
      .def_prop_ro(
          "message",
          [](const Diagnostic &self) { return toPython(self.message); })
      .def_prop_ro("location",
                   [](const Diagnostic &self) { return self.location; })
      .def_prop_ro("notes", [](const Diagnostic &self) { return self.notes; });

  nb::class_<DeductionScope>(m, "DeductionScope")
      .def(nb::init<MlirOperation>(), "around"_a)
      .def("close", &DeductionScope::close);
  nb::class_<DiagnosticScope>(m, "DiagnosticScope")
      .def(nb::init<MlirContext>(), "context"_a)
      .def("close", &DiagnosticScope::close)
      .def_prop_ro("diagnostics", [](const DiagnosticScope &self) {
        return self.getDiagnostics();
      });
}

static void populateExpressions(nb::module_ &m) {
  m.def("is_expr", mlirAttributeIsARelaxSymExpr, "attr"_a);
  m.def("expr_typeid", mlirRelaxSymExprGetTypeID);
  m.def("expr_constant", [](MlirContext context, int64_t value) {
    return checked(context,
                   [&] { return mlirRelaxSymExprConstant(context, value); });
  });
  m.def("expr_symbol", [](MlirContext context, const std::string &name) {
    return checked(
        context, [&] { return mlirRelaxSymExprSymbol(context, toRef(name)); });
  });
  m.def("expr_parse", [](MlirContext context, const std::string &text) {
    return checked(context,
                   [&] { return mlirRelaxSymExprParse(context, toRef(text)); });
  });
  m.def("expr_combine",
        [](int kind, const std::vector<MlirAttribute> &operands) {
          if (operands.empty())
            throw nb::value_error("expected at least one operand");
          return checked(mlirAttributeGetContext(operands[0]), [&] {
            return mlirRelaxSymExprCombine(static_cast<MlirRelaxSymKind>(kind),
                                           operands.size(), operands.data());
          });
        });
  m.def("expr_sub", [](MlirAttribute lhs, MlirAttribute rhs) {
    return checked(mlirAttributeGetContext(lhs),
                   [&] { return mlirRelaxSymExprSub(lhs, rhs); });
  });
  m.def("expr_substitute",
        [](MlirAttribute expr, const std::vector<std::string> &symbols,
           const std::vector<MlirAttribute> &values) {
          std::vector<MlirStringRef> names;
          for (const std::string &symbol : symbols)
            names.push_back(toRef(symbol));
          if (names.size() != values.size())
            throw nb::value_error("expected as many values as symbols");
          return checked(mlirAttributeGetContext(expr), [&] {
            return mlirRelaxSymExprSubstitute(expr, names.size(), names.data(),
                                              values.data());
          });
        });
  m.def("expr_evaluate",
        [](MlirAttribute expr, const std::vector<std::string> &symbols,
           const std::vector<int64_t> &values) -> std::optional<int64_t> {
          std::vector<MlirStringRef> names;
          for (const std::string &symbol : symbols)
            names.push_back(toRef(symbol));
          if (names.size() != values.size())
            throw nb::value_error("expected as many values as symbols");
          int64_t result;
          if (!mlirRelaxSymExprEvaluate(expr, names.size(), names.data(),
                                        values.data(), &result))
            return std::nullopt;
          return result;
        });
  m.def("expr_kind", [](MlirAttribute expr) {
    return static_cast<int>(mlirRelaxSymExprGetKind(expr));
  });
  m.def("expr_value", mlirRelaxSymExprGetValue);
  m.def("expr_name", [](MlirAttribute expr) {
    return toString(mlirRelaxSymExprGetName(expr));
  });
  m.def("expr_operands", [](MlirAttribute expr) {
    std::vector<MlirAttribute> result;
    for (intptr_t i = 0; i < mlirRelaxSymExprGetNumOperands(expr); ++i)
      result.push_back(mlirRelaxSymExprGetOperand(expr, i));
    return result;
  });
  m.def("expr_coefficients", [](MlirAttribute expr) {
    std::vector<int64_t> result;
    for (intptr_t i = 0; i < mlirRelaxSymExprGetNumOperands(expr); ++i)
      result.push_back(mlirRelaxSymExprGetCoefficient(expr, i));
    return result;
  });
  m.def("expr_text", [](MlirAttribute expr) {
    std::string text;
    mlirRelaxSymExprPrint(expr, appendTo, &text);
    return text;
  });
  m.def("expr_symbols", [](MlirAttribute expr) {
    std::vector<std::string> names;
    mlirRelaxSymExprWalkSymbols(
        expr,
        [](MlirStringRef name, void *out) {
          static_cast<std::vector<std::string> *>(out)->push_back(
              toString(name));
        },
        &names);
    return names;
  });
}

static void populateProver(nb::module_ &m) {
  auto query = [&m](const char *name, auto prove) {
    m.def(
        name,
        [prove](const OptionalAttr &ranges, MlirAttribute lhs,
                MlirAttribute rhs) {
          return toTruth(prove(orNull(ranges), lhs, rhs));
        },
        nb::arg("ranges").none(), "lhs"_a, "rhs"_a);
  };
  query("prove_equal", mlirRelaxProveEqual);
  query("prove_less", mlirRelaxProveLess);
  query("prove_less_equal", mlirRelaxProveLessEqual);
  query("prove_divisible", mlirRelaxProveDivisible);
  m.def(
      "expr_interval",
      [](const OptionalAttr &ranges, MlirAttribute value) {
        bool hasLower, hasUpper;
        int64_t lower, upper;
        mlirRelaxSymExprInterval(orNull(ranges), value, &hasLower, &lower,
                                 &hasUpper, &upper);
        using End = std::optional<int64_t>;
        return std::make_pair(hasLower ? End(lower) : End(),
                              hasUpper ? End(upper) : End());
      },
      nb::arg("ranges").none(), "value"_a);
  m.def(
      "expr_simplify",
      [](const OptionalAttr &ranges, MlirAttribute value) {
        return mlirRelaxSymExprSimplify(orNull(ranges), value);
      },
      nb::arg("ranges").none(), "value"_a);
  m.def(
      "unify",
      [](MlirContext context, const OptionalAttr &ranges,
         const OptionalAttr &patternRanges,
         const std::vector<MlirAttribute> &patterns,
         const std::vector<OptionalAttr> &actuals) {
        struct Found {
          std::map<std::string, MlirAttribute> bindings;
          std::vector<std::pair<MlirAttribute, OptionalAttr>> undecided;
        } found;
        if (patterns.size() != actuals.size())
          throw nb::value_error("expected as many actual values as patterns");
        DiagnosticScope scope(context);
        MlirLogicalResult result = mlirRelaxUnify(
            context, orNull(ranges), orNull(patternRanges), patterns.size(),
            patterns.data(), orNulls(actuals).data(),
            [](MlirStringRef symbol, MlirAttribute value, void *out) {
              static_cast<Found *>(out)->bindings[toString(symbol)] = value;
            },
            [](MlirAttribute pattern, MlirAttribute actual, void *out) {
              static_cast<Found *>(out)->undecided.emplace_back(pattern,
                                                                orNone(actual));
            },
            &found);
        scope.close();
        if (mlirLogicalResultIsFailure(result))
          raise(scope.getMessage());
        nb::dict bindings;
        for (auto &[name, value] : found.bindings)
          bindings[name.c_str()] = nb::cast(value);
        return nb::make_tuple(bindings, nb::cast(found.undecided));
      },
      "context"_a, nb::arg("ranges").none(), nb::arg("pattern_ranges").none(),
      "patterns"_a, "actuals"_a);
}

template <typename Object, typename Rank, typename Dim>
static auto dimsGetter(Rank rank, Dim dim) {
  return [=](Object object) {
    std::vector<OptionalAttr> result;
    for (intptr_t i = 0; i < rank(object); ++i)
      result.push_back(orNone(dim(object, i)));
    return result;
  };
}

static void populateAttributes(nb::module_ &m) {
  m.def("is_shape_attr", mlirAttributeIsARelaxShape);
  m.def("shape_attr_typeid", mlirRelaxShapeAttrGetTypeID);
  m.def("shape_attr", [](MlirContext context,
                         const std::vector<OptionalAttr> &dims) {
    return checked(context, [&] {
      return mlirRelaxShapeAttrGet(context, dims.size(), orNulls(dims).data());
    });
  });
  m.def("shape_attr_dims", dimsGetter<MlirAttribute>(mlirRelaxShapeAttrGetRank,
                                                     mlirRelaxShapeAttrGetDim));
  m.def("is_range_attr", mlirAttributeIsARelaxRange);
  m.def("range_attr_typeid", mlirRelaxRangeAttrGetTypeID);
  m.def(
      "range_attr",
      [](MlirContext context, int64_t lower, std::optional<int64_t> upper,
         int64_t multipleOf) {
        return checked(context, [&] {
          return mlirRelaxRangeAttrGet(context, lower,
                                       upper ? &*upper : nullptr, multipleOf);
        });
      },
      "context"_a, "lower"_a, nb::arg("upper").none(), "multiple_of"_a);
  m.def("range_attr_bounds", [](MlirAttribute attr) {
    int64_t upper;
    bool bounded = mlirRelaxRangeAttrGetUpper(attr, &upper);
    return std::make_tuple(mlirRelaxRangeAttrGetLower(attr),
                           bounded ? std::optional<int64_t>(upper)
                                   : std::nullopt,
                           mlirRelaxRangeAttrGetMultipleOf(attr));
  });
  m.def("is_weight_attr", mlirAttributeIsARelaxWeight);
  m.def("weight_attr_typeid", mlirRelaxWeightAttrGetTypeID);
  m.def("weight_attr", [](MlirContext context, const std::string &name) {
    return checked(
        context, [&] { return mlirRelaxWeightAttrGet(context, toRef(name)); });
  });
  m.def("weight_attr_name", [](MlirAttribute attr) {
    return toString(mlirRelaxWeightAttrGetName(attr));
  });
}

static void populateTypes(nb::module_ &m) {
  m.def("is_shape_type", mlirTypeIsARelaxShape);
  m.def("shape_type_typeid", mlirRelaxShapeTypeGetTypeID);
  m.def("shape_type", [](MlirContext context,
                         const std::vector<OptionalAttr> &dims) {
    return checked(context, [&] {
      return mlirRelaxShapeTypeGet(context, dims.size(), orNulls(dims).data());
    });
  });
  m.def("shape_type_unranked", mlirRelaxShapeTypeGetUnranked);
  m.def("shape_type_is_ranked", mlirRelaxShapeTypeIsRanked);
  m.def("shape_type_dims", dimsGetter<MlirType>(mlirRelaxShapeTypeGetRank,
                                                mlirRelaxShapeTypeGetDim));
  m.def("is_object_type", mlirTypeIsARelaxObject);
  m.def("object_type_typeid", mlirRelaxObjectTypeGetTypeID);
  m.def("object_type", mlirRelaxObjectTypeGet);
  m.def("is_storage_type", mlirTypeIsARelaxStorage);
  m.def("storage_type_typeid", mlirRelaxStorageTypeGetTypeID);
  m.def("storage_type", mlirRelaxStorageTypeGet);
  m.def("tensor_type",
        [](MlirType elementType, const std::vector<OptionalAttr> &dims) {
          return checked(mlirTypeGetContext(elementType), [&] {
            return mlirRelaxTensorTypeGet(elementType, dims.size(),
                                          orNulls(dims).data());
          });
        });
  m.def("tensor_type_dims", [](MlirType type, intptr_t rank) {
    std::vector<OptionalAttr> result;
    for (intptr_t i = 0; i < rank; ++i)
      result.push_back(orNone(mlirRelaxTensorTypeGetDim(type, i)));
    return result;
  });
  m.def(
      "type_implies",
      [](const OptionalAttr &ranges, MlirType fine, MlirType coarse) {
        return toTruth(mlirRelaxTypeImplies(orNull(ranges), fine, coarse));
      },
      nb::arg("ranges").none(), "fine"_a, "coarse"_a);
  m.def("type_defined_symbols", [](MlirType type) {
    std::vector<std::string> names;
    mlirRelaxTypeWalkDefinedSymbols(
        type,
        [](MlirStringRef name, void *out) {
          static_cast<std::vector<std::string> *>(out)->push_back(
              toString(name));
        },
        &names);
    return names;
  });
}

//===----------------------------------------------------------------------===//
// Code generation
//===----------------------------------------------------------------------===//

static void populateCodeGeneration(nb::module_ &m) {
  m.def("host_target", [] {
    std::vector<std::string> parts;
    mlirRelaxGetHostTarget(
        [](MlirStringRef part, void *out) {
          static_cast<std::vector<std::string> *>(out)->emplace_back(
              part.data, part.length);
        },
        &parts);
    return std::make_tuple(parts[0], parts[1], parts[2]);
  });
  m.def(
      "check_target",
      [](const std::string &triple, const std::string &cpu,
         const std::string &features) -> std::optional<std::string> {
        std::string message;
        if (mlirRelaxCheckTarget(
                {toRef(triple), toRef(cpu), toRef(features), 3}, appendTo,
                &message))
          return std::nullopt;
        return message;
      },
      "triple"_a, "cpu"_a, "features"_a);
  m.def(
      "change_features",
      [](const std::string &triple, const std::string &cpu,
         const std::string &features, const std::string &changes) {
        std::string text;
        if (!mlirRelaxChangeFeatures(
                {toRef(triple), toRef(cpu), toRef(features), 3}, toRef(changes),
                appendTo, &text))
          throw nb::value_error(text.c_str());
        return text;
      },
      "triple"_a, "cpu"_a, "features"_a, "changes"_a);
  m.def(
      "vector_bits",
      [](const std::string &triple, const std::string &cpu,
         const std::string &features) {
        return mlirRelaxGetVectorBits(
            {toRef(triple), toRef(cpu), toRef(features), 3});
      },
      "triple"_a, "cpu"_a, "features"_a);
  m.def(
      "required_features",
      [](const std::string &triple, const std::string &cpu,
         const std::string &features) {
        std::vector<std::string> names;
        mlirRelaxGetRequiredFeatures(
            {toRef(triple), toRef(cpu), toRef(features), 3},
            [](MlirStringRef name, void *out) {
              static_cast<std::vector<std::string> *>(out)->emplace_back(
                  name.data, name.length);
            },
            &names);
        return names;
      },
      "triple"_a, "cpu"_a, "features"_a);
  m.def(
      "parse_chip",
      [](const std::string &name) -> std::optional<nb::dict> {
        MlirRelaxChip chip;
        if (!mlirRelaxChipParse(toRef(name), &chip))
          return std::nullopt;
        nb::dict made;
        made["device"] = chip.device;
        made["bound"] = !chip.hasAddresses && chip.hasInt64;
        made["narrow"] = !chip.hasInt64;
        made["overlap"] = chip.canOverlap;
        made["pushed"] = chip.pushedWords;
        return made;
      },
      "name"_a);
  m.def(
      "emit_object",
      [](MlirModule module, const std::string &triple, const std::string &cpu,
         const std::string &features,
         unsigned optimization) -> std::optional<nb::bytes> {
        std::string object;
        MlirLogicalResult result;
        {
          nb::gil_scoped_release release;
          result = mlirRelaxEmitObject(
              module,
              {toRef(triple), toRef(cpu), toRef(features), optimization},
              appendTo, &object);
        }
        if (mlirLogicalResultIsFailure(result))
          return std::nullopt;
        return nb::bytes(object.data(), object.size());
      },
      "module"_a, "triple"_a, "cpu"_a, "features"_a, "optimization"_a);
}

NB_MODULE(_relax, m) {
  m.doc() = "The relax dialect: what Python needs of the C++ compiler.";
  // Compiled functions may live until the interpreter exits.
  nb::set_leak_warnings(false);

  mlirRelaxRegisterPasses();
  m.def(
      "register_dialect",
      [](MlirDialectRegistry registry) {
        mlirDialectHandleInsertDialect(mlirGetDialectHandle__relax__(),
                                       registry);
      },
      "registry"_a);
  m.def(
      "load_dialect",
      [](MlirContext context) {
        MlirDialectHandle handle = mlirGetDialectHandle__relax__();
        mlirDialectHandleRegisterDialect(handle, context);
        mlirDialectHandleLoadDialect(handle, context);
        mlirRelaxShareThreads(context);
      },
      "context"_a);
  m.def(
      "is_pass_registered",
      [](const std::string &argument) {
        return mlirRelaxIsPassRegistered(toRef(argument));
      },
      "argument"_a);
  m.def(
      "deduce_call",
      [](MlirOperation call, const std::optional<MlirOperation> &callee)
          -> std::optional<std::vector<MlirType>> {
        std::vector<MlirType> types;
        MlirLogicalResult result = mlirRelaxDeduceCall(
            call, callee.value_or(MlirOperation{nullptr}),
            [](MlirType type, void *out) {
              static_cast<std::vector<MlirType> *>(out)->push_back(type);
            },
            &types);
        if (mlirLogicalResultIsFailure(result))
          return std::nullopt;
        return types;
      },
      "call"_a, nb::arg("callee").none());

  // MLIR's own bindings abort the process if a message is not valid UTF-8;
  // these leave messages to `DiagnosticScope`.
  m.def(
      "parse_module",
      [](MlirContext context, nb::bytes data,
         const std::string &name) -> std::optional<MlirModule> {
        MlirModule module = mlirRelaxParseModule(
            context, mlirStringRefCreate(data.c_str(), data.size()),
            toRef(name));
        if (mlirModuleIsNull(module))
          return std::nullopt;
        return module;
      },
      "context"_a, "data"_a, "name"_a);
  m.def("verify", mlirOperationVerify, "operation"_a);
  m.def(
      "run_passes",
      [](MlirPassManager manager, MlirOperation operation) {
        return mlirLogicalResultIsSuccess(
            mlirPassManagerRunOnOp(manager, operation));
      },
      "manager"_a, "operation"_a);

  populateDiagnostics(m);
  populateExpressions(m);
  populateProver(m);
  populateAttributes(m);
  populateTypes(m);
  populateCodeGeneration(m);
}
