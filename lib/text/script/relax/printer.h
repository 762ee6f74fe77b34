// Prints Relax functions.
#pragma once

#include "iropt/infer/print/type_printer.h"
#include "iropt/op/op.h"
#include "prologue.h"
#include "text/script/printer_core.h"

namespace iropt::text {

// The name of the class around the functions of a module, also of one to which functions were added after it was read
// as a single function.
inline std::string_view ClassName(const Module& module) {
  return module.name().empty() ? std::string_view("Module") : module.name();
}

class RelaxPrinter {
 public:
  explicit RelaxPrinter(PrintContext& context)
      : context_(context), out_(context.out), names_(context.names), types_(context) {}

  // A function of the module, with decorator and the blank line after it. `before` has the prefixes that the text has
  // used so far.
  void PrintFunction(const Function* function, std::string_view name, const RelaxPrologue& prologue, PrefixUse before);
  void PrintType(const Type* type) { types_.Print(type); }
  void PrintValue(const Expr* expr) { PrintExpr(expr); }
  // R.ExternFunc("name"), with its type if it is not that of every packed function.
  void PrintExternFunc(const ExternFunc* function);

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
  void PrintExpr(const Expr* expr);
  // As the right-hand side of an assignment: a tuple needs no parentheses there.
  void PrintTopLevel(const Expr* expr);
  void PrintItems(std::span<const Expr* const> items);
  void PrintCall(const Call* call);
  void PrintOpCall(const Call* call, const OpInfo& op);
  void PrintArgsWithScalars(const Tuple* args, const ShapeExpr* scalars);
  static bool HasDTensor(const TupleType* types);
  void PrintOutTypes(const TupleType* types);
  void PrintTypeArgs(const TupleType* types);
  void PrintDevice(const ObjectAttr* record, const OpInfo& op);
  bool PrintFlag(const Expr* operand, const OpInfo& op, size_t i);
  bool IsPrintedAsAttr(const OpInfo& op, size_t operand) const;
  void PrintLaterOperands(const Call* call, const OpInfo& op);
  void PrintOperandAsAttr(const OpArg& arg, const Expr* operand);
  std::string_view AttrName(const OpAttr& attr) const;
  void PrintCallAttrs(const Attr* attrs, const OpInfo* op, const Call* call = nullptr);
  void PrintCallee(const Expr* callee);
  void PrintPrimValue(const PrimExpr* value);
  void PrintConstant(const Constant* constant);
  void PrintElements(const NDArray& data, size_t axis, int64_t& next);
  void PrintElement(const NDArray& data, int64_t index);
  bool HidesAnnotation(const Var* var, const Expr* value) const;
  void Separate() {
    if (!first_) out_.Append(", ");
    first_ = false;
  }

  PrintContext& context_;
  OutputStream& out_;
  PrintNames& names_;
  TypePrinter types_;
  const RelaxPrologue* prologue_ = nullptr;
  PrefixUse before_;
  std::vector<std::string_view> type_params_;  // of the function whose header comes next
  size_t nested_ = 0;                          // how many nested functions were begun
  bool first_ = true;                          // in the argument list that is being printed
};

}  // namespace iropt::text
