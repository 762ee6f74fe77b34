#include "scalar_values.h"

#include <fmt/format.h>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/structural.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt::text {

using Kind = PyValue::Kind;

namespace {

// Returns whether the expressions are written the same. Bindings (T.Let) of the same variables are then different
// nodes.
bool IsSameText(const PrimExpr* a, const PrimExpr* b) {
  return DeepEqual(a, b) || (a->kind == b->kind && StructuralEqual(a, b));
}

}  // namespace

const PrimExpr* ScalarValues::ToPrim(const PyValue& value) {
  if (value.is(Kind::kPrim)) return value.prim;
  if (value.is_number()) return ops_.ToPrim(value);
  if (value.is(Kind::kString)) {
    auto* node = workspace_.New<tir::StringImm>(workspace_.arena().CopyString(value.string()));
    node->set_span(value.span);
    return node;
  }
  if (value.is(Kind::kRegion)) return LoadRegion(value.region, value.span);
  if (value.is(Kind::kIterVar)) return value.iter_var->var;
  if (IsElement(value)) {
    const PrimExpr* const index[] = {ops_.Int(0, DataType::Int(32), value.span)};
    return MakeLoad(value.buffer, index, nullptr, value.span);
  }
  return Wrong(value, "an expression");
}

bool ScalarValues::IsElement(const PyValue& value) const {
  return has_elements_ && value.is(Kind::kBuffer) && value.buffer->shape.size() == 1 &&
         arith::IsInt(value.buffer->shape[0], 1);
}

const PrimExpr* ScalarValues::ToBool(const PyValue& value) {
  if (value.is(Kind::kInt) && (value.integer == 0 || value.integer == 1))
    return ops_.Int(value.integer, DataType::Bool(), value.span);
  const PrimExpr* e = ToPrim(value);
  if (e && !e->dtype.is_bool()) {
    return Report(value.span, "type-mismatch", fmt::format("expected a truth value, found '{}'", e->dtype.ToString()));
  }
  return e;
}

const PrimExpr* ScalarValues::ToCondition(const PyValue& value) {
  if (value.is_number()) return ToBool(value);
  const PrimExpr* e = ToPrim(value);
  if (e && !e->dtype.is_scalar()) {
    return Report(value.span, "type-mismatch", fmt::format("expected a scalar, found '{}'", e->dtype.ToString()));
  }
  return e;
}

const PrimExpr* ScalarValues::ToPrimOf(const PyValue& value, DataType dtype) {
  const PrimExpr* e = ToPrim(value);
  if (!e || e->dtype == dtype) return e;
  if (value.is_number()) return ops_.MakeCast(dtype, e, value.span);
  return Report(value.span, "type-mismatch",
                fmt::format("expected '{}', found '{}'", dtype.ToString(), e->dtype.ToString()));
}

bool ScalarValues::ToPrims(const PyValue& value, std::vector<const PrimExpr*>& out) {
  const std::span<const PyValue> items = value.is_list() ? value.items() : std::span(&value, 1);
  out.reserve(out.size() + items.size());
  for (const PyValue& item : items) {
    const PrimExpr* e = ToPrim(item);
    if (!e) return false;
    out.push_back(e);
  }
  return true;
}

const tir::Var* ScalarValues::ToVar(const PyValue& value) {
  if (value.is(Kind::kIterVar)) return value.iter_var->var;
  if (value.is(Kind::kPrim) && tir::Var::ClassOf(value.prim->kind)) return static_cast<const tir::Var*>(value.prim);
  return Wrong(value, "a variable");
}

const PrimExpr* ScalarValues::ExtentOf(const PrimExpr* start, const PrimExpr* stop, Span span) {
  for (const PrimExpr* end : {start, stop}) {
    if (!end->dtype.is_integer())
      return Report(span, "bad-index", fmt::format("an index is an integer, found '{}'", end->dtype.ToString()));
  }
  if (arith::IsInt(start, 0) && start->dtype.bits <= stop->dtype.bits) return stop;
  if (IsSameText(start, stop)) return ops_.MakeCast(start->dtype, ops_.Int(0, DataType::Int(32), span), span);
  if (const auto* sum = As<tir::Add>(stop); sum && sum->dtype.is_integer()) {
    // The start is converted if the extent is wider.
    const PrimExpr* converted = ops_.MakeCast(sum->dtype, start, start->span());
    if (!converted) return nullptr;
    if (IsSameText(sum->a, converted)) return sum->b;
    if (IsSameText(sum->b, converted)) return sum->a;
  }
  const PrimExpr* difference = ops_.Make(NodeKind::kSub, stop, start, span);
  return difference ? Simplify(difference) : nullptr;
}

