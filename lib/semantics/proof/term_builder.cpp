#include "semantics/proof/term_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "iropt/eval/evaluator.h"
#include "iropt/ir/element.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/statistical.h"
#include "iropt/runtime/value.h"
#include "iropt/support/stack.h"

namespace iropt::proof {

namespace {

template <class T>
int64_t BytesOf(const T& element) {
  if constexpr (std::is_integral_v<MathOf<T>>) {
    return static_cast<int64_t>(Element<T>::Load(element));
  } else {
    int64_t bytes = 0;
    std::memcpy(&bytes, &element, sizeof(T));
    return bytes;
  }
}

std::optional<int64_t> ElementAt(const NDArray& array, int64_t place) {
  std::optional<int64_t> bytes;
  DispatchElement(array.dtype(),
                  [&]<class T>(std::type_identity<T>) { bytes = BytesOf(array.As<T>()[static_cast<size_t>(place)]); });
  return bytes;
}

}  // namespace

const Term* TermBuilder::Keep(Term term) {
  const auto uses = [](const Term* arg) { return arg->uses_reduction; };
  const auto is_reduced = [this](const PrimExpr* index) { return indices_.UsesReduction(index); };
  term.uses_reduction =
      !term.is_closed() && (std::ranges::any_of(term.args, uses) || std::ranges::any_of(term.indices, is_reduced));
  return store_.Get(std::move(term));
}

const Term* TermBuilder::Number(DataType dtype, int64_t bytes) {
  return store_.Get({.kind = TermKind::kNumber, .dtype = dtype, .number = bytes});
}

const Term* TermBuilder::Number(DataType dtype, double value) {
  const Term* number = nullptr;
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<MathOf<T>>) {
      number = Number(dtype, BytesOf(Element<T>::Store(static_cast<MathOf<T>>(static_cast<int64_t>(value)))));
    } else {
      number = Number(dtype, BytesOf(Element<T>::Store(static_cast<MathOf<T>>(value))));
    }
  });
  return number;
}

std::optional<double> TermBuilder::ValueOf(const Term* term) const {
  if (term->kind != TermKind::kNumber) return std::nullopt;
  std::optional<double> value;
  DispatchElement(term->dtype, [&]<class T>(std::type_identity<T>) {
    value = static_cast<double>(Element<T>::Load(Filled(*term, {})->As<T>()[0]));
  });
  return value;
}

bool TermBuilder::IsNumber(const Term* term, double value) const {
  const auto number = ValueOf(term);
  return number && std::bit_cast<uint64_t>(*number) == std::bit_cast<uint64_t>(value);
}

const Term* TermBuilder::Index(const PrimExpr* value) {
  const PrimExpr* simple = indices_.Simplify(value);
  if (const int64_t* number = arith::AsInt(simple)) return Number(value->dtype, *number);
  return Keep({.kind = TermKind::kIndex, .dtype = value->dtype, .indices = {simple}});
}

const Term* TermBuilder::UniformOf(const NDArray& array) {
  if (array.num_elements() == 0) return nullptr;
  const auto bytes = static_cast<size_t>(array.dtype().bytes());
  for (size_t at = bytes; at < array.num_bytes(); at += bytes) {
    if (std::memcmp(array.data(), array.data() + at, bytes) != 0) return nullptr;
  }
  const auto element = ElementAt(array, 0);
  return element ? Number(array.dtype(), *element) : nullptr;
}

const Term* TermBuilder::Array(const std::shared_ptr<const NDArray>& array) {
  return store_.Get({.kind = TermKind::kArray, .dtype = array->dtype(), .array = store_.Get(array)});
}

const Term* TermBuilder::Lambda(const Dims& dims, const Term* body) {
  return store_.Get({.kind = TermKind::kLambda, .dtype = body->dtype, .args = {body}, .indices = dims});
}

const Term* TermBuilder::Read(const Term* tensor, Dims indices) {
  if (tensor->kind == TermKind::kArray) {
    int64_t place = 0;
    bool is_known = true;
    for (size_t i = 0; i < indices.size(); ++i) {
      const int64_t* index = arith::AsInt(indices[i]);
      const int64_t extent = tensor->array->shape()[i];
      is_known = is_known && index && *index >= 0 && *index < extent;
      if (is_known) place = place * extent + *index;
    }
    const auto element = is_known ? ElementAt(*tensor->array, place) : std::nullopt;
    if (element) return Number(tensor->dtype, *element);
    if (const Term* constant = ReadConstant(*tensor->array, indices)) return constant;
  }
  return Keep({.kind = TermKind::kRead, .dtype = tensor->dtype, .args = {tensor}, .indices = std::move(indices)});
}

