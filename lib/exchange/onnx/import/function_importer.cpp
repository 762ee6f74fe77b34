#include "exchange/onnx/import/function_importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exchange/onnx/import/name_dims.h"
#include "exchange/onnx/import/op_table.h"
#include "exchange/onnx/import/opaque_call.h"
#include "exchange/onnx/node_places.h"
#include "exchange/onnx/run/definitions.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/origin_scope.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/shape.h"
#include "iropt/runtime/value.h"
#include "iropt/support/identifier.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

constexpr int kDeepestCalls = 64;  // of model-local functions

void CollectFreeNames(const GraphProto& graph, LookupSet<std::string_view> defined, LookupSet<std::string_view>& seen,
                      std::vector<std::string_view>& free);

void CollectUse(std::string_view name, const LookupSet<std::string_view>& defined, LookupSet<std::string_view>& seen,
                std::vector<std::string_view>& free) {
  if (!name.empty() && !defined.contains(name) && seen.insert(name)) free.push_back(name);
}

void CollectFreeNames(const GraphProto& graph, LookupSet<std::string_view> defined, LookupSet<std::string_view>& seen,
                      std::vector<std::string_view>& free) {
  for (const ValueInfo& input : graph.inputs) defined.insert(input.name);
  for (const TensorProto& tensor : graph.initializers) defined.insert(tensor.name);
  for (const SparseTensorProto& tensor : graph.sparse_initializers) defined.insert(tensor.values.name);
  for (const NodeProto& node : graph.nodes) {
    for (const std::string_view input : node.inputs) CollectUse(input, defined, seen, free);
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) CollectFreeNames(*inner, defined, seen, free);
    }
    defined.InsertAll(node.outputs);
  }
  for (const ValueInfo& output : graph.outputs) CollectUse(output.name, defined, seen, free);
}

}  // namespace

std::vector<std::string_view> FreeNames(const GraphProto& graph) {
  LookupSet<std::string_view> seen;
  std::vector<std::string_view> free;
  CollectFreeNames(graph, {}, seen, free);
  return free;
}

FunctionImporter::FunctionImporter(ImportContext& context)
    : context_(context),
      inferrer_(&context.module, workspace_.arena(), &context.diagnostics),
      builder_(workspace_, &inferrer_),
      folder_(builder_) {}

void FunctionImporter::Report(std::string message) {
  if (node_ != nullptr) message = fmt::format("{}: {}", Describe(*node_), message);
  context_.diagnostics.Error({}, "bad-model", std::move(message));
}

// ---- Types

const Type* FunctionImporter::TypeOf(const ValueType& type, bool defines, const Dims& known) {
  if (type.kind == ValueType::Kind::kNone) return TensorType::Get(kUnknownDim, DataType::Void());
  if (type.kind != ValueType::Kind::kTensor) return ObjectType::Get();
  const std::optional<DataType> dtype = DataTypeOf(type.element);
  if (!dtype && type.element != ElementType::kUndefined) return ObjectType::Get();
  const DataType element = dtype.value_or(DataType::Void());
  if (!type.has_shape) return TensorType::Get(kUnknownDim, element);
  std::vector<const PrimExpr*> dims;
  for (const Dim& dim : type.dims) {
    const PrimExpr* known_dim = known && dims.size() < known->size() ? (*known)[dims.size()] : nullptr;
    const bool is_stated = dim.value || !dim.param.empty();
    if (known_dim != nullptr && (!is_stated || Is<tir::IntImm>(known_dim))) {
      dims.push_back(known_dim);
    } else if (dim.value && *dim.value >= 0) {
      dims.push_back(IRContext::Current().Int(*dim.value));
    } else if (const auto symbol = symbols_.find(dim.param); !dim.param.empty() && symbol != symbols_.end()) {
      dims.push_back(symbol->second);
    } else if (defines) {
      const tir::Var* var = IRContext::Current().NewSymVar(dim.param.empty() ? "d" : IdentifierFor(dim.param));
      if (!dim.param.empty()) symbols_.emplace(dim.param, var);
      dims.push_back(var);
    } else {
      return TensorType::Get(static_cast<int>(type.dims.size()), element);
    }
  }
  return TensorType::Get(dims, element);
}