const tir::Range* ScalarValues::ToRange(const PyValue& value) {
  if (value.is(Kind::kRange)) return value.range;
  const PrimExpr* min = nullptr;
  const PrimExpr* extent = nullptr;
  if (value.is_list()) {
    if (value.items().size() != 2) return Report(value.span, "bad-expression", "a range is (begin, end)");
    min = ToPrim(value.items()[0]);
    const PrimExpr* end = min ? ToPrim(value.items()[1]) : nullptr;
    if (!end) return nullptr;
    if (value.items()[0].is_number() && !value.items()[1].is_number())
      min = ops_.MakeCast(end->dtype, min, min->span());
    if (!min) return nullptr;
    extent = arith::IsInt(min, 0) ? end : ExtentOf(min, end, value.span);
  } else {
    extent = ToPrim(value);
    if (!extent) return nullptr;
    if (!extent->dtype.is_integer()) return Report(value.span, "type-mismatch", "an extent is an integer");
    min = ops_.Int(0, extent->dtype, value.span);
  }
  if (!extent) return nullptr;
  auto* range = workspace_.New<tir::Range>(min, extent);
  range->set_span(value.span);
  return range;
}

bool ScalarValues::ToDType(const PyValue& value, DataType& out) {
  if (value.is(Kind::kPointerType)) {
    out = DataType::Handle();
    return true;
  }
  if (value.is(Kind::kDType)) {
    out = value.dtype;
    return true;
  }
  if (!value.is(Kind::kString)) return Wrong(value, "a data type such as \"float32\"");
  const auto dtype = DataType::Parse(value.string());
  if (!dtype) return Report(value.span, "unknown-dtype", DescribeUnknownDType(value.string()));
  out = *dtype;
  return true;
}

bool ScalarValues::ToInteger(const PyValue& value, int64_t& out) {
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
  return Wrong(value, "an integer constant");
}

bool ScalarValues::ToString(const PyValue& value, std::string_view& out) {
  // A string of several lines was read from the metadata section.
  if (const auto* string = value.is(Kind::kPrim) ? As<tir::StringImm>(value.prim) : nullptr) {
    out = string->value;
    return true;
  }
  if (!value.is(Kind::kString)) return Wrong(value, "a string");
  out = value.string();
  return true;
}

const DictAttr* ScalarValues::ToDict(const PyValue* value) {
  if (!value || value->is(Kind::kNone)) return DictAttr::Empty();
  const auto* dict = value->is(Kind::kAttr) ? As<DictAttr>(value->attr) : nullptr;
  if (!dict) return Wrong(*value, "a dictionary");
  return dict;
}

const PrimExpr* ScalarValues::Simplify(const PrimExpr* expr) {
  if (expr->kind == NodeKind::kIntImm || tir::Var::ClassOf(expr->kind) || !expr->dtype.is_integer()) return expr;
  arith::Analyzer analyzer(arith::PrimBuilder(workspace_), arith::Analyzer::SymVars::kAny);
  return analyzer.Simplify(expr);
}

bool ScalarValues::ToIntegers(const PyValue& value, std::vector<int64_t>& out) {
  if (!value.is_list()) return Wrong(value, "a list of integers");
  for (const PyValue& item : value.items()) {
    int64_t i = 0;
    if (!ToInteger(item, i)) return false;
    out.push_back(i);
  }
  return true;
}

