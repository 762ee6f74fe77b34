// Several Relax operators that are one operator of ONNX.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "exchange/onnx/model.h"
#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/op/op_id.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

// A constant made for a node, maybe as another form of a constant of the function.
struct MadeTensor {
  std::shared_ptr<const NDArray> array;
  const iropt::Constant* form_of = nullptr;
};

// A node that stands for several calls.
struct FusedNode {
  std::string_view op;
  // Expressions, or constants made for the node; null for one that is left out.
  std::vector<std::variant<const Expr*, MadeTensor>> inputs;
  std::vector<AttributeProto> attributes = {};
  std::vector<Span> spans = {};  // of the calls, each once
};

// The values of the variables of a function, their uses, and the nodes that are fused.
class Definitions {
 public:
  Definitions() = default;
  // Of the function, for operators of this version. O(nodes).
  Definitions(const iropt::Function& function, int64_t opset);

  // The value that the variable is bound to; null for parameters.
  const Expr* Find(const Var* var) const;
  // The value that a match_cast binds the variable to; null for others.
  const Expr* CastOf(const Var* var) const { return casts_.Lookup(var); }
  // The variable that a match_cast gives the variable's value; null if none does.
  const Var* CastTo(const Var* var) const { return cast_to_.Lookup(var); }
  // The value that variables stand for.
  const Expr* Resolve(const Expr* expr) const;
  // The span of the value, or that of the binding if it has none.
  Span SpanOf(const Var* var) const;
  bool IsFieldUsed(const Var* tuple, size_t i) const;
  const FusedNode* FusedAt(const Var* var) const;
  // The tensor of one element that decides a conditional, before it is made a scalar: ONNX takes it as it is.
  const Expr* ConditionOf(const If* conditional) const;
  // Returns whether the function needs the variable's value.
  bool IsLive(const Var* var) const { return uses_.contains(var); }
  bool IsUsedOnce(const Var* var) const { return uses_.Lookup(var) == 1; }
  // Returns whether another variable's fused node computes the value.
  bool IsAbsorbed(const Var* var) const { return absorbed_.contains(var); }

 private:
  friend class Matcher;
  friend class UseCounter;

  // The operand of a reshape that only makes a scalar of a tensor of one element; null for other values.
  const Expr* BeforeScalar(const Expr* condition) const;

  struct Definition {
    const Expr* value = nullptr;
    Span binding = {};
  };

  std::unordered_map<const Var*, Definition> values_;
  LookupMap<const Var*, const Expr*> casts_;
  LookupMap<const Var*, const Var*> cast_to_;
  LookupMap<const Var*, int> uses_;
  LookupMap<const Var*, std::vector<bool>> fields_;  // that are used
  LookupMap<const Var*, FusedNode> fused_;
  LookupSet<const Var*> absorbed_;
};

// A tree of calls while it is compared with a pattern.
class Matcher {
 public:
  Matcher(const Definitions& definitions, int64_t opset) : definitions_(&definitions), opset_(opset) {}

  int64_t opset() const { return opset_; }
  // The call of the operator that an operand is; null if it is something else. It becomes part of the match.
  const Call* Inner(const Expr* operand, OpId op);
  // The value of a constant of one element.
  std::optional<double> Number(const Expr* operand) const;
  // Returns whether two operands are the same value.
  bool IsSame(const Expr* a, const Expr* b) const { return definitions_->Resolve(a) == definitions_->Resolve(b); }
  // The greater one of two operands that are the same value, or one of which is the other one repeated; null if they
  // are different values.
  const Expr* Spread(const Expr* a, const Expr* b) const;
  const iropt::Constant* ConstantOf(const Expr* operand) const;
  // Returns whether nothing else needs the values that the match takes in.
  bool IsClosed() const;
  // Returns whether all uses of a variable are part of the match.
  bool TakesAllUses(const Var* var) const;
  const std::unordered_map<const Var*, int>& inner() const { return inner_; }
  // Another use of a variable that is part of the match.
  void Use(const Expr* operand);

 private:
  const Definitions* definitions_;
  int64_t opset_;
  std::unordered_map<const Var*, int> inner_;  // uses by the match
};

// The operand of OneHot for the values of R.one_hot, [off, on]; null if they are not numbers.
std::shared_ptr<const NDArray> OneHotValues(const PrimValue& on, const PrimValue& off, DataType dtype);

struct FusionRow {
  OpId root;
  std::string_view op;
  int since;  // the first version of the operator set that has the operator
  std::optional<FusedNode> (*match)(Matcher& matcher, const Call& root);
};

// In the order in which they are tried.
std::span<const FusionRow> FusionRows();

}  // namespace iropt::onnx
