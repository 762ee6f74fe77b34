// AdjustMatmulOrder: chooses the cheaper order of a product of three matrices.
//
//   w = R.matmul(a, b)                lv = R.matmul(x, a)
//   y = R.matmul(x, w)      -->       y = R.matmul(lv, b)
//
// It must be provable that an order needs fewer multiplications; symbolic sizes are unknown but for the attribute
// tir_var_upper_bound of the function. If two neighbours can be computed at compile time (the parameters after the
// first num_input ones), their product comes first. A product that is transposed is transposed by its factors.
// O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compile_time.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/matmul.h"
#include "iropt/ir/structural.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// A sum of products of symbolic sizes with positive coefficients: the cost of an order. The factors of a product are
// sorted by the numbers of the variables, so that equal products are equal.
class Cost {
 public:
  using Factors = std::vector<const tir::Var*>;
  struct ById {
    bool operator()(const Factors& a, const Factors& b) const {
      return std::ranges::lexicographical_compare(a, b, {}, &tir::Var::id, &tir::Var::id);
    }
  };
  using Terms = std::map<Factors, double, ById>;

  // The size; nothing if it is not such a sum.
  static std::optional<Cost> Of(const PrimExpr* size) {
    if (const int64_t* value = arith::AsInt(size)) {
      if (*value < 0) return std::nullopt;
      return Cost(Terms{{{}, static_cast<double>(*value)}});
    }
    if (const auto* var = As<tir::Var>(size)) return Cost(Terms{{{var}, 1.0}});
    const auto* binary = As<tir::BinaryExpr>(size);
    if (!binary || (size->kind != NodeKind::kAdd && size->kind != NodeKind::kMul)) return std::nullopt;
    const std::optional<Cost> a = Of(binary->a);
    const std::optional<Cost> b = Of(binary->b);
    if (!a || !b) return std::nullopt;
    return size->kind == NodeKind::kAdd ? *a + *b : *a * *b;
  }

  friend Cost operator+(const Cost& a, const Cost& b) {
    Cost sum = a;
    for (const auto& [factors, count] : b.terms_) sum.terms_[factors] += count;
    return sum;
  }
  friend Cost operator*(const Cost& a, const Cost& b) {
    Cost product({});
    for (const auto& [x, m] : a.terms_) {
      for (const auto& [y, n] : b.terms_) {
        Factors factors;
        std::ranges::merge(x, y, std::back_inserter(factors), {}, &tir::Var::id, &tir::Var::id);
        product.terms_[factors] += m * n;
      }
    }
    return product;
  }

  // Returns whether it is proved that this is less than `other`: each term is at most one of the other, which is used
  // once. `bounds` are exclusive upper bounds; all sizes are at least 1.
  bool IsProvedLess(Cost other, const LookupMap<const tir::Var*, double>& bounds) const {
    bool less = false;
    for (const auto& [factors, count] : terms_) {
      double rest = count;
      for (auto& [more, available] : other.terms_) {
        if (rest <= 0) break;
        const double bound = BoundOfQuotient(factors, more, bounds);
        if (bound <= 0 || available <= 0) continue;
        const double used = std::min(available, rest * bound);
        available -= used;
        rest -= used / bound;
        less |= bound < 1;
      }
      if (rest > 0) return false;
    }
    return less || std::ranges::any_of(other.terms_, [](const auto& term) { return term.second > 0; });
  }

 private:
  explicit Cost(Terms terms) : terms_(std::move(terms)) {}

  // A bound of a / b; 0 if there is none.
  static double BoundOfQuotient(const Factors& a, const Factors& b, const LookupMap<const tir::Var*, double>& bounds) {
    Factors extra;
    std::ranges::set_difference(a, b, std::back_inserter(extra), {}, &tir::Var::id, &tir::Var::id);
    double bound = 1;
    for (const tir::Var* var : extra) {
      const auto* found = bounds.Find(var);
      if (!found) return 0;
      bound *= *found - 1;
    }
    return bound;
  }

  Terms terms_;
};

LookupMap<const tir::Var*, double> UpperBounds(const Function& function) {
  LookupMap<const tir::Var*, double> bounds;
  const auto* attr = As<DictAttr>(function.attrs->Find(attr::kTirVarUpperBound));
  if (!attr) return bounds;
  for (const Var* param : function.params) {
    ForEachDefinedSymVar(param->type, [&](const tir::Var* var) {
      if (const auto* bound = As<IntAttr>(attr->Find(var->name))) bounds[var] = static_cast<double>(bound->value);
    });
  }
  return bounds;
}

