#include "iropt/execution/entry.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/analysis/tir/written_params.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

constexpr std::string_view kMain = "main";

Failure ReportUnknown(const Module& module, const std::string& name, DiagnosticEngine& diagnostics) {
  std::vector<std::string_view> names;
  for (const ModuleEntry& entry : module.functions()) {
    if (!Is<ExternFunc>(entry.func)) names.push_back(entry.var->name);
  }
  diagnostics.Error(
      {}, "unknown-entry",
      fmt::format("the module has no function '{}' to run{}", name, DidYouMeanOr("; it has ", name, names)));
  return Failure{ErrorCode::Usage};
}

// Returns the function that a run without -entry begins with; null if that is not clear.
const ModuleEntry* FindDefault(const Module& module) {
  if (const ModuleEntry* main = module.Find(kMain)) return main;
  std::vector<const ModuleEntry*> functions;
  std::vector<const ModuleEntry*> relax;
  for (const ModuleEntry& entry : module.functions()) {
    if (!Is<ExternFunc>(entry.func)) functions.push_back(&entry);
    if (Is<Function>(entry.func)) relax.push_back(&entry);
  }
  if (functions.size() == 1) return functions[0];
  return relax.size() == 1 ? relax[0] : nullptr;
}

}  // namespace

Result<Entry> Entry::Find(const Module& module, const std::optional<std::string>& name, DiagnosticEngine& diagnostics) {
  const ModuleEntry* found = Lookup(module, name);
  if (!found) return ReportUnknown(module, name.value_or(std::string(kMain)), diagnostics);
  return Of(*found);
}

const ModuleEntry* Entry::Lookup(const Module& module, const std::optional<std::string>& name) {
  const ModuleEntry* found = name ? module.Find(*name) : FindDefault(module);
  return found && !Is<ExternFunc>(found->func) ? found : nullptr;
}

Entry Entry::Of(const ModuleEntry& function) {
  Entry entry(function.var, function.func);
  if (entry.relax()) {
    entry.AddRelaxInputs(*entry.relax());
  } else {
    entry.AddPrimInputs(*entry.prim());
  }
  entry.FindSymbols();
  return entry;
}

void Entry::AddRelaxInputs(const Function& function) {
  const std::vector<std::string_view> names = StatedNames(function, "inputs");
  for (size_t i = 0; i < function.params.size(); ++i) {
    const Var* param = function.params[i];
    std::string name(names.size() == function.params.size() ? names[i] : param->name());
    AddInput(name, param, i, param->type);
  }
}

// One text for all names, so that deep tuples take no memory for each level.
void Entry::AddInput(std::string& name, const Var* param, size_t index, const Type* type) {
  if (const auto* tuple = As<TupleType>(type)) {
    const size_t size = name.size();
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      name += fmt::format(".{}", i);
      WithStack([&] { AddInput(name, param, index, tuple->fields[i]); });
      name.resize(size);
    }
    return;
  }
  EntryInput& input = inputs_.emplace_back(EntryInput{.name = name, .at = param, .param = index});
  if (const auto* distributed = As<DTensorType>(type)) type = distributed->tensor;
  if (const auto* tensor = As<TensorType>(type)) {
    input.kind = EntryInput::Kind::kTensor;
    input.dtype = tensor->dtype;
    input.ndim = tensor->ndim;
    input.has_dims = tensor->known;
    input.dims.assign(tensor->dims.begin(), tensor->dims.end());
  } else if (const auto* shape = As<ShapeType>(type)) {
    input.kind = EntryInput::Kind::kShape;
    input.ndim = shape->ndim;
    input.has_dims = shape->known;
    input.dims.assign(shape->values.begin(), shape->values.end());
  } else if (const auto* prim = As<PrimType>(type)) {
    input.kind = EntryInput::Kind::kScalar;
    input.dtype = prim->dtype;
    input.scalar = prim->value;
  }
}

void Entry::CountElements(EntryInput& input) {
  const int lanes = input.dtype.lanes;
  input.dtype = input.dtype.with_lanes(1);
  if (input.dims.empty()) {
    input.ndim = 1;
    input.dims.push_back(IRContext::Current().Int(1));
  }
  const PrimExpr*& last = input.dims.back();
  if (const auto* vectors = As<tir::IntImm>(last)) {
    last = IRContext::Current().Int(vectors->value * lanes, last->dtype);
    return;
  }
  if (!products_) products_ = std::make_shared<Workspace>();
  last = products_->New<tir::Mul>(last, IRContext::Current().Int(lanes, last->dtype));
}

