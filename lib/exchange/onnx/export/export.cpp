#include "exchange/onnx/export/export.h"

#include <fmt/format.h>

#include <algorithm>

#include "exchange/onnx/export/export_context.h"
#include "exchange/onnx/export/finish_nodes.h"
#include "exchange/onnx/export/function_exporter.h"
#include "exchange/onnx/export/inner_initializers.h"
#include "exchange/onnx/export/verify.h"
#include "exchange/onnx/import/import.h"
#include "exchange/onnx/rename_values.h"
#include "exchange/onnx/type_text.h"
#include "iropt/support/version.h"

namespace iropt::onnx {

namespace {

// For modules that did not come from ONNX.
constexpr int64_t kDefaultOpset = 17;
constexpr int64_t kNewestOpset = 28;
constexpr int64_t kShapesHaveParts = 15;

// The IR version that came with a version of the operator set, as the standard's table of releases has it.
int64_t IrVersionFor(int64_t opset) {
  constexpr std::pair<int64_t, int64_t> kReleases[] = {{25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8},
                                                       {12, 7},  {11, 6},  {10, 5},  {9, 4},   {0, 3}};
  for (const auto& [first_opset, ir_version] : kReleases) {
    if (opset >= first_opset) return ir_version;
  }
  return 3;
}

// Entries of the dictionaries that the reader makes.
class FactsReader {
 public:
  explicit FactsReader(const Attr* facts) : facts_(As<DictAttr>(facts)) {}

  const Attr* Find(std::string_view key) const { return facts_ ? facts_->Find(key) : nullptr; }
  std::string_view Text(std::string_view key) const {
    const auto* text = As<StrAttr>(Find(key));
    return text ? text->value : std::string_view();
  }
  int64_t Int(std::string_view key) const {
    const auto* number = As<IntAttr>(Find(key));
    return number ? number->value : 0;
  }
  Names Texts(std::string_view key) const {
    Names texts;
    const auto* list = As<ListAttr>(Find(key));
    for (uint32_t i = 0; list && i < list->values.size(); ++i) {
      if (const auto* text = As<StrAttr>(list->values[i])) texts.push_back(text->value);
    }
    return texts;
  }
  Properties Pairs(std::string_view key) const {
    Properties pairs;
    const auto* dict = As<DictAttr>(Find(key));
    for (uint32_t i = 0; dict && i < dict->size(); ++i) {
      if (const auto* text = As<StrAttr>(dict->values[i])) pairs.emplace_back(dict->keys[i], text->value);
    }
    return pairs;
  }

