// Expressions of integers in the language SMT-LIB 2. Integers are those of mathematics, and memory that does not change
// is a function of its indices.
#pragma once

#include <string>
#include <vector>

#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt::arith {

// Writes expressions as definitions, one for equal ones, so that shared operands stay shared. Sizes are not negative.
class SmtScript : private tir::ExprFunctor<std::string(const PrimExpr*)> {
 public:
  // The name of the expression, or a literal.
  std::string Write(const PrimExpr* expr) { return VisitExpr(expr); }
  void Assert(const std::string& condition);
  // The variable is in [min, min + extent).
  void AssertRange(const PrimExpr* var, const PrimExpr* min, const PrimExpr* extent);

  // ---- Quotients as variables
  //
  // From now on, each quotient, but for those rounded down by positive numbers, is a variable, and so is its remainder:
  // they are what Euclid's equation and the rounding say, unless the divisor is 0. With `is_defined`, none is. What
  // follows of products is rarely found by Z3, so laws about integers that a quotient may be are asserted.
  void NameQuotients(bool is_defined) {
    has_variables_ = true;
    is_defined_ = is_defined;
  }
  // By their names.
  struct Division {
    std::string a;
    std::string b;
    bool truncates;
    std::string quotient;
    std::string remainder;
  };
  const std::vector<Division>& divisions() const { return divisions_; }
  // The names and literals of integers, in the order of their first use.
  const std::vector<std::string>& integers() const { return integers_; }
  // A quotient is each of these by which it would leave a right remainder: it is the only such number.
  void AssertUniqueQuotients(const std::vector<std::string>& candidates);
  // A quotient is less or greater than each of these as its product with the divisor tells.
  void AssertOrders(const std::vector<std::string>& candidates);

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

  // The name of the integer or truth value.
  std::string Define(DataType dtype, std::string text);
  std::string Declare(char prefix, DataType dtype);
  std::string Unknown(DataType dtype);
  std::string Quotient(const tir::BinaryExpr& expr, const std::string& a, const std::string& b);
  const Division& Divide(const std::string& a, const std::string& b, bool truncates);
  std::string Choice(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b);
  std::string Binary(const tir::BinaryExpr& expr);

  std::string text_;
  LookupMap<const PrimExpr*, std::string> names_;
  LookupMap<std::string, std::string> definitions_;  // their names, by their text
  std::vector<std::string> integers_;
  std::vector<Division> divisions_;
  LookupMap<const tir::Buffer*, std::string> functions_;
  int num_definitions_ = 0;
  int num_variables_ = 0;
  int num_functions_ = 0;
  bool has_variables_ = false;
  bool is_defined_ = false;
  bool reads_memory_ = false;
  bool has_other_operations_ = false;
};

}  // namespace iropt::arith