const Attr* ScalarValues::ToAttr(const PyValue& value, ScriptDialect mode) {
  switch (value.kind) {
    case Kind::kNone: return NoneAttr::Get();
    case Kind::kBool: return IntAttr::Bool(value.boolean);
    case Kind::kInt: return IntAttr::Get(value.integer);
    case Kind::kFloat: return FloatAttr::Get(value.real, DataType::Float(mode == ScriptDialect::kTir ? 32 : 64));
    case Kind::kString: return StrAttr::Get(value.string());
    case Kind::kAttr: return value.attr;
    case Kind::kDType: return DTypeAttr::Get(value.dtype);
    // A buffer as a whole: a load without indices, whose type is that of a pointer. So passes
    // that replace the buffer replace it here, too.
    case Kind::kBuffer:
      return ExprAttr::Get(workspace_.New<tir::BufferLoad>(DataType::Handle(), value.buffer, List<const PrimExpr*>()));
    case Kind::kList:
    case Kind::kTvmArray:
    case Kind::kTuple: {
      std::vector<const Attr*> items;
      for (const PyValue& item : value.items()) {
        items.push_back(WithStack([&] { return ToAttr(item, mode); }));
        if (!items.back()) return nullptr;
      }
      return ListAttr::Get(items);
    }
    default: break;
  }
  const PrimExpr* e = ToPrim(value);
  if (!e) return nullptr;
  if (const auto* i = As<tir::IntImm>(e)) {
    if (i->dtype.is_bool()) return IntAttr::Bool(i->value != 0);
    if (i->dtype == DataType::Int(32)) return IntAttr::Get(i->value);
  }
  if (const auto* f = As<tir::FloatImm>(e)) return FloatAttr::Get(f->value, f->dtype);
  bool shared = true;
  ForEachPrimName(
      e, [&](const tir::Var* v) { shared &= v->context_owned(); }, [&](const tir::Buffer*) { shared = false; });
  return ExprAttr::Get(shared ? IRContext::Current().Intern(e) : e);
}

bool ScalarValues::Operand(PyValue& value) {
  switch (value.kind) {
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
    case Kind::kPrim: return true;
    case Kind::kRegion: {
      const PrimExpr* load = LoadRegion(value.region, value.span);
      if (load) value = PyValue(load);
      return load != nullptr;
    }
    case Kind::kIterVar: value = PyValue(static_cast<const PrimExpr*>(value.iter_var->var)); return true;
    default: break;
  }
  if (!IsElement(value)) return Wrong(value, "an operand");
  value = PyValue(ToPrim(value));
  return true;
}

const PrimExpr* ScalarValues::MakeCall(std::string_view op, DataType dtype, std::initializer_list<const PrimExpr*> args,
                                       Span span) {
  auto* call = workspace_.New<tir::Call>(dtype, GetOp(op),
                                         workspace_.Copy(std::span<const PrimExpr* const>(args.begin(), args.size())));
  call->set_span(span);
  return call;
}

// ---- Elements of buffers

bool ScalarValues::WrongIndexCount(const tir::Buffer* buffer, size_t found, Span span) {
  return Report(
      span, "index-count",
      fmt::format("'{}' has {}, found {}", buffer->name, Counted(buffer->shape.size(), "dimension", "dimensions"),
                  Counted(found, "index", "indices")));
}

const PrimExpr* ScalarValues::LoadRegion(const tir::BufferRegion* region, Span span) {
  Prims indices;
  for (const tir::Range* range : region->region) {
    const bool single = arith::IsInt(range->extent, 1);
    const PrimExpr* e =
        single ? range->min : ops_.MakeRamp(range->min, ops_.Int(1, range->min->dtype, span), range->extent, span);
    if (!e) return nullptr;
    indices.push_back(e);
  }
  return MakeLoad(region->buffer, indices, nullptr, span);
}

const tir::BufferRegion* ScalarValues::ToRegion(const PyValue& value) {
  if (value.is(Kind::kRegion)) return value.region;
  const auto* load = value.is(Kind::kPrim) ? As<tir::BufferLoad>(value.prim) : nullptr;
  if (!load || load->predicate) return Wrong(value, "a region of a buffer such as A[0:4, i]");
  Ranges ranges;
  for (const PrimExpr* index : load->indices) {
    if (!index->dtype.is_scalar()) return Report(value.span, "bad-index", "a region has no steps");
    ranges.push_back(workspace_.New<tir::Range>(index, ops_.Int(1, index->dtype, index->span())));
  }
  auto* region = workspace_.New<tir::BufferRegion>(load->buffer, workspace_.Copy<const tir::Range*>(ranges));
  region->set_span(value.span);
  return region;
}

