#include "named_prim_funcs.h"

#include <memory>
#include <string>

#include "iropt/ir/clone.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/file.h"

namespace iropt {

NamedPrimFuncs::NamedPrimFuncs(const PassOptions& options) {
  const std::string& path = options.String("file");
  if (path.empty()) return;
  if (!options.reader()) {
    options.Refuse("file", "cannot be read: the context has no reader of text");
    return;
  }
  const SourceSpan span = options.SpanOf("file");
  const Result<std::shared_ptr<const FileBuffer>> file = ReadFile(path);
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
  Workspace workspace;
  auto* copy = workspace.New<PrimFunc>(*To<PrimFunc>(CloneFunction(found.func, workspace)));
  copy->attrs = copy->attrs->Without("global_symbol");
  return builder.AddFunction(copy, workspace.Finish(), found.var->name);
}

}  // namespace iropt
