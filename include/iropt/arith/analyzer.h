// Simplification and proofs about integer expressions.
//
// Simplify brings an expression to a normal form by two rewriters in turn: a canonical one, which treats an expression
// as a sum of scaled quotients and remainders, and a rule-based one (lib/arith/rewrite_rules.def). The normal form is
// TVM's, because it is printed in types. Every rewrite is exact for mathematical integers; a proof is never wrong, but
// may fail to be found.
#pragma once

#include <memory>
#include <vector>

#include "iropt/arith/bounds.h"
#include "iropt/arith/fact_table.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/support/lookup.h"

namespace iropt::arith {

class KnownOrders;  // lib/arith/known_orders.h
enum class Order : uint8_t;

class Analyzer {
 public:
  // The values that symbolic variables may have: sizes in the body of a function that has them in a shape, any integer
  // elsewhere.
  enum class SymVars : uint8_t { kAny, kNonNegative };

  // Rewrites that cost more than they usually give, off unless a pass asks for them. Those of TVM's
  // RewriteSimplifier::Extension.
  struct Extensions {
    bool prove_transitively = false;  // compare by chains of constraints
    bool and_of_ors = false;          // bring conditions to conjunctive normal form
    bool constrain_branches = false;  // simplify each operand of `and` and `or` where the other one decides nothing
  };

  explicit Analyzer(PrimBuilder make = {}, SymVars sym_vars = SymVars::kNonNegative);
  ~Analyzer();
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  const PrimBuilder& make() const { return make_; }
  BoundAnalyzer& bounds() { return bounds_; }
  const Extensions& extensions() const { return extensions_; }
  void set_extensions(const Extensions& extensions) {
    extensions_ = extensions;
    ForgetRewrites();
  }

  const PrimExpr* Simplify(const PrimExpr* e, int steps = 2);
  // The two halves of Simplify, for passes that need one of them.
  const PrimExpr* CanonicalSimplify(const PrimExpr* e);
  const PrimExpr* RewriteSimplify(const PrimExpr* e);

  bool CanProve(const PrimExpr* condition);
  bool CanProveEqual(const PrimExpr* a, const PrimExpr* b);
  bool CanProveNotEqual(const PrimExpr* a, const PrimExpr* b);
  bool CanProveGreaterEqual(const PrimExpr* e, int64_t bound);
  bool CanProveLess(const PrimExpr* e, int64_t bound);
  IntBound Bound(const PrimExpr* e) { return bounds_.Bound(e); }

  // The variable is in [min, min + extent).
  void Bind(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent);
  // The variable has this value, which replaces it.
  void Bind(const tir::Var* var, const PrimExpr* value);
  void Unbind(const tir::Var* var);
  // Null if the variable has no value.
  const PrimExpr* ValueOf(const tir::Var* var) const;

  // The value is a size, and so not negative: gives the least value of the variable in it, or of an expression as it is
  // written. Not within the scope of a constraint, with which it would end.
  void MarkNonNegative(const PrimExpr* value);

  // A condition that holds while the scope lives. Scopes nest. Parts that read memory, which may be written meanwhile,
  // are left out unless the scope is within one expression.
  class Constraint {
   public:
    Constraint(Analyzer& analyzer, const PrimExpr* condition, bool within_expression = false);
    ~Constraint();
    Constraint(const Constraint&) = delete;
    Constraint& operator=(const Constraint&) = delete;

   private:
    void AddFacts(const PrimExpr* condition);

    Analyzer& analyzer_;
    size_t num_facts_;
    size_t num_literals_;
    size_t num_orders_;
    size_t epoch_;
    std::vector<std::pair<const tir::Var*, ModularSet>> modular_;  // to be restored
  };
  // Looks for the condition (result 1) or its negation (0) among the constraints; -1 if neither is there.
  int MatchConstraint(const PrimExpr* condition) const;

 private:
  friend class RuleSimplifier;
  class Memo;
  void AddLiteral(const PrimExpr* condition, bool holds);
  void AddOrder(const tir::Var* var, const PrimExpr* condition);
  void DropOrders(const tir::Var* var);
  // Returns the order of two expressions that the constraints and the ranges of variables prove.
  Order CompareByFacts(const PrimExpr* a, const PrimExpr* b) const;
  bool CanProveOrder(const PrimExpr* condition);
  // Cached results of the rewriters are valid in one epoch: a new one begins when a fact is added or removed, and the
  // old one returns at the end of a constraint.
  void ForgetRewrites() { epoch_ = ++last_epoch_; }

  PrimBuilder make_;
  BoundAnalyzer bounds_;
  LookupMap<const tir::Var*, const PrimExpr*> values_;
  FactTable<bool> literals_;  // conditions that constraints decide
  // Those of constraints, and of the ranges of variables.
  std::unique_ptr<KnownOrders> orders_, var_orders_;
  struct VarFacts {
    const tir::Var* var;
    size_t count;  // in var_orders_
  };
  std::vector<VarFacts> var_facts_;  // in the order of var_orders_, one for a variable
  LookupSet<const tir::Var*> vars_with_facts_;
  Extensions extensions_;
  std::unique_ptr<Memo> memo_;  // allocated once much was rewritten
  size_t num_rewrites_ = 0;
  size_t epoch_ = 0;
  size_t last_epoch_ = 0;
};

// ---- With the dimensions of types: interned expressions, symbolic variables are sizes.

const PrimExpr* Simplify(const PrimExpr* e);
inline bool ProveEqual(const PrimExpr* a, const PrimExpr* b) {
  // Nearly all dimensions are constants, and equal dimensions are the same pointer.
  if (a == b) return true;
  const int64_t* va = AsInt(a);
  const int64_t* vb = AsInt(b);
  if (va && vb) return *va == *vb;
  Analyzer analyzer;
  return analyzer.CanProveEqual(a, b);
}
inline bool ProveNotEqual(const PrimExpr* a, const PrimExpr* b) {
  if (a == b) return false;
  const int64_t* va = AsInt(a);
  const int64_t* vb = AsInt(b);
  if (va && vb) return *va != *vb;
  Analyzer analyzer;
  return analyzer.CanProveNotEqual(a, b);
}

}  // namespace iropt::arith
