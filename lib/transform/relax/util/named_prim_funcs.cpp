#include "named_prim_funcs.h"

#include <memory>
#include <string>
#include <unordered_map>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/file.h"

namespace iropt {

namespace {

using Dims = std::unordered_map<const tir::Var*, const PrimExpr*>;

bool Fits(const tir::Buffer* buffer, const TensorType* tensor, Dims& values) {
  if (!buffer || !tensor || !tensor->known || buffer->dtype != tensor->dtype) return false;
  if (buffer->shape.size() != tensor->dims.size()) return false;
  for (uint32_t i = 0; i < buffer->shape.size(); ++i) {
    const PrimExpr* dim = buffer->shape[i];
    const int64_t* size = arith::AsInt(dim);
    if (size && !arith::IsInt(tensor->dims[i], *size)) return false;
    const auto* var = As<tir::Var>(dim);
    if (!var) continue;
    const auto [known, is_new] = values.try_emplace(var, tensor->dims[i]);
    if (!is_new && !arith::ProveEqual(known->second, tensor->dims[i])) return false;
  }
  return true;
}

}  // namespace

bool AcceptsTensors(const PrimFunc& func, std::span<const Type* const> types) {
  if (types.size() > func.param_buffers.size()) return false;
  Dims values;
  for (uint32_t i = 0; i < types.size(); ++i) {
    if (!Fits(func.param_buffers[i], As<TensorType>(types[i]), values)) return false;
  }
  return true;
}

NamedPrimFuncs::NamedPrimFuncs(const PassOptions& options, const TypedOption<std::string>& path) {
  if (path->empty()) return;
  if (!options.reader()) {
    options.Refuse(path, "cannot be read: the context has no reader of text");
    return;
  }
  const SourceSpan span = path.span();
  const Result<std::shared_ptr<const FileBuffer>> file = ReadFile(*path);
  if (!file) {
    options.diagnostics().Error(span, "file", file.error().message);
    return;
  }
  const Module empty;
  Workspace scratch;
  file_ = options.reader()->ReadModule((*file)->text(), {empty, scratch, options.diagnostics(), span});
}

const ModuleEntry* NamedPrimFuncs::Find(std::string_view name, const Module& module) const {
  const ModuleEntry* entry = file_ ? file_->Find(name) : nullptr;
  if (!entry) entry = module.Find(name);
  return entry && Is<PrimFunc>(entry->func) ? entry : nullptr;
}

const GlobalVar* NamedPrimFuncs::Import(const ModuleEntry& found, ModuleBuilder& builder) const {
  const ModuleEntry* own = file_ ? file_->Find(found.var) : nullptr;
  if (!own || own->func != found.func) return found.var;
  Workspace workspace(builder.module());
  auto* copy = workspace.New<PrimFunc>(*To<PrimFunc>(CloneFunction(found.func, workspace)));
  copy->attrs = copy->attrs->Without(attr::kGlobalSymbol);
  return builder.AddFunction(copy, workspace.Finish(), found.var->name);
}

}  // namespace iropt
