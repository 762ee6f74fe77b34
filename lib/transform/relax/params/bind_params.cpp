// BindParams: binds constant tensors to function parameters.
//
//   def main(x, w: R.Tensor(("n", 4))):               def main(x):
//       y: R.Tensor((n, 4)) = R.multiply(x, w)  -->       y: R.Tensor((8, 4)) = R.multiply(x, R.const([...]))
//
// `func_name` names the function. `params` maps names of its parameters to tensors: in a file (.npz, .safetensors), or
// literally, {"w": {"dtype": "float32", "shape": [2], "data": [1, 2]}}. Checkpoints have names such as
// "layers.0.weight": a tensor is bound to the parameter that `names` maps its name to, else to the one of its name,
// else to the one of its name with underscores, layers_0_weight, which is how TVM prints it. The symbolic variables
// that the shape of a parameter defines get their values from the tensor's shape. An unknown name is an error unless
// `ignore_unknown` is set, and so is a tensor that is not of the parameter's type. Tensors are not copied; those of a
// .safetensors file are not even read. O(nodes), plus reading the file.
//
// The attribute num_input is decreased by the number of runtime inputs that are bound, and removed with the last
// parameter. TVM 0.18 keeps its value, so that it may exceed the number of parameters, which other passes reject.
//
// Source: the other rules are those of TVM 0.18's pass of this name; the files are an option of ir-opt.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array_option.h"
#include "iropt/analysis/relax/free_vars.h"
#include "iropt/arith/analyzer.h"
#include "iropt/data/name_pairs.h"
#include "iropt/data/tensors.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/substitute.h"
#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/runtime/value.h"
#include "iropt/support/characters.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/BindParams.h"
#include "num_input.h"
#include "transform/relax/util/entry_points.h"
#include "transform/relax/util/missing_function.h"

namespace iropt {

namespace {

// A tensor for a parameter, and the span of its name in the option.
struct TensorOption {
  NamedTensor named;
  SourceSpan span;
  std::string param = {};  // the parameter that `names` maps it to; empty: by its name
};

// The value of the option 'params': tensors, or the file that has them.
struct ParamsOption {
  std::string path;
  SourceSpan span;
  std::vector<TensorOption> tensors;
};

// The value of the option 'names': an object, or the file that has it.
struct NamesOption {
  std::string path;
  SourceSpan span;
  NamePairs names;
};

NamesOption ReadNamesOption(const PassOptions& options) {
  const pass_options::BindParams given(options);
  const OptionValue& option = *given.names;
  NamesOption names{.path = {}, .span = option.span(), .names = {}};
  if (const std::string* path = option.as_string()) names.path = *path;
  if (!option.is_dict() && names.path.empty())
    options.Refuse(given.names, "must be the path of a file or an object of names");
  for (const OptionValue::Entry& entry : option.entries()) {
    const std::string* name = entry.value.as_string();
    if (!name) options.Refuse(given.names, entry.value.span(), fmt::format("'{}' must be mapped to a name", entry.key));
    names.names.emplace_back(entry.key, name ? *name : "");
  }
  return names;
}

ParamsOption ReadParamsOption(const PassOptions& options) {
  const pass_options::BindParams given(options);
  const OptionValue& option = *given.params;
  ParamsOption params;
  params.span = option.span();
  if (const std::string* path = option.as_string()) params.path = *path;
  if (!option.is_dict() && params.path.empty())
    options.Refuse(given.params, "must be the path of a file or an object of arrays");
  for (const OptionValue::Entry& entry : option.entries()) {
    ArrayOptionError error;
    std::shared_ptr<const NDArray> array = ReadArrayOption(entry.value, error);
    if (!array) {
      options.diagnostics().Error(error.span, "wrong-option-value",
                                  fmt::format("parameter '{}': {}", entry.key, error.message));
    }
    params.tensors.push_back({{entry.key, std::move(array)}, entry.key_span});
  }
  return params;
}

Result<std::vector<TensorOption>> ReadParams(const ParamsOption& params, DiagnosticEngine& diagnostics) {
  if (params.path.empty()) return params.tensors;
  Result<std::vector<NamedTensor>> read = ReadTensors(params.path);
  if (!read) {
    diagnostics.Error(params.span, "file", read.error().message);
    return Failure{ErrorCode::PassFailed};
  }
  std::vector<TensorOption> tensors;
  for (NamedTensor& named : *read) tensors.push_back({std::move(named), params.span});
  return tensors;
}

// Sets the parameters of the tensors in the map, each of which must exist.
Status MapNames(const NamesOption& option, std::vector<TensorOption>& tensors, DiagnosticEngine& diagnostics) {
  Result<NamePairs> names = option.path.empty() ? option.names : ReadNamePairs(option.path);
  if (!names) {
    diagnostics.Error(option.span, "file", names.error().message);
    return Failure{ErrorCode::PassFailed};
  }
  LookupMap<std::string_view, TensorOption*> by_name;
  for (TensorOption& tensor : tensors) by_name.try_emplace(tensor.named.name, &tensor);
  bool ok = true;
  for (auto& [name, param] : *names) {
    const auto* tensor = by_name.Find(name);
    if (tensor) {
      (*tensor)->param = std::move(param);
      continue;
    }
    ok = false;
    diagnostics.Error(option.span, "pass-failed",
                      fmt::format("there is no tensor '{}' for parameter '{}'", name, param));
  }
  if (!ok) return Failure{ErrorCode::PassFailed};
  return {};
}

// The name with underscores for all characters that a name in a script does not have.
std::string ToIdentifier(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return !IsLetterOrDigit(c); }, '_');
  return name;
}

