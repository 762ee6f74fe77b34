// CombineParallelMatmul: computes several products with the same left factor as one.
//
//   y0 = R.matmul(x, w0)                  lv = R.concat((w0, w1), axis=1)
//   y1 = R.matmul(x, w1)       -->        lv1 = R.matmul(x, lv)
//                                         lv2 = R.split(lv1, indices_or_sections=[64], axis=1)
//                                         y0 = lv2[0]
//                                         y1 = lv2[1]
//
// If every product is followed by an addition (of a bias), and the sum or the product by the same activation (relu,
// gelu, gelu_tanh, silu), these are combined, too. The right factors must be variables of one rank with equal batch
// dimensions; one of them, which becomes the last one, may have a symbolic width. Changed functions are cleaned up:
// CanonicalizeBindings, EliminateCommonSubexpr, dead bindings. Near-linear.
//
// Source: TVM 0.18's pass of this name.
#include "combine_parallel_matmul.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "iropt/arith/analyzer.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/concat.h"
#include "iropt/infer/ops/matmul.h"
#include "iropt/ir/location.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "parallel_branches.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

constexpr std::array kActivations{op::kNnRelu, op::kNnGelu, op::kNnGeluTanh, op::kNnSilu};

// A call in a segment.
struct Step {
  const Call* call = nullptr;
  uint32_t at = 0;
};

// A product, and what follows it.
struct Branch {
  Step matmul;
  std::optional<Step> bias_add = std::nullopt;
  std::optional<Step> activation = std::nullopt;
  std::optional<Step> activation_of_sum = std::nullopt;

  const Expr* rhs() const { return matmul.call->args[1]; }
  const Expr* bias() const { return bias_add->call->args[1]; }
  const TensorType& rhs_type() const { return *TensorTypeOf(rhs()); }
  const PrimExpr* width() const { return rhs_type().dims.back(); }
  uint32_t last() const { return activation ? activation->at : bias_add ? bias_add->at : matmul.at; }
};

// The products with one left factor.
struct Family {
  std::vector<Branch> branches = {};
  // Numbers of additions, and of activations of each kind, with a product or a sum of the family as operand.
  size_t num_sums = 0;
  std::array<size_t, kActivations.size()> num_activations = {};
  std::array<size_t, kActivations.size()> num_activations_of_sums = {};
};

// The families of a segment, in the order of their first products.
class FamilyFinder {
 public:
  explicit FamilyFinder(std::span<const Binding* const> segment) {
    for (uint32_t i = 0; i < segment.size(); ++i) {
      const auto* binding = As<VarBinding>(segment[i]);
      const auto* call = binding ? As<Call>(binding->value) : nullptr;
      const auto* op = call ? As<Op>(call->op) : nullptr;
      if (op) Visit(binding->var, {call, i}, op->id);
    }
  }

  std::vector<Family>& families() { return families_; }

 private:
  struct Place {
    size_t family = 0;
    size_t branch = 0;
    bool is_sum = false;
  };

  void Visit(const Var* var, Step step, OpId op) {
    if (op == op::kMatmul) return VisitMatmul(var, step);
    if (places_.empty()) return;
    if (op == op::kAdd) return VisitAdd(var, step);
    const auto* activation = std::ranges::find(kActivations, op);
    if (activation != kActivations.end()) VisitActivation(step, activation - kActivations.begin());
  }

  void VisitMatmul(const Var* var, Step step) {
    const auto* lhs = As<Var>(step.call->args[0]);
    if (!lhs) return;
    const auto [family, is_new] = by_lhs_.try_emplace(lhs, families_.size());
    if (is_new) families_.emplace_back();
    std::vector<Branch>& branches = families_[family].branches;
    places_[var] = {family, branches.size(), false};
    branches.push_back({step});
  }

  void VisitAdd(const Var* var, Step step) {
    bool counted = false;
    for (uint32_t i = 0; i < 2; ++i) {
      const auto* operand = As<Var>(step.call->args[i]);
      const auto* place = operand ? places_.Find(operand) : nullptr;
      if (!place || place->is_sum) continue;
      const Place at = *place;
      if (!counted) ++families_[at.family].num_sums;
      counted = true;
      Branch& branch = families_[at.family].branches[at.branch];
      if (i > 0 || branch.bias_add) continue;
      branch.bias_add = step;
      places_[var] = {at.family, at.branch, true};
    }
  }

