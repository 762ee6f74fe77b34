#include "exchange/onnx/export/function_exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "exchange/onnx/export/attributes.h"
#include "exchange/onnx/export/givers_of_dims.h"
#include "exchange/onnx/export/op_export.h"
#include "exchange/onnx/tensors.h"
#include "exchange/onnx/type_text.h"
#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/ir/structural.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt::onnx {

void FunctionExporter::Report(std::string_view op, std::string_view reason) {
  const SourceSpan place = current_ ? Location(definitions_.SpanOf(current_)) : SourceSpan();
  context_.Report(fmt::format("function '{}': {}: {}", function_, op, reason), place);
}

// ---- Types

std::string_view FunctionExporter::DimName(const tir::Var* var) {
  if (outer_ != nullptr) return outer_->DimName(var);
  if (const auto known = dim_names_.find(var); known != dim_names_.end()) return known->second;
  std::string candidate(var->name);
  const auto taken = [&] {
    return std::ranges::any_of(dim_names_, [&](const auto& entry) { return entry.second == candidate; });
  };
  for (int i = 1; taken(); ++i) candidate = fmt::format("{}_{}", var->name, i);
  return dim_names_[var] = Keep(candidate);
}

void FunctionExporter::NameDims(const Type* type, const ValueType& stated) {
  const auto* tensor = As<TensorType>(type);
  if (tensor == nullptr || !tensor->known || tensor->dims.size() != stated.dims.size()) return;
  for (uint32_t i = 0; i < tensor->dims.size(); ++i) {
    const auto* var = As<tir::Var>(tensor->dims[i]);
    if (var != nullptr && !stated.dims[i].value) dim_names_.try_emplace(var, stated.dims[i].param);
  }
}

void KeepStatedDims(const ValueType& stated, ValueType& type) {
  if (type.kind == ValueType::Kind::kNone) type = stated;
  if (type.element != stated.element || !stated.has_shape) return;
  if (!type.has_shape) {
    type.has_shape = true;
    type.dims = stated.dims;
  }
  for (size_t i = 0; type.dims.size() == stated.dims.size() && i < type.dims.size(); ++i) {
    const bool is_stated = stated.dims[i].value || !stated.dims[i].param.empty();
    if (!type.dims[i].value && is_stated) type.dims[i] = stated.dims[i];
  }
}

ValueType FunctionExporter::TypeOf(const Type* type) {
  ValueType result;
  const auto* tensor = As<TensorType>(type);
  if (tensor == nullptr || tensor->dtype.is_void()) return result;
  result.kind = ValueType::Kind::kTensor;
  result.element = ElementTypeOf(tensor->dtype);
  if (tensor->ndim < 0) return result;
  result.has_shape = true;
  result.dims.resize(static_cast<size_t>(tensor->ndim));
  for (uint32_t i = 0; tensor->known && i < tensor->dims.size(); ++i) {
    if (const auto* number = As<tir::IntImm>(tensor->dims[i])) result.dims[i].value = number->value;
    if (const auto* var = As<tir::Var>(tensor->dims[i])) result.dims[i].param = DimName(var);
  }
  return result;
}

void FunctionExporter::CollectSymbols(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  for (uint32_t i = 0; tensor && tensor->known && i < tensor->dims.size(); ++i) {
    if (const auto* var = As<tir::Var>(tensor->dims[i])) symbols_.insert(var);
  }
}

ValueInfo FunctionExporter::DescribeOutput(std::string_view name, const Type* type) {
  ValueInfo value = Describe(name, type);
  const auto* tensor = As<TensorType>(type);
  const auto* stated = stated_.Find(name);
  for (uint32_t i = 0; tensor && tensor->known && i < tensor->dims.size(); ++i) {
    // Sizes that only a run can tell have names of ours.
    const auto* var = As<tir::Var>(tensor->dims[i]);
    if (var != nullptr && !symbols_.contains(var) && stated == nullptr) value.type.dims[i].param = {};
  }
  return value;
}