const Type* FunctionImporter::StatedType(std::string_view name, const NodeType& known) {
  if (known.dtype.is_handle()) return ObjectType::Get();
  const bool is_complete = known.dims && std::ranges::find(*known.dims, nullptr) == known.dims->end();
  if (is_complete && !known.dtype.is_void()) return TensorType::Get(*known.dims, known.dtype);
  const ValueType* stated = stated_.Lookup(name);
  if (stated != nullptr && stated->kind != ValueType::Kind::kNone) {
    const Type* type = TypeOf(*stated, false, known.dims);
    const auto* tensor = As<TensorType>(type);
    if (tensor == nullptr) return type;
    const bool same_dtype = known.dtype.is_void() || tensor->dtype.is_void() || known.dtype == tensor->dtype;
    const bool same_rank = !known.dims || tensor->ndim == static_cast<int>(known.dims->size());
    const bool is_enough = !tensor->dtype.is_void() || known.dtype.is_void();
    if (same_dtype && same_rank && is_enough) return tensor;
  }
  if (!known.dims) return TensorType::Get(kUnknownDim, known.dtype);
  if (is_complete) return TensorType::Get(*known.dims, known.dtype);
  return TensorType::Get(static_cast<int>(known.dims->size()), known.dtype);
}

void FunctionImporter::StateTypes(const GraphProto& graph) {
  for (const ValueInfo& value : graph.value_infos) stated_[value.name] = &value.type;
  for (const ValueInfo& value : graph.outputs) stated_[value.name] = &value.type;
}

const Type* FunctionImporter::StatedCast(const Type* inferred, std::string_view name) {
  const ValueType* stated = stated_.Lookup(name);
  const auto* type = As<TensorType>(inferred);
  if (stated == nullptr || stated->kind != ValueType::Kind::kTensor || !stated->has_shape || type == nullptr ||
      type->known)
    return nullptr;
  const bool same_rank = type->ndim == kUnknownDim || type->ndim == static_cast<int>(stated->dims.size());
  const std::optional<DataType> dtype = DataTypeOf(stated->element);
  if (!same_rank || !dtype || (!type->dtype.is_void() && type->dtype != *dtype)) return nullptr;
  const auto* known = known_dims_.Find(name);
  return TypeOf(*stated, true, known ? Dims(*known) : std::nullopt);
}

// ---- Parameters and initializers

const Var* FunctionImporter::AddParameter(const ValueInfo& input, Scope& scope) {
  const Var* var = workspace_.NewVar(builder_.UniqueName(IdentifierFor(input.name)), TypeOf(input.type, true));
  if (!scope.Add(input.name, var)) {
    Report(fmt::format("there are two values '{}'", input.name));
    return nullptr;
  }
  return var;
}

bool FunctionImporter::AddInitializers(const GraphProto& graph, Scope& scope) {
  const auto add = [&](std::string_view name, const Result<Array>& array, Span span) {
    if (!array.ok()) {
      Report(array.error().message);
      return false;
    }
    // Nothing else has seen the new constant.
    auto* constant = const_cast<iropt::Constant*>(MakeConstant(*array, workspace_));
    constant->set_span(span);
    if (scope.Add(name, constant)) return true;
    Report(fmt::format("there are two values '{}'", name));
    return false;
  };
  for (const TensorProto& tensor : graph.initializers) {
    if (DataTypeOf(tensor.type)) {
      if (!add(tensor.name, context_.tensors.Read(tensor), tensor.span)) return false;
      continue;
    }
    const Expr* opaque = OpaqueTensor(tensor, workspace_);
    if (opaque == nullptr)
      return Report(
                 fmt::format("tensor '{}': elements of type {} are not supported", tensor.name, NameOf(tensor.type))),
             false;
    scope.Add(tensor.name, opaque);
  }
  for (const SparseTensorProto& tensor : graph.sparse_initializers) {
    if (!add(tensor.values.name, context_.tensors.Read(tensor), tensor.values.span)) return false;
  }
  return true;
}