// The parts of the four patterns.
struct Parts {
  Pattern a = Wildcard();
  Pattern b = Wildcard();
  Pattern c = Wildcard();
};

enum class Order : uint8_t { kLeftFirst, kRightFirst };

class OrderAdjuster {
 public:
  OrderAdjuster(const Function& function, TextVersion version)
      : version_(version), known_(function), bounds_(UpperBounds(function)) {}

  // a * b * c, which is computed in this order; `transposed` is the permute_dims of the inner product, or null.
  const Expr* Adjust(const Match& match, const Parts& parts, Order now, const Call* transposed,
                     BlockBuilder& builder) const {
    std::array<const Expr*, 3> factors{match[parts.a], match[parts.b], match[parts.c]};
    std::array<std::vector<const PrimExpr*>, 3> shapes;
    for (size_t i = 0; i < 3; ++i) {
      const TensorType* tensor = TensorTypeOf(factors[i]);
      // A vector in the middle belongs to one side only.
      if (!tensor || !tensor->known || tensor->ndim < (i == 1 ? 2 : 1)) return nullptr;
      shapes[i].assign(tensor->dims.begin(), tensor->dims.end());
    }
    // Next to a vector, the batch dimensions of a product would be taken for rows.
    const bool has_vector = shapes[0].size() == 1 || shapes[2].size() == 1;
    if (has_vector && std::ranges::any_of(shapes, [](const auto& shape) { return shape.size() > 2; })) return nullptr;
    const bool on_left = now == Order::kLeftFirst;
    const std::array<bool, 3> moved{transposed && on_left, transposed != nullptr, transposed && !on_left};
    for (size_t i = 0; i < 3; ++i) {
      if (!moved[i]) continue;
      if (shapes[i].size() != 2) return nullptr;
      std::ranges::reverse(shapes[i]);
    }
    const std::optional<Order> best = Best(factors, shapes, match, transposed != nullptr);
    if (!best || (*best == now && !transposed)) return nullptr;
    OpBuilder calls(builder);
    for (size_t i = 0; i < 3; ++i) {
      if (moved[i]) factors[i] = op::PermuteDims(calls, factors[i]);
    }
    if (*best == Order::kLeftFirst) return op::Matmul(calls, op::Matmul(calls, factors[0], factors[1]), factors[2]);
    return op::Matmul(calls, factors[0], op::Matmul(calls, factors[1], factors[2]));
  }

 private:
  std::optional<Order> Best(const std::array<const Expr*, 3>& factors,
                            const std::array<std::vector<const PrimExpr*>, 3>& shapes, const Match& match,
                            bool is_transposed) const {
    std::array<bool, 3> known{};
    // The factors of a transposed product are not variables of the function once they are transposed.
    for (size_t i = 0; i < 3; ++i) known[i] = known_.Contains(factors[i], match);
    if (known[0] && known[1] && known[2]) return std::nullopt;
    if (!is_transposed) {
      if (known[0] && known[1]) return Order::kLeftFirst;
      if (known[1] && known[2]) return Order::kRightFirst;
    }
    const PrimExpr* one = arith::PrimBuilder().Int(1);
    const auto rows = [&](size_t i) { return shapes[i].size() < 2 ? one : shapes[i][shapes[i].size() - 2]; };
    const std::optional<Cost> n = Cost::Of(rows(0));
    const std::optional<Cost> r = Cost::Of(shapes[0].back());
    const std::optional<Cost> m = Cost::Of(shapes[2].size() < 2 ? shapes[2][0] : rows(2));
    const std::optional<Cost> p = Cost::Of(shapes[2].size() < 2 ? one : shapes[2].back());
    if (!n || !r || !m || !p) return std::nullopt;
    std::optional<Cost> left_first = (*r + *p) * *n * *m;
    std::optional<Cost> right_first = (*m + *n) * *r * *p;
    // Since TVM 0.25 each product counts as often as its batch dimensions say.
    if (version_ >= TextVersion::kV0_25) {
      const std::optional<Batches> batches = BatchesOf(shapes);
      if (!batches) return std::nullopt;
      left_first = batches->left * *n * *r * *m + batches->all * *n * *m * *p;
      right_first = batches->right * *r * *m * *p + batches->all * *n * *r * *p;
    }
    return Cheaper(*left_first, *right_first);
  }

