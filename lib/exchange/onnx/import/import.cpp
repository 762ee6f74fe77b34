#include "exchange/onnx/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "exchange/onnx/encode.h"
#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/tensors.h"
#include "exchange/onnx/type_text.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

const Attr* Texts(const std::vector<std::string_view>& texts) {
  std::vector<const Attr*> attrs;
  for (const std::string_view text : texts) attrs.push_back(StrAttr::Get(text));
  return ListAttr::Get(attrs);
}

const Attr* Texts(const Properties& properties) {
  std::vector<DictAttr::Entry> entries;
  for (const auto& [key, value] : properties) entries.emplace_back(key, StrAttr::Get(value));
  return DictAttr::Get(entries);
}

// Entries of a dictionary, without those that say nothing.
class Facts {
 public:
  void Add(std::string_view key, std::string_view text) {
    if (!text.empty()) entries_.emplace_back(key, StrAttr::Get(text));
  }
  void Add(std::string_view key, int64_t number) { entries_.emplace_back(key, IntAttr::Get(number)); }
  void Add(std::string_view key, const Properties& properties) {
    if (!properties.empty()) entries_.emplace_back(key, Texts(properties));
  }
  void Add(std::string_view key, const std::vector<std::string_view>& texts) {
    entries_.emplace_back(key, Texts(texts));
  }
  const DictAttr* Get() const { return DictAttr::Get(entries_); }

 private:
  std::vector<DictAttr::Entry> entries_;
};

const DictAttr* ModelFacts(const Model& model, const TensorReader& tensors) {
  Facts facts;
  facts.Add("ir_version", model.ir_version);
  facts.Add("producer_name", model.producer_name);
  facts.Add("producer_version", model.producer_version);
  facts.Add("domain", model.domain);
  if (tensors.has_read_sparse()) facts.Add(kHasSparseTensors, 1);
  if (const std::vector<std::string_view> files = tensors.DataFiles(); !files.empty()) facts.Add("data_files", files);
  if (model.model_version != 0) facts.Add("model_version", model.model_version);
  facts.Add("doc_string", model.doc);
  facts.Add("metadata", model.metadata);
  std::vector<DictAttr::Entry> opsets;
  for (const OperatorSet& set : model.opsets)
    opsets.emplace_back(IsOnnxDomain(set.domain) ? "ai.onnx" : set.domain, IntAttr::Get(set.version));
  return facts.Get()->With("opset_import", DictAttr::Get(opsets));
}

// The bytes of numbers in the graphs of nodes.
int64_t InnerBytes(const GraphProto& graph, bool is_inner) {
  uint64_t bytes = 0;
  const auto add = [&](const TensorProto& tensor) {
    const std::optional<DataType> dtype = DataTypeOf(tensor.type);
    uint64_t bits = is_inner && dtype ? static_cast<uint64_t>(dtype->bits) : 0;
    for (const int64_t dim : tensor.dims) bits *= static_cast<uint64_t>(dim);
    bytes += bits / 8 + (bits % 8 != 0 ? 1 : 0);
  };
  for (const TensorProto& tensor : graph.initializers) add(tensor);
  for (const NodeProto& node : graph.nodes) {
    for (const AttributeProto& attribute : node.attributes) {
      for (const TensorProto& tensor : attribute.tensors) add(tensor);
      for (const auto& inner : attribute.graphs) bytes += static_cast<uint64_t>(InnerBytes(*inner, true));
    }
  }
  return static_cast<int64_t>(bytes & INT64_MAX);
}

