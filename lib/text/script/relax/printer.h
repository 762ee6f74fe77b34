// Prints Relax functions.
#pragma once

#include "expr_printer.h"
#include "prologue.h"

namespace iropt::text {

// The name of the class around the functions of a module, also of one to which functions were added after it was read
// as a single function.
inline std::string_view ClassName(const Module& module) {
  return module.name().empty() ? std::string_view("Module") : module.name();
}

class RelaxPrinter {
 public:
  explicit RelaxPrinter(PrintContext& context)
      : context_(context), out_(context.out), names_(context.names), exprs_(context), types_(exprs_.types()) {}

  // A function of the module, with decorator and the blank line after it. `before` has the prefixes that the text has
  // used so far.
  void PrintFunction(const Function* function, std::string_view name, const RelaxPrologue& prologue, PrefixUse before);

 private:
  void PrintHeader(const Function* function, std::string_view name, bool is_private,
                   const TypePrinter::Introduced* introduced);
  void PrintPrologueLine(const tir::Var* var);
  void PrintPrologueLines(std::span<const tir::Var* const> lines);
  void PrintAttributes(const DictAttr* attrs);
  void PrintNestedFunction(const Binding* binding, const Function* function);
  void PrintTypeVars();
  void DefineSignatureVars(std::span<const tir::Var* const> vars);
  // The statements of a body; its value goes to `return`, or to `target: annotation = value`.
  void PrintBody(const Expr* body, const Var* target);
  // Prints the statements of a body whose names are free again afterwards.
  void PrintScope(const Expr* body, const Var* target);
  void PrintBlock(const BindingBlock* block);
  void PrintBinding(const Binding* binding, bool is_output = false);
  void PrintIf(const Var* var, const If* value);
  void PrintAssignment(const Var* var, const Expr* value, bool annotate);
  bool HidesAnnotation(const Var* var, const Expr* value) const;

  PrintContext& context_;
  OutputStream& out_;
  PrintNames& names_;
  RelaxExprPrinter exprs_;
  TypePrinter& types_;
  const RelaxPrologue* prologue_ = nullptr;
  PrefixUse before_;
  std::vector<std::string_view> type_params_;  // of the function whose header comes next
  size_t nested_ = 0;                          // how many nested functions were begun
};

}  // namespace iropt::text