// ---- Values

std::optional<Elements> FunctionImporter::ElementsOfConstant(const Expr* expr) {
  const iropt::Constant* constant = ConstantBehind(expr);
  if (constant == nullptr) return std::nullopt;
  const NDArray& array = *constant->data;
  const DataType dtype = array.dtype();
  const bool fits = array.shape().size() <= 1 && array.num_elements() <= static_cast<int64_t>(Elements::kMost);
  if (!fits || (dtype != DataType::Int(64) && dtype != DataType::Int(32) && !dtype.is_bool())) return std::nullopt;
  Elements elements{.is_scalar = array.shape().empty(), .dtype = dtype};
  const auto add = [&](auto number) {
    elements.values.push_back(IRContext::Current().Int(static_cast<int64_t>(number)));
  };
  if (dtype == DataType::Int(64)) std::ranges::for_each(array.As<int64_t>(), add);
  if (dtype == DataType::Int(32)) std::ranges::for_each(array.As<int32_t>(), add);
  if (dtype.is_bool()) std::ranges::for_each(array.As<uint8_t>(), [&](uint8_t byte) { add(byte != 0); });
  return elements;
}

namespace {

const Expr* ConstantOfNumbers(const Elements& elements, std::span<const int64_t> numbers, Workspace& workspace) {
  const std::vector<int64_t> shape(elements.is_scalar ? 0 : 1, static_cast<int64_t>(numbers.size()));
  auto array = NDArray::Make(elements.dtype, shape);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (elements.dtype == DataType::Int(64)) array->MutableAs<int64_t>()[i] = numbers[i];
    if (elements.dtype == DataType::Int(32)) array->MutableAs<int32_t>()[i] = static_cast<int32_t>(numbers[i]);
    if (elements.dtype.is_bool()) array->MutableAs<uint8_t>()[i] = numbers[i] != 0 ? 1 : 0;
  }
  return MakeConstant(std::move(array), workspace);
}

}  // namespace

const iropt::Call* FunctionImporter::MakeCall(OpId op, std::span<const Expr* const> args, const Attr* attrs,
                                              const TupleType* type_args) {
  return MakeCallAt(node_ ? node_->span : Span(), op, args, attrs, type_args);
}

const iropt::Call* FunctionImporter::MakeCallAt(Span span, OpId op, std::span<const Expr* const> args,
                                                const Attr* attrs, const TupleType* type_args) {
  const iropt::Call* made = builder_.MakeCall(GetOp(op), args, attrs, type_args);
  if (!span.known()) return made;
  auto* call = workspace_.New<iropt::Call>(*made);
  call->set_span(span);
  return call;
}

const Expr* FunctionImporter::Operand(Value& value) {
  if (value.expr != nullptr) return value.expr;
  const Elements& elements = *value.elements;
  if (const auto numbers = elements.Numbers()) {
    value.expr = ConstantOfNumbers(elements, *numbers, workspace_);
    return value.expr;
  }
  const auto attrs = [](OpId op, const auto& values) { return MakeOpAttrs(op, values); };
  const Expr* shape = workspace_.New<ShapeExpr>(workspace_.Copy(elements.values), ShapeType::Get(elements.values));
  const auto call = [&](OpId op, std::initializer_list<const Expr*> args, const Attr* op_attrs = nullptr) {
    return MakeCallAt(value.span, op, std::span(args.begin(), args.size()), op_attrs);
  };
  const Expr* tensor = call(op::kShapeToTensor, {shape});
  if (elements.dtype != DataType::Int(64))
    tensor = call(op::kAstype, {tensor}, attrs(op::kAstype, AstypeAttrs::Values{.dtype = elements.dtype}));
  if (elements.is_scalar) {
    const Expr* scalar =
        workspace_.New<ShapeExpr>(List<const PrimExpr*>(), ShapeType::Get(std::span<const PrimExpr* const>()));
    tensor = call(op::kReshape, {tensor, scalar});
  }
  // The variable is not kept: another block may not see it.
  return builder_.Emit(tensor);
}

