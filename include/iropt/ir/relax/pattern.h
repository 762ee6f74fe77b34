// Patterns of Relax expressions, for rewriting rules (rewrite_rules.h) and fusion. Patterns are values: small, shared
// and immutable, built by C++ expressions:
//
//   const Pattern x = Wildcard();
//   const Pattern w = IsConstant();
//   const Pattern product = IsCall(matmul, {x, IsCall(permute_dims, {w}).UsedOnce()});
//   Match match(definitions);
//   if (match.Try(product, call)) Use(match[x], match[w]);
//
// This area knows no operators: the user of a pattern passes the node of the operator. A pattern that occurs twice, as
// in IsCall(add, {x, x}), matches if both operands are the same.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/ir/substitute.h"

namespace iropt {

struct PatternNode;

class Pattern {
 public:
  using Predicate = std::function<bool(const Expr*)>;

  explicit Pattern(std::shared_ptr<const PatternNode> node) : node_(std::move(node)) {}
  const PatternNode& node() const { return *node_; }
  bool operator==(const Pattern&) const = default;

  // ---- The pattern with one more condition.
  // Of a call: two operands in either order.
  Pattern Commutative() const;
  // Of a call: it may have more operands than the pattern.
  Pattern AnyMoreArgs() const;
  // Of a call: exactly this attribute record.
  Pattern WithAttrs(const Attr* attrs) const;
  // A tensor of this dtype, rank or shape. A symbolic variable in `dims` stands for any dimension, the same wherever
  // it occurs in the pattern; see Match::dims.
  Pattern WithDtype(DataType dtype) const;
  Pattern WithRank(int rank) const;
  Pattern WithDims(std::span<const PrimExpr* const> dims) const;
  // A variable with one use in the function.
  Pattern UsedOnce() const;
  // `holds` returns true for the definition: the expression, or the value that a variable is bound to.
  Pattern Where(Predicate holds) const;
  // As Where, for the expression itself, which is the variable where it is one.
  Pattern WhereLeaf(Predicate holds) const;

 private:
  std::shared_ptr<PatternNode> Copy() const;

  std::shared_ptr<const PatternNode> node_;
};

// Every function makes a new pattern, which is equal to its copies only.
Pattern Wildcard();
Pattern IsVar();  // a variable without a definition in the block: a parameter, or from an earlier block
Pattern IsConstant();
// This node, or one of the same content for strings, dtypes and names.
Pattern IsExpr(const Expr* expr);
Pattern IsCall(Pattern callee, std::span<const Pattern> args);
Pattern IsCall(const Op* op, std::span<const Pattern> args);
inline Pattern IsCall(const Op* op, std::initializer_list<Pattern> args) {
  return IsCall(op, std::span<const Pattern>(args.begin(), args.size()));
}
Pattern IsTuple(std::span<const Pattern> fields);
inline Pattern IsTuple(std::initializer_list<Pattern> fields) {
  return IsTuple(std::span<const Pattern>(fields.begin(), fields.size()));
}
inline constexpr int kAnyIndex = -1;
// The fields are in any order. Exponential in the number of fields at worst.
Pattern IsTupleInAnyOrder(std::span<const Pattern> fields);
Pattern IsTupleGetItem(Pattern tuple, int index = kAnyIndex);
// A ShapeExpr of these dimensions, in which symbolic variables stand for any dimension.
Pattern IsShape(std::span<const PrimExpr* const> dims);
Pattern IsPrimValue(const PrimExpr* value);
// A function with these parameters, and a body without bindings.
Pattern IsFunction(std::span<const Pattern> params, Pattern body);
// The first one that matches.
Pattern operator|(const Pattern& a, const Pattern& b);
// All of them.
Pattern IsAll(std::span<const Pattern> patterns);
// Anything that the pattern does not match. Its parts match nothing.
Pattern IsNot(Pattern pattern);

enum class PatternKind : uint8_t {
  kWildcard,
  kVar,
  kConstant,
  kExpr,
  kCall,  // children: the callee, then the operands
  kTuple,
  kTupleInAnyOrder,
  kTupleGetItem,
  kShape,
  kPrimValue,
  kFunction,  // children: the parameters, then the body
  kOr,
  kAnd,
  kNot,
};

struct PatternNode {
  PatternKind kind = PatternKind::kWildcard;
  bool commutative = false;
  bool more_args = false;
  bool used_once = false;
  bool has_dims = false;
  int index = kAnyIndex;   // of a projection
  int rank = kUnknownDim;  // kUnknownDim: any
  DataType dtype = {};     // void: any
  const Expr* expr = nullptr;
  const Attr* attrs = nullptr;
  std::vector<const PrimExpr*> dims = {};
  std::vector<Pattern> children = {};
  std::vector<Pattern::Predicate> predicates = {};
  std::vector<Pattern::Predicate> leaf_predicates = {};
};

// The operator that a call must have to match; null if there are several, or the pattern is not a call.
const Op* RootOp(const Pattern& pattern);
// Returns whether some part of the pattern must be used once.
bool CountsUses(const Pattern& pattern);

// Definitions of the variables of a function.
class Definitions {
 public:
  virtual ~Definitions() = default;
  // The value that the variable is bound to; null if it has none that may be looked through.
  virtual const Expr* ValueOf(const Var* var) const = 0;
  // Needed for patterns that count uses.
  virtual bool IsUsedOnce(const Var*) const { return false; }
  // Returns whether the function uses the constant several times, as far as that is known.
  virtual bool IsShared(const Constant*) const { return false; }
};

// The expression that aliases stand for, and its definition: the value of a variable, anything else itself.
const Expr* ResolveAlias(const Expr* expr, const Definitions& definitions);
const Expr* DefinitionOf(const Expr* expr, const Definitions& definitions);

// An attempt to match a pattern, and what its parts matched. Linear in the size of the pattern, apart from comparing
// parts that occur several times. It does not search: an alternative that matches is not tried again because of what
// follows it.
class Match {
 public:
  explicit Match(const Definitions& definitions) : definitions_(definitions) {}