void Entry::AddPrimInputs(const PrimFunc& function) {
  const std::vector<bool> written = WrittenParams(function);
  for (size_t i = 0; i < function.params.size(); ++i) {
    const tir::Var* param = function.params[i];
    const tir::Buffer* buffer = function.param_buffers[i];
    EntryInput& input = inputs_.emplace_back(EntryInput{.name = std::string(buffer ? buffer->name : param->name),
                                                        .at = param,
                                                        .param = i,
                                                        .dtype = buffer ? buffer->dtype : param->dtype});
    if (!buffer) {
      if (!param->dtype.is_handle()) input.kind = EntryInput::Kind::kScalar;
      continue;
    }
    input.kind = EntryInput::Kind::kTensor;
    input.ndim = static_cast<int32_t>(buffer->shape.size());
    input.has_dims = true;
    input.dims.assign(buffer->shape.begin(), buffer->shape.end());
    input.is_written = written[i];
    if (!buffer->dtype.is_scalar() && !buffer->dtype.is_scalable()) CountElements(input);
  }
}

void Entry::FindSymbols() {
  const auto add = [&](const PrimExpr* expr) {
    tir::ForEachVar(expr, [&](const tir::Var* var) {
      if (std::ranges::find(symbols_, var) == symbols_.end()) symbols_.push_back(var);
    });
  };
  for (const EntryInput& input : inputs_) {
    std::ranges::for_each(input.dims, add);
    if (input.scalar) add(input.scalar);
  }
  // Sizes may depend on a parameter of a PrimFunc.
  for (EntryInput& input : inputs_) {
    const auto* param = input.kind == EntryInput::Kind::kScalar ? As<tir::Var>(input.at) : nullptr;
    if (param && std::ranges::find(symbols_, param) != symbols_.end()) input.scalar = param;
  }
}

std::vector<HostValue> Entry::MakeArguments(std::vector<HostValue> values) const {
  if (!relax()) return values;
  std::vector<HostValue> args;
  size_t next = 0;
  for (const Var* param : relax()->params) args.push_back(TakeValue(param->type, values, next));
  return args;
}

HostValue TakeValue(const Type* type, std::vector<HostValue>& values, size_t& next) {
  const auto* tuple_type = As<TupleType>(type);
  if (!tuple_type) return std::move(values[next++]);
  TupleValue tuple;
  for (const Type* field : tuple_type->fields)
    tuple.fields.push_back(WithStack([&] { return TakeValue(field, values, next); }));
  return HostValue(std::move(tuple));
}

std::vector<std::string_view> StatedNames(const BaseFunc& function, std::string_view kind) {
  const auto* graph = As<DictAttr>(function.attrs->Find(attr::kOnnxGraph));
  const auto* list = graph ? As<ListAttr>(graph->Find(kind)) : nullptr;
  std::vector<std::string_view> names;
  for (size_t i = 0; list != nullptr && i < list->values.size(); ++i) {
    const auto* name = As<StrAttr>(list->values[static_cast<uint32_t>(i)]);
    if (name != nullptr) names.push_back(name->value);
  }
  return names;
}

// The types are in the model's words, "tensor(float)[batch size,3]", where these say more than the function.
std::vector<std::pair<std::string_view, const tir::Var*>> StatedDims(const BaseFunc& function) {
  std::vector<std::pair<std::string_view, const tir::Var*>> dims;
  const auto* graph = As<DictAttr>(function.attrs->Find(attr::kOnnxGraph));
  const auto* types = graph ? As<DictAttr>(graph->Find("types")) : nullptr;
  const auto* relax = As<Function>(&function);
  const std::vector<std::string_view> names = StatedNames(function, "inputs");
  for (uint32_t i = 0; types && relax && i < relax->params.size() && i < names.size(); ++i) {
    const auto* stated = As<StrAttr>(types->Find(names[i]));
    const auto* type = As<TensorType>(relax->params[i]->type);
    const size_t open = stated ? stated->value.find('[') : std::string_view::npos;
    if (open == std::string_view::npos || !type || !type->known || !stated->value.ends_with(']')) continue;
    std::string_view rest = stated->value.substr(open + 1);
    rest.remove_suffix(1);
    for (const PrimExpr* dim : type->dims) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const auto* var = As<tir::Var>(dim);
      const std::pair named{rest.substr(0, comma), var};
      if (var && named.first != var->name && std::ranges::find(dims, named) == dims.end()) dims.push_back(named);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return dims;
}

std::string DescribeInput(const EntryInput& input) {
  const std::string dtype = input.dtype.is_void() ? "" : fmt::format("dtype=\"{}\"", input.dtype.ToString());
  const std::string dims = DimsToString(input.dims);
  switch (input.kind) {
    case EntryInput::Kind::kTensor:
      if (!input.has_dims) return fmt::format("R.Tensor({})", dtype);
      return fmt::format("R.Tensor({}{}{})", dims, dtype.empty() ? "" : ", ", dtype);
    case EntryInput::Kind::kShape: return input.has_dims ? fmt::format("R.Shape({})", dims) : "R.Shape";
    case EntryInput::Kind::kScalar: return fmt::format("R.Prim(\"{}\")", input.dtype.ToString());
    case EntryInput::Kind::kOther: break;
  }
  return "R.Object";
}

}  // namespace iropt