const Expr* FunctionImporter::EmitValue(const Expr* value, std::string_view name) {
  const bool escapes = sequences_.back().is_dataflow && escaping_.contains(name);
  // Another name for a value that does not leave its block.
  const bool leaves = escapes && value->kind == NodeKind::kDataflowVar;
  if (IsLeaf(value) && !leaves) return value;
  const std::string hint = IdentifierFor(name);
  return escapes ? builder_.EmitOutput(value, hint) : builder_.Emit(value, hint);
}

bool FunctionImporter::BindOutput(const NodeProto& node, size_t i, const Expr* expr, Scope& scope) {
  const std::string_view name = node.outputs[i];
  if (name.empty()) return true;
  const Expr* bound = nullptr;
  const Type* cast_type = expr->type ? StatedCast(expr->type, name) : nullptr;
  if (cast_type == nullptr && expr->type) cast_type = NameDims(expr, IdentifierFor(name), known_dims_.Find(name));
  if (cast_type != nullptr) {
    const Expr* value = IsLeaf(expr) ? expr : builder_.Emit(expr);
    const std::string hint(builder_.UniqueName(IdentifierFor(name)));
    const bool is_local = sequences_.back().is_dataflow && !escaping_.contains(name);
    const Var* var = is_local ? workspace_.NewDataflowVar(hint, cast_type) : workspace_.NewVar(hint, cast_type);
    builder_.EmitNormalized(workspace_.New<MatchCast>(var, value, cast_type));
    bound = var;
  } else {
    bound = EmitValue(expr, name);
  }
  if (builder_.failed()) return false;
  const auto* var = As<Var>(bound);
  if (var && bound != expr && var->name() != name) value_names_.try_emplace(std::string(var->name()), name);
  if (scope.Add(name, bound)) return true;
  Report(fmt::format("there are two values '{}'", name));
  return false;
}

bool FunctionImporter::Bind(const NodeProto& node, Value value, Scope& scope) {
  const size_t num_outputs = node.outputs.size();
  if (value.elements) {
    value.span = node.span;
    if (num_outputs == 1 && scope.Add(node.outputs[0], std::move(value))) return true;
    Report(fmt::format("there are two values '{}'", num_outputs == 0 ? "" : node.outputs[0]));
    return false;
  }
  const auto* tuple = As<Tuple>(value.expr);
  // A tensor of strings or complex numbers is a tuple by itself.
  const bool is_opaque_tensor = tuple && tuple->fields.size() == 2 && Is<ShapeExpr>(tuple->fields[0]);
  if (is_opaque_tensor && num_outputs == 1) return scope.Add(node.outputs[0], std::move(value));
  if (tuple != nullptr) {
    for (size_t i = 0; i < num_outputs && i < tuple->fields.size(); ++i) {
      if (!BindOutput(node, i, tuple->fields[static_cast<uint32_t>(i)], scope)) return false;
    }
    return true;
  }
  // A conditional gets its type when it is bound.
  if (value.expr->type == nullptr)
    value.expr = builder_.Emit(value.expr, IdentifierFor(node.outputs.empty() ? "" : node.outputs[0]));
  const auto* type = As<TupleType>(value.expr->type);
  if (type == nullptr) return num_outputs == 0 || BindOutput(node, 0, value.expr, scope);
  const Expr* whole = IsLeaf(value.expr) ? value.expr : builder_.Emit(value.expr);
  for (size_t i = 0; i < num_outputs && i < type->fields.size(); ++i) {
    const auto field = static_cast<uint32_t>(i);
    const Expr* item = workspace_.New<TupleGetItem>(whole, static_cast<int32_t>(i), type->fields[field]);
    if (!BindOutput(node, i, item, scope)) return false;
  }
  return true;
}

// ---- Nodes