  // Forgets the last attempt. The debug channel "match" tells why an attempt fails.
  bool Try(const Pattern& pattern, const Expr* expr);

  // The leaf (or the root) that this part matched; null if it is in an alternative that was not taken, and for the
  // operator of a call.
  const Expr* operator[](const Pattern& part) const { return Find(part.node()); }
  // Its definition as a call; null if it is not one.
  const Call* CallAt(const Pattern& part) const;
  // All parts that matched.
  const std::vector<std::pair<const PatternNode*, const Expr*>>& parts() const { return parts_; }
  // The values of the symbolic variables of the pattern.
  const PrimExpr* DimOf(const tir::Var* var) const;
  const std::vector<std::pair<const tir::Var*, const PrimExpr*>>& dims() const { return dims_; }
  const Definitions& definitions() const { return definitions_; }

 private:
  struct Mark {
    size_t parts;
    size_t dims;
  };
  Mark Here() const { return {parts_.size(), dims_.size()}; }
  bool Undo(Mark mark);
  const Expr* Find(const PatternNode& part) const;
  bool Visit(const Pattern& pattern, const Expr* expr);
  bool VisitKind(const PatternNode& pattern, const Expr* leaf, const Expr* value);
  bool VisitCall(const PatternNode& pattern, const Call* call);
  bool VisitAll(std::span<const Pattern> patterns, List<const Expr*> exprs, bool swap);
  bool VisitFunction(const PatternNode& pattern, const Function* function);
  bool VisitInAnyOrder(std::span<const Pattern> patterns, List<const Expr*> fields, std::vector<bool>& taken);
  bool VisitNot(const PatternNode& pattern, const Expr* leaf);
  bool Holds(const PatternNode& pattern, const Expr* leaf, const Expr* value);
  bool MatchDims(std::span<const PrimExpr* const> patterns, List<const PrimExpr*> dims);
  bool MatchDim(const PrimExpr* pattern, const PrimExpr* dim);

  const Definitions& definitions_;
  std::vector<std::pair<const PatternNode*, const Expr*>> parts_;
  std::vector<std::pair<const tir::Var*, const PrimExpr*>> dims_;
};

}  // namespace iropt