const Term* TermBuilder::Select(const PrimExpr* condition, const Term* a, const Term* b) {
  if (a == b) return a;
  if (const auto decided = indices_.Decide(condition)) return *decided ? a : b;
  const PrimExpr* simple = indices_.Simplify(condition);
  // Of two choices with the same other value.
  if (a->kind == TermKind::kSelect && a->args[1] == b) {
    const PrimExpr* both = indices_.make().Binary(NodeKind::kAnd, simple, a->indices[0]);
    return Select(both, a->args[0], b);
  }
  return Keep({.kind = TermKind::kSelect, .dtype = a->dtype, .args = {a, b}, .indices = {simple}});
}

const Term* TermBuilder::Fold(OpId op, const Attr* attrs, const std::vector<const Term*>& args, DataType dtype) {
  if (!std::ranges::all_of(args, [](const Term* arg) { return arg->kind == TermKind::kNumber; })) return nullptr;
  const OpInfo& info = OpInfoOf(op);
  // Sums of several terms, and functions of statistics, are not calls of the operator.
  if (args.empty() || args.size() != info.args.size() || !HasKernel(info)) return nullptr;
  std::vector<HostValue> values;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!IsElementType(args[i]->dtype)) return nullptr;
    const Tensor tensor = Filled(*args[i], {});
    const bool is_scalar = i < info.args.size() && info.args[i].kind == ArgKind::kPrimValue;
    if (is_scalar) {
      values.emplace_back(*ScalarOf(*tensor));
    } else {
      values.emplace_back(tensor);
    }
  }
  const Result<HostValue> result = EvalOp(info, attrs, values);
  const NDArray* tensor = result.ok() ? result->tensor() : nullptr;
  if (!tensor || tensor->num_elements() != 1 || tensor->dtype() != dtype) return nullptr;
  return UniformOf(*tensor);
}

const Term* TermBuilder::Apply(OpId op, const Attr* attrs, std::vector<const Term*> args, DataType dtype) {
  if (const Term* folded = FoldConstants(op, attrs, args, dtype)) return folded;
  if (const Term* simple = ApplyLaws(op, args, dtype)) return simple;
  return Keep({.kind = TermKind::kApply, .dtype = dtype, .op = op, .attrs = attrs, .args = std::move(args)});
}

const Term* TermBuilder::Cast(const Term* x, DataType dtype) {
  return Apply(op::kAstype, MakeOpAttrs(op::kAstype, AstypeAttrs::Values{.dtype = dtype}), {x}, dtype);
}

const Term* TermBuilder::At(const Term* body, const Dims& dims, const Dims& values) {
  SymVarMap map;
  for (size_t i = 0; i < dims.size(); ++i) {
    const PrimExpr* index = indices_.Index(i, dims[i]);
    if (index != values[i] && Is<tir::Var>(index)) map.Set(To<tir::Var>(index), values[i]);
  }
  return Substitute(body, map);
}

const Term* TermBuilder::Substitute(const Term* body, const SymVarMap& map) {
  if (map.empty()) return body;
  LookupMap<const Term*, const Term*> done;
  return SubstituteIn(body, map, done);
}

const Term* TermBuilder::SubstituteIn(const Term* term, const SymVarMap& map,
                                      LookupMap<const Term*, const Term*>& done) {
  if (term->is_closed() || term->kind == TermKind::kNumber || is_full()) return term;
  if (const Term* const* known = done.Find(term)) return *known;
  Dims indices;
  for (const PrimExpr* index : term->indices) indices.push_back(indices_.Substitute(index, map));
  std::vector<const Term*> args;
  for (const Term* arg : term->args) args.push_back(WithStack([&] { return SubstituteIn(arg, map, done); }));
  return done[term] = Rebuild(term, std::move(indices), std::move(args));
}

const Term* TermBuilder::Rebuild(const Term* term, Dims indices, std::vector<const Term*> args) {
  if (indices == term->indices && args == term->args) return term;
  switch (term->kind) {
    case TermKind::kIndex: return Index(indices[0]);
    case TermKind::kRead: return Read(args[0], std::move(indices));
    case TermKind::kSelect: return Select(indices[0], args[0], args[1]);
    default: break;
  }
  if (term->text.empty()) return Apply(term->op, term->attrs, std::move(args), term->dtype);
  Term other = *term;
  other.args = std::move(args);
  return Keep(std::move(other));
}

