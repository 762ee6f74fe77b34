#include "semantics/proof/failures.h"

#include <algorithm>
#include <utility>

#include "iropt/infer/axes.h"
#include "iropt/ir/element.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/statistical.h"

namespace iropt::proof {

namespace {

bool IsWholeNumber(DataType dtype) { return dtype.is_integer() && !dtype.is_bool(); }

// Operators of integers whose results are not defined for every second operand.
bool IsPartial(OpId op) {
  switch (op) {
    case op::kDivide:
    case op::kFloorDivide:
    case op::kMod:
    case op::kFloorMod:
    case op::kLeftShift:
    case op::kRightShift:
    case op::kPower: return true;
    default: return false;
  }
}

// Returns whether the result is defined with this second operand, whatever the first one is.
bool IsDefined(OpId op, double operand, DataType dtype) {
  if (op == op::kPower) return operand >= 0;
  if (op == op::kLeftShift || op == op::kRightShift) return operand >= 0 && operand < dtype.bits;
  return operand > 0;
}

bool IsAlwaysDefined(const OpCall& call, TermBuilder& terms) {
  const Value& operand = call.args[1];
  if (const auto number = terms.ValueOf(operand.term)) return IsDefined(call.op, *number, call.dtype);
  const bool divides =
      call.op == op::kDivide || call.op == op::kFloorDivide || call.op == op::kMod || call.op == op::kFloorMod;
  if (divides && operand.term && operand.term->kind == TermKind::kIndex) {
    IndexSpace& indices = terms.indices();
    return indices.Decide(indices.make().Binary(NodeKind::kGT, operand.term->indices[0], indices.Int(0))) == true;
  }
  if (!operand.array) return false;
  bool is_defined = true;
  DispatchElement(operand.array->dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T& element : operand.array->As<T>())
      is_defined = is_defined && IsDefined(call.op, static_cast<double>(Element<T>::Load(element)), call.dtype);
  });
  return is_defined;
}

// Some element of these dimensions.
class SomeElement {
 public:
  SomeElement(const Dims& dims, TermBuilder& terms) : dims_(dims), terms_(terms) {
    for (size_t i = 0; i < dims.size(); ++i) places_.push_back(terms.indices().Reduction(i, dims[i]));
  }

  // Of operands that are elements of these dimensions: no law makes them other ones.
  const Term* Of(const OpCall& call, std::vector<const Term*> operands) {
    const Term* element = terms_.Make({.kind = TermKind::kApply,
                                       .dtype = DataType::Bool(),
                                       .op = call.op,
                                       .args = std::move(operands),
                                       .text = "fails for " + call.dtype.ToString()});
    return terms_.Reduce(op::kMin, dims_, terms_.At(element, dims_, places_));
  }

 private:
  const Dims& dims_;
  TermBuilder& terms_;
  Dims places_;
};

const Term* Sizes(Dims sizes, std::string text, TermBuilder& terms) {
  return terms.Make({.kind = TermKind::kShape, .indices = std::move(sizes), .text = std::move(text)});
}

const PrimExpr* NumElements(const Dims& dims, IndexSpace& indices) {
  const PrimExpr* product = indices.Int(1);
  for (const PrimExpr* dim : dims) product = indices.make().Mul(product, dim);
  return indices.Simplify(product);
}

// A greatest or least element of nothing.
void AddEmptyReductions(const OpCall& call, TermBuilder& terms, std::vector<const Term*>& failures) {
  const Dims& dims = call.args[0].dims;
  std::vector<bool> is_reduced(dims.size(), true);
  if (const auto given = StatisticalAttrs(call.attrs).axis()) {
    const auto axes = NormalizeAxes(given->vector(), static_cast<int64_t>(dims.size()));
    is_reduced.assign(dims.size(), !axes.ok());
    if (axes.ok()) {
      for (const int64_t axis : *axes) is_reduced[static_cast<size_t>(axis)] = true;
    }
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t* number = arith::AsInt(dims[i]);
    if (is_reduced[i] && (number == nullptr || *number == 0)) failures.push_back(Sizes({dims[i]}, "empty", terms));
  }
}