ValueInfo FunctionExporter::Describe(std::string_view name, const Type* type) {
  ValueInfo value{.name = name, .type = type ? TypeOf(type) : ValueType()};
  const auto* stated = stated_.Find(name);
  if (stated) KeepStatedDims(*stated, value.type);
  return value;
}

void FunctionExporter::DescribeValue(std::string_view name, const Type* type) {
  ValueInfo info{.name = name, .type = TypeOf(type)};
  if (info.type.kind != ValueType::Kind::kNone) graph_->value_infos.push_back(std::move(info));
}

// ---- Values

std::string_view FunctionExporter::IntTensor(std::span<const int64_t> values) {
  auto array = NDArray::Make(DataType::Int(64), {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, array->MutableAs<int64_t>().begin());
  return context_.Initializer(std::shared_ptr<const NDArray>(std::move(array)), "");
}

std::string_view FunctionExporter::IntExtremum(std::string_view op, std::string_view a, std::string_view b) {
  const int64_t opset = context_.opset();
  if (opset >= 12 || opset < 9) return Add(op, {a, b});
  const std::string_view is_less = Add("Less", {a, b});
  return op == "Min" ? Add("Where", {is_less, a, b}) : Add("Where", {is_less, b, a});
}

std::string_view FunctionExporter::IntScalar(int64_t value) {
  auto array = NDArray::Make(DataType::Int(64), {});
  array->MutableAs<int64_t>()[0] = value;
  return context_.Initializer(std::shared_ptr<const NDArray>(std::move(array)), "");
}

std::optional<TensorProto> OpaqueTensor(const iropt::Tuple& tuple, const Definitions& definitions) {
  const auto* shape = tuple.fields.size() == 2 ? As<ShapeExpr>(definitions.Resolve(tuple.fields[0])) : nullptr;
  if (shape == nullptr) return std::nullopt;
  TensorProto tensor;
  for (const PrimExpr* dim : shape->values)
    tensor.dims.push_back(As<tir::IntImm>(dim) ? To<tir::IntImm>(dim)->value : 0);
  const Expr* elements = definitions.Resolve(tuple.fields[1]);
  if (const auto* texts = As<iropt::Tuple>(elements)) {
    tensor.type = ElementType::kString;
    for (const Expr* text : texts->fields) {
      if (!Is<iropt::StringImm>(text)) return std::nullopt;
      tensor.strings.push_back(To<iropt::StringImm>(text)->value);
    }
  } else if (const auto* numbers = As<iropt::Constant>(elements)) {
    const NDArray& array = *numbers->data;
    tensor.type = array.dtype() == DataType::Float(64) ? ElementType::kComplex128 : ElementType::kComplex64;
    tensor.raw = std::string_view(reinterpret_cast<const char*>(array.data()), array.num_bytes());
  } else {
    return std::nullopt;
  }
  return tensor;
}

std::string_view FunctionExporter::OpaqueConstant(const iropt::Tuple* tuple) {
  std::optional<TensorProto> tensor = OpaqueTensor(*tuple, definitions_);
  return tensor ? context_.Initializer(*std::move(tensor), "") : std::string_view();
}

std::optional<ExportedValue> FunctionExporter::ValueOfLeaf(const Expr* expr) {
  if (const auto* var = As<Var>(expr)) {
    const auto* found = values_.Find(var);
    if (!found) return std::nullopt;
    return *found;
  }
  if (const auto* constant = As<iropt::Constant>(expr))
    return ExportedValue{{context_.Initializer(*constant->data, context_.NameOf(*constant))}};
  if (const auto* item = As<TupleGetItem>(expr)) {
    const std::optional<ExportedValue> tuple = ValueOfLeaf(item->tuple);
    const auto index = static_cast<size_t>(item->index);
    if (!tuple || !tuple->is_tuple || index >= tuple->names.size() || tuple->names[index].empty()) return std::nullopt;
    return ExportedValue{{tuple->names[index]}};
  }
  const auto* tuple = As<iropt::Tuple>(expr);
  if (tuple == nullptr) return std::nullopt;
  if (const std::string_view opaque = OpaqueConstant(tuple); !opaque.empty()) return ExportedValue{{opaque}};
  ExportedValue result{.names = {}, .is_tuple = true};
  for (const Expr* field : tuple->fields) {
    const std::optional<ExportedValue> value = ValueOfLeaf(field);
    if (!value || value->is_tuple) return std::nullopt;
    result.names.push_back(value->names.front());
  }
  return result;
}

std::string_view FunctionExporter::NameOf(const Expr* expr) {
  const std::optional<ExportedValue> value = ValueOfLeaf(expr);
  if (value && !value->is_tuple) return value->names.front();
  if (!context_.failed()) Report("an operand", "it is not a tensor");
  return {};
}

Names FunctionExporter::AddNode(std::string_view op, Names inputs, std::vector<AttributeProto> attributes,
                                size_t outputs, std::string_view domain) {
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();  // optional ones at the end
  NodeProto node{.op_type = Keep(std::string(op)),
                 .domain = domain,
                 .inputs = std::move(inputs),
                 .attributes = std::move(attributes)};
  const std::string hint = fmt::format("{}_{}", current_ ? current_->name() : "v", op);
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(context_.Unique(hint));
  Names names = node.outputs;
  graph_->nodes.push_back(std::move(node));
  return names;
}

// ---- Names

void FunctionExporter::Rename(std::string_view from, std::string_view to, size_t first_node) {
  for (size_t i = first_node; i < graph_->nodes.size(); ++i) {
    std::ranges::replace(graph_->nodes[i].inputs, from, to);
    std::ranges::replace(graph_->nodes[i].outputs, from, to);
  }
  dims_.Rename(from, to);
  context_.Release(from);
}

void FunctionExporter::Define(const Var* var, Names results, bool is_tuple, size_t first) {
  const auto made_here = [&](std::string_view name) {
    for (size_t i = first; i < graph_->nodes.size(); ++i) {
      if (std::ranges::find(graph_->nodes[i].outputs, name) != graph_->nodes[i].outputs.end()) return true;
    }
    return false;
  };
  std::vector<bool> is_new(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    is_new[i] = !results[i].empty() && made_here(results[i]);
    if (!is_new[i]) continue;
    const std::string_view name = is_tuple ? names_.OfField(var, i) : names_.Of(var);
    Rename(results[i], name, first);
    results[i] = name;
  }
  const auto* tuple = As<TupleType>(var->type);
  for (size_t i = 0; i < results.size(); ++i) {
    const Type* type =
        is_tuple ? (tuple && i < tuple->fields.size() ? tuple->fields[static_cast<uint32_t>(i)] : nullptr) : var->type;
    if (type == nullptr || results[i].empty()) continue;
    dims_.Define(type, results[i]);
    if (is_new[i]) DescribeValue(results[i], type);
  }
  values_[var] = {std::move(results), is_tuple};
}

// ---- Bindings

bool FunctionExporter::ExportSequence(const Expr* body, ExportedValue& results) {
  return WithStack([&] {
    if (const auto* sequence = As<SeqExpr>(body)) {
      std::vector<const Binding*> bindings;
      for (const BindingBlock* block : sequence->blocks)
        bindings.insert(bindings.end(), block->bindings.begin(), block->bindings.end());
      LookupSet<const Binding*> written;
      for (size_t i = 0; i < bindings.size(); ++i) {
        if (written.contains(bindings[i])) continue;
        if (const Binding* giver = GiverOfDims(std::span(bindings).subspan(i), {definitions_, values_, dims_})) {
          if (!ExportBinding(giver)) return false;
          written.insert(giver);
        }
        if (!ExportBinding(bindings[i])) return false;
      }
      body = sequence->body;
    }
    std::optional<ExportedValue> value = ValueOfLeaf(body);
    if (!value) {
      if (!context_.failed()) Report("the result", "it is neither a tensor nor a tuple of tensors");
      return false;
    }
    results = std::move(*value);
    return !context_.failed();
  });
}

bool FunctionExporter::ExportBinding(const Binding* binding) {
  current_ = binding->var;
  if (const auto* cast = As<MatchCast>(binding)) return ExportMatchCast(cast);
  if (!definitions_.IsLive(binding->var) || definitions_.IsAbsorbed(binding->var)) return true;
  if (const FusedNode* node = definitions_.FusedAt(binding->var)) return ExportFused(binding->var, *node);
  return ExportValue(binding->var, ValueOf(binding));
}

bool FunctionExporter::ExportMatchCast(const MatchCast* binding) {
  const auto* shape = As<ShapeType>(binding->match_type);
  if (shape != nullptr) {
    OpExport op(*this, nullptr);
    const std::string_view tensor = op.ShapeOperand(binding->value);
    if (tensor.empty()) return false;
    dims_.DefineElements(shape, tensor);
    return true;
  }
  // The value may be a call.
  const FusedNode* fused = definitions_.FusedAt(binding->var);
  if (!(fused ? ExportFused(binding->var, *fused) : ExportValue(binding->var, binding->value))) return false;
  const auto* value = values_.Find(binding->var);
  if (!value || value->is_tuple) {
    Report("R.match_cast", "its operand is not a tensor");
    return false;
  }
  const std::string_view name = value->names.front();
  dims_.Define(binding->match_type, name);
  DescribeValue(name, binding->match_type);
  return true;
}

bool FunctionExporter::ExportValue(const Var* var, const Expr* value) {
  if (const auto* conditional = As<If>(value)) return ExportIf(var, conditional);
  if (const auto* call = As<iropt::Call>(value)) return ExportCall(var, call);
  if (Is<iropt::Function>(value)) {
    Report("a local function", "ONNX has none");
    return false;
  }
  // Shapes and numbers have no values in the graph: operators take them from the definitions.
  if (std::optional<ExportedValue> known = ValueOfLeaf(value)) values_[var] = std::move(*known);
  return !context_.failed();
}

bool FunctionExporter::ExportCall(const Var* var, const Call* call) {
  const size_t first = graph_->nodes.size();
  OpExport op(*this, call);
  Names results = op.Run();
  if (context_.failed()) return false;
  const std::span<NodeProto> steps = std::span(graph_->nodes).subspan(first);
  for (NodeProto& node : steps) node.is_step = steps.size() > 1;
  context_.NameNode(std::span(graph_->nodes).subspan(first), definitions_.SpanOf(var));
  if (op.has_no_value()) return true;
  if (results.empty()) {
    Report(op.OpName(), op.reason().empty() ? "ONNX has no operator for it in this form" : op.reason());
    return false;
  }
  Define(var, std::move(results), Is<TupleType>(var->type), first);
  return true;
}

bool FunctionExporter::ExportFused(const Var* var, const FusedNode& node) {
  const size_t first = graph_->nodes.size();
  Names inputs;
  for (const auto& input : node.inputs) {
    if (const auto* made = std::get_if<MadeTensor>(&input)) {
      inputs.push_back(context_.Initializer(made->array, made->form_of ? context_.NameOf(*made->form_of) : ""));
    } else {
      const Expr* expr = std::get<const Expr*>(input);
      inputs.push_back(expr ? NameOf(expr) : std::string_view());
    }
  }
  if (context_.failed()) return false;
  const std::string_view result = Add(node.op, std::move(inputs), node.attributes);
  for (const Span span : node.spans) context_.NameNode(std::span(&graph_->nodes.back(), 1), span);
  Define(var, {result}, false, first);
  return true;
}

// ---- Conditionals and bodies

std::shared_ptr<GraphProto> FunctionExporter::ExportBranch(const Expr* branch) {
  auto graph = std::make_shared<GraphProto>();
  GraphProto* outer = std::exchange(graph_, graph.get());
  // Values that the branch computes are not seen outside of it.
  DimValues::Known known = dims_.known();
  graph->name = context_.Unique(current_ ? current_->name() : "branch");
  const Type* type = branch->type;
  ExportedValue results;
  bool ok = ExportSequence(branch, results);
  if (ok) {
    std::vector<const Type*> types;
    if (const auto* tuple = As<TupleType>(type))
      types.assign(tuple->fields.begin(), tuple->fields.end());
    else
      types.push_back(type);
    ok = AddOutputs(results, types, {}, *graph);
  }
  graph_ = outer;
  dims_.set_known(std::move(known));
  return ok ? graph : nullptr;
}

bool FunctionExporter::ExportIf(const Var* var, const If* conditional) {
  const std::string_view condition = NameOf(definitions_.ConditionOf(conditional));
  if (context_.failed()) return false;
  const std::shared_ptr<GraphProto> branches[] = {ExportBranch(conditional->true_branch),
                                                  ExportBranch(conditional->false_branch)};
  if (branches[0] == nullptr || branches[1] == nullptr) return false;
  if (branches[0]->outputs.size() != branches[1]->outputs.size()) {
    Report("a conditional", "its branches have different numbers of results");
    return false;
  }
  current_ = var;
  const size_t first = graph_->nodes.size();
  Names names = AddNode("If", {condition},
                        {GraphAttribute("then_branch", branches[0]), GraphAttribute("else_branch", branches[1])},
                        branches[0]->outputs.size());
  context_.NameNode(std::span(graph_->nodes).subspan(first), definitions_.SpanOf(var));
  const bool is_tuple = Is<TupleType>(var->type);
  Define(var, std::move(names), is_tuple, first);
  return true;
}

NodeProto FunctionExporter::CopyOf(std::string_view value, std::string_view name, bool is_inner) {
  // A graph in a node gives small constants itself.
  constexpr size_t kMostBytes = 1024;
  const TensorProto* constant = is_inner ? context_.FindInitializer(value) : nullptr;
  if (constant == nullptr || !constant->raw || constant->raw->size() > kMostBytes)
    return {.op_type = "Identity", .inputs = {value}, .outputs = {name}};
  TensorProto tensor = *constant;
  tensor.name = {};
  return {.op_type = "Constant", .outputs = {name}, .attributes = {TensorAttribute("value", std::move(tensor))}};
}

bool FunctionExporter::AddOutputs(const ExportedValue& results, std::span<const Type* const> types,
                                  const Names& outputs, GraphProto& graph) {
  LookupSet<std::string_view> made;
  for (const NodeProto& node : graph.nodes) made.InsertAll(node.outputs);
  // A graph may give its inputs as they are; a model may list an output twice.
  for (const ValueInfo& input : graph.inputs) made.insert(input.name);
  const bool is_named = !outputs.empty();
  LookupMap<std::string_view, std::string_view> copied;  // by the copies
  for (size_t i = 0; i < results.names.size(); ++i) {
    std::string_view name = results.names[i];
    const std::string_view wanted = i < outputs.size() ? outputs[i] : name;
    // A value from outside, a value that is two outputs, or one that got another name.
    if (!made.contains(name) || name != wanted || name.empty()) {
      std::string_view copy = i < outputs.size() ? wanted : context_.Unique("output");
      const auto* value = copied.Find(copy);
      // The name may be that of another value.
      if (made.contains(copy) && (value == nullptr || *value != name)) copy = context_.Unique(copy);
      if (made.insert(copy)) {
        graph.nodes.push_back(CopyOf(name, copy, !is_named));
        copied[copy] = name;
      }
      name = copy;
    }
    if (!is_named) made.erase(name);
    graph.outputs.push_back(DescribeOutput(name, i < types.size() ? types[i] : nullptr));
  }
  return true;
}

namespace {

// The types that the model stated for the results of a body.
std::vector<std::optional<ValueType>> StatedOutputs(const iropt::Function& body) {
  std::vector<std::optional<ValueType>> types;
  const auto* facts = As<DictAttr>(body.attrs->Find(attr::kOnnxGraph));
  const auto* texts = facts ? As<ListAttr>(facts->Find("output_types")) : nullptr;
  for (uint32_t i = 0; texts && i < texts->values.size(); ++i) {
    const auto* text = As<StrAttr>(texts->values[i]);
    types.push_back(text ? TypeFromText(text->value) : std::nullopt);
  }
  return types;
}

}  // namespace

std::shared_ptr<GraphProto> FunctionExporter::BodyGraph(const GlobalVar* function, const Names& captured) {
  const ModuleEntry* entry = context_.module().Find(function);
  const auto* body = entry ? As<iropt::Function>(entry->func) : nullptr;
  if (body == nullptr || body->params.size() < captured.size()) {
    Report(function->name, "it is not a function that can be the body of a loop");
    return nullptr;
  }
  FunctionExporter inner(context_, function->name, this);
  inner.StateOutputs(StatedOutputs(*body));
  auto graph = std::make_shared<GraphProto>();
  graph->name = function->name;
  return inner.ExportGraph(*body, {}, {}, captured, *graph) ? graph : nullptr;
}

bool FunctionExporter::ExportGraph(const iropt::Function& function, const Names& inputs, const Names& outputs,
                                   const Names& captured, GraphProto& graph) {
  graph_ = &graph;
  definitions_ = Definitions(function, context_.opset());
  inference_calls_ = FindInferenceCalls(function, context_.mode());
  const size_t num_inputs = function.params.size() - captured.size();
  // Inputs without a stated type may have the sizes of those with one.
  for (uint32_t i = 0; i < std::min(num_inputs, inputs.size()); ++i) {
    if (const auto* stated = stated_.Find(inputs[i])) NameDims(function.params[i]->type, *stated);
  }
  for (size_t i = 0; i < function.params.size(); ++i) {
    const Var* param = function.params[static_cast<uint32_t>(i)];
    const bool is_input = i < num_inputs;
    const std::string_view name = !is_input           ? captured[i - num_inputs]
                                  : i < inputs.size() ? inputs[i]
                                                      : context_.Unique(param->name());
    if (!Is<TensorType>(param->type) && !Is<ObjectType>(param->type)) {
      Report(fmt::format("parameter '{}'", param->name()), "it is not a tensor");
      return false;
    }
    values_[param] = {{name}};
    dims_.Define(param->type, name);
    CollectSymbols(param->type);
    if (const auto* stated = is_input ? stated_.Find(name) : nullptr) NameDims(param->type, *stated);
    if (is_input) graph.inputs.push_back(Describe(name, param->type));
  }
  names_.WishFor(As<SeqExpr>(function.body) ? To<SeqExpr>(function.body)->body : function.body, outputs);
  ExportedValue results;
  if (!ExportSequence(function.body, results)) return false;
  // The result's type in the body says more of sizes that only a run can tell.
  const Expr* result = As<SeqExpr>(function.body) ? To<SeqExpr>(function.body)->body : function.body;
  std::vector<const Type*> types;
  if (const auto* tuple = As<TupleType>(result->type))
    types.assign(tuple->fields.begin(), tuple->fields.end());
  else
    types.push_back(result->type);
  if (!AddOutputs(results, types, outputs, graph)) return false;
  for (size_t i = 0; i < stated_outputs_.size() && i < graph.outputs.size(); ++i) {
    if (stated_outputs_[i]) KeepStatedDims(*stated_outputs_[i], graph.outputs[i].type);
  }
  return true;
}

}  // namespace iropt::onnx
