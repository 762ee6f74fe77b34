// Script calls of operators: arguments are bound to the signature, defaults filled in, and everything is converted to
// operands, attributes and result types according to the operator table.
#include "script_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/support/edit_distance.h"
#include "literals.h"

namespace iropt {

using Kind = PyValue::Kind;
using Role = OpParam::Role;

const PyValue*& BoundArguments::operator[](std::string_view param) {
  for (size_t i = 0; i < op->params.size(); ++i) {
    if (op->params[i].name == param) return values[i];
  }
  IROPT_UNREACHABLE("{} has no parameter '{}'", op->script, param);
}

const PyValue* BoundArguments::Keep(PyValue value) {
  return workspace.arena().Copy(std::span<const PyValue>(&value, 1)).data();
}

namespace {

std::string_view ArgKindName(ArgKind kind) {
  switch (kind) {
    case ArgKind::kExpr: return "an expression";
    case ArgKind::kTensor: return "a tensor";
    case ArgKind::kScalar: return "a tensor or a number";
    case ArgKind::kShape: return "a shape";
    case ArgKind::kPrimValue: return "a scalar";
    case ArgKind::kTuple:
    case ArgKind::kCallArgs: return "a tuple";
    case ArgKind::kString: return "a string";
    case ArgKind::kDataType: return "the name of a data type";
    case ArgKind::kFunc: return "a function";
  }
  return "another value";
}

// A keyword of all operators, with which a call can state the device of its result.
constexpr std::string_view kStatedTypes = "sinfo_args";

class CallBuilder {
 public:
  CallBuilder(const OpInfo& op, Span span, Workspace& workspace, DiagnosticEngine& diagnostics, const Module* module)
      : bound_{&op, span, workspace, diagnostics, module, {}, {}} {
    IROPT_CHECK(op.params.size() <= BoundArguments::kMaxParams, "{} has too many parameters", op.script);
  }

  const Call* Build(std::span<const PyValue> positional, std::span<const PyKeyword> keywords) {
    const bool bound = OperandsFirst(positional, keywords) ? BindOperands(positional) : BindPositional(positional);
    if (!bound || !BindKeywords(keywords, positional.size()) || !CheckRequired()) return nullptr;
    if (!AdjustArguments(bound_)) return nullptr;
    // The operator can depend on the arguments; the operands and attributes are those of the script function.
    const OpInfo* target = &op();
    for (size_t i = 0; i < op().params.size(); ++i) {
      if (op().params[i].role == Role::kExtra && BoundArguments::Given(bound_.values[i]))
        target = FindOp(op().extended);
    }
    if (!BuildOperands()) return nullptr;
    const ObjectAttr* attrs = nullptr;
    if (!op().attrs_key.empty() && !(attrs = BuildAttrs())) return nullptr;
    const TupleType* types = nullptr;
    if (!BuildResultTypes(types)) return nullptr;
    auto* call = bound_.workspace.New<Call>(target->op, List<const Expr*>(operands_), attrs, types, nullptr);
    call->set_span(bound_.span);
    return call;
  }

 private:
  const OpInfo& op() const { return *bound_.op; }

  bool Error(Span span, DiagId kind, std::string message) {
    bound_.diagnostics.Error(Location(span.known() ? span : bound_.span), kind, std::move(message));
    return false;
  }

  // ---- Binding

  bool BindPositional(std::span<const PyValue> positional) {
    for (size_t i = 0; i < positional.size(); ++i) {
      if (i < op().params.size() && op().params[i].rest) {
        bound_.rest = positional.subspan(i);
        return true;
      }
      if (i >= op().params.size() || op().params[i].keyword_only) {
        return Error(positional[i].span, "too-many-arguments",
                     fmt::format("{} takes at most {} positional argument{}", op().script, i, i == 1 ? "" : "s"));
      }
      bound_.values[i] = &positional[i];
    }
    return true;
  }

  static bool IsOperand(const OpParam& param) { return param.role == Role::kArg && !param.keyword_only && !param.rest; }

  // Calls are printed with all operands first and the attributes by name, also if the script function has an attribute
  // between operands: R.nn.pad(x, R.const(0, "int32"), pad_width=[1, 1]).
  bool OperandsFirst(std::span<const PyValue> positional, std::span<const PyKeyword> keywords) const {
    const std::span params(op().params);
    if (static_cast<size_t>(std::ranges::count_if(params, IsOperand)) < positional.size()) return false;
    return std::ranges::any_of(keywords, [&](const PyKeyword& keyword) {
      const size_t i = FindParam(keyword.name, 0);
      return i < positional.size() && params[i].role == Role::kAttr && positional[i].kind == Kind::kExpr;
    });
  }

