#include "sample_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/ir/attr_keys.h"
#include "transform/relax/params/array_option.h"

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

std::vector<SampleSource> ReadSampleSources(const PassOptions& options, const TypedOption<OptionValue>& given) {
  std::vector<SampleSource> sources;
  const OptionValue::List* list = given->as_list();
  if (list == nullptr) options.Refuse(given, "must be a list of files, or of objects of arrays");
  for (size_t i = 0; list && i < list->size(); ++i) {
    const OptionValue& value = (*list)[i];
    SampleSource& source = sources.emplace_back();
    if (const std::string* path = value.as_string()) {
      source.path = *path;
      continue;
    }
    if (!value.is_dict()) options.Refuse(given, value.span(), "must be a list of files, or of objects of arrays");
    for (const OptionValue::Entry& entry : value.entries()) {
      ArrayOptionError error;
      std::shared_ptr<const NDArray> array = ReadArrayOption(entry.value, error);
      if (array == nullptr) options.Refuse(given, error.span, fmt::format("'{}': {}", entry.key, error.message));
      source.tensors.push_back({entry.key, std::move(array)});
    }
  }
  return sources;
}

Result<std::vector<Sample>> ReadSamples(const Function& function, const std::vector<SampleSource>& sources) {
  const std::vector<std::string> own = ModelNamesOf(function);
  std::vector<Sample> samples;
  for (const SampleSource& source : sources) {
    std::vector<NamedTensor> tensors = source.tensors;
    if (!source.path.empty()) {
      IROPT_ASSIGN_OR_RETURN(tensors, ReadTensors(source.path));
    }
    Sample& sample = samples.emplace_back();
    for (uint32_t i = 0; i < function.params.size(); ++i) {
      const std::string_view name = function.params[i]->name();
      const auto found = std::ranges::find_if(tensors, [&](const NamedTensor& tensor) {
        return tensor.name == name || (!own.empty() && tensor.name == own[i]) ||
               (tensor.name.empty() && function.params.size() == 1);
      });
      if (found == tensors.end())
        return Error{ErrorCode::Usage, fmt::format("{} has no tensor for the input '{}'",
                                                   source.path.empty() ? "a sample" : fmt::format("'{}'", source.path),
                                                   own.empty() ? name : own[i])};
      sample.emplace_back(found->tensor);
    }
  }
  return samples;
}

Status RunSamples(const Module& module, const Function& function, const std::vector<Sample>& samples,
                  RunObserver& observer, DiagnosticEngine& diagnostics, std::vector<HostValue>* results) {
  for (const Sample& sample : samples) {
    for (uint32_t i = 0; i < function.params.size(); ++i) observer.OnBinding(function, *function.params[i], sample[i]);
    RunOptions options;
    options.observer = &observer;
    Result<HostValue> value = RunFunction(module, function, sample, diagnostics, options);
    if (!value.ok()) return value.TakeErrorPtr();
    if (results != nullptr) results->push_back(*std::move(value));
  }
  return {};
}

}  // namespace iropt
