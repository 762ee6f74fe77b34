// The computations in a function that may be common subexpressions: how often each is done, and how they are ordered.
// For tir.CommonSubexprElimTIR.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// Facts about expressions, each computed once by node. With `equivalent`, expressions that simplify to the same one are
// the same computation.
class ComputationFacts {
 public:
  ComputationFacts(Workspace& workspace, bool equivalent);

  // Calls and loads cannot be repeated or moved, so neither can what contains them; leaves need no variable.
  bool IsEligible(const PrimExpr* e) { return Of(e).eligible; }
  // Whether an expression that contains this one may be eligible.
  bool IsMovable(const PrimExpr* e) { return Of(e).movable; }
  bool has_equivalent() const { return analyzer_ != nullptr; }
  // The number of nodes.
  size_t Size(const PrimExpr* e) { return Of(e).size; }
  size_t Hash(const PrimExpr* e) { return Of(e).hash; }
  // The expression that stands for all that are the same computation.
  const PrimExpr* Key(const PrimExpr* e);

 private:
  struct Facts {
    size_t size = 1;
    size_t hash = 0;
    bool movable = true;
    bool eligible = false;
  };
  const Facts& Of(const PrimExpr* e);

  std::unordered_map<const PrimExpr*, Facts> facts_;           // looked up, never iterated
  std::unordered_map<const PrimExpr*, const PrimExpr*> keys_;  // looked up, never iterated
  std::unique_ptr<arith::Analyzer> analyzer_;                  // null: only equal expressions are the same
};

struct ComputationHash {
  ComputationFacts* facts;
  size_t operator()(const PrimExpr* e) const { return facts->Hash(e); }
};
struct ComputationEqual {
  bool operator()(const PrimExpr* a, const PrimExpr* b) const { return arith::DeepEqual(a, b); }
};
template <class T>
using ComputationMap = std::unordered_map<const PrimExpr*, T, ComputationHash, ComputationEqual>;

// Counts the computations that a statement or an expression does in any case.
class ComputationTable {
 public:
  struct Entry {
    const PrimExpr* expr;  // the first one seen; with equivalent ones the first in the order of their texts
    size_t count;
  };

  explicit ComputationTable(ComputationFacts& facts)
      : facts_(facts), index_(0, ComputationHash{&facts}, ComputationEqual{}) {}

  void Collect(const PrimExpr* expr);
  // Of the parts of a loop or a branch, what two of them do.
  void Collect(const tir::Stmt* stmt);

  bool empty() const { return entries_.empty(); }
  // Big ones first, then by their texts.
  std::vector<Entry> Sorted() const;

 private:
  void Add(const PrimExpr* expr, size_t count);
  void AddCommon(std::initializer_list<const ComputationTable*> parts);

  ComputationFacts& facts_;
  ComputationMap<size_t> index_;  // in entries_, by key; looked up, never iterated
  std::vector<Entry> entries_;
};

// The expressions of a statement that occur more than once, whether they are done in any case or not.
class RepeatedParts {
 public:
  // O(nodes).
  RepeatedParts(const tir::Stmt* stmt, ComputationFacts& facts);

  // Equivalent ones do not count.
  bool IsRepeated(const PrimExpr* computation) const;
  // Whether the variable is an operand of a computation.
  bool IsOperand(const tir::Var* var) const { return operands_.contains(var); }
  // Whether the variable is an operand of a computation that occurs more than once.
  bool IsOperandOfRepeated(const tir::Var* var) const;

 private:
  void Count(const tir::Stmt* stmt);
  void Count(const PrimExpr* expr);

  ComputationFacts& facts_;
  // Looked up, never iterated.
  std::unordered_map<const PrimExpr*, int> visits_;     // of one node, up to 2
  ComputationMap<int> counts_;                          // of equal ones
  std::unordered_map<const tir::Var*, bool> operands_;  // of repeated ones?
};

// Calls f for each operand.
void ForEachOperand(const PrimExpr* expr, FunctionRef<void(const PrimExpr*)> f);

}  // namespace iropt