  void VisitActivation(Step step, size_t kind) {
    const auto* operand = As<Var>(step.call->args[0]);
    const auto* place = operand ? places_.Find(operand) : nullptr;
    if (!place) return;
    Family& family = families_[place->family];
    ++(place->is_sum ? family.num_activations_of_sums : family.num_activations)[kind];
    Branch& branch = family.branches[place->branch];
    std::optional<Step>& activation = place->is_sum ? branch.activation_of_sum : branch.activation;
    if (!activation) activation = step;
  }

  std::vector<Family> families_;
  LookupMap<const Var*, size_t> by_lhs_;
  LookupMap<const Var*, Place> places_;  // of products and sums
};

// Returns whether an operator that follows products can be combined with them; else only the products are.
bool HaveSums(const Family& family) {
  if (family.num_sums != family.branches.size()) return false;
  const TensorType* first = nullptr;
  for (const Branch& branch : family.branches) {
    const TensorType* bias = branch.bias_add ? TensorTypeOf(branch.bias()) : nullptr;
    if (!bias || !Is<Var>(branch.bias()) || !bias->known || bias->ndim == 0) return false;
    if (!first) first = bias;
    if (bias->ndim != first->ndim) return false;
    if (!std::equal(bias->dims.begin(), bias->dims.end() - 1, first->dims.begin())) return false;
    if (!arith::ProveEqual(bias->dims.back(), branch.width())) return false;
  }
  return true;
}

std::optional<size_t> CommonActivation(const Family& family, bool of_sums) {
  const auto& counts = of_sums ? family.num_activations_of_sums : family.num_activations;
  const auto first = std::ranges::find_if(counts, [](size_t count) { return count > 0; });
  if (first == counts.end() || *first != family.branches.size()) return std::nullopt;
  const auto kind = static_cast<size_t>(first - counts.begin());
  const bool all = std::ranges::all_of(family.branches, [&](const Branch& branch) {
    const std::optional<Step>& activation = of_sums ? branch.activation_of_sum : branch.activation;
    return activation && IsOp(activation->call->op, kActivations[kind]);
  });
  return all ? std::optional(kind) : std::nullopt;
}

bool IsCandidate(const Branch& branch) {
  const TensorType* lhs = TensorTypeOf(branch.matmul.call->args[0]);
  const TensorType* rhs = TensorTypeOf(branch.rhs());
  const TensorType* out = TensorTypeOf(branch.matmul.call);
  return Is<Var>(branch.rhs()) && lhs && rhs && out && rhs->known && lhs->ndim != kUnknownDim && rhs->ndim >= 2 &&
         !out->dtype.is_void();
}

// The branches that can be one product: of one rank, with equal batch dimensions, at most one symbolic width, which is
// the last one. Empty if there is nothing to combine.
std::vector<Branch> Compatible(const std::vector<Branch>& branches, int rank) {
  std::vector<Branch> chosen;
  std::ranges::copy_if(branches, std::back_inserter(chosen),
                       [&](const Branch& branch) { return branch.rhs_type().ndim == rank; });
  if (chosen.size() < 2) return {};
  const TensorType& first = chosen.front().rhs_type();
  const DataType dtype = TensorTypeOf(chosen.front().matmul.call)->dtype;
  for (const Branch& branch : chosen) {
    for (int i = 0; i + 2 < rank; ++i) {
      if (!arith::ProveEqual(first.dims[i], branch.rhs_type().dims[i])) return {};
    }
    if (TensorTypeOf(branch.matmul.call)->dtype != dtype || branch.rhs_type().dtype != first.dtype) return {};
  }
  const auto is_dynamic = [](const Branch& branch) { return !arith::AsInt(branch.width()); };
  std::stable_partition(chosen.begin(), chosen.end(), std::not_fn(is_dynamic));
  const auto dynamic = std::ranges::find_if(chosen, is_dynamic);
  if (dynamic != chosen.end()) chosen.erase(dynamic + 1, chosen.end());
  if (chosen.size() < 2) return {};
  return chosen;
}

bool HasRepeatedOperand(const Family& family) {
  std::vector<const Expr*> operands;
  for (const Branch& branch : family.branches) {
    operands.push_back(branch.rhs());
    if (branch.bias_add) operands.push_back(branch.bias());
  }
  std::ranges::sort(operands, std::less<>());
  return std::ranges::adjacent_find(operands) != operands.end();
}