  // Numbers of matrices in the products of the first two, of the last two, and of all factors.
  struct Batches {
    Cost left, right, all;
  };
  using Dims = std::span<const PrimExpr* const>;

  static std::optional<Batches> BatchesOf(const std::array<std::vector<const PrimExpr*>, 3>& shapes) {
    const auto prefix = [&](size_t i) {
      return Dims(shapes[i]).first(shapes[i].size() < 2 ? 0 : shapes[i].size() - 2);
    };
    const std::optional<std::vector<const PrimExpr*>> left = Broadcast(prefix(0), prefix(1));
    const std::optional<std::vector<const PrimExpr*>> right = Broadcast(prefix(1), prefix(2));
    const std::optional<std::vector<const PrimExpr*>> all = left ? Broadcast(*left, prefix(2)) : std::nullopt;
    if (!left || !right || !all) return std::nullopt;
    const std::optional<Cost> counts[] = {Product(*left), Product(*right), Product(*all)};
    if (!counts[0] || !counts[1] || !counts[2]) return std::nullopt;
    return Batches{*counts[0], *counts[1], *counts[2]};
  }
  static std::optional<std::vector<const PrimExpr*>> Broadcast(Dims a, Dims b) {
    if (a.size() < b.size()) std::swap(a, b);
    std::vector<const PrimExpr*> result(a.begin(), a.end());
    for (size_t i = 1; i <= b.size(); ++i) {
      const PrimExpr* other = b[b.size() - i];
      const PrimExpr*& dim = result[result.size() - i];
      if (arith::IsInt(dim, 1)) dim = other;
      if (!arith::IsInt(other, 1) && !DeepEqual(dim, other)) return std::nullopt;
    }
    return result;
  }
  static std::optional<Cost> Product(Dims dims) {
    std::optional<Cost> product = Cost::Of(arith::PrimBuilder().Int(1));
    for (const PrimExpr* dim : dims) {
      const std::optional<Cost> size = Cost::Of(dim);
      if (!size) return std::nullopt;
      product = *product * *size;
    }
    return product;
  }

  std::optional<Order> Cheaper(const Cost& left_first, const Cost& right_first) const {
    if (left_first.IsProvedLess(right_first, bounds_)) return Order::kLeftFirst;
    if (right_first.IsProvedLess(left_first, bounds_)) return Order::kRightFirst;
    return std::nullopt;
  }

  const TextVersion version_;
  CompileTimeVars known_;
  LookupMap<const tir::Var*, double> bounds_;
};

bool TransposesMatrix(const Expr* value) { return PermutationOf(*To<Call>(value)) == ExchangeLastTwo(2); }

bool KeepsDtype(const Expr* value) { return AccumulatesInOwnDtype(*To<Call>(value)); }

RuleSet MakeAdjustMatmulOrderRules(const Function& function, TextVersion version) {
  const auto adjuster = std::make_shared<const OrderAdjuster>(function, version);
  const Parts parts;
  const auto product = [](const Pattern& x, const Pattern& y) {
    return IsCall(GetOp(op::kMatmul), {x, y}).Where(&KeepsDtype);
  };
  const auto transpose = [](const Pattern& x) { return IsCall(GetOp(op::kPermuteDims), {x}).Where(&TransposesMatrix); };
  const Pattern left = transpose(product(parts.b, parts.a));
  const Pattern right = transpose(product(parts.c, parts.b));
  RuleSet rules;
  const auto add = [&](const char* name, const Pattern& pattern, Order order,
                       const std::optional<Pattern>& transposed) {
    rules.Add({name, pattern, [=](const Match& match, BlockBuilder& builder) {
                 const Call* permute = transposed ? match.CallAt(*transposed) : nullptr;
                 return adjuster->Adjust(match, parts, order, permute, builder);
               }});
  };
  add("left-first", product(product(parts.a, parts.b), parts.c), Order::kLeftFirst, std::nullopt);
  add("right-first", product(parts.a, product(parts.b, parts.c)), Order::kRightFirst, std::nullopt);
  add("left-first-transposed", product(left, parts.c), Order::kLeftFirst, left);
  add("right-first-transposed", product(parts.a, right), Order::kRightFirst, right);
  return rules;
}

}  // namespace

Pass CreateAdjustMatmulOrder(const PassOptions& options) {
  return CreateRulePass(options.info(), &MakeAdjustMatmulOrderRules);
}

}  // namespace iropt