const Term* TermBuilder::Map(const Term* body, FunctionRef<const Term*(const Term*)> map) {
  LookupMap<const Term*, const Term*> done;
  const auto visit = [&](const Term* term, auto& self) -> const Term* {
    if (term->is_closed() || term->args.empty() || is_full()) return term;
    if (const Term* const* known = done.Find(term)) return *known;
    if (const Term* mapped = map(term)) return done[term] = mapped;
    std::vector<const Term*> args;
    for (const Term* arg : term->args) args.push_back(WithStack([&] { return self(arg, self); }));
    return done[term] = Rebuild(term, term->indices, std::move(args));
  };
  return visit(body, visit);
}

const Term* Assuming(const Term* body, const PrimExpr* condition, bool holds, TermBuilder& terms) {
  return terms.Map(body, [&](const Term* term) -> const Term* {
    const bool is_choice = term->kind == TermKind::kSelect && term->indices[0] == condition;
    return is_choice ? WithStack([&] { return Assuming(term->args[holds ? 0 : 1], condition, holds, terms); })
                     : nullptr;
  });
}

void TermBuilder::VarsInOrder(const Term* term, LookupSet<const Term*>& seen, std::vector<const PrimExpr*>& vars) {
  if (term->is_closed() || !seen.insert(term)) return;
  for (const PrimExpr* index : term->indices) {
    for (const PrimExpr* var : indices_.VarsOf(index)) {
      if (std::ranges::find(vars, var) == vars.end()) vars.push_back(var);
    }
  }
  for (const Term* arg : term->args) WithStack([&] { VarsInOrder(arg, seen, vars); });
}

const Term* TermBuilder::Reduce(OpId op, const Dims& reduced, const Term* body) {
  if (op == op::kMean && laws_.reals && body->dtype.is_floating()) {
    double count = 1;
    for (const PrimExpr* extent : reduced)
      count *= arith::AsInt(extent) ? static_cast<double>(*arith::AsInt(extent)) : 0;
    const Term* share = count > 0 ? Number(body->dtype, 1 / count) : nullptr;
    if (share) return Apply(op::kMultiply, nullptr, {share, Reduce(op::kSum, reduced, body)}, body->dtype);
  }
  const bool is_empty = std::ranges::any_of(reduced, [](const PrimExpr* extent) { return arith::IsInt(extent, 0); });
  const Term* of_nothing =
      is_empty && (op == op::kSum || op == op::kProd) ? Number(body->dtype, op == op::kSum ? 0.0 : 1.0) : nullptr;
  if (of_nothing) return of_nothing;
  if (const Term* other = RearrangeReduction(op, reduced, body)) return other;
  if (op == op::kSum) {
    if (const Term* constant = SumConstant(reduced, body)) return constant;
    if (const Term* factored = FactorSum(reduced, body)) return factored;
  }
  std::vector<const PrimExpr*> vars;
  LookupSet<const Term*> seen;
  VarsInOrder(body, seen, vars);
  SymVarMap map;
  Dims places;  // of the reduction, in terms of the variables outside
  Dims dims;
  Dims inner;
  std::vector<bool> is_used(reduced.size());
  std::vector<const PrimExpr*> names(reduced.size());
  for (size_t i = 0; i < reduced.size() && laws_.IsOrdered(op, body->dtype); ++i) {
    if (arith::IsInt(reduced[i], 1)) continue;
    names[i] = indices_.Reduction(inner.size(), reduced[i]);
    inner.push_back(reduced[i]);
    is_used[i] = true;
  }
  for (const PrimExpr* var : vars) {
    const IndexSpace::Place place = *indices_.PlaceOf(var);
    const PrimExpr* name = place.is_reduction ? names[place.number] : indices_.Index(dims.size(), place.extent);
    if (place.is_reduction && name == nullptr) {
      name = indices_.Reduction(inner.size(), place.extent);
      inner.push_back(place.extent);
      is_used[place.number] = true;
    }
    if (!place.is_reduction) {
      places.push_back(var);
      dims.push_back(place.extent);
    }
    if (name != var) map.Set(To<tir::Var>(var), name);
  }
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!is_used[i] && !arith::IsInt(reduced[i], 1)) inner.push_back(reduced[i]);
  }
  if (inner.empty()) return OfOneElement(op, body);
  const Term* renamed = Substitute(body, map);
  Dims extents = dims;
  extents.insert(extents.end(), inner.begin(), inner.end());
  const Term* tensor = store_.Get({.kind = TermKind::kReduce,
                                   .dtype = body->dtype,
                                   .op = op,
                                   .number = static_cast<int64_t>(dims.size()),
                                   .args = {renamed},
                                   .indices = std::move(extents)});
  return Read(tensor, std::move(places));
}

}  // namespace iropt::proof