// A slice that is not within the axis, or not as long as what is written there.
void AddScatter(const OpCall& call, TermBuilder& terms, std::vector<const Term*>& failures) {
  IndexSpace& indices = terms.indices();
  const arith::PrimBuilder& make = indices.make();
  OpEncoder ops(terms);
  const auto axis = NormalizeAxis(SliceScatterAttrs(call.attrs).axis(), static_cast<int64_t>(call.dims.size()));
  const PrimExpr* begin = ops.IntegerOf(call.args[2]);
  const PrimExpr* end = ops.IntegerOf(call.args[3]);
  const PrimExpr* stride = ops.IntegerOf(call.args[4]);
  const auto at = static_cast<size_t>(*axis);
  const Dims& source = call.args[1].dims;
  const auto is_in_order = [&](const PrimExpr* a, const PrimExpr* b) {
    return indices.Decide(make.Binary(NodeKind::kLE, a, b)) == true;
  };
  bool fits = is_in_order(indices.Int(1), stride) && is_in_order(indices.Int(0), begin) && is_in_order(begin, end) &&
              is_in_order(end, call.dims[at]);
  for (size_t i = 0; fits && i < source.size(); ++i)
    fits = indices.IsEqual(source[i], i == at ? make.CeilDiv(make.Sub(end, begin), stride) : call.dims[i]);
  if (fits) return;
  Dims sizes{begin, end, stride};
  sizes.insert(sizes.end(), call.dims.begin(), call.dims.end());
  sizes.insert(sizes.end(), source.begin(), source.end());
  failures.push_back(Sizes(std::move(sizes), "scatter", terms));
}

// A stride that may be 0.
void AddStrides(const OpCall& call, TermBuilder& terms, std::vector<const Term*>& failures) {
  OpEncoder ops(terms);
  IndexSpace& indices = terms.indices();
  const auto add = [&](const PrimExpr* stride) {
    if (stride && !arith::AsInt(stride) &&
        indices.Decide(indices.make().Binary(NodeKind::kNE, stride, indices.Int(0))) != true)
      failures.push_back(Sizes({stride}, "stride", terms));
  };
  if (call.op == op::kStridedSlice) {
    if (call.args.size() < 5) return;
    for (const Value& stride : call.args[4].fields) add(ops.IntegerOf(stride));
    return;
  }
  for (size_t i = 0; i < call.args[0].dims.size(); ++i) add(ops.IntegerAt(call.args[3], i));
}

// One place that may be out of range.
void AddTakenPlace(const OpCall& call, TermBuilder& terms, std::vector<const Term*>& failures) {
  IndexSpace& indices = terms.indices();
  const Dims& dims = call.args[0].dims;
  const auto axis = NormalizeAxis(TakeAttrs(call.attrs).axis().value_or(0), static_cast<int64_t>(dims.size()));
  const auto at = static_cast<size_t>(*axis);
  const PrimExpr* place = TakenPlace(call, at, terms);
  if (!indices.IsWithin(place, dims[at], nullptr))
    failures.push_back(Sizes({indices.Simplify(place), dims[at]}, "take", terms));
}

// Shapes that may not be broadcast to one.
void AddBroadcasts(const Value& unranked, TermBuilder& terms, std::vector<const Term*>& failures) {
  const std::vector<const Term*>& shapes = unranked.shapes;
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t j = i + 1; j < shapes.size(); ++j)
      failures.push_back(terms.Make({.kind = TermKind::kTuple, .args = {shapes[i], shapes[j]}, .text = "broadcast"}));
  }
}

// A value that the dtype does not hold.
void AddConversion(const OpCall& call, const Value& from, const Term* to, TermBuilder& terms,
                   std::vector<const Term*>& failures) {
  const bool may_fail = from.dtype().is_floating() && IsWholeNumber(call.dtype);
  // A conversion that vanishes is one of values that the dtype holds; conversions before it that keep all values do not
  // count.
  if (may_fail && to->kind == TermKind::kApply && to->op == op::kAstype)
    failures.push_back(SomeElement(from.dims, terms).Of(call, {to->args[0]}));
}

}  // namespace