// The function with this global symbol, or with this name in the module.
std::optional<size_t> FindFunction(const Module& module, std::string_view name) {
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry& entry = module.functions()[i];
    const std::string_view symbol = entry.func->StringAttr(attr::kGlobalSymbol);
    if (Is<Function>(entry.func) && (symbol.empty() ? entry.var->name : symbol) == name) return i;
  }
  return std::nullopt;
}

// Finds the parameters that tensors are bound to, and the resulting values of symbolic variables.
class ParamMatcher {
 public:
  ParamMatcher(const Function& function, std::string_view name, DiagnosticEngine& diagnostics)
      : function_(function), name_(name), diagnostics_(diagnostics) {}

  // False after an error.
  bool Match(const std::vector<TensorOption>& tensors, bool ignore_unknown, Workspace& workspace) {
    std::vector<const TensorOption*> unknown;
    LookupMap<const Var*, const TensorOption*> bound;
    for (const TensorOption& tensor : tensors) {
      const std::vector<const Var*> params = ParamsOf(tensor);
      if (params.empty() && (!ignore_unknown || !tensor.param.empty())) unknown.push_back(&tensor);
      if (params.size() > 1)
        Fail(tensor.span, fmt::format("function '{}' has several parameters '{}'", name_, params[0]->name()));
      if (params.size() != 1 || !MatchType(*params[0], *tensor.named.tensor)) continue;
      if (const auto [other, added] = bound.try_emplace(params[0], &tensor); !added) {
        Fail(tensor.span, fmt::format("tensors '{}' and '{}' are both for parameter '{}'", other->named.name,
                                      tensor.named.name, params[0]->name()));
      }
      bound_.emplace_back(params[0], MakeConstant(tensor.named.tensor, workspace));
    }
    ReportUnknown(unknown);
    if (ok_ && bound_.empty()) {
      Fail(tensors[0].span,
           fmt::format("function '{}' has no parameter for any of the {} tensors", name_, tensors.size()));
    }
    for (const auto& [param, constant] : bound_) CheckDims(*param, *To<Constant>(constant)->data);
    return ok_;
  }

  const std::vector<BoundParam>& bound() const { return bound_; }
  const SymVarMap& symbolic() const { return symbolic_; }

 private:
  std::vector<const Var*> ParamsOf(const TensorOption& tensor) const {
    if (!tensor.param.empty()) return FindParams(tensor.param);
    std::vector<const Var*> params = FindParams(tensor.named.name);
    return params.empty() ? FindParams(ToIdentifier(tensor.named.name)) : params;
  }

  std::vector<const Var*> FindParams(std::string_view name) const {
    std::vector<const Var*> found;
    for (const Var* param : function_.params) {
      if (param->name() == name) found.push_back(param);
    }
    return found;
  }

  void Fail(SourceSpan span, std::string message) {
    ok_ = false;
    diagnostics_.Error(span.known() ? span : Location(function_), "pass-failed", std::move(message));
  }

  // Names that are written out are reported one by one; those of a file, which has all names from somewhere else, at
  // once.
  void ReportUnknown(const std::vector<const TensorOption*>& unknown) {
    std::vector<std::string_view> known;
    for (const Var* param : function_.params) known.push_back(param->name());
    const bool from_file = unknown.size() > 1 && unknown[0]->span == unknown[1]->span;
    for (const TensorOption* tensor : unknown) {
      const std::string& name = tensor->param.empty() ? tensor->named.name : tensor->param;
      const std::string others = from_file ? fmt::format(", nor {} other names of the file", unknown.size() - 1) : "";
      Fail(tensor->span,
           fmt::format("function '{}' has no parameter '{}'{}{}", name_, name, others, DidYouMean(name, known)));
      if (from_file) return;
    }
  }

  bool MatchType(const Var& param, const NDArray& tensor) {
    if (Is<ObjectType>(param.type)) return true;
    const auto* type = As<TensorType>(param.type);
    const std::span<const int64_t> shape = tensor.shape();
    const bool fits = type && (type->dtype.is_void() || type->dtype == tensor.dtype()) &&
                      (type->ndim == kUnknownDim || type->ndim == static_cast<int>(shape.size()));
    if (!fits) return Mismatch(param, tensor);
    if (!type->known) return true;
    for (uint32_t i = 0; i < type->dims.size(); ++i) {
      const auto* var = As<tir::Var>(type->dims[i]);
      if (var && !symbolic_.Find(var)) symbolic_.Set(var, IRContext::Current().Int(shape[i], var->dtype));
    }
    return true;
  }

