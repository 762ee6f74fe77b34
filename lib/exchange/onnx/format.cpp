// The format that programs load for ONNX files.
#include "iropt/exchange/format.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "exchange/onnx/decode.h"
#include "exchange/onnx/encode.h"
#include "exchange/onnx/export/export.h"
#include "exchange/onnx/export/external_data.h"
#include "exchange/onnx/export/finish_nodes.h"
#include "exchange/onnx/export/inner_initializers.h"
#include "exchange/onnx/export/list_nodes.h"
#include "exchange/onnx/export/sparse_initializers.h"
#include "exchange/onnx/import/bind_sizes.h"
#include "exchange/onnx/import/import.h"
#include "exchange/onnx/import/left_out.h"
#include "exchange/onnx/import/local_functions.h"
#include "exchange/onnx/import/select_part.h"
#include "exchange/onnx/import/sort_nodes.h"
#include "exchange/onnx/import/unused_outputs.h"
#include "exchange/onnx/node_places.h"
#include "iropt/support/version.h"

namespace iropt::onnx {

namespace {

// The version of the operator set; none: that of the input.
std::optional<int64_t> OpsetOf(const FormatOptions* options) {
  const std::optional<std::string> opset = OptionOf(options, "onnx-opset");
  int64_t version = 0;
  const bool is_number =
      opset && std::from_chars(opset->data(), opset->data() + opset->size(), version).ec == std::errc();
  return is_number ? std::optional(version) : std::nullopt;
}

std::vector<std::string> NamesOf(const std::optional<std::string>& list) {
  std::vector<std::string> names;
  for (std::string_view rest = list ? std::string_view(*list) : std::string_view(); !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    names.emplace_back(name);
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  }
  return names;
}

GraphPart PartOf(const FormatOptions* options) {
  return {.inputs = NamesOf(OptionOf(options, "onnx-inputs")),
          .outputs = NamesOf(OptionOf(options, "onnx-outputs")),
          .renames = NamesOf(OptionOf(options, "onnx-rename"))};
}

// For a module that is written as ONNX again, of the same operator set: another one may not have the operators.
NodeCounter CounterFor(const Model& model, const ReadRequest& request) {
  const int64_t opset = model.OpsetOf("");
  if (!request.is_written_back || OpsetOf(request.format_options).value_or(opset) != opset) return nullptr;
  return [opset](const iropt::Function& function, bool sizes_are_given) {
    return CountNodes(function, opset, NetworkMode::Auto, sizes_are_given);
  };
}

// The nodes that a module becomes; nothing if it cannot be written.
std::optional<size_t> NodesOf(const Module& module) {
  DiagnosticBuffer ignored;
  DiagnosticEngine silent(&ignored);
  const std::unique_ptr<ExportedModel> exported = ExportModel(module, {}, silent);
  return exported ? std::optional(CountNodes(exported->model.graph)) : std::nullopt;
}

class OnnxFormat final : public Format {
 public:
  Result<Module> Read(const ReadRequest& request, DiagnosticEngine& diagnostics) const override {
    Result<Model> model = DecodeModel(request.contents);
    if (!model.ok()) {
      diagnostics.Error({}, "bad-model", model.error().message);
      return Failure{ErrorCode::Parse};
    }
    if (request.nodes != nullptr) *request.nodes = CountNodes(*model);
    if (request.sizes != nullptr && !BindSizes(*model, *request.sizes, diagnostics)) return Failure{ErrorCode::Parse};
    if (!SelectPart(*model, PartOf(request.format_options), diagnostics)) return Failure{ErrorCode::Parse};
    RemoveUnusedOutputs(*model);
    SortNodes(*model);
    if (request.sources != nullptr) IROPT_RETURN_IF_ERROR(PlaceNodes(*model, request.name, *request.sources));
    TensorReader tensors(request.owner, request.folder);
    const NodeCounter count_nodes = CounterFor(*model, request);
    Result<Module> module = ImportModel(
        *model, tensors, diagnostics,
        {.value_names = request.value_names, .count_nodes = count_nodes, .defines = !request.is_written_back});
    const bool may_grow = count_nodes && module.ok() && model->functions.empty() && MayComputeShapes(model->graph);
    if (may_grow) {
      const std::optional<size_t> nodes = NodesOf(*module);
      module = ReadWithShapes(*model, tensors, request, std::move(module), nodes);
    }
    if (request.left_out != nullptr && request.is_written_back && module.ok())
      *request.left_out = BytesLeftOut(*model, *module);
    return module;
  }

  Status Write(const Module& module, const WriteRequest& request, OutputStream& out,
               DiagnosticEngine& diagnostics) const override {
    const bool is_listed = request.Option("list-nodes").has_value();
    const std::unique_ptr<ExportedModel> exported =
        ExportModel(module,
                    {.opset = OpsetOf(request.options),
                     .mode = request.mode,
                     .infer_shapes = is_listed || request.Option("infer-shapes") == "on",
                     .sources = request.sources},
                    diagnostics);
    if (exported == nullptr) return Failure{ErrorCode::IllFormed};
    if (is_listed) return ListNodes(exported->model, out), Status();
    MakeSparse(module, *exported);
    IROPT_ASSIGN_OR_RETURN(std::optional<AtomicFile> tensors, MoveOutTensors(*exported, request));
    MoveWeightsInward(*exported);
    ListSmallIntegers(*exported);
    EncodeModel(exported->model, out, [&](size_t i) { Forget(exported->arrays[i]); });
    if (request.nodes != nullptr) *request.nodes = CountNodes(exported->model.graph);
    return tensors ? tensors->Commit() : Status();
  }

 private:
  // The module, or one whose shapes stay values where nodes would have to compute them, or else wherever the model asks
  // for them, if that one has fewer nodes.
  static Result<Module> ReadWithShapes(const Model& model, TensorReader& tensors, const ReadRequest& request,
                                       Result<Module> module, std::optional<size_t> nodes) {
    const size_t most = CountNodes(model.graph);
    for (const KeptShapes kept : {KeptShapes::Computed, KeptShapes::All}) {
      if (nodes && *nodes <= most) break;
      DiagnosticBuffer ignored;
      DiagnosticEngine silent(&ignored);
      ValueNames names;
      Result<Module> other =
          ImportModel(model, tensors, silent,
                      {.value_names = &names, .count_nodes = CounterFor(model, request), .kept_shapes = kept});
      const std::optional<size_t> other_nodes = other.ok() ? NodesOf(*other) : std::nullopt;
      if (!other_nodes || (nodes && *nodes <= *other_nodes)) continue;
      if (request.value_names != nullptr) *request.value_names = std::move(names);
      module = std::move(other);
      nodes = other_nodes;
    }
    return module;
  }
};

}  // namespace

}  // namespace iropt::onnx

extern "C" const iropt::FormatLibrary* iroptGetFormat() {
  static const iropt::onnx::OnnxFormat format;
  static const iropt::FormatLibrary library{IROPT_VERSION, &format};
  return &library;
}