 private:
  const DictAttr* facts_;
};

void SetOpsets(const FactsReader& facts, const ExportOptions& options, ExportContext& context) {
  Model& model = context.model();
  int64_t opset = 0;
  const auto* sets = As<DictAttr>(facts.Find("opset_import"));
  for (uint32_t i = 0; sets && i < sets->size(); ++i) {
    const auto* version = As<IntAttr>(sets->values[i]);
    if (version == nullptr) continue;
    if (IsOnnxDomain(sets->keys[i]))
      opset = version->value;
    else
      model.opsets.push_back({.domain = sets->keys[i], .version = version->value});
  }
  const int64_t given = opset;
  if (opset <= 0) opset = kDefaultOpset;
  if (options.opset) opset = *options.opset;
  context.set_opset(opset);
  model.opsets.insert(model.opsets.begin(), {.domain = "", .version = opset});
  const int64_t ir_version = facts.Int("ir_version");
  model.ir_version = ir_version > 0 && opset == given ? ir_version : std::max(ir_version, IrVersionFor(opset));
}

void SetModelFacts(const FactsReader& facts, Model& model) {
  model.producer_name = facts.Text("producer_name");
  model.producer_version = facts.Text("producer_version");
  if (model.producer_name.empty()) {
    model.producer_name = "ir-opt";
    model.producer_version = IROPT_VERSION;
  }
  model.domain = facts.Text("domain");
  model.model_version = facts.Int("model_version");
  model.doc = facts.Text("doc_string");
  model.metadata = facts.Pairs("metadata");
}

// `main`, or the only function that is not private. Others that are not bodies of loops are errors.
const ModuleEntry* MainOf(ExportContext& context) {
  const Module& module = context.module();
  const ModuleEntry* main = module.Find("main");
  for (const ModuleEntry& entry : module.functions()) {
    const auto* function = As<iropt::Function>(entry.func);
    if (function == nullptr) {
      context.Report(fmt::format("function '{}': it is not a Relax function", entry.var->name));
      return nullptr;
    }
    const bool is_public = !function->StringAttr(iropt::attr::kGlobalSymbol).empty();
    if (!is_public || entry.var->name == "main") continue;
    if (main != nullptr) {
      context.Report(
          fmt::format("function '{}': a model has one graph, which is that of '{}'", entry.var->name, main->var->name));
      return nullptr;
    }
    main = &entry;
  }
  if (main == nullptr) context.Report("the module has no function that could be the graph");
  return main;
}

// Before version 4 of the IR, initializers are inputs as well.
void ListInitializersAsInputs(Model& model) {
  for (const TensorProto& tensor : model.graph.initializers) {
    ValueInfo input{.name = tensor.name};
    input.type.kind = ValueType::Kind::kTensor;
    input.type.element = tensor.type;
    input.type.has_shape = true;
    for (const int64_t dim : tensor.dims) input.type.dims.push_back({.value = dim});
    model.graph.inputs.push_back(std::move(input));
  }
}

// Calls may name domains that a module which did not come from ONNX has no version of.
void AddDomains(const GraphProto& graph, Model& model) {
  for (const NodeProto& node : graph.nodes) {
    const bool is_known = IsOnnxDomain(node.domain) ||
                          std::ranges::find(model.opsets, node.domain, &OperatorSet::domain) != model.opsets.end();
    if (!is_known) model.opsets.push_back({.domain = node.domain, .version = 1});
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) AddDomains(*inner, model);
    }
  }
}

void SetReshapeForms(const FactsReader& graph, ReshapeForms& forms) {
  forms.are_exact = graph.Int("nodes") > 0;
  forms.copies_zeros.InsertAll(graph.Texts("copies_zeros"));
  forms.next_to_inferred.InsertAll(graph.Texts("next_to_inferred"));
}

bool ExportMain(const ModuleEntry& main, ExportContext& context) {
  const auto* function = To<iropt::Function>(main.func);
  const FactsReader facts(function->attrs->Find(attr::kOnnxGraph));
  Names inputs = facts.Texts("inputs");
  Names outputs = facts.Texts("outputs");
  GraphProto& graph = context.model().graph;
  graph.name = facts.Text("name").empty() ? main.var->name : facts.Text("name");
  graph.doc = facts.Text("doc_string");
  graph.metadata = facts.Pairs("metadata");
  if (inputs.size() != function->params.size()) inputs.clear();
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    // An inner value of the model may be an input of a piece of it.
    const iropt::Var* param = function->params[i];
    if (inputs[i] == param->name())
      inputs[i] = context.NameOfOutput(param->span(), inputs[i]);
    else
      context.Take(inputs[i]);
  }
  for (const std::string_view name : outputs) context.Take(name);
  FunctionExporter exporter(context, main.var->name);
  for (const auto& [name, text] : facts.Pairs("types")) {
    if (std::optional<ValueType> type = TypeFromText(text)) exporter.StateType(name, std::move(*type));
  }
  return exporter.ExportGraph(*function, inputs, outputs, {}, graph) && !context.failed();
}

}  // namespace