  // Called when all symbolic variables have their values.
  void CheckDims(const Var& param, const NDArray& tensor) {
    const auto* type = As<TensorType>(param.type);
    if (!type || !type->known) return;
    for (uint32_t i = 0; i < type->dims.size(); ++i) {
      const PrimExpr* expected = SubstituteSymVars(type->dims[i], symbolic_);
      const PrimExpr* actual = IRContext::Current().Int(tensor.shape()[i], expected->dtype);
      if (!arith::ProveNotEqual(expected, actual)) continue;
      Mismatch(param, tensor);
      return;
    }
  }

  bool Mismatch(const Var& param, const NDArray& tensor) {
    auto error = diagnostics_.Error(Location(param), "pass-failed",
                                    fmt::format("parameter '{}' has type {}, but its tensor has type {}", param.name(),
                                                TypeToString(param.type), TypeToString(TypeOfTensor(tensor))));
    for (const tir::Var* var : SymVarsOf(param.type)) {
      if (const PrimExpr* value = symbolic_.Find(var))
        error.Note(fmt::format("the shapes of the tensors give '{}' the value {}", var->name, DimToString(value)));
    }
    return ok_ = false;
  }

  const Function& function_;
  std::string_view name_;
  DiagnosticEngine& diagnostics_;
  std::vector<BoundParam> bound_;
  SymVarMap symbolic_;
  bool ok_ = true;
};

// Returns `bound`, which is `function` without the parameters `params`, with the num_input of what remains.
const Function* UpdateNumInput(const Function* bound, const Function& function, std::span<const BoundParam> params,
                               Workspace& workspace) {
  const std::optional<uint32_t> num_input = NumInputOf(function).value;
  if (!num_input) return bound;
  const std::span<const Var* const> inputs = function.params.span().first(*num_input);
  const auto bound_inputs = std::ranges::count_if(
      params, [&](const BoundParam& param) { return std::ranges::find(inputs, param.first) != inputs.end(); });
  if (bound_inputs == 0 && !bound->params.empty()) return bound;
  auto* updated = workspace.New<Function>(*bound);
  updated->attrs = bound->params.empty() ? bound->attrs->Without(attr::kNumInput)
                                         : bound->attrs->With(attr::kNumInput, IntAttr::Get(*num_input - bound_inputs));
  return updated;
}

// The options of the pass.
struct BindOptions {
  std::string func_name;
  ParamsOption params;
  NamesOption names;
  bool ignore_unknown;
};

Result<Module> BindParams(Module module, const BindOptions& options, ModulePassContext& context) {
  const std::string& name = options.func_name;
  IROPT_ASSIGN_OR_RETURN(std::vector<TensorOption> tensors, ReadParams(options.params, context.diagnostics));
  IROPT_RETURN_IF_ERROR(MapNames(options.names, tensors, context.diagnostics));
  if (tensors.empty()) return module;
  const std::optional<size_t> index = FindFunction(module, name);
  if (!index) {
    context.diagnostics.Error(options.params.span, "pass-failed",
                              DescribeMissingFunction(module, name) + "; the option func_name selects one");
    return Failure{ErrorCode::PassFailed};
  }
  const ModuleEntry entry = module.functions()[*index];
  const auto* function = To<Function>(entry.func);
  Workspace workspace(module, entry.storage);
  ParamMatcher matcher(*function, name, context.diagnostics);
  // Calls would have arguments without a parameter.
  if (!matcher.Match(tensors, options.ignore_unknown, workspace) ||
      RefersToChanged(
          module, [&](size_t i) { return i == *index; }, {"parameters", "bound"}, context)) {
    return Failure{ErrorCode::PassFailed};
  }
  const Function* bound =
      Substitute(function, matcher.symbolic(), matcher.bound(), &module, workspace, context.diagnostics);
  if (!bound) return Failure{ErrorCode::PassFailed};
  bound = UpdateNumInput(bound, *function, matcher.bound(), workspace);
  module.SetAt(*index, bound, workspace.Finish());
  return module;
}

// The tensors by parameter for checks of the effect of the pass; the pass itself reports files that cannot be read.
std::vector<BoundTensor> ListTensors(const BindOptions& options) {
  DiagnosticBuffer ignored;
  DiagnosticEngine diagnostics(&ignored);
  Result<std::vector<TensorOption>> read = ReadParams(options.params, diagnostics);
  if (!read.ok() || !MapNames(options.names, *read, diagnostics).ok()) return {};
  std::vector<BoundTensor> tensors;
  for (const TensorOption& tensor : *read) {
    tensors.push_back({tensor.param.empty() ? ToIdentifier(tensor.named.name) : tensor.param, tensor.named.tensor});
  }
  return tensors;
}

}  // namespace

Pass CreateBindParams(const PassOptions& options) {
  const pass_options::BindParams given(options);
  const BindOptions bind{*given.func_name, ReadParamsOption(options), ReadNamesOption(options), *given.ignore_unknown};
  PassInfo info = options.info();
  info.bound_tensors = [bind] { return ListTensors(bind); };
  return CreateModulePass(
      info, [bind](Module module, ModulePassContext& context) { return BindParams(std::move(module), bind, context); });
}

}  // namespace iropt
