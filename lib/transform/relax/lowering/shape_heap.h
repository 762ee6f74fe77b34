// The shape heap of a function that is being lowered: matches values against shapes, and computes what follows.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "builtin_calls.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/relax/builder.h"
#include "shape_slots.h"

namespace iropt {

// A shape or scalar that a value must have at run time.
struct ShapeMatch {
  const Expr* value;
  std::span<const PrimExpr* const> dims;  // of a scalar: its value
  const Expr* context;                    // text for the message of the runtime
  bool is_scalar = false;
};

class ShapeHeap {
 public:
  ShapeHeap(const Function& function, BlockBuilder& builder, ModuleBuilder& module, DiagnosticEngine& diagnostics);

  // Emits the allocation of the heap.
  void Allocate();
  // Emits the matches. The first occurrence of a variable defines it; expressions of these variables are computed, by a
  // PrimFunc, before they are compared.
  void Match(const std::vector<ShapeMatch>& matches);
  // Emits the matches if all expressions must have values already.
  void Check(const std::vector<ShapeMatch>& matches) { Emit(matches, true); }

  // The calls that make a shape or a scalar of the values in the heap.
  const Expr* MakeShape(const ShapeExpr& shape);
  const Expr* MakeScalar(const PrimValue& scalar);

  bool failed() const { return failed_; }

 private:
  // A match with the code and operand of each dimension; returns those that need values of expressions.
  std::vector<ShapeMatch> Emit(const std::vector<ShapeMatch>& matches, bool all_computed);
  // Adds code and operand for a dimension; returns whether the dimension is compared, or defines a variable.
  bool AddMatchCode(const PrimExpr* dim, const Node& at, bool all_computed, std::vector<const Expr*>& args);
  void AddMakeCode(const PrimExpr* dim, const Node& at, std::vector<const Expr*>& args);
  void Compute();
  std::vector<uint32_t> TakeReady();
  bool FitsHeap(const PrimExpr* value);
  void Fail(const Node& at, std::string message);

  const Function& function_;
  BlockBuilder& builder_;
  ModuleBuilder& module_;
  DiagnosticEngine& diagnostics_;
  BuiltinCalls calls_;
  ShapeSlots slots_;
  std::vector<uint32_t> defined_;  // slots of variables whose users are not computed yet
  const Var* heap_ = nullptr;
  bool failed_ = false;
};

}  // namespace iropt