static std::unique_ptr<ExportedModel> ExportOnce(const Module& module, const ExportOptions& options,
                                                 DiagnosticEngine& diagnostics) {
  auto result = std::make_unique<ExportedModel>();
  ExportContext context(module, *result, options, diagnostics);
  const FactsReader facts(module.attrs()->Find(attr::kOnnxModel));
  SetModelFacts(facts, result->model);
  for (const std::string_view file : facts.Texts("data_files")) result->data_files.push_back(file);
  SetOpsets(facts, options, context);
  if (context.opset() < 1 || context.opset() > kNewestOpset) {
    context.Report(
        fmt::format("models of opset {} cannot be written: expected 1 to {}", context.opset(), kNewestOpset));
    return nullptr;
  }
  const ModuleEntry* main = MainOf(context);
  if (main == nullptr) return nullptr;
  const FactsReader graph(To<iropt::Function>(main->func)->attrs->Find(attr::kOnnxGraph));
  if (options.exact_reshapes) SetReshapeForms(graph, context.reshape_forms());
  if (!ExportMain(*main, context)) return nullptr;
  result->arrays.resize(result->model.graph.initializers.size(), nullptr);
  CancelTransposes(result->model.graph);
  MergeEqualNodes(result->model.graph);
  DivideByReciprocals(result->model.graph);
  if (context.opset() >= kShapesHaveParts) TakePartsOfShapes(result->model.graph);
  RenameValues(context.shorter_names(), result->model.graph);
  MakeConstantNodes(*result);
  RemoveDeadNodes(*result);
  AddDomains(result->model.graph, result->model);
  NameOutputs(*result);
  result->inner_bytes = static_cast<uint64_t>(std::max<int64_t>(graph.Int("inner_bytes"), 0));
  if (const std::optional<std::string> mistake =
          FindMistake(result->model, graph.Texts("outputs"), context.known_operators())) {
    context.Report(fmt::format("function '{}': {}", main->var->name, *mistake));
    return nullptr;
  }
  MoveOutputsInward(*result);
  const auto infos = static_cast<uint64_t>(std::max<int64_t>(graph.Int("value_infos"), 0));
  const int64_t shapes = options.infer_shapes || graph.Find("shapes") == nullptr ? -1 : graph.Int("shapes");
  if (shapes >= 0) TidyShapes(result->model, static_cast<uint64_t>(shapes));
  TidyValueInfos(result->model, options.infer_shapes ? UINT64_MAX : infos);
  if (result->model.ir_version < 4) ListInitializersAsInputs(result->model);
  return result;
}

// The nodes of the model that a module was read from, if it has computed shapes.
static int64_t NodesBefore(const Module& module) {
  for (const ModuleEntry& entry : module.functions()) {
    const auto* function = As<iropt::Function>(entry.func);
    const int64_t nodes = function ? FactsReader(function->attrs->Find(attr::kOnnxGraph)).Int("nodes") : 0;
    if (nodes > 0) return nodes;
  }
  return 0;
}

void ExportedModel::EraseInitializers(FunctionRef<bool(size_t)> takes) {
  std::vector<TensorProto>& initializers = model.graph.initializers;
  size_t kept = 0;
  for (size_t i = 0; i < initializers.size(); ++i) {
    if (takes(i)) continue;
    if (kept != i) {
      initializers[kept] = std::move(initializers[i]);
      arrays[kept] = arrays[i];
    }
    ++kept;
  }
  initializers.resize(kept);
  arrays.resize(kept);
}

std::unique_ptr<ExportedModel> ExportModel(const Module& module, const ExportOptions& options,
                                           DiagnosticEngine& diagnostics) {
  std::unique_ptr<ExportedModel> result = ExportOnce(module, options, diagnostics);
  const bool has_more_nodes = result && result->has_exact_reshapes &&
                              static_cast<int64_t>(CountNodes(result->model.graph)) > NodesBefore(module);
  if (!has_more_nodes) return result;
  ExportOptions shorter = options;
  shorter.exact_reshapes = false;
  return ExportOnce(module, shorter, diagnostics);
}

std::optional<size_t> CountNodes(const iropt::Function& function, int64_t opset, NetworkMode mode,
                                 bool sizes_are_given) {
  const Module module;
  ExportedModel result;
  DiagnosticBuffer ignored;
  DiagnosticEngine silent(&ignored);
  ExportOptions options;
  options.mode = mode;
  ExportContext context(module, result, options, silent);
  context.set_opset(opset);
  FunctionExporter exporter(context, "main");
  exporter.dims().TakeAsGiven(sizes_are_given ? DimValues::Given::All : DimValues::Given::Symbols);
  GraphProto& graph = result.model.graph;
  if (!exporter.ExportGraph(function, {}, {}, {}, graph) || context.failed()) return std::nullopt;
  result.arrays.resize(graph.initializers.size(), nullptr);
  CancelTransposes(graph);
  MergeEqualNodes(graph);
  DivideByReciprocals(graph);
  if (opset >= kShapesHaveParts) TakePartsOfShapes(graph);
  RemoveDeadNodes(result);
  return graph.nodes.size();
}

}  // namespace iropt::onnx