namespace {

// The type of an output if its rank is known and its dimensions are not; null otherwise.
const TensorType* RankedType(const Expr* value, size_t output) {
  const auto* tuple = As<TupleType>(value->type);
  const Type* type = tuple == nullptr                ? (output == 0 ? value->type : nullptr)
                     : output < tuple->fields.size() ? tuple->fields[static_cast<uint32_t>(output)]
                                                     : nullptr;
  const auto* tensor = type ? As<TensorType>(type) : nullptr;
  return tensor && !tensor->known && tensor->ndim > 0 ? tensor : nullptr;
}

// Strings, sequences and optional values are of other types.
bool IsTensor(const Value& value) {
  return value.expr == nullptr || value.expr->type == nullptr || Is<TensorType>(value.expr->type);
}

// Returns whether an operator works on values that are not tensors of numbers. Relax has no others.
bool TakesAnything(const NodeProto& node) {
  constexpr std::string_view kOps[] = {"Identity", "Loop", "Scan"};
  return std::ranges::find(kOps, node.op_type) != std::end(kOps);
}

}  // namespace

void FunctionImporter::KeepDims(const OpImport& op, const Expr* value, const std::vector<NodeType>& known) {
  for (size_t i = 0; i < known.size(); ++i) {
    const TensorType* type = RankedType(value, i);
    if (type && known[i].dims && static_cast<int>(known[i].dims->size()) == type->ndim)
      known_dims_.try_emplace(op.node().outputs[i], *known[i].dims);
  }
}

void FunctionImporter::KeepDims(OpImport& op, const Expr* value) {
  bool lacks_dims = false;
  for (size_t i = 0; i < op.num_outputs(); ++i) lacks_dims = lacks_dims || RankedType(value, i) != nullptr;
  if (lacks_dims) KeepDims(op, value, TypesOfNode(op));
}

bool FunctionImporter::CheckInputs(const NodeProto& node, const OpRow*& row, Scope& scope) {
  bool all_tensors = true;
  for (const std::string_view input : node.inputs) {
    if (input.empty()) continue;
    if (const Value* value = scope.Find(input)) {
      all_tensors = all_tensors && IsTensor(*value);
      continue;
    }
    Report(fmt::format("input '{}' is neither a value nor the output of a node before it", input));
    return false;
  }
  if (!all_tensors && !TakesAnything(node)) row = nullptr;
  if (row == nullptr) return true;
  const auto count = static_cast<int>(node.inputs.size());
  // Of any number of inputs, none is optional.
  const int needed = row->least > 0 && row->most == kAny ? std::max(row->least, count) : row->least;
  for (int i = 0; i < needed; ++i) {
    if (i < count && !node.inputs[static_cast<size_t>(i)].empty()) continue;
    Report(fmt::format("input {} is missing: the operator needs {}", i, needed));
    return false;
  }
  if (count <= row->most) return true;
  Report(fmt::format("has {} inputs: the operator has at most {}", count, row->most));
  return false;
}

bool FunctionImporter::ImportNode(const NodeProto& node, Scope& scope) {
  const bool refers =
      std::ranges::any_of(node.attributes, [](const AttributeProto& a) { return !a.reference.empty(); });
  if (!refers) return ImportResolved(node, scope);
  NodeProto resolved = node;
  std::erase_if(resolved.attributes, [&](AttributeProto& attribute) {
    if (attribute.reference.empty()) return false;
    const AttributeProto* value = nullptr;
    const auto find = [&](const std::vector<AttributeProto>& attributes) {
      const auto found = std::ranges::find(attributes, attribute.reference, &AttributeProto::name);
      if (value == nullptr && found != attributes.end()) value = &*found;
    };
    if (node_context_->call) find(node_context_->call->attributes);
    if (node_context_->function) find(node_context_->function->defaults);
    if (value == nullptr) return true;
    const std::string_view name = attribute.name;
    attribute = *value;
    attribute.name = name;
    return false;
  });
  return ImportResolved(resolved, scope);
}

