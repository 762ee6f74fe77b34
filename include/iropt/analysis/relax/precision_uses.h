// Which tensors a function needs in no more than half precision.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/op/op.h"

namespace iropt {

inline constexpr DataType kHalf = DataType::Float(16);
inline constexpr DataType kSingle = DataType::Float(32);

// How to treat the call. Operators that always compute in half precision do so for operands in single precision; a call
// whose operands are float16 already, float64 or of an unknown dtype, or quantized, was meant as it is.
MixedPrecision PrecisionPolicy(const Call& call);

// How a tensor is used: not at all, as an operand of operators that always compute in half precision, or otherwise. Of
// several uses the last of these counts.
enum class PrecisionUse : uint8_t { kNone, kHalf, kFull };

// What the dataflow blocks of a function use tensors for, looked at from its end to its beginning: a tensor in a tuple
// is used as what is taken out of the tuple is. Ordinary blocks count only for the branches and functions in them.
// O(nodes).
class PrecisionUses {
 public:
  // A variable, or a part of the tuple that it is.
  struct Place {
    int32_t node = -1;                         // -1: nothing is known of this part alone
    PrecisionUse whole = PrecisionUse::kNone;  // how tuples that it is a part of are used as a whole
  };

  PrecisionUses(const Function& function, uint32_t num_vars);

  Place Of(const Var* var) const { return {roots_[var->id]}; }
  Place Field(Place place, uint32_t index) const;
  PrecisionUse Use(Place place) const;
  // The parameters that the block uses, in their order; some may be there twice.
  std::span<const Var* const> ParamsIn(const BindingBlock* block) const;

 private:
  struct Node {
    PrecisionUse use = PrecisionUse::kNone;
    int32_t fields = -1;  // the first of as many nodes as the tuple has fields, or -1
    uint32_t num_fields = 0;
  };
  struct Param {
    const Var* var = nullptr;  // null where the variable is no parameter
    uint32_t index = 0;
    const BindingBlock* noted_in = nullptr;  // the last block that it was noted for
  };

  // A place as a companion of the leaves of a tuple.
  struct PlaceTree {
    const PrecisionUses& uses;
    Place place;
    PlaceTree Field(uint32_t index) const { return {uses, uses.Field(place, index)}; }
  };

  void VisitFunction(const Function& function);
  void VisitScope(const Expr* body);
  void VisitBlock(const BindingBlock& block);
  void VisitValue(const VarBinding& binding);
  void VisitNested(const Expr* value);
  // The tensors of an operand, or of a value, are used as those of the place are.
  void Require(const Expr* expr, Place place);
  void RequireAll(const Expr* expr, PrecisionUse use) { Require(expr, {-1, use}); }
  void Merge(Place from, int32_t to);
  int32_t Root(const Var* var);
  int32_t FieldNode(int32_t node, uint32_t index, const TupleType& type);
  void NoteParam(const Var* var);

  std::vector<int32_t> roots_;  // by Var::id: the node of the variable, or -1
  std::vector<Node> nodes_;
  std::vector<Param> params_;  // by Var::id
  uint32_t num_params_ = 0;
  const BindingBlock* block_ = nullptr;  // the dataflow block that is looked at, or null
  std::unordered_map<const BindingBlock*, std::vector<const Var*>> params_in_;
};

}  // namespace iropt
