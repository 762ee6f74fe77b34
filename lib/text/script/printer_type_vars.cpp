#include "printer_type_vars.h"

#include <algorithm>

#include "iropt/ir/tir/visitor.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/lookup.h"

namespace iropt::text {

namespace {

// The variables of the buffers of a PrimFunc that are not parameters and for whose dtype the condition holds.
std::vector<const tir::Var*> VarsOfBuffers(const PrimFunc* func, FunctionRef<bool(DataType)> holds) {
  std::vector<const tir::Var*> result;
  LookupSet<const tir::Var*> seen(func->params.begin(), func->params.end());
  const auto add = [&](const PrimExpr* expr) {
    if (Is<tir::IntImm>(expr)) return;
    tir::ForEachVar(expr, [&](const tir::Var* var) {
      if (holds(var->dtype) && seen.insert(var)) result.push_back(var);
    });
  };
  for (const tir::Buffer* buffer : func->param_buffers) {
    if (!buffer) continue;
    for (const PrimExpr* dim : buffer->shape) add(dim);
    for (const PrimExpr* stride : buffer->strides) add(stride);
    add(buffer->elem_offset);
  }
  return result;
}

}  // namespace

std::vector<const tir::Var*> TypeVarsOf(const PrimFunc* func) {
  return VarsOfBuffers(func, [](DataType dtype) { return dtype == DataType::Int(64); });
}

std::vector<std::string_view> NamesTakenByTypeVars(const PrimFunc* func, const TypeVarNames& declared) {
  std::vector<std::string_view> taken;
  if (declared.empty()) return taken;
  for (const tir::Var* var : VarsOfBuffers(func, [](DataType dtype) { return dtype != DataType::Int(64); })) {
    const auto found = declared.find(var->name);
    if (found != declared.end()) taken.push_back(*found);
  }
  return taken;
}

std::vector<std::string_view> DefineTypeVars(std::span<const tir::Var* const> vars, PrintNames& names) {
  // TVM keeps them in a hash set, which lists what was added last first.
  std::vector<std::string_view> result;
  for (size_t i = vars.size(); i-- > 0;) result.push_back(names.Define(vars[i]));
  std::ranges::sort(result);
  return result;
}

void PrintTypeParams(std::span<const std::string_view> names, OutputStream& out) {
  for (size_t i = 0; i < names.size(); ++i) {
    out.Append(i ? ", " : "[");
    out.Append(names[i]);
  }
  if (!names.empty()) out.Append(']');
}

}  // namespace iropt::text