  bool BindOperands(std::span<const PyValue> positional) {
    size_t next = 0;
    for (size_t i = 0; next < positional.size(); ++i) {
      if (IsOperand(op().params[i])) bound_.values[i] = &positional[next++];
    }
    return true;
  }

  bool BindKeywords(std::span<const PyKeyword> keywords, size_t next) {
    for (const PyKeyword& keyword : keywords) {
      // Keywords mostly come in the order of the signature.
      const size_t i = FindParam(keyword.name, next);
      if (i == op().params.size()) {
        if (keyword.name != kStatedTypes || op().form != ScriptForm::kDefault || stated_)
          return UnknownKeyword(keyword);
        stated_ = &keyword.value;
        continue;
      }
      const bool repeated = op().params[i].rest ? !bound_.rest.empty() : bound_.values[i] != nullptr;
      if (repeated) {
        return Error(keyword.span, "repeated-argument",
                     fmt::format("argument '{}' of {} is given twice", keyword.name, op().script));
      }
      if (op().params[i].rest) {
        const bool list = IsSequence(keyword.value);
        bound_.rest = list ? keyword.value.items() : std::span(&keyword.value, 1);
      } else {
        bound_.values[i] = &keyword.value;
      }
      next = i + 1;
    }
    return true;
  }

  size_t FindParam(std::string_view name, size_t hint) const {
    const auto& params = op().params;
    if (hint < params.size() && params[hint].name == name) return hint;
    size_t i = 0;
    while (i < params.size() && params[i].name != name) ++i;
    return i;
  }

  bool UnknownKeyword(const PyKeyword& keyword) {
    std::vector<std::string_view> names;
    for (const OpParam& param : op().params) names.push_back(param.name);
    std::string message = fmt::format("{} has no argument '{}'", op().script, keyword.name);
    const auto nearest = NearestName(keyword.name, names);
    if (nearest) message += fmt::format("; did you mean '{}'?", *nearest);
    DiagnosticBuilder diagnostic =
        bound_.diagnostics.Error(Location(keyword.span), "unknown-argument", std::move(message));
    if (nearest) diagnostic.FixIt(Location(keyword.span), std::string(*nearest));
    return false;
  }

  bool CheckRequired() {
    for (size_t i = 0; i < op().params.size(); ++i) {
      if (op().params[i].required() && !bound_.values[i]) {
        return Error(bound_.span, "missing-argument",
                     fmt::format("missing argument '{}' in call to {}", op().params[i].name, op().script));
      }
    }
    return true;
  }

  // The value of a parameter: the argument, or else the default, which `storage` keeps. None counts as not given if the
  // default is not None, except for an attribute that may be absent.
  const PyValue& ValueOf(size_t param, PyValue& storage) {
    for (;;) {
      const PyValue* given = bound_.values[param];
      const OpDefault& fallback = op().params[param].fallback;
      if (fallback.kind == OpDefault::Kind::kRequired || BoundArguments::Given(given)) return *given;
      if (given && op().params[param].role == Role::kAttr && IsOptional(op().attrs[op().params[param].index].kind))
        return *given;
      if (fallback.kind != OpDefault::Kind::kSameAs) {
        storage = DefaultLiteral(fallback);
        return storage;
      }
      param = FindParam(fallback.text, 0);
    }
  }

  // ---- Operands

  bool BuildOperands() {
    const size_t fixed = op().args.size() - (op().variadic ? 1 : 0);
    // Allocated in the arena at once: at most an operand or two stay unused.
    operands_ = bound_.workspace.arena().NewArray<const Expr*>(fixed + 1 + bound_.rest.size());
    size_t count = fixed;
    for (size_t i = 0; i < op().params.size(); ++i) {
      const OpParam& param = op().params[i];
      const bool operand = param.role == Role::kArg || param.role == Role::kExtra;
      if (!operand || param.rest) continue;
      PyValue storage;
      const PyValue& value = ValueOf(i, storage);
      if (param.role == Role::kArg) {
        if (!ConvertOperand(param, value)) return false;
      } else if (value.kind != Kind::kNone) {
        if (!(operands_[count++] = ConvertAs(ArgKind::kTensor, 0, value, param.name))) return false;
      }
    }
    for (const PyValue& value : bound_.rest) {
      const OpArg& arg = op().args.back();
      if (!(operands_[count++] = ConvertAs(arg.kind, 0, value, arg.name))) return false;
    }
    return TrimOperands(count);
  }

