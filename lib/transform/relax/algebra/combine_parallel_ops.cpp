// CombineParallelConv2D, CombineParallelDense, CombineParallelBatchMatmul: compute several convolutions of the same
// data, or products with the same left factor, as one.
//
//   y0 = R.nn.conv2d(x, w0)               lv = R.concat((w0, w1, w2), axis=0)
//   y1 = R.nn.conv2d(x, w1)      -->      lv1 = R.nn.conv2d(x, lv)
//   y2 = R.nn.conv2d(x, w2)               lv2 = R.split(lv1, indices_or_sections=[64, 128], axis=1)
//                                         y0 = lv2[0]
//                                         ...
//
// There must be at least `min_num_branches` of them. Convolutions must have the same attributes, one group, and kernels
// of the same size. CombineParallelDense is for matrices without a batch: with `to_batch` it stacks factors of the same
// shape to one product with a batch, else it concatenates their columns. CombineParallelBatchMatmul is for factors with
// one batch dimension. Unlike CombineParallelMatmul they need static widths, and leave what follows the operators
// alone. Changed functions are cleaned up. Near-linear.
//
// Source: the passes of these names of Relay, TVM's former graph-level IR.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "iropt/arith/prim_builder.h"
#include "iropt/transform/passes.h"
#include "parallel_branches.h"