namespace {

int LanesOrFactor(DataType t) { return t.lanes < 0 ? -t.lanes : t.lanes; }

}  // namespace

bool ScalarValues::CheckIndices(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices, Span span,
                                DataType& element) {
  if (indices.size() != buffer->shape.size()) {
    return WrongIndexCount(buffer, indices.size(), span);
  }
  element = buffer->dtype;
  for (size_t i = 0; i < indices.size(); ++i) {
    const DataType t = indices[i]->dtype;
    if (!t.is_integer())
      return Report(indices[i]->span(), "bad-index", fmt::format("an index is an integer, found '{}'", t.ToString()));
    if (i + 1 == indices.size()) {
      if (t.is_scalable() && element.is_scalable())
        return Report(span, "bad-index", "a buffer of scalable vectors has no scalable indices");
      const int lanes = LanesOrFactor(t) * LanesOrFactor(element);
      if (lanes > INT16_MAX) return Report(span, "bad-index", "too many lanes");
      element = element.with_lanes(t.is_scalable() || element.is_scalable() ? -lanes : lanes);
    } else if (!t.is_scalar()) {
      return Report(indices[i]->span(), "bad-index", "only the last index may be a vector");
    }
  }
  return true;
}

const PrimExpr* ScalarValues::MakeLoad(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices,
                                       const PrimExpr* predicate, Span span) {
  DataType dtype;
  if (!CheckIndices(buffer, indices, span, dtype)) return nullptr;
  auto* load = workspace_.New<tir::BufferLoad>(dtype, buffer, workspace_.Copy(indices), predicate);
  load->set_span(span);
  return load;
}

const tir::Stmt* ScalarValues::MakeStore(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices,
                                         const PyValue& value, const PyValue* predicate, Span span) {
  DataType dtype;
  if (!CheckIndices(buffer, indices, span, dtype)) return nullptr;
  const PrimExpr* stored = ToPrim(value);
  if (!stored) return nullptr;
  if (stored->dtype.lanes != dtype.lanes) {
    return Report(
        value.span, "type-mismatch",
        fmt::format("'{}' takes '{}' here, found '{}'", buffer->name, dtype.ToString(), stored->dtype.ToString()));
  }
  stored = ops_.MakeCast(dtype, stored, value.span);
  predicate = Given(predicate);
  const PrimExpr* mask = predicate ? ToPrim(*predicate) : nullptr;
  if (!stored || (predicate && !mask)) return nullptr;
  auto* store = workspace_.New<tir::BufferStore>(buffer, stored, workspace_.Copy(indices), mask);
  store->set_span(span);
  return store;
}

const PrimExpr* ScalarValues::PackBuffer(const tir::Buffer* buffer, Span span) {
  const auto handle = [&](List<const PrimExpr*> dims) -> const PrimExpr* {
    auto* call = workspace_.New<tir::Call>(DataType::Handle(), GetOp("tir.tvm_stack_make_shape"), dims);
    call->set_span(span);
    return call;
  };
  const PrimExpr* shape = handle(buffer->shape);
  const PrimExpr* strides = buffer->strides.empty() ? ops_.Int(0, DataType::Int(32), span) : handle(buffer->strides);
  const PrimExpr* zero = ops_.MakeCast(buffer->dtype, ops_.Int(0, DataType::Int(32), span), span);
  return MakeCall("tir.tvm_stack_make_array", DataType::Handle(),
                  {PointerOf(buffer), shape, strides, ops_.Int(buffer->shape.size(), DataType::Int(32), span), zero,
                   buffer->elem_offset},
                  span);
}

void ScalarValues::WidenIndices(const tir::Buffer* buffer, DataType dtype, std::vector<const PrimExpr*>& indices,
                                Span span) {
  const int factor = buffer->dtype.lanes > 0 && dtype.lanes > 0 ? dtype.lanes / buffer->dtype.lanes : 1;
  if (factor <= 1 || indices.empty() || !indices.back()->dtype.is_scalar()) return;
  indices.back() = ops_.MakeRamp(indices.back(), ops_.Int(1, indices.back()->dtype, span),
                                 ops_.Int(factor, DataType::Int(32), span), span);
}

}  // namespace iropt::text