  // Drops the missing operands, which come last.
  bool TrimOperands(size_t count) {
    while (count > 0 && !operands_[count - 1]) --count;
    operands_ = operands_.first(count);
    const auto gap = std::find(operands_.begin(), operands_.end(), nullptr);
    if (gap == operands_.end()) return true;
    const OpArg& missing = op().args[static_cast<size_t>(gap - operands_.begin())];
    return Error(
        bound_.span, "missing-argument",
        fmt::format("missing argument '{}' in call to {}: a later operand is given", missing.name, op().script));
  }

  bool ConvertOperand(const OpParam& param, const PyValue& value) {
    const OpArg& arg = op().args[param.index];
    const Expr*& operand = operands_[param.index];
    if (value.kind == Kind::kNone && arg.absence == ArgAbsence::kOmitted) return true;
    // An operand of newer versions that has its default is as missing as in the older ones.
    if (arg.since > TextVersion::kV0_18 && param.fallback.kind == OpDefault::Kind::kInt &&
        ToInteger(value) == param.fallback.integer)
      return true;
    // R.tuple() is how a missing operand is printed; an empty shape is written with brackets.
    const bool empty_tuple = value.kind == Kind::kTuple && value.items().empty();
    if (arg.absence == ArgAbsence::kVoid && (value.kind == Kind::kNone || empty_tuple)) {
      operand = MakeTuple({}, value.span, bound_.workspace);
    } else {
      operand = ConvertAs(arg.kind, arg.copies, value, param.name);
    }
    return operand != nullptr;
  }

  // Null after an error.
  const Expr* ConvertAs(ArgKind kind, size_t copies, const PyValue& value, std::string_view name) {
    const Expr* expr = value.kind == Kind::kExpr ? value.expr : ConvertLiteral(kind, copies, value);
    if (expr && kind == ArgKind::kCallArgs) expr = WrapCallArgs(expr, value.span);
    if (expr) return expr;
    Error(value.span, "bad-argument",
          fmt::format("argument '{}' of {} must be {}, not {}", name, op().script, ArgKindName(kind),
                      DescribeValue(value)));
    return nullptr;
  }

  const Expr* ConvertLiteral(ArgKind kind, size_t copies, const PyValue& value) {
    Workspace& workspace = bound_.workspace;
    switch (kind) {
      case ArgKind::kScalar: return MakeScalarConstant(value, workspace);
      case ArgKind::kShape: return ConvertShape(copies, value);
      case ArgKind::kTensor:
        if (value.kind == Kind::kString) return nullptr;
        return ToRelaxExpr(value, workspace);
      case ArgKind::kExpr: return ToRelaxExpr(value, workspace);
      case ArgKind::kPrimValue: {
        const PrimExpr* prim = ToPrimExpr(value);
        return prim ? MakePrimValue(prim, value.span, workspace) : nullptr;
      }
      case ArgKind::kTuple:
      case ArgKind::kCallArgs: return IsSequence(value) ? ToRelaxExpr(value, workspace) : nullptr;
      case ArgKind::kString:
        return value.kind == Kind::kString ? MakeStringImm(value.string(), value.span, workspace) : nullptr;
      case ArgKind::kDataType: {
        const auto dtype = value.kind == Kind::kString ? ToDataType(value) : std::nullopt;
        return dtype ? MakeDataTypeImm(*dtype, value.span, workspace) : nullptr;
      }
      case ArgKind::kFunc:
        return value.kind == Kind::kString ? MakeExternFunc(value.string(), value.span, workspace) : nullptr;
    }
    return nullptr;
  }

  const Expr* ConvertShape(size_t copies, const PyValue& value) {
    std::vector<const PrimExpr*> dims;
    const bool list = IsSequence(value);
    // A single number is a shape only if the operator states the number of dimensions.
    if (!list && copies == 0) return nullptr;
    for (const PyValue& item : list ? value.items() : std::span(&value, 1)) {
      // A list of Relax expressions, such as R.prim_value(n), becomes a tuple; the type rule checks it.
      if (list && item.kind == Kind::kExpr) return ToRelaxExpr(value, bound_.workspace);
      // Dimensions are integers: 1.5 and True are not allowed.
      if (item.kind == Kind::kFloat || item.kind == Kind::kBool) return nullptr;
      dims.push_back(ToPrimExpr(item));
      if (!dims.back() || !dims.back()->dtype.is_integer()) return nullptr;
    }
    if (dims.size() == 1 && copies > 1) dims.resize(copies, dims[0]);
    return MakeShapeExpr(dims, value.span, bound_.workspace);
  }