const DictAttr* GraphFacts(const GraphProto& graph, const std::vector<std::string_view>& inputs,
                           const std::vector<const Type*>& results, const ReshapeFacts& reshapes) {
  Facts facts;
  facts.Add("name", graph.name);
  facts.Add("doc_string", graph.doc);
  facts.Add("metadata", graph.metadata);
  std::vector<std::string_view> outputs;
  for (const ValueInfo& output : graph.outputs) outputs.push_back(output.name);
  facts.Add("inputs", inputs);
  facts.Add("outputs", outputs);
  std::deque<std::string> texts;
  Properties types;
  const auto add_type = [&](const ValueInfo& value, const Type* type) {
    if (SaysMoreThan(value.type, type)) types.emplace_back(value.name, texts.emplace_back(ToText(value.type)));
  };
  for (const ValueInfo& input : graph.inputs) add_type(input, nullptr);
  for (size_t i = 0; i < graph.outputs.size(); ++i) add_type(graph.outputs[i], results[i]);
  facts.Add("types", types);
  if (const uint64_t infos = SizeOfInfos(graph); infos > 0) facts.Add("value_infos", static_cast<int64_t>(infos));
  if (HasInnerGraphs(graph)) facts.Add("shapes", static_cast<int64_t>(SizeOfShapes(graph)));
  if (const int64_t bytes = InnerBytes(graph, false); bytes > 0) facts.Add("inner_bytes", bytes);
  if (reshapes.is_computed) {
    facts.Add("nodes", static_cast<int64_t>(CountNodes(graph)));
    facts.Add("next_to_inferred",
              std::vector<std::string_view>(reshapes.next_to_inferred.begin(), reshapes.next_to_inferred.end()));
    std::vector<std::string_view> copying;
    for (const auto& [text, copies] : reshapes.copies_zeros) {
      if (copies) copying.push_back(text);
    }
    facts.Add("copies_zeros", copying);
  }
  return facts.Get();
}

const iropt::Function* ImportMain(const Model& model, FunctionImporter& importer) {
  const GraphProto& graph = model.graph;
  LookupSet<std::string_view> initialized;
  for (const TensorProto& tensor : graph.initializers) initialized.insert(tensor.name);
  for (const SparseTensorProto& tensor : graph.sparse_initializers) initialized.insert(tensor.values.name);
  Scope scope;
  std::vector<const Var*> params;
  std::vector<std::string_view> inputs;
  for (const ValueInfo& input : graph.inputs) {
    if (initialized.contains(input.name)) continue;
    params.push_back(importer.AddParameter(input, scope));
    if (params.back() == nullptr) return nullptr;
    inputs.push_back(input.name);
  }
  const NodeContext nodes_of{.opsets = &model.opsets};
  const SeqExpr* body = importer.ImportBody(graph, nodes_of, scope);
  if (body == nullptr) return nullptr;
  const DictAttr* attrs =
      DictAttr::Empty()
          ->With(iropt::attr::kGlobalSymbol, StrAttr::Get("main"))
          ->With(iropt::attr::kNumInput, IntAttr::Get(static_cast<int64_t>(params.size())))
          ->With(attr::kOnnxGraph, GraphFacts(graph, inputs, ResultTypesOf(*body), importer.context().reshapes));
  const iropt::Function* function = importer.builder().MakeFunction(params, body, attrs);
  return importer.builder().failed() ? nullptr : function;
}

}  // namespace

Result<Module> ImportModel(const Model& model, TensorReader& tensors, DiagnosticEngine& diagnostics,
                           ImportOptions options) {
  ImportContext context{.model = model,
                        .tensors = tensors,
                        .diagnostics = diagnostics,
                        .defines = options.defines,
                        .count_nodes = std::move(options.count_nodes),
                        .kept_shapes = options.kept_shapes};
  FunctionImporter importer(context);
  const iropt::Function* main = ImportMain(model, importer);
  if (main == nullptr) return Failure{ErrorCode::Parse};
  if (options.value_names != nullptr) *options.value_names = importer.value_names();
  Module module;
  module.Set(GlobalVar::Get("main"), main, importer.workspace().Finish());
  for (const ModuleEntry& entry : context.module.functions()) module.Set(entry.var, entry.func, entry.storage);
  module.set_attrs(DictAttr::Empty()->With(attr::kOnnxModel, ModelFacts(model, tensors)));
  return module;
}

}  // namespace iropt::onnx