namespace iropt {

namespace {

// Calls with the same data and the same form, in order, each with its position in the segment.
struct Siblings {
  std::vector<std::pair<const Call*, uint32_t>> calls = {};
};

const PrimExpr* DimAt(const Call& call, size_t axis) { return TensorTypeOf(call.args[1])->dims[axis]; }

// Returns whether the second operands have equal dimensions but for `axis`.
bool DifferOnlyAt(const Call& a, const Call& b, size_t axis) {
  const TensorType* x = TensorTypeOf(a.args[1]);
  const TensorType* y = TensorTypeOf(b.args[1]);
  if (x->ndim != y->ndim || x->dtype != y->dtype) return false;
  for (size_t i = 0; i < x->dims.size(); ++i) {
    if (i != axis && x->dims[i] != y->dims[i]) return false;
  }
  return true;
}

// Groups the calls of an operator that `axis_of` takes: it gives the axis of the second operand along which calls are
// combined, or -1. Calls of a group have the same data and attributes, and differ along this axis only.
std::vector<Siblings> FindSiblings(std::span<const Binding* const> segment, OpId op,
                                   FunctionRef<int(const Call&)> axis_of) {
  std::vector<Siblings> groups;
  std::unordered_map<const Expr*, std::vector<size_t>> by_data;  // looked up, never iterated
  for (uint32_t i = 0; i < segment.size(); ++i) {
    const auto* binding = As<VarBinding>(segment[i]);
    const Call* call = binding ? CallOf(binding->value, op) : nullptr;
    const TensorType* factor = call ? TensorTypeOf(call->args[1]) : nullptr;
    if (!factor || !factor->known || !Is<Var>(call->args[0])) continue;
    const int axis = axis_of(*call);
    if (axis < 0 || !arith::AsInt(factor->dims[static_cast<size_t>(axis)])) continue;
    std::vector<size_t>& candidates = by_data[call->args[0]];
    const auto found = std::ranges::find_if(candidates, [&](size_t g) {
      const Call& first = *groups[g].calls.front().first;
      return AttrEqual(first.attrs, call->attrs) && DifferOnlyAt(first, *call, static_cast<size_t>(axis));
    });
    const size_t group = found == candidates.end() ? groups.size() : *found;
    if (found == candidates.end()) {
      candidates.push_back(group);
      groups.emplace_back();
    }
    groups[group].calls.emplace_back(call, i);
  }
  return groups;
}

CombinedBranches Describe(const Siblings& siblings) {
  CombinedBranches combined;
  combined.operands.push_back(siblings.calls.front().first->args[0]);
  for (uint32_t i = 0; i < siblings.calls.size(); ++i) {
    combined.operands.push_back(siblings.calls[i].first->args[1]);
    combined.replaced.emplace_back(siblings.calls[i].second, i);
  }
  return combined;
}

// One call with the second operands concatenated along `axis`, whose result is split along `out_axis`.
const Expr* Concatenated(const Siblings& siblings, size_t axis, int64_t out_axis, OpCalls calls) {
  std::vector<const Expr*> factors;
  std::vector<int64_t> indices;
  int64_t width = 0;
  for (const auto& [call, at] : siblings.calls) {
    if (!factors.empty()) indices.push_back(width);
    factors.push_back(call->args[1]);
    width += *arith::AsInt(DimAt(*call, axis));
  }
  const Call& first = *siblings.calls.front().first;
  const Expr* factor = calls.Concat(factors, static_cast<int64_t>(axis));
  return calls.Split(calls.Make(As<Op>(first.op)->id, {first.args[0], factor}, first.attrs), indices, out_axis);
}

// One product with a batch of the factors, as a tuple of its items.
const Expr* Stacked(const Siblings& siblings, OpCalls calls) {
  constexpr int64_t kFront[] = {0};
  std::vector<const Expr*> factors;
  for (const auto& [call, at] : siblings.calls) factors.push_back(calls.ExpandDims(call->args[1], kFront));
  const Call& first = *siblings.calls.front().first;
  const Expr* product = calls.Make(OpId::kMatmul, {first.args[0], calls.Concat(factors, 0)}, first.attrs);
  std::vector<int64_t> indices;
  for (size_t i = 1; i < factors.size(); ++i) indices.push_back(static_cast<int64_t>(i));
  const Expr* parts = calls.Split(product, indices, 0);
  std::vector<const Expr*> items;
  for (size_t i = 0; i < factors.size(); ++i) {
    const Expr* item = calls.MakeItem(parts, static_cast<int>(i));
    items.push_back(calls.Make(OpId::kSqueeze, {item},
                               MakeOpAttrs(OpId::kSqueeze, SqueezeAttrs::Values{.axis = std::span(kFront)})));
  }
  return calls.MakeTuple(items);
}

int OutputChannelAxis(const Call& conv) {
  const ConvAttrs attrs(conv);
  const size_t axis = attrs.kernel_layout().find('O');
  const TensorType* kernel = TensorTypeOf(conv.args[1]);
  if (attrs.groups() != 1 || attrs.kernel_layout().size() != 4 || kernel->ndim != 4 || axis > 3) return -1;
  return static_cast<int>(axis);
}

// The last axis of factors of this rank, for data of the rank.
int ColumnAxis(const Call& matmul, int rank) {
  const TensorType* data = TensorTypeOf(matmul.args[0]);
  return data && data->ndim == rank && TensorTypeOf(matmul.args[1])->ndim == rank ? rank - 1 : -1;
}

template <class Combine>
std::vector<CombinedBranches> Collect(const std::vector<Siblings>& groups, int64_t min_branches, Combine&& combine) {
  std::vector<CombinedBranches> combined;
  for (const Siblings& siblings : groups) {
    if (siblings.calls.size() < 2 || siblings.calls.size() < static_cast<size_t>(min_branches)) continue;
    combined.push_back(Describe(siblings));
    combined.back().combine = [siblings, combine](OpCalls calls) { return combine(siblings, calls); };
  }
  return combined;
}

std::vector<CombinedBranches> FindConvolutions(std::span<const Binding* const> segment, int64_t min_branches) {
  return Collect(FindSiblings(segment, OpId::kNnConv2d, &OutputChannelAxis), min_branches,
                 [](const Siblings& siblings, OpCalls calls) {
                   const Call& first = *siblings.calls.front().first;
                   const ConvAttrs attrs(first);
                   const std::string_view layout =
                       attrs.out_layout().empty() ? attrs.data_layout() : attrs.out_layout();
                   return Concatenated(siblings, static_cast<size_t>(OutputChannelAxis(first)),
                                       static_cast<int64_t>(layout.find('C')), calls);
                 });
}

std::vector<CombinedBranches> FindProducts(std::span<const Binding* const> segment, int64_t min_branches, int rank) {
  return Collect(FindSiblings(segment, OpId::kMatmul, [=](const Call& call) { return ColumnAxis(call, rank); }),
                 min_branches, [=](const Siblings& siblings, OpCalls calls) {
                   return Concatenated(siblings, static_cast<size_t>(rank) - 1, rank - 1, calls);
                 });
}

std::vector<CombinedBranches> FindDense(std::span<const Binding* const> segment, int64_t min_branches) {
  return FindProducts(segment, min_branches, 2);
}

std::vector<CombinedBranches> FindBatchMatmuls(std::span<const Binding* const> segment, int64_t min_branches) {
  return FindProducts(segment, min_branches, 3);
}

// Factors of equal shapes.
std::vector<CombinedBranches> FindStackable(std::span<const Binding* const> segment, int64_t min_branches) {
  std::vector<Siblings> by_width;
  for (const Siblings& siblings :
       FindSiblings(segment, OpId::kMatmul, [](const Call& call) { return ColumnAxis(call, 2); })) {
    std::map<int64_t, Siblings> widths;
    for (const auto& call : siblings.calls) widths[*arith::AsInt(DimAt(*call.first, 1))].calls.push_back(call);
    for (auto& [width, same] : widths) by_width.push_back(std::move(same));
  }
  return Collect(by_width, min_branches, &Stacked);
}

Pass MakePass(const PassOptions& options, FindGroups find) {
  return CreateFunctionPass(options.info(), [find, min_branches = options.Count("min_num_branches")](
                                                const Function* function, FunctionPassContext& context) {
    return CombineBranches(function, find, min_branches, context);
  });
}

}  // namespace

Pass CreateCombineParallelConv2D(const PassOptions& options) { return MakePass(options, &FindConvolutions); }

Pass CreateCombineParallelDense(const PassOptions& options) {
  return MakePass(options, options.Bool("to_batch") ? &FindStackable : &FindDense);
}

Pass CreateCombineParallelBatchMatmul(const PassOptions& options) { return MakePass(options, &FindBatchMatmuls); }

}  // namespace iropt