  const Expr* WrapCallArgs(const Expr* expr, Span span) {
    if (Is<Tuple>(expr) || As<TupleType>(expr->type)) return expr;
    return MakeTuple(std::span(&expr, 1), span, bound_.workspace);
  }

  // ---- Attributes and result types

  const ObjectAttr* BuildAttrs() {
    std::array<std::string_view, BoundArguments::kMaxParams> names;
    std::array<const Attr*, BoundArguments::kMaxParams> fields{};
    const size_t count = op().attrs.size();
    for (size_t i = 0; i < count; ++i) names[i] = op().attrs[i].name;
    for (size_t i = 0; i < op().params.size(); ++i) {
      const OpParam& param = op().params[i];
      if (param.role == Role::kDevice && !FieldsOfDevice(*bound_.values[i], fields)) return nullptr;
      if (param.role != Role::kAttr) continue;
      PyValue storage;
      const PyValue& value = ValueOf(i, storage);
      const OpAttr& attr = op().attrs[param.index];
      fields[param.index] = ToAttr(attr, value, bound_.module);
      if (!fields[param.index]) return BadAttr(attr, value);
    }
    return ObjectAttr::Get(op().attrs_key, std::span(names).first(count), std::span(fields).first(count));
  }

  const ObjectAttr* BadAttr(const OpAttr& attr, const PyValue& value) {
    if (attr.kind == AttrKind::kDataType && value.kind == Kind::kString) {
      Error(value.span, "unknown-dtype", DescribeUnknownDType(value.string()));
    } else {
      const std::string got =
          value.kind == Kind::kString ? fmt::format("\"{}\"", value.string()) : std::string(DescribeValue(value));
      Error(value.span, "bad-argument",
            fmt::format("argument '{}' of {} must be {}, not {}", attr.name, op().script, ExpectedLiteral(attr), got));
    }
    return nullptr;
  }

  bool FieldsOfDevice(const PyValue& value, std::span<const Attr*> fields) {
    const auto* device = value.kind == Kind::kAttr ? As<ObjectAttr>(value.attr) : nullptr;
    for (size_t i = 0; i < 2; ++i) {
      const auto* field = device ? As<IntAttr>(device->Find(op().attrs[i].name)) : nullptr;
      if (!field) {
        return Error(value.span, "bad-argument",
                     fmt::format("{} needs a device, not {}", op().script, DescribeValue(value)));
      }
      fields[i] = IntAttr::Get(field->value);
    }
    return true;
  }

  bool BuildResultTypes(const TupleType*& result) {
    const auto param = std::find_if(op().params.begin(), op().params.end(),
                                    [](const OpParam& p) { return p.role == Role::kResultTypes; });
    const bool is_param = param != op().params.end();
    const PyValue* value = is_param ? bound_.values[static_cast<size_t>(param - op().params.begin())] : stated_;
    if (!BoundArguments::Given(value)) return true;
    std::vector<const Type*> types;
    for (const PyValue& item : IsSequence(*value) ? value->items() : std::span(value, 1)) {
      if (item.kind != Kind::kType) {
        return Error(
            item.span, "bad-argument",
            fmt::format("argument '{}' of {} must be a type or a list of types, not {}",
                        is_param ? std::string_view(param->name) : kStatedTypes, op().script, DescribeValue(item)));
      }
      types.push_back(item.type);
    }
    Arena& arena = bound_.workspace.arena();
    if (op().form == ScriptForm::kOutTypes && types.size() != 1) types = {TupleType::Get(arena, types)};
    if (!types.empty()) result = TupleType::Get(arena, types);
    return true;
  }

  BoundArguments bound_;
  const PyValue* stated_ = nullptr;  // the value of kStatedTypes
  std::span<const Expr*> operands_;
};

}  // namespace

const Call* BuildOpCall(const OpInfo& op, std::span<const PyValue> positional, std::span<const PyKeyword> keywords,
                        Span span, Workspace& workspace, DiagnosticEngine& diagnostics, const Module* module) {
  return CallBuilder(op, span, workspace, diagnostics, module).Build(positional, keywords);
}

}  // namespace iropt
