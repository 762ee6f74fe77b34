// Prints expressions of Relax functions.
#pragma once

#include "iropt/infer/print/type_printer.h"
#include "iropt/op/op.h"
#include "text/script/printer_core.h"

namespace iropt::text {

class RelaxExprPrinter {
 public:
  explicit RelaxExprPrinter(PrintContext& context)
      : context_(context), out_(context.out), names_(context.names), types_(context) {}

  TypePrinter& types() { return types_; }
  void Print(const Expr* expr);
  // As the right-hand side of an assignment: a tuple needs no parentheses there.
  void PrintTopLevel(const Expr* expr);
  // R.ExternFunc("name"), with its type if it is not that of every packed function.
  void PrintExternFunc(const ExternFunc* function);

 private:
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
  void Separate() {
    if (!first_) out_.Append(", ");
    first_ = false;
  }

  PrintContext& context_;
  OutputStream& out_;
  PrintNames& names_;
  TypePrinter types_;
  bool first_ = true;  // in the argument list that is being printed
};

}  // namespace iropt::text