// The split of the combined product.
const Expr* Combine(const std::vector<Branch>& branches, OpBuilder calls) {
  const Branch& first = branches.front();
  std::vector<const Expr*> factors;
  std::vector<const Expr*> biases;
  std::vector<int64_t> indices;
  int64_t width = 0;
  for (const Branch& branch : branches) {
    factors.push_back(branch.rhs());
    if (branch.bias_add) biases.push_back(branch.bias());
    if (factors.size() == branches.size()) break;
    width += *arith::AsInt(branch.width());
    indices.push_back(width);
  }
  const DataType dtype = TensorTypeOf(first.matmul.call)->dtype;
  const auto joined = [&](const std::vector<const Expr*>& tensors, int64_t axis) {
    return op::Concat(calls, calls.MakeTuple(tensors), {.axis = axis});
  };
  const Expr* result =
      op::Matmul(calls, first.matmul.call->args[0], joined(factors, first.rhs_type().ndim - 1), {.out_dtype = dtype});
  if (!biases.empty()) result = op::Add(calls, result, joined(biases, TensorTypeOf(biases[0])->ndim - 1));
  if (first.activation) result = calls.Make(As<Op>(first.activation->call->op)->id, {result});
  return op::Split(calls, result, {.indices_or_sections = indices, .axis = TensorTypeOf(result)->ndim - 1});
}

CombinedBranches Describe(std::vector<Branch> branches) {
  CombinedBranches combined;
  combined.operands.push_back(branches.front().matmul.call->args[0]);
  for (uint32_t i = 0; i < branches.size(); ++i) {
    const Branch& branch = branches[i];
    combined.operands.push_back(branch.rhs());
    if (branch.bias_add) combined.operands.push_back(branch.bias());
    combined.replaced.emplace_back(branch.last(), i);
    combined.places.push_back(Location(*branch.matmul.call));
    if (branch.bias_add) combined.places.push_back(Location(*branch.bias_add->call));
    if (branch.activation) combined.places.push_back(Location(*branch.activation->call));
  }
  combined.combine = [branches = std::move(branches)](BlockBuilder& builder) {
    return Combine(branches, OpBuilder(builder));
  };
  return combined;
}

ParallelProducts ProductsOf(const std::vector<Branch>& branches) {
  ParallelProducts products{.left = As<Var>(branches.front().matmul.call->args[0])};
  for (const Branch& branch : branches) {
    products.factors.push_back(branch.rhs());
    if (branch.bias_add) products.biases.push_back(branch.bias());
  }
  return products;
}

using BranchCheck = std::function<bool(const std::vector<Branch>& branches)>;

std::vector<CombinedBranches> FindProducts(const Segment& segment, int64_t min_branches, const BranchCheck& check) {
  std::vector<CombinedBranches> groups;
  FamilyFinder finder(segment.bindings);
  for (Family& family : finder.families()) {
    if (family.branches.size() < static_cast<size_t>(min_branches)) continue;
    if (!std::ranges::all_of(family.branches, &IsCandidate)) continue;
    const bool sums = HaveSums(family);
    const std::optional<size_t> activation = CommonActivation(family, sums);
    std::vector<int> ranks;
    for (Branch& branch : family.branches) {
      if (!sums) branch.bias_add.reset();
      if (sums) branch.activation = branch.activation_of_sum;
      if (!activation) branch.activation.reset();
      ranks.push_back(branch.rhs_type().ndim);
    }
    if (HasRepeatedOperand(family)) continue;
    std::ranges::sort(ranks);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (const int rank : ranks) {
      std::vector<Branch> branches = Compatible(family.branches, rank);
      if (branches.size() >= static_cast<size_t>(min_branches) && check(branches))
        groups.push_back(Describe(std::move(branches)));
    }
  }
  return groups;
}

}  // namespace

Pass CreateCombineParallelMatmul(const PassInfo& info, const ParallelProductsCheck& check) {
  return CreateFunctionPass(info, [check](const Function* function, FunctionPassContext& context) {
    const auto holds = [&](const std::vector<Branch>& branches) {
      return check == nullptr || check(*function, context, ProductsOf(branches));
    };
    const auto find = [&](const Segment& segment, int64_t min_branches) {
      return FindProducts(segment, min_branches, holds);
    };
    return CombineBranches(function, find, 2, context);
  });
}

Pass CreateCombineParallelMatmul(const PassOptions& options) {
  return CreateCombineParallelMatmul(options.info(), nullptr);
}

}  // namespace iropt
