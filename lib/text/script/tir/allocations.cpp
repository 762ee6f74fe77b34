#include "allocations.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "array.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/ndarray.h"

namespace iropt::text {

namespace {

// Takes the annotations of an allocation from the arguments. Null after an error.
const DictAttr* TakeAnnotations(TirParser& p, PyArgs& args) {
  const auto found = std::ranges::find(args.keywords, "annotations", &PyKeyword::name);
  if (found == args.keywords.end()) return DictAttr::Empty();
  const DictAttr* annotations = p.ToDict(&found->value);
  args.keywords.erase(found);
  return annotations;
}

const PyValue* ArgumentOf(const PyArgs& args, size_t position, std::string_view name) {
  if (position < args.positional.size()) return &args.positional[position];
  const auto found = std::ranges::find(args.keywords, name, &PyKeyword::name);
  return found == args.keywords.end() ? nullptr : &found->value;
}

// The pointer of a declaration may be an expression in TVM 0.26: a variable for it is bound before, and `is_named` set.
bool NamePointer(TirParser& p, PyArgs& args, bool& is_named) {
  constexpr size_t kDType = 1, kData = 2, kScope = 5;
  const PyValue* data = ArgumentOf(args, kData, "data");
  if (!data || !data->is(PyValue::Kind::kPrim) || tir::Var::ClassOf(data->prim->kind)) return true;
  if (!data->prim->dtype.is_handle()) return true;  // an error, which the declaration reports
  DataType dtype = DataType::Float(32);
  std::string_view scope = "global";
  const PyValue* type = p.Given(ArgumentOf(args, kDType, "dtype"));
  const PyValue* stated = p.Given(ArgumentOf(args, kScope, "scope"));
  if ((type && !p.ToDType(*type, dtype)) || (stated && !p.ToString(*stated, scope))) return false;
  tir::Var* var = p.ws_.NewPrimVar(fmt::format("{}_data", p.pending_name()), DataType::Handle(),
                                   tir::PointerInfo::Get(dtype, scope));
  var->set_span(data->span);
  var->flags |= tir::Var::kBufferPointer;
  p.OpenLet(var, data->prim, data->span);
  is_named = true;
  const PyValue named(static_cast<const PrimExpr*>(var));
  if (kData < args.positional.size()) {
    args.positional[kData] = named;
  } else {
    std::ranges::find(args.keywords, "data", &PyKeyword::name)->value = named;
  }
  return true;
}

}  // namespace

bool Allocate(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result) {
  std::vector<const PrimExpr*> extents;
  DataType dtype;
  std::string_view scope = "global";
  if (!p.ToPrims(*v[0], extents) || !p.ToDType(*v[1], dtype) || (v[2] && !p.ToString(*v[2], scope))) {
    return false;
  }
  const PrimExpr* condition = p.Given(v[3]) ? p.ToBool(*v[3]) : p.True(args.span);
  const DictAttr* annotations = condition ? p.ToDict(v[4]) : nullptr;
  if (!annotations) return false;
  tir::Var* var = p.ws_.NewPrimVar(p.pending_name(), DataType::Handle(), tir::PointerInfo::Get(dtype, scope));
  var->set_span(args.span);
  p.build_.Open<tir::Allocate>(args.span, var, dtype, p.CopyPrims(extents), condition, annotations, nullptr);
  result = PyValue(static_cast<const PrimExpr*>(var));
  return true;
}

bool AllocateConst(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result) {
  std::vector<const PrimExpr*> extents;
  DataType dtype;
  if (!p.ToDType(*v[1], dtype) || !p.ToPrims(*v[2], extents)) {
    return false;
  }
  std::vector<int64_t> shape;
  int64_t count = 1;
  for (const PrimExpr* e : extents) {
    const int64_t* n = arith::AsInt(e);
    if (!n || *n < 0 || __builtin_mul_overflow(count, *n, &count))
      return p.Error(v[2]->span, "bad-number", "the extents of a constant are integers");
    shape.push_back(*n);
  }
  std::vector<PyValue> numbers;
  FlattenNumbers(*v[0], numbers);
  if (static_cast<int64_t>(numbers.size()) != count) {
    return p.Error(v[0]->span, "bad-expression", fmt::format("expected {} numbers, found {}", count, numbers.size()));
  }
  const DictAttr* annotations = p.ToDict(v[3]);
  if (!annotations) return false;
  const std::shared_ptr<const NDArray> data = ArrayOf(numbers, dtype, std::move(shape));
  if (!data)
    return p.Error(v[0]->span, "type-mismatch", fmt::format("the data are not constants of '{}'", dtype.ToString()));
  p.ws_.arena().Retain(data);
  tir::Var* var = p.ws_.NewPrimVar(p.pending_name(), DataType::Handle(), tir::PointerInfo::Get(dtype));
  var->set_span(args.span);
  p.build_.Open<tir::AllocateConst>(args.span, var, dtype, p.CopyPrims(extents), data.get(), -1, annotations, nullptr);
  result = PyValue(static_cast<const PrimExpr*>(var));
  return true;
}

void OpenAllocation(TirParser& p, const tir::Buffer* buffer, const DictAttr* annotations, Span span) {
  auto* decl = p.ws_.New<tir::DeclBuffer>(buffer, nullptr);
  decl->set_span(span);
  auto* allocate =
      p.ws_.New<tir::Allocate>(buffer->data, buffer->dtype, buffer->shape, p.True(span), annotations, decl);
  allocate->set_span(span);
  p.build_.Open(allocate, &decl->body);
}

bool Declare(TirParser& p, PyArgs& args, std::string_view what, std::string_view scope, PyValue& result) {
  tir::BufferSpec spec{.scope = scope};
  const DictAttr* annotations = TakeAnnotations(p, args);
  bool has_own_pointer = false;
  if (!annotations || !NamePointer(p, args, has_own_pointer) || !p.ReadBufferSpec(args, what, nullptr, spec))
    return false;
  const tir::Buffer* buffer = tir::MakeBuffer(p.ws_, spec, p.pending_name(), args.span);
  if (const tir::Buffer* view = spec.data && !has_own_pointer ? TakeUndeclared(p, buffer) : nullptr) buffer = view;
  result = PyValue(buffer, args.span);
  if (has_own_pointer) {
    p.build_.Open<tir::DeclBuffer>(args.span, buffer, nullptr);
  } else if (spec.data) {
    p.OpenDeclaration(buffer, args.span);
  } else {
    OpenAllocation(p, buffer, annotations, args.span);
  }
  return true;
}

}  // namespace iropt::text
