#include "exchange/onnx/export/output_names.h"

#include "iropt/ir/relax/expr.h"

namespace iropt::onnx {

void OutputNames::WishForOne(const Expr* result, std::string_view name) {
  for (;;) {
    const auto* var = As<Var>(result);
    if (var == nullptr) return;
    const Expr* value = definitions_.Find(var);
    if (value == nullptr) value = definitions_.CastOf(var);
    if (value == nullptr) return;
    if (const auto* item = As<TupleGetItem>(value)) {
      const auto* tuple = As<Var>(item->tuple);
      if (tuple != nullptr) fields_.emplace(std::pair(tuple, static_cast<size_t>(item->index)), name);
      return;
    }
    if (!Is<Var>(value)) break;
    result = value;
  }
  values_.try_emplace(static_cast<const Var*>(result), name);
}

void OutputNames::WishFor(const Expr* result, const std::vector<std::string_view>& outputs) {
  const Expr* value = definitions_.Resolve(result);
  if (const auto* tuple = As<iropt::Tuple>(value)) {
    for (size_t i = 0; i < tuple->fields.size() && i < outputs.size(); ++i)
      WishForOne(tuple->fields[static_cast<uint32_t>(i)], outputs[i]);
    return;
  }
  const auto* var = As<Var>(result);
  if (var != nullptr && Is<TupleType>(var->type)) {
    for (size_t i = 0; i < outputs.size(); ++i) fields_.emplace(std::pair(var, i), outputs[i]);
  } else if (outputs.size() == 1) {
    WishForOne(result, outputs.front());
  }
}

std::string_view OutputNames::Of(const Var* var) const {
  const auto* wish = values_.Find(var);
  if (wish) return *wish;
  // A value and what a match_cast makes of it are one in ONNX, where the second name is that of the model.
  const Var* named = definitions_.CastTo(var) ? definitions_.CastTo(var) : var;
  return context_.NameOfOutput(definitions_.SpanOf(var), named->name());
}

std::string_view OutputNames::OfField(const Var* var, size_t i) const {
  const auto wish = fields_.find(std::pair(var, i));
  if (wish != fields_.end()) return wish->second;
  return context_.NameOfOutput(definitions_.SpanOf(var), i, var->name());
}

}  // namespace iropt::onnx
