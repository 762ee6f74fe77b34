// Finds the tensors that a function needs only in half precision.
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

// The policy of a version of TVM for the call. Operators that always compute in half precision do so for operands in
// single precision; a call whose operands are float16 already, float64, of unknown dtype, or quantized stays unchanged.
MixedPrecision PrecisionPolicy(const Call& call, TextVersion version);

// The use of a tensor: none, only as an operand of operators that always compute in half precision, or other uses. The
// greatest of several uses counts.
enum class PrecisionUse : uint8_t { kNone, kHalf, kFull };

// The uses of tensors in the dataflow blocks of a function, found by a backward walk: a tensor in a tuple is used as
// the corresponding projections are. Ordinary blocks count only for the branches and functions in them. O(nodes).
class PrecisionUses {
 public:
  // A variable, or a part of the tuple that it is.
  struct Place {
    int32_t node = -1;                         // -1: no separate facts about this part
    PrecisionUse whole = PrecisionUse::kNone;  // the use of the enclosing tuples as a whole
  };

  // Of a function of a module of this version.
  PrecisionUses(const Function& function, uint32_t num_vars, TextVersion version);

  Place Of(const Var* var) const { return {roots_[var->id]}; }
  Place Field(Place place, uint32_t index) const;
  PrecisionUse Use(Place place) const;
  // The parameters that the block uses, in their order; some may occur twice.
  std::span<const Var* const> ParamsIn(const BindingBlock* block) const;

 private:
  struct Node {
    PrecisionUse use = PrecisionUse::kNone;
    int32_t fields = -1;  // the first of one node per field of the tuple, or -1
    uint32_t num_fields = 0;
  };
  struct Param {
    const Var* var = nullptr;  // null if the variable is not a parameter
    uint32_t index = 0;
    const BindingBlock* noted_in = nullptr;  // the last block that it was recorded for
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
  // States that the tensors of an operand or value are used as those of the place.
  void Require(const Expr* expr, Place place);
  void RequireAll(const Expr* expr, PrecisionUse use) { Require(expr, {-1, use}); }
  void Merge(Place from, int32_t to);
  int32_t Root(const Var* var);
  int32_t FieldNode(int32_t node, uint32_t index, const TupleType& type);
  void NoteParam(const Var* var);

  const TextVersion version_;
  std::vector<int32_t> roots_;  // by Var::id: the node of the variable, or -1
  std::vector<Node> nodes_;
  std::vector<Param> params_;  // by Var::id
  uint32_t num_params_ = 0;
  const BindingBlock* block_ = nullptr;  // the current dataflow block, or null
  std::unordered_map<const BindingBlock*, std::vector<const Var*>> params_in_;
};

}  // namespace iropt
