// Declarations of buffers, and the variables that they introduce by the way.
#include <fmt/format.h>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/visitor.h"
#include "printer.h"

namespace iropt::text {

TirPrinter::BufferParts TirPrinter::Plan(const tir::Buffer* buffer, Introduces introduces, size_t owner) {
  BufferParts parts;
  const auto count = [&](const tir::Var* var) {
    int n = buffer->data == var;
    const auto in = [&](const PrimExpr* e) {
      if (!Is<tir::IntImm>(e)) tir::ForEachVar(e, [&](const tir::Var* v) { n += v == var; });
    };
    for (const PrimExpr* e : buffer->shape) in(e);
    for (const PrimExpr* e : buffer->strides) in(e);
    in(buffer->elem_offset);
    return n;
  };
  const auto declare = [&](const PrimExpr* e) {
    const auto* var = static_cast<const tir::Var*>(e);
    const size_t position = names_.Mark();
    names_.Define(var);
    NoteLate(owner, position, var, false);
    parts.variables.push_back(var);
  };
  // A new variable that occurs once has no line of its own: the declaration introduces it.
  const auto introduce = [&](const PrimExpr* e) {
    if (!IsNew(e)) return false;
    if (count(static_cast<const tir::Var*>(e)) == 1) return true;
    declare(e);
    return false;
  };
  for (const PrimExpr* e : buffer->shape) {
    if (IsNew(e)) declare(e);
  }
  if (introduces == Introduces::kNothing) {
    if (IsNew(buffer->data)) declare(buffer->data);
  } else {
    parts.data = !introduce(buffer->data);
  }
  for (const PrimExpr* e : buffer->strides) parts.strides.push_back(introduce(e));
  parts.offset = introduce(buffer->elem_offset);
  return parts;
}

std::string TirPrinter::VariableLine(const std::vector<const tir::Var*>& variables) {
  std::string line;
  if (variables.empty()) return line;
  OutputStream out(&line);
  PrintContext context = context_.WithOutput(out);
  PrimPrinter prim(context, ScriptDialect::kTir);
  for (size_t i = 0; i < variables.size(); ++i) {
    if (i) out.Append(", ");
    out.Append(names_.Find(variables[i]));
  }
  out.Append(" = ");
  for (size_t i = 0; i < variables.size(); ++i) {
    if (i) out.Append(", ");
    prim.PrintVarCreation(variables[i]);
  }
  static_cast<void>(out.Flush());
  return line;
}

void TirPrinter::PrintVariableLine(const BufferParts& parts) {
  if (parts.variables.empty()) return;
  BeginLine();
  out_.Append(VariableLine(parts.variables));
}

void TirPrinter::PrintDeclaration(const tir::Buffer* buffer, std::string_view function, FunctionRef<void()> first,
                                  const BufferParts& parts, PrintContext& context) {
  OutputStream& out = context.out;
  PrimPrinter prim(context, ScriptDialect::kTir, this);
  const auto integer = [&](std::string_view name, int64_t value) {
    out.Append(name);
    out.AppendInt(value);
  };
  out.Append("T.");
  out.Append(function);
  out.Append('(');
  first();
  prim.PrintTuple(buffer->shape);
  if (buffer->dtype != DataType::Float(32)) {
    out.Append(", ");
    prim.PrintDType(buffer->dtype);
  }
  if (parts.data) {
    out.Append(", data=");
    prim.PrintVar(buffer->data);
  }
  if (!buffer->strides.empty()) {
    out.Append(", strides=(");
    for (uint32_t i = 0; i < buffer->strides.size(); ++i) {
      if (i) out.Append(", ");
      if (parts.strides[i]) {
        PrintString(static_cast<const tir::Var*>(buffer->strides[i])->name, out);
      } else {
        prim.Print(buffer->strides[i]);
      }
    }
    out.Append(buffer->strides.size() == 1 ? ",)" : ")");
  }
  const bool constant = Is<tir::IntImm>(buffer->elem_offset);
  if (constant ? !arith::IsInt(buffer->elem_offset, 0) : !parts.offset) {
    out.Append(", elem_offset=");
    prim.Print(buffer->elem_offset);
  }
  if (buffer->scope() != "global") {
    out.Append(", scope=");
    PrintString(buffer->scope(), out);
  }
  if (buffer->data_alignment != tir::kAllocAlignment) integer(", align=", buffer->data_alignment);
  if (parts.offset || buffer->offset_factor != 1) integer(", offset_factor=", buffer->offset_factor);
  if (buffer->buffer_type != tir::BufferType::kDefault) out.Append(", buffer_type=\"auto\"");
  if (!buffer->axis_separators.empty()) {
    for (uint32_t i = 0; i < buffer->axis_separators.size(); ++i)
      integer(i ? ", " : ", axis_separators=[", buffer->axis_separators[i]);
    out.Append(']');
  }
  out.Append(')');
}

void TirPrinter::NameParts(const tir::Buffer* buffer, std::string_view name, const BufferParts& parts, size_t owner) {
  const auto alias = [&](const PrimExpr* e, const std::string& text) {
    const auto* var = static_cast<const tir::Var*>(e);
    const size_t position = names_.Mark();
    names_.Alias(var, text);
    NoteLate(owner, position, var, true);
  };
  if (!parts.data) alias(buffer->data, fmt::format("{}.data", name));
  for (uint32_t i = 0; i < buffer->strides.size(); ++i) {
    if (parts.strides[i]) alias(buffer->strides[i], fmt::format("{}.strides[{}]", name, i));
  }
  if (parts.offset) alias(buffer->elem_offset, fmt::format("{}.elem_offset", name));
}

void TirPrinter::PrintBufferLine(const tir::Buffer* buffer, std::string_view function, Introduces introduces,
                                 FunctionRef<void()> first) {
  const std::string_view name = names_.Define(buffer, Hint(buffer));
  const size_t owner = frames_.size() - 1;
  const BufferParts parts = Plan(buffer, introduces, owner);
  PrintVariableLine(parts);
  BeginLine();
  out_.Append(name);
  out_.Append(" = ");
  PrintDeclaration(buffer, function, first, parts, context_);
  NameParts(buffer, name, parts, owner);
}

}  // namespace iropt::text
