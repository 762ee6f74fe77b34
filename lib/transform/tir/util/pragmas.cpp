#include "transform/tir/util/pragmas.h"

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/prim_builder.h"

namespace iropt {

const DictAttr* SplitPragmas(const DictAttr* annotations, bool keeps_unroll, std::vector<DictAttr::Entry>& pragmas) {
  const DictAttr* kept = annotations;
  for (uint32_t i = 0; i < annotations->size(); ++i) {
    const std::string_view key = annotations->keys[i];
    if (!key.starts_with(attr::kPragmaPrefix) || (keeps_unroll && key == attr::kPragmaUnroll)) continue;
    pragmas.emplace_back(key, annotations->values[i]);
    kept = kept->Without(key);
  }
  return kept;
}

const PrimExpr* PragmaValue(const Attr* value, Workspace& workspace) {
  if (const auto* integer = As<IntAttr>(value)) {
    // Integers that are written without a dtype are int32 in expressions.
    const bool is_plain = integer->dtype == DataType::Int(64) && arith::FitsIn(integer->value, DataType::Int(32));
    return workspace.New<tir::IntImm>(is_plain ? DataType::Int(32) : integer->dtype, integer->value);
  }
  if (const auto* number = As<FloatAttr>(value)) return workspace.New<tir::FloatImm>(number->dtype, number->value);
  if (const auto* text = As<StrAttr>(value)) return workspace.New<tir::StringImm>(text->value);
  const auto* expr = As<ExprAttr>(value);
  return expr ? expr->value : nullptr;
}

const tir::Stmt* LaunchThread(const tir::For& loop, Workspace& workspace) {
  const std::string_view tag = loop.thread_binding->thread_tag;
  const auto* dom = workspace.New<tir::Range>(loop.min, loop.extent);
  const auto* axis = workspace.New<tir::IterVar>(dom, loop.loop_var, tir::IterVarType::kThreadIndex, tag);
  return workspace.New<tir::AttrStmt>(axis, IsVirtualThreadTag(tag) ? attr::kVirtualThread : attr::kThreadExtent,
                                      loop.extent, loop.body);
}

}  // namespace iropt