void FailureSet::Add(Failure failure) {
  if (known_.insert(failure).second) all_.push_back(std::move(failure));
}

void FailureSet::AddAll(const FailureSet& part) {
  for (const Failure& failure : part.all_) {
    std::vector<const Term*> path = path_;
    path.insert(path.end(), failure.path.begin(), failure.path.end());
    Add({failure.term, std::move(path)});
  }
}

bool MayFailOnElements(const OpCall& call) {
  if (!IsWholeNumber(call.dtype)) return false;
  const size_t converted = call.op == op::kFullLike ? 1 : 0;
  const bool converts = call.op == op::kAstype || call.op == op::kFullLike;
  return IsPartial(call.op) || (converts && call.args[converted].dtype().is_floating());
}

std::vector<const Term*> FailuresOf(const OpCall& call, const Value& result, TermBuilder& terms) {
  std::vector<const Term*> failures;
  if (result.kind == Value::Kind::kUnranked) {
    AddBroadcasts(result, terms, failures);
    return failures;
  }
  if (IsPartial(call.op) && IsWholeNumber(call.dtype) && !IsAlwaysDefined(call, terms)) {
    OpEncoder ops(terms);
    const Term* a = ops.Operand(call.args[0], call.dims);
    const Term* b = ops.Operand(call.args[1], call.dims);
    failures.push_back(SomeElement(call.dims, terms).Of(call, {a, b}));
  }
  IndexSpace& indices = terms.indices();
  switch (call.op) {
    case op::kAstype: AddConversion(call, call.args[0], result.term, terms, failures); break;
    case op::kFull:
    case op::kFullLike: AddConversion(call, call.args[1], result.term, terms, failures); [[fallthrough]];
    case op::kOnes:
    case op::kZeros:
      for (const PrimExpr* dim : call.dims) {
        const auto fits = indices.Decide(indices.make().Binary(NodeKind::kGE, dim, indices.Int(0)));
        if (fits != true) failures.push_back(Sizes({dim}, "negative", terms));
      }
      break;
    case op::kReshape:
    case op::kExpandDims:
    case op::kSqueeze:
    case op::kFlatten:
    case op::kNnBatchFlatten: {
      const PrimExpr* from = NumElements(call.args[0].dims, indices);
      const PrimExpr* to = NumElements(call.dims, indices);
      if (!indices.IsEqual(from, to)) failures.push_back(Sizes({from, to}, "reshape", terms));
      break;
    }
    case op::kTake: AddTakenPlace(call, terms, failures); break;
    case op::kSliceScatter: AddScatter(call, terms, failures); break;
    case op::kStridedSlice:
    case op::kDynamicStridedSlice: AddStrides(call, terms, failures); break;
    case op::kMax:
    case op::kMin: AddEmptyReductions(call, terms, failures); break;
    default: break;
  }
  return failures;
}

const Failure* FindOtherFailure(const FailureSet& set, const FailureSet& other, Comparison& comparison) {
  const auto is_same = [&](const Term* a, const Term* b) {
    return a == b || (a->kind == b->kind && a->op == b->op && a->text == b->text && comparison.IsEqual(a, b));
  };
  for (const Failure& failure : set.all()) {
    const auto covers = [&](const Failure& known) {
      const auto has_condition = [&](const Term* condition) {
        return std::ranges::any_of(failure.path, [&](const Term* own) { return is_same(condition, own); });
      };
      return std::ranges::all_of(known.path, has_condition) && is_same(known.term, failure.term);
    };
    if (!std::ranges::any_of(other.all(), [&](const Failure& known) { return known == failure; }) &&
        !std::ranges::any_of(other.all(), covers))
      return &failure;
  }
  return nullptr;
}

}  // namespace iropt::proof
