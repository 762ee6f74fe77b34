// The computations in a function that may be common subexpressions: how often each is done, and how they are ordered.
// For tir.CommonSubexprElimTIR, and the primitive cache_index of schedules.
//
// Source: TVM's src/tir/transforms/common_subexpr_elim_tools.cc.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/lookup.h"

namespace iropt {

enum class ComputationCalls : uint8_t { kNone, kPure };

// Facts about expressions, each computed once by node. With `equivalent`, expressions that simplify to the same one are
// the same computation. Calls are computations if they are pure and `calls` says so.
class ComputationFacts {
 public:
  ComputationFacts(Workspace& workspace, bool equivalent, ComputationCalls calls = ComputationCalls::kNone);

  // Loads and other calls cannot be repeated or moved, so neither can what contains them; leaves need no variable.
  bool IsEligible(const PrimExpr* e) { return Of(e).eligible; }
  // Returns whether an expression that contains this one may be eligible.
  bool IsMovable(const PrimExpr* e) { return Of(e).movable; }
  // Returns whether it contains what may be undefined: then it is done only where it was done before.
  bool CanFail(const PrimExpr* e) { return Of(e).can_fail; }
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
    bool can_fail = false;
  };
  const Facts& Of(const PrimExpr* e);

  LookupMap<const PrimExpr*, Facts> facts_;
  LookupMap<const PrimExpr*, const PrimExpr*> keys_;
  std::unique_ptr<arith::Analyzer> analyzer_;  // null: only equal expressions are the same
  ComputationCalls calls_;
};

struct ComputationHash {
  ComputationFacts* facts;
  size_t operator()(const PrimExpr* e) const { return facts->Hash(e); }
};
struct ComputationEqual {
  bool operator()(const PrimExpr* a, const PrimExpr* b) const { return DeepEqual(a, b); }
};
template <class T>
using ComputationMap = LookupMap<const PrimExpr*, T, ComputationHash, ComputationEqual>;

class RepeatedParts;

// The part of a statement before a binding, in the order of the text. Without RepeatedParts it is the whole statement.
class Prefix {
 public:
  Prefix(const RepeatedParts* parts, size_t last) : parts_(parts), last_(last) {}
  // Returns whether the statement is a binding after the prefix.
  bool Ends(const tir::Stmt* stmt) const;

 private:
  const RepeatedParts* parts_;
  size_t last_;  // the place of its last binding
};

// Counts the computations that the beginning of a statement or an expression does in any case.
class ComputationTable {
 public:
  struct Entry {
    const PrimExpr* expr;  // the first one seen; with equivalent ones the first in the order of their texts
    size_t count;
  };

  ComputationTable(ComputationFacts& facts, const Prefix& prefix)
      : facts_(facts), prefix_(prefix), index_(ComputationHash{&facts}) {}

  // `guarded`: what can fail does not count, because it is done only if conditions say so.
  void Collect(const PrimExpr* expr, bool guarded);
  // Of the parts of a loop or a branch, what two of them do.
  void Collect(const tir::Stmt* stmt, bool guarded);

  bool empty() const { return entries_.empty(); }
  // Counts an expression, also where it cannot be moved.
  void Add(const PrimExpr* expr, size_t count);
  // Big ones first, then by their texts.
  std::vector<Entry> Sorted() const;

 private:
  void AddCommon(std::initializer_list<const ComputationTable*> parts);

  ComputationFacts& facts_;
  const Prefix& prefix_;
  ComputationMap<size_t> index_;  // in entries_, by key
  std::vector<Entry> entries_;
};

// The computations of a statement that occur more than once, whether they are done in any case or not, and where: the
// bindings of the statement are numbered from 1 in the order of the text, and the place of an expression is the number
// of the last one that begins before it. Counts and places may be too great after replacements.
class RepeatedParts {
 public:
  // O(nodes).
  RepeatedParts(const tir::Stmt* stmt, ComputationFacts& facts);

  // The number of a binding of the statement, 0 for one that was made later.
  size_t Number(const tir::Var* var) const;
  size_t num_bindings() const { return numbers_.size(); }
  // The last place of the repeated computations that contain the variable, or are the same as one of these; 0 without
  // such computations.
  size_t LastUse(const tir::Var* var) const;
  // The last place of a computation that is repeated, 0 if it is not.
  size_t LastPlace(const PrimExpr* computation) const;
  // Adds an expression that replaces one at the place. The last place of the repeated computations that are new in it.
  size_t Add(const PrimExpr* expr, size_t place);

 private:
  struct Visits {
    int count = 0;
    size_t place = 0;
  };
  struct Occurrences {
    size_t count = 0;
    size_t last = 0;
  };
  struct Uses {
    size_t last = 0;                         // place of a repeated computation with the variable as an operand
    std::vector<const PrimExpr*> outermost;  // only with equivalent computations: those that contain the variable
  };

  void Count(const tir::Stmt* stmt);
  void Count(const PrimExpr* expr, const PrimExpr* outermost);
  const Occurrences& CountComputation(const PrimExpr* expr, const PrimExpr* outermost);

  ComputationFacts& facts_;
  size_t place_ = 0;
  LookupMap<const tir::Var*, size_t> numbers_;
  LookupMap<const PrimExpr*, Visits> visits_;  // of one node
  ComputationMap<Occurrences> counts_;         // by key
  LookupMap<const tir::Var*, Uses> uses_;
};

// Calls f for each operand.
void ForEachOperand(const PrimExpr* expr, FunctionRef<void(const PrimExpr*)> f);
// Tells of each operand whether it is computed only if conditions say so: of all if the expression is.
void ForEachOperand(const PrimExpr* expr, bool guarded, FunctionRef<void(const PrimExpr*, bool)> f);
// Returns whether it is not defined for all operands: it divides integers by something else than a constant that is not
// 0, or converts floats to integers.
bool MayBeUndefined(const PrimExpr* expr);

}  // namespace iropt
