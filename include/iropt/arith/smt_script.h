// Expressions of integers in the language SMT-LIB 2. Integers are those of mathematics, and memory that does not change
// is a function of its indices.
#pragma once

#include <string>

#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt::arith {

// Writes expressions as definitions, one for each node, so that shared operands stay shared. Sizes are not negative.
class SmtScript : private tir::ExprFunctor<std::string(const PrimExpr*)> {
 public:
  // The name of the expression, or a literal.
  std::string Write(const PrimExpr* expr) { return VisitExpr(expr); }
  void Assert(const std::string& condition);
  // The variable is in [min, min + extent).
  void AssertRange(const PrimExpr* var, const PrimExpr* min, const PrimExpr* extent);

  // The declarations, definitions and assertions so far. Their names do not begin with 'p'.
  const std::string& text() const { return text_; }
  bool reads_memory() const { return reads_memory_; }
  // Returns whether some operation has no form in integers, and is a value of its own.
  bool has_other_operations() const { return has_other_operations_; }

 private:
  std::string VisitExpr(const PrimExpr* expr) override;
  std::string VisitDefault(const PrimExpr* expr) override;
  std::string VisitVar(const tir::Var* var) override;
  std::string VisitSizeVar(const tir::SizeVar* var) override;
  std::string VisitIntImm(const tir::IntImm* imm) override;
  std::string VisitCast(const tir::Cast* cast) override;
  std::string VisitNot(const tir::Not* expr) override;
  std::string VisitSelect(const tir::Select* expr) override;
  std::string VisitBufferLoad(const tir::BufferLoad* load) override;
  std::string VisitCall(const tir::Call* call) override;

  std::string Unknown(DataType dtype);
  std::string Choice(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b);
  std::string Binary(const tir::BinaryExpr& expr);

  std::string text_;
  LookupMap<const PrimExpr*, std::string> names_;
  LookupMap<const tir::Buffer*, std::string> functions_;
  int num_definitions_ = 0;
  int num_variables_ = 0;
  int num_functions_ = 0;
  bool reads_memory_ = false;
  bool has_other_operations_ = false;
};

}  // namespace iropt::arith
