// Arguments of T.name(...): binding to parameters, and conversion to what the parameter takes.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/analyzer.h"
#include "iropt/support/edit_distance.h"
#include "parser.h"

namespace iropt::text {

using Kind = Value::Kind;

bool TirParser::BindTo(const TirArgs& args, std::string_view what, std::span<const std::string_view> names,
                       size_t required, std::span<const Value*> out) {
  std::fill(out.begin(), out.end(), nullptr);
  if (args.positional.size() > names.size()) {
    return Error(args.positional[names.size()].span, "too-many-arguments",
                 fmt::format("{} takes at most {}", what, Counted(names.size(), "argument", "arguments")));
  }
  for (size_t i = 0; i < args.positional.size(); ++i) out[i] = &args.positional[i];
  for (const TirArgs::Keyword& k : args.keywords) {
    const size_t i = static_cast<size_t>(std::find(names.begin(), names.end(), k.name) - names.begin());
    if (i == names.size()) {
      const auto near = NearestName(k.name, names);
      return Error(k.span, "unknown-argument",
                   near ? fmt::format("{} has no argument '{}'; did you mean '{}'?", what, k.name, *near)
                        : fmt::format("{} has no argument '{}'", what, k.name));
    }
    if (out[i])
      return Error(k.span, "repeated-argument", fmt::format("the argument '{}' of {} is given twice", k.name, what));
    out[i] = &k.value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (!out[i]) return Error(args.span, "missing-argument", fmt::format("{} needs the argument '{}'", what, names[i]));
  }
  return true;
}

bool TirParser::CountArgs(const TirArgs& args, std::string_view what, size_t least, size_t most) {
  const size_t n = args.positional.size();
  const auto takes = [&](size_t count) {
    return fmt::format("{} takes {}, found {}", what, Counted(count, "argument", "arguments"), n);
  };
  if (n < least) return Error(args.span, "missing-argument", takes(least));
  if (n > most) return Error(args.positional[most].span, "too-many-arguments", takes(most));
  return true;
}

const PrimExpr* TirParser::ToPrim(const Value& value) {
  if (value.is(Kind::kPrim)) return value.prim;
  if (value.is_number()) return ops_.ToPrim(value);
  if (value.is(Kind::kString)) {
    auto* node = ws_.New<tir::StringImm>(ws_.arena().CopyString(value.string()));
    node->set_span(value.span);
    return node;
  }
  if (value.is(Kind::kRegion)) return LoadRegion(value.region, value.span);
  if (value.is(Kind::kIterVar)) return value.iter_var->var;
  return WrongValue(value, "an expression");
}

const PrimExpr* TirParser::ToBool(const Value& value) {
  if (value.is(Kind::kInt) && (value.integer == 0 || value.integer == 1))
    return ops_.Int(value.integer, DataType::Bool(), value.span);
  const PrimExpr* e = ToPrim(value);
  if (e && !e->dtype.is_bool()) {
    return Error(value.span, "type-mismatch", fmt::format("expected a truth value, found '{}'", e->dtype.ToString()));
  }
  return e;
}

const PrimExpr* TirParser::ToCondition(const Value& value) {
  if (value.is_number()) return ToBool(value);
  const PrimExpr* e = ToPrim(value);
  if (e && !e->dtype.is_scalar()) {
    return Error(value.span, "type-mismatch", fmt::format("expected a scalar, found '{}'", e->dtype.ToString()));
  }
  return e;
}

const PrimExpr* TirParser::ToPrimOf(const Value& value, DataType dtype) {
  const PrimExpr* e = ToPrim(value);
  if (!e || e->dtype == dtype) return e;
  if (value.is_number()) return ops_.MakeCast(dtype, e, value.span);
  return Error(value.span, "type-mismatch",
               fmt::format("expected '{}', found '{}'", dtype.ToString(), e->dtype.ToString()));
}

// A tuple or list of expressions, or one expression for a list of one.
bool TirParser::ToPrims(const Value& value, std::vector<const PrimExpr*>& out) {
  const std::span<const Value> items = value.is_list() ? value.items() : std::span(&value, 1);
  for (const Value& item : items) {
    const PrimExpr* e = ToPrim(item);
    if (!e) return false;
    out.push_back(e);
  }
  return true;
}

const tir::Var* TirParser::ToVar(const Value& value) {
  if (value.is(Kind::kIterVar)) return value.iter_var->var;
  if (value.is(Kind::kPrim) && tir::Var::ClassOf(value.prim->kind)) return static_cast<const tir::Var*>(value.prim);
  return WrongValue(value, "a variable");
}

// A range, (begin, end), or an extent from 0.
const tir::Range* TirParser::ToRange(const Value& value) {
  if (value.is(Kind::kRange)) return value.range;
  const PrimExpr* min = nullptr;
  const PrimExpr* extent = nullptr;
  if (value.is_list()) {
    if (value.items().size() != 2) return Error(value.span, "bad-expression", "a range is (begin, end)");
    min = ToPrim(value.items()[0]);
    const PrimExpr* end = min ? ToPrim(value.items()[1]) : nullptr;
    if (!end) return nullptr;
    if (value.items()[0].is_number() && !value.items()[1].is_number())
      min = ops_.MakeCast(end->dtype, min, min->span());
    if (!min) return nullptr;
    extent = arith::IsInt(min, 0) ? end : ops_.Make(NodeKind::kSub, end, min, value.span);
  } else {
    extent = ToPrim(value);
    if (!extent) return nullptr;
    if (!extent->dtype.is_integer()) return Error(value.span, "type-mismatch", "an extent is an integer");
    min = ops_.Int(0, extent->dtype, value.span);
  }
  if (!extent) return nullptr;
  auto* range = ws_.New<tir::Range>(min, extent);
  range->set_span(value.span);
  return range;
}

bool TirParser::ToDType(const Value& value, DataType& out) {
  if (value.is(Kind::kDType)) {
    out = value.dtype;
    return true;
  }
  if (!value.is(Kind::kString)) return WrongValue(value, "a data type such as \"float32\"");
  const auto dtype = DataType::Parse(value.string());
  if (!dtype) return Error(value.span, "unknown-dtype", fmt::format("unknown data type \"{}\"", value.string()));
  out = *dtype;
  return true;
}

bool TirParser::ToInteger(const Value& value, int64_t& out) {
  if (value.is(Kind::kInt)) {
    out = value.integer;
    return true;
  }
  if (value.is(Kind::kPrim)) {
    if (const int64_t* i = arith::AsInt(value.prim)) {
      out = *i;
      return true;
    }
  }
  return WrongValue(value, "an integer constant");
}

bool TirParser::ToString(const Value& value, std::string_view& out) {
  if (!value.is(Kind::kString)) return WrongValue(value, "a string");
  out = value.string();
  return true;
}

// Of an optional argument: the empty dictionary where it is absent. Null after an error.
const DictAttr* TirParser::ToDict(const Value* value) {
  if (!value || value->is(Kind::kNone)) return DictAttr::Empty();
  const auto* dict = value->is(Kind::kAttr) ? As<DictAttr>(value->attr) : nullptr;
  if (!dict) return WrongValue(*value, "a dictionary");
  return dict;
}

const PrimExpr* TirParser::Simplify(const PrimExpr* expr) {
  if (expr->kind == NodeKind::kIntImm || tir::Var::ClassOf(expr->kind) || !expr->dtype.is_integer()) return expr;
  arith::Analyzer analyzer(arith::PrimBuilder(ws_.arena()), arith::Analyzer::SymVars::kAny);
  return analyzer.Simplify(expr);
}

}  // namespace iropt::text
