#include "iropt/driver/cut_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "binding_range.h"
#include "driver/session/module_part.h"
#include "iropt/analysis/relax/called_functions.h"
#include "iropt/analysis/relax/references.h"
#include "iropt/ir/attr_keys.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

Result<const ModuleEntry*> FindFunction(const Module& module, std::string_view name, std::string_view flag) {
  if (const ModuleEntry* entry = module.Find(name)) return entry;
  std::vector<std::string_view> names;
  for (const ModuleEntry& entry : module.functions()) names.push_back(entry.var->name);
  return Error{ErrorCode::Usage, fmt::format("{}: the module has no function '{}'{}", flag, name,
                                             DidYouMeanOr("; it has ", name, names))};
}

// Puts the function into the module under the name, by which code outside knows it, too.
void SetPublic(Module& module, std::string_view name, const BaseFunc* function, const FuncStorageRef& storage,
               const Attr* onnx_graph = nullptr) {
  const DictAttr* attrs = function->attrs->With(attr::kGlobalSymbol, StrAttr::Get(name));
  if (onnx_graph != nullptr) attrs = attrs->With(attr::kOnnxGraph, onnx_graph);
  Workspace workspace(module, storage);
  BaseFunc* copy = nullptr;
  if (const auto* graph = As<Function>(function)) {
    copy = workspace.New<Function>(*graph);
  } else if (const auto* loops = As<PrimFunc>(function)) {
    copy = workspace.New<PrimFunc>(*loops);
  } else {
    return;
  }
  copy->attrs = attrs;
  module.Set(GlobalVar::Get(name), copy, workspace.Finish());
}

// The attr::kOnnxGraph of a piece: the names and sizes of the inputs of `whole` that it takes. Null if there are none.
const Attr* GraphOfPiece(const Function& whole, const Function& piece) {
  const auto* graph = As<DictAttr>(whole.attrs->Find(attr::kOnnxGraph));
  const auto* stated = graph ? As<ListAttr>(graph->Find("inputs")) : nullptr;
  if (stated == nullptr || stated->values.size() != whole.params.size()) return nullptr;
  LookupMap<std::string_view, const Attr*> known;
  for (uint32_t i = 0; i < whole.params.size(); ++i) known.insert_or_assign(whole.params[i]->name(), stated->values[i]);
  std::vector<const Attr*> names;
  for (const Var* param : piece.params) names.push_back(known.Lookup(param->name(), StrAttr::Get(param->name())));
  const DictAttr* result = DictAttr::Empty()->With("inputs", ListAttr::Get(names));
  const Attr* types = graph->Find("types");
  return types ? result->With("types", types) : result;
}

class Extraction {
 public:
  explicit Extraction(const Module& module) : module_(module) {}

  Status Add(std::string_view text) {
    const size_t colon = text.find(':');
    IROPT_ASSIGN_OR_RETURN(const ModuleEntry* entry, FindFunction(module_, text.substr(0, colon), "-extract"));
    if (colon == std::string_view::npos) {
      if (std::ranges::find(whole_, entry) == whole_.end()) whole_.push_back(entry);
      roots_.push_back(entry->var);
      return {};
    }
    const auto* function = As<Function>(entry->func);
    const auto fail = [&](std::string_view why) {
      return Error{ErrorCode::Usage, fmt::format("-extract={}: {}", text, why)};
    };
    if (!function) return fail(fmt::format("'{}' is not a Relax function, so it has no bindings", entry->var->name));
    const Result<BindingRange> range = FindBindingRange(*function, text.substr(colon + 1));
    if (!range.ok()) return fail(range.error().message);
    Piece& piece = pieces_.emplace_back(Piece{entry->var->name, MakePiece(*entry, *range, module_)});
    piece.graph = GraphOfPiece(*function, *piece.made.function);
    for (const GlobalVar* callee : CalledFunctions::Compute(*piece.made.function, *piece.made.storage))
      roots_.push_back(callee);
    return {};
  }

  Module Finish() const {
    Module result = PartOf(module_, roots_);
    for (const ModuleEntry* entry : whole_) {
      if (entry->func->StringAttr(attr::kGlobalSymbol).empty())
        SetPublic(result, entry->var->name, entry->func, entry->storage);
    }
    for (const Piece& piece : pieces_) {
      const std::string name = result.Find(piece.name) ? result.UniqueName(piece.name) : std::string(piece.name);
      SetPublic(result, name, piece.made.function, piece.made.storage, piece.graph);
    }
    return result;
  }

 private:
  struct Piece {
    std::string_view name;
    PieceFunction made;
    const Attr* graph = nullptr;
  };

  const Module& module_;
  std::vector<const GlobalVar*> roots_;
  std::vector<const ModuleEntry*> whole_;
  std::vector<Piece> pieces_;
};

Result<Module> Remove(const Module& module, const std::vector<std::string>& names, DiagnosticEngine& diagnostics) {
  std::vector<bool> keep(module.size(), true);
  for (const std::string& name : names) {
    IROPT_ASSIGN_OR_RETURN(const ModuleEntry* entry, FindFunction(module, name, "-delete"));
    keep[static_cast<size_t>(module.IndexOf(entry->var))] = false;
  }
  const auto is_removed = [&](size_t index) { return !keep[index]; };
  bool ok = true;
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry& entry = module.functions()[i];
    if (!keep[i]) continue;
    for (const GlobalVar* callee : CalledFunctions::Compute(*entry.func, *entry.storage)) {
      if (!is_removed(static_cast<size_t>(module.IndexOf(callee)))) continue;
      const Node* place = entry.func;
      if (const auto* graph = As<Function>(entry.func)) {
        const auto wanted = [&](size_t index) { return module.functions()[index].var == callee; };
        if (const std::optional<FunctionReference> found = FindReference(*graph, module, wanted)) place = found->place;
      }
      diagnostics.Error(
          Location(*place), "deleted-function",
          fmt::format("function '{}' cannot be deleted: '{}' refers to it", callee->name, entry.var->name));
      ok = false;
    }
  }
  if (!ok) return Failure{ErrorCode::IllFormed};
  Module rest = module;
  rest.Filter(keep);
  return rest;
}

}  // namespace

Result<Module> CutModule(const Module& module, const CutRequest& request, DiagnosticEngine& diagnostics) {
  if (!request.remove.empty()) return Remove(module, request.remove, diagnostics);
  Extraction extraction(module);
  for (const std::string& text : request.extract) IROPT_RETURN_IF_ERROR(extraction.Add(text));
  return extraction.Finish();
}

}  // namespace iropt
