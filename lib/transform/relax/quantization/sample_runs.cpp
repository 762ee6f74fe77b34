#include "sample_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/data/tensors.h"
#include "iropt/ir/attr_keys.h"

namespace iropt {

namespace {

// The names that the model has for the parameters; empty if it has none.
std::vector<std::string> ModelNamesOf(const Function& function) {
  std::vector<std::string> names;
  const auto* graph = As<DictAttr>(function.attrs->Find(attr::kOnnxGraph));
  const auto* inputs = graph ? As<ListAttr>(graph->Find("inputs")) : nullptr;
  for (uint32_t i = 0; inputs && i < inputs->values.size(); ++i) {
    if (const auto* name = As<StrAttr>(inputs->values[i])) names.emplace_back(name->value);
  }
  if (names.size() != function.params.size()) names.clear();
  return names;
}

}  // namespace

Result<std::vector<Sample>> ReadSamples(const Function& function, const std::vector<std::string>& paths) {
  const std::vector<std::string> own = ModelNamesOf(function);
  std::vector<Sample> samples;
  for (const std::string& path : paths) {
    IROPT_ASSIGN_OR_RETURN(const std::vector<NamedTensor> tensors, ReadTensors(path));
    Sample& sample = samples.emplace_back();
    for (uint32_t i = 0; i < function.params.size(); ++i) {
      const std::string_view name = function.params[i]->name();
      const auto found = std::ranges::find_if(tensors, [&](const NamedTensor& tensor) {
        return tensor.name == name || (!own.empty() && tensor.name == own[i]) ||
               (tensor.name.empty() && function.params.size() == 1);
      });
      if (found == tensors.end())
        return Error{ErrorCode::Usage,
                     fmt::format("'{}' has no tensor for the input '{}'", path, own.empty() ? name : own[i])};
      sample.emplace_back(found->tensor);
    }
  }
  return samples;
}

Status RunSamples(const Module& module, const Function& function, const std::vector<Sample>& samples,
                  RunObserver& observer, DiagnosticEngine& diagnostics) {
  for (const Sample& sample : samples) {
    for (uint32_t i = 0; i < function.params.size(); ++i) observer.OnBinding(function, *function.params[i], sample[i]);
    RunOptions options;
    options.observer = &observer;
    Result<HostValue> value = RunFunction(module, function, sample, diagnostics, options);
    if (!value.ok()) return value.TakeErrorPtr();
  }
  return {};
}

}  // namespace iropt
