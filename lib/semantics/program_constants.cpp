#include "program_constants.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/runtime/value.h"
#include "reachable.h"

namespace iropt {

namespace {

// More would make each of them rare among the inputs.
constexpr size_t kMostConstants = 12;

// A set whose order of insertion is kept.
template <class T>
class OrderedSet {
 public:
  void Add(T value) {
    if (known_.insert(value).second) values_.push_back(value);
  }
  bool Has(T value) const { return known_.contains(value); }
  const std::vector<T>& values() const { return values_; }

 private:
  std::set<T> known_;
  std::vector<T> values_;
};

struct ConstantSets {
  OrderedSet<int64_t> compared_integers;
  OrderedSet<int64_t> integers;
  OrderedSet<double> compared_reals;
  OrderedSet<double> reals;
  OrderedSet<int64_t> dims;

  void Add(int64_t value, bool is_compared) {
    integers.Add(value);
    if (is_compared) compared_integers.Add(value);
  }
  void Add(double value, bool is_compared) {
    if (!std::isfinite(value)) return;
    reals.Add(value);
    if (is_compared) compared_reals.Add(value);
  }
};

class LoopConstants : public tir::StmtExprVisitor {
 public:
  explicit LoopConstants(ConstantSets& sets) : sets_(sets) {}
  using StmtExprVisitor::VisitExpr;

  void Add(const PrimExpr* expr, bool is_compared) {
    if (const auto* integer = As<tir::IntImm>(expr); integer && !integer->dtype.is_bool())
      sets_.Add(integer->value, is_compared);
    if (const auto* real = As<tir::FloatImm>(expr)) sets_.Add(real->value, is_compared);
  }

 protected:
  void VisitBinary(const tir::BinaryExpr* expr) override {
    const bool compares = expr->kind >= NodeKind::kEQ && expr->kind <= NodeKind::kGE;
    for (const PrimExpr* operand : {expr->a, expr->b}) Add(operand, compares);
    StmtExprVisitor::VisitBinary(expr);
  }
  void VisitIntImm(const tir::IntImm* integer) override { Add(integer, /*is_compared=*/false); }
  void VisitFloatImm(const tir::FloatImm* real) override { Add(real, /*is_compared=*/false); }

 private:
  ConstantSets& sets_;
};

class GraphConstants : public WalkHandler {
 public:
  explicit GraphConstants(ConstantSets& sets) : sets_(sets), scalars_(sets) {}

  void OnConstant(const Constant& constant) {
    for (const int64_t dim : constant.data->shape()) sets_.dims.Add(dim);
    const std::optional<Scalar> scalar = constant.data->num_elements() == 1 ? ScalarOf(*constant.data) : std::nullopt;
    if (!scalar || scalar->dtype.is_bool()) return;
    if (scalar->dtype.is_floating()) {
      sets_.Add(scalar->real, /*is_compared=*/true);
    } else {
      sets_.Add(scalar->integer, /*is_compared=*/true);
    }
  }
  // The numbers among the attributes of an operator: the depth of one_hot, the epsilon of a normalization.
  void OnCall(const Call& call) {
    const auto* attrs = call.attrs ? As<ObjectAttr>(call.attrs) : nullptr;
    for (uint32_t i = 0; attrs && i < attrs->values.size(); ++i) {
      if (const auto* integer = As<IntAttr>(attrs->values[i])) sets_.Add(integer->value, /*is_compared=*/false);
      if (const auto* real = As<FloatAttr>(attrs->values[i])) sets_.Add(real->value, /*is_compared=*/false);
    }
  }
  void OnScalar(const PrimExpr* expr) {
    scalars_.Add(expr, /*is_compared=*/false);
    scalars_.VisitExpr(expr);
  }

 private:
  ConstantSets& sets_;
  LoopConstants scalars_;
};

ConstantSets ConstantsIn(const Module& module, const GlobalVar& function) {
  ConstantSets sets;
  GraphConstants graph(sets);
  LoopConstants loops(sets);
  ForEachReachable(module, function, [&](const BaseFunc& found) {
    if (const auto* relax = As<Function>(&found)) Walk(*relax, graph);
    if (const auto* prim = As<PrimFunc>(&found)) loops.VisitStmt(prim->body);
  });
  return sets;
}

// Those of both sets: first what only one has, then what is compared.
template <class T>
std::vector<T> Ranked(const OrderedSet<T>& a, const OrderedSet<T>& b, const OrderedSet<T>& compared_a,
                      const OrderedSet<T>& compared_b) {
  OrderedSet<T> ranked;
  for (const auto& [set, other] :
       {std::pair(&compared_a, &b), std::pair(&compared_b, &a), std::pair(&a, &b), std::pair(&b, &a)}) {
    for (const T value : set->values()) {
      if (!other->Has(value)) ranked.Add(value);
    }
  }
  for (const OrderedSet<T>* set : {&compared_a, &compared_b, &a, &b}) {
    for (const T value : set->values()) ranked.Add(value);
  }
  std::vector<T> values = ranked.values();
  if (values.size() > kMostConstants) values.resize(kMostConstants);
  return values;
}

}  // namespace

ProgramConstants FindConstants(const Module& before, const Module& after, const GlobalVar& function) {
  const ConstantSets a = ConstantsIn(before, function);
  const ConstantSets b = ConstantsIn(after, function);
  return {Ranked(a.integers, b.integers, a.compared_integers, b.compared_integers),
          Ranked(a.reals, b.reals, a.compared_reals, b.compared_reals), Ranked<int64_t>(a.dims, b.dims, {}, {})};
}

}  // namespace iropt
