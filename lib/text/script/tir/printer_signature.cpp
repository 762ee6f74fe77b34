// The parameters of PrimFuncs in the form of TVM 0.26 and newer: each buffer is a typed parameter.
#include <algorithm>
#include <numeric>

#include "iropt/ir/tir/visitor.h"
#include "printer.h"
#include "text/script/printer_type_vars.h"

namespace iropt::text {

// (A: T.Buffer((n, 4), "float32"), n: T.int64) -> T.int32:
void TirPrinter::PrintTypedParams(const ScalarArgs& scalars) {
  if (context_.Since(TextVersion::kV0_27)) {
    const std::vector<const tir::Var*> vars = TypeVarsOf(func_);
    type_vars_.InsertAll(vars);
    const std::vector<std::string_view> names = DefineTypeVars(vars, names_);
    if (context_.pep695) PrintTypeParams(names, out_);
  }
  // A buffer may use scalars that come later.
  for (uint32_t i = 0; i < func_->params.size(); ++i) {
    if (!func_->param_buffers[i]) names_.Define(func_->params[i]);
  }
  std::vector<uint32_t> order(func_->params.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.end() - scalars.scalars - scalars.results, order.end() - scalars.scalars, order.end());
  out_.Append('(');
  for (const uint32_t i : order) {
    if (i != order[0]) out_.Append(", ");
    if (func_->param_buffers[i]) {
      PrintTypedParam(func_->param_buffers[i]);
      continue;
    }
    const tir::Var* param = func_->params[i];
    out_.Append(names_.Find(param));
    out_.Append(": ");
    prim_.PrintVarType(param);
    bound_vars_.insert(param);
  }
  out_.Append(')');
  if (const auto* ret = As<PrimType>(func_->ret_type)) {
    out_.Append(" -> ");
    prim_.PrintDTypeName(ret->dtype);
  }
  out_.Append(':');
}

void TirPrinter::PrintTypedParam(const tir::Buffer* buffer) {
  const std::string_view name = NameBuffer(buffer);
  BufferParts parts = Plan(buffer, Introduces::kAll, 0);
  parts.is_param = true;
  if (!parts.variables.empty()) param_lines_.push_back(VariableLine(parts.variables));
  out_.Append(name);
  out_.Append(": ");
  PrintDeclaration(
      buffer, "Buffer", [] {}, parts, context_);
  NameParts(buffer, name, parts, 0);
}

// A dimension is quoted where it introduces a variable that no parameter before has, and where it is an expression of
// declared ones.
void TirPrinter::PrintParamShape(const tir::Buffer* buffer, PrimPrinter& prim) {
  const bool postponed = context_.pep695 && !type_vars_.empty();
  out_.Append('(');
  for (uint32_t i = 0; i < buffer->shape.size(); ++i) {
    const PrimExpr* dim = buffer->shape[i];
    bool introduces = false, is_compound = false;
    std::vector<const tir::Var*> vars;
    if (!Is<tir::IntImm>(dim)) tir::ForEachVar(dim, [&](const tir::Var* var) { vars.push_back(var); });
    for (const tir::Var* var : vars) {
      const bool declared = type_vars_.contains(var);
      introduces |= !declared && !bound_vars_.contains(var);
      is_compound |= declared && dim != var;
    }
    if (i) out_.Append(", ");
    if (!postponed && (introduces || is_compound)) {
      PrintString(QuotedDim(dim), out_);
    } else {
      prim.Print(dim);
    }
    bound_vars_.InsertAll(vars);
  }
  out_.Append(buffer->shape.size() == 1 ? ",)" : ")");
}

std::string TirPrinter::QuotedDim(const PrimExpr* dim) {
  std::string text;
  {
    OutputStream out(&text);
    PrintContext context = context_.WithOutput(out);
    PrimPrinter(context, ScriptDialect::kTir, this).Print(dim);
  }
  return text;
}

}  // namespace iropt::text