bool FunctionImporter::ImportResolved(const NodeProto& node, Scope& scope) {
  const NodeProto* outer_node = std::exchange(node_, &node);
  // Fields of tuples and other names for values come from the node as well as its calls.
  const OriginScope origin(node.span);
  const bool ok = [&] {
    const DiagnosticContext place(context_.diagnostics, {}, fmt::format("in {}", Describe(node)));
    const int64_t version = OpsetIn(*node_context_->opsets, node.domain);
    const FunctionProto* function = context_.functions.Find(node);
    const OpRow* row = function ? nullptr : FindOpRow(node.domain, node.op_type, version);
    if (!CheckInputs(node, row, scope)) return false;
    if (function != nullptr) return ImportCall(*function, node, scope);
    OpImport op(*this, node, version, scope);
    const size_t first = builder_.current_bindings().size();
    Value value;
    if (row != nullptr && row->evaluate != nullptr) value = row->evaluate(op);
    if (row != nullptr && !value.present() && !op.failed()) value = row->import(op);
    if (!value.present() && !op.failed() && context_.defines) value = Define(op);
    if (context_.count_nodes && value.expr != nullptr && !op.failed() && !builder_.failed() &&
        IsBetterWhole(op, value.expr, std::span(builder_.current_bindings()).subspan(first), context_.count_nodes))
      value = MakeOpaqueCall(op, TypesOfOutputs(op, value.expr));
    if (!value.present() && !op.failed() && !builder_.failed()) value = MakeOpaqueCall(op);
    if (op.failed() || builder_.failed()) return false;
    if (value.expr != nullptr && value.expr->type != nullptr) KeepDims(op, value.expr);
    return Bind(node, std::move(value), scope);
  }();
  node_ = outer_node;
  return ok;
}

// The nodes of a function without the inputs that a call does not give.
const std::vector<NodeProto>& FunctionImporter::LeaveOut(const LookupSet<std::string_view>& missing,
                                                         const std::vector<NodeProto>& nodes) {
  std::vector<NodeProto>& result = context_.nodes_of_calls.emplace_back(nodes);
  for (NodeProto& node : result) {
    for (std::string_view& input : node.inputs) {
      if (missing.contains(input)) input = {};
    }
  }
  return result;
}

bool FunctionImporter::ImportCall(const FunctionProto& function, const NodeProto& node, Scope& scope) {
  if (node_context_->depth >= kDeepestCalls) {
    Report(fmt::format("function '{}' calls itself, or calls are nested too deeply", function.name));
    return false;
  }
  if (node_context_->depth == 0 && !context_.functions.Expand(function)) {
    Report(fmt::format("calls of functions expand to more than {} nodes", LocalFunctions::kMostNodes));
    return false;
  }
  Scope inner;
  LookupSet<std::string_view> missing;
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    if (i < node.inputs.size() && !node.inputs[i].empty())
      inner.Add(function.inputs[i], *scope.Find(node.inputs[i]));
    else
      missing.insert(function.inputs[i]);
  }
  const auto outer_stated = std::exchange(stated_, {});
  for (const ValueInfo& value : function.value_infos) stated_[value.name] = &value.type;
  const NodeContext context{
      .opsets = &function.opsets, .call = &node, .function = &function, .depth = node_context_->depth + 1};
  const NodeContext* outer = std::exchange(node_context_, &context);
  const auto outer_escaping = escaping_;
  bool ok = ImportNodes(missing.empty() ? function.nodes : LeaveOut(missing, function.nodes), function.outputs, context,
                        inner);
  escaping_ = outer_escaping;
  node_context_ = outer;
  stated_ = outer_stated;
  for (size_t i = 0; ok && i < node.outputs.size() && i < function.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const Value* value = inner.Find(function.outputs[i]);
    ok = value != nullptr && scope.Add(node.outputs[i], *value);
    if (!ok) Report(fmt::format("function '{}' does not compute its output '{}'", function.name, function.outputs[i]));
  }
  return ok;
}

// ---- Blocks

void FunctionImporter::FindEscaping(const std::vector<NodeProto>& nodes, const std::vector<std::string_view>& outputs) {
  escaping_.InsertAll(outputs);
  LookupMap<std::string_view, size_t> segments;  // of the node that computes the value
  size_t segment = 0;
  const auto use = [&](std::string_view name) {
    const auto* found = segments.Find(name);
    if (found && *found != segment) escaping_.insert(name);
  };
  for (const NodeProto& node : nodes) {
    const bool splits = context_.functions.HasConditional(node);
    segment += splits ? 1 : 0;
    for (const std::string_view input : node.inputs) use(input);
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& graph : attribute.graphs) std::ranges::for_each(FreeNames(*graph), use);
    }
    for (const std::string_view output : node.outputs) segments[output] = segment;
    segment += splits ? 1 : 0;
  }
}

void FunctionImporter::OpenBlock(bool is_dataflow) {
  Sequence& sequence = sequences_.back();
  if (sequence.open && sequence.is_dataflow == is_dataflow) return;
  CloseBlock();
  is_dataflow ? builder_.BeginDataflowBlock() : builder_.BeginBindingBlock();
  sequence.open = true;
  sequence.is_dataflow = is_dataflow;
}

void FunctionImporter::CloseBlock() {
  Sequence& sequence = sequences_.back();
  if (!sequence.open) return;
  sequence.blocks.push_back(builder_.EndBlock());
  sequence.open = false;
}

bool FunctionImporter::ImportNodes(const std::vector<NodeProto>& nodes, const std::vector<std::string_view>& outputs,
                                   const NodeContext& nodes_of, Scope& scope) {
  FindEscaping(nodes, outputs);
  const NodeContext* outer = std::exchange(node_context_, &nodes_of);
  bool ok = true;
  for (const NodeProto& node : nodes) {
    const bool is_if = IsOnnxDomain(node.domain) && node.op_type == "If";
    if (!is_if || context_.functions.Find(node) == nullptr) OpenBlock(!is_if);
    ok = ImportNode(node, scope);
    if (!ok) break;
  }
  node_context_ = outer;
  return ok;
}

std::optional<std::vector<const Expr*>> FunctionImporter::ResultsOf(const GraphProto& graph, Scope& scope) {
  std::vector<const Expr*> results;
  for (const ValueInfo& output : graph.outputs) {
    Value* value = scope.Find(output.name);
    if (value == nullptr) {
      Report(fmt::format("output '{}' of graph '{}' is not computed", output.name, graph.name));
      return std::nullopt;
    }
    if (value->expr == nullptr) OpenBlock(false);
    results.push_back(Operand(*value));
  }
  return results;
}

std::optional<std::vector<const Expr*>> FunctionImporter::ImportInline(const GraphProto& graph,
                                                                       const NodeContext& nodes_of, Scope& scope) {
  StateTypes(graph);
  std::vector<std::string_view> outputs;
  for (const ValueInfo& output : graph.outputs) outputs.push_back(output.name);
  if (!AddInitializers(graph, scope) || !ImportNodes(graph.nodes, outputs, nodes_of, scope)) return std::nullopt;
  return ResultsOf(graph, scope);
}

const SeqExpr* FunctionImporter::ImportBody(const GraphProto& graph, const NodeContext& nodes_of, Scope& scope) {
  sequences_.emplace_back();
  const std::optional<std::vector<const Expr*>> results = ImportInline(graph, nodes_of, scope);
  CloseBlock();
  const Sequence sequence = std::move(sequences_.back());
  sequences_.pop_back();
  if (!results || builder_.failed()) return nullptr;
  if (results->size() == 1) return builder_.Seq(sequence.blocks, results->front());
  std::vector<const Type*> types;
  for (const Expr* result : *results) types.push_back(result->type);
  const Expr* tuple = workspace_.New<Tuple>(workspace_.Copy(*results), TupleType::Get(workspace_.arena(), types));
  return builder_.Seq(sequence.blocks, tuple);
}

}  // namespace iropt::onnx
