#include "iropt/observe/module_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/observe/operator_counts.h"
#include "iropt/support/lookup.h"
#include "multiply_adds.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

// A sum over things some of which have no known size. Saturates.
struct Amount {
  uint64_t known = 0;
  uint64_t unknown = 0;  // how many

  void Add(std::optional<uint64_t> n) {
    if (!n) {
      ++unknown;
    } else if (__builtin_add_overflow(known, *n, &known)) {
      known = UINT64_MAX;
    }
  }
  void Add(const Amount& other) {
    Add(other.known);
    unknown += other.unknown;
  }
  std::string ToString() const {
    return unknown == 0 ? fmt::format("{}", known) : fmt::format("{} + {} unknown", known, unknown);
  }
};

struct FunctionMetrics {
  std::string name;
  uint64_t calls = 0;
  uint64_t params = 0;
  Amount param_bytes = {};
  uint64_t constants = 0;
  uint64_t constant_bytes = 0;
  Amount multiply_adds = {};
};

std::optional<uint64_t> BytesOf(const Type* type) {
  if (const auto* tuple = As<TupleType>(type)) {
    uint64_t sum = 0;
    for (const Type* field : tuple->fields) {
      const std::optional<uint64_t> bytes = WithStack([&] { return BytesOf(field); });
      if (!bytes || __builtin_add_overflow(sum, *bytes, &sum)) return std::nullopt;
    }
    return sum;
  }
  const auto* distributed = As<DTensorType>(type);
  const auto* tensor = distributed != nullptr ? distributed->tensor : As<TensorType>(type);
  // Other values, such as shapes, do not hold tensors.
  if (tensor == nullptr) return 0;
  const std::optional<uint64_t> elements = StaticElements(tensor);
  uint64_t bytes = 0;
  if (!elements || tensor->dtype.is_void()) return std::nullopt;
  if (__builtin_mul_overflow(*elements, static_cast<uint64_t>(tensor->dtype.bytes()), &bytes)) return std::nullopt;
  return bytes;
}

struct MetricsWalk : WalkHandler {
  explicit MetricsWalk(FunctionMetrics& m, FunctionMetrics& t, LookupSet<const NDArray*>& all)
      : metrics(m), total(t), seen_in_module(all) {}
  void OnCall(const Call& call) {
    ++metrics.calls;
    metrics.multiply_adds.Add(CountMultiplyAdds(call));
  }
  void OnConstant(const Constant& constant) {
    const NDArray* data = constant.data;
    if (seen.insert(data)) Count(*data, metrics);
    if (seen_in_module.insert(data)) Count(*data, total);
  }
  static void Count(const NDArray& data, FunctionMetrics& m) {
    ++m.constants;
    m.constant_bytes += data.num_bytes();
  }

  FunctionMetrics& metrics;
  FunctionMetrics& total;
  LookupSet<const NDArray*> seen;
  LookupSet<const NDArray*>& seen_in_module;
};

struct ModuleMetrics {
  uint64_t prim_funcs = 0;
  std::vector<FunctionMetrics> functions;
  FunctionMetrics total{.name = "total"};
};

ModuleMetrics Measure(const Module& module) {
  ModuleMetrics result;
  FunctionMetrics& total = result.total;
  LookupSet<const NDArray*> constants;
  for (const ModuleEntry& entry : module.functions()) {
    if (Is<PrimFunc>(entry.func)) ++result.prim_funcs;
    const auto* function = As<Function>(entry.func);
    if (function == nullptr) continue;
    FunctionMetrics& metrics = result.functions.emplace_back(FunctionMetrics{.name = std::string(entry.var->name)});
    metrics.params = function->params.size();
    for (const Var* param : function->params) metrics.param_bytes.Add(BytesOf(param->type));
    MetricsWalk walk(metrics, total, constants);
    Walk(*function, walk);
    total.calls += metrics.calls;
    total.params += metrics.params;
    total.param_bytes.Add(metrics.param_bytes);
    total.multiply_adds.Add(metrics.multiply_adds);
  }
  return result;
}

Json ToJson(const FunctionMetrics& m) {
  return {{"name", m.name},
          {"calls", m.calls},
          {"params", m.params},
          {"param_bytes", m.param_bytes.known},
          {"unknown_params", m.param_bytes.unknown},
          {"constants", m.constants},
          {"constant_bytes", m.constant_bytes},
          {"multiply_adds", m.multiply_adds.known},
          {"unknown_calls", m.multiply_adds.unknown}};
}

using Counts = std::map<std::string, uint64_t>;

// Each operator with the calls before and after the passes.
std::map<std::string, std::pair<uint64_t, uint64_t>> Compare(const Counts& before, const Counts& after) {
  std::map<std::string, std::pair<uint64_t, uint64_t>> both;
  for (const auto& [name, count] : before) both[name].first = count;
  for (const auto& [name, count] : after) both[name].second = count;
  return both;
}

std::string RenderJson(const Module& module, const Counts& before, const ModuleMetrics& metrics,
                       std::string_view input) {
  Json functions = Json::array();
  for (const FunctionMetrics& function : metrics.functions) functions.push_back(ToJson(function));
  Json total = ToJson(metrics.total);
  total.erase("name");
  Json operators = Json::array();
  for (const auto& [name, counts] : Compare(before, CountOperators(module)))
    operators.push_back({{"name", name}, {"before", counts.first}, {"count", counts.second}});
  return Json{{"metrics",
               {{"input", input},
                {"prim_funcs", metrics.prim_funcs},
                {"functions", std::move(functions)},
                {"total", std::move(total)},
                {"operators", std::move(operators)}}}}
             .dump(-1, ' ', false, Json::error_handler_t::replace) +
         '\n';
}

std::string RenderText(const Module& module, const Counts& before, const ModuleMetrics& metrics,
                       std::string_view input) {
  const Counts after = CountOperators(module);
  const auto operators = Compare(before, after);
  size_t width = 8;
  for (const FunctionMetrics& function : metrics.functions) width = std::max(width, function.name.size());
  for (const auto& [name, _] : operators) width = std::max(width, name.size());
  std::string out = fmt::format("{}\n", input);
  out += fmt::format("{:<{}}{:>9}{:>9}{:>24}{:>11}{:>16}{:>24}\n", "function", width, "calls", "params", "bytes",
                     "constants", "bytes", "multiply-adds");
  const auto row = [&](const FunctionMetrics& m) {
    out += fmt::format("{:<{}}{:>9}{:>9}{:>24}{:>11}{:>16}{:>24}\n", m.name, width, m.calls, m.params,
                       m.param_bytes.ToString(), m.constants, m.constant_bytes, m.multiply_adds.ToString());
  };
  for (const FunctionMetrics& function : metrics.functions) row(function);
  row(metrics.total);
  if (metrics.prim_funcs != 0) out += fmt::format("{:<{}}{:>9}\n", "PrimFuncs", width, metrics.prim_funcs);
  if (before == after) {
    out += fmt::format("{:<{}}{:>9}\n", "operator", width, "calls");
    for (const auto& [name, count] : after) out += fmt::format("{:<{}}{:>9}\n", name, width, count);
    return out;
  }
  out += fmt::format("{:<{}}{:>9}{:>9}\n", "operator", width, "before", "after");
  std::pair<uint64_t, uint64_t> total;
  for (const auto& [name, counts] : operators) {
    out += fmt::format("{:<{}}{:>9}{:>9}\n", name, width, counts.first, counts.second);
    total = {total.first + counts.first, total.second + counts.second};
  }
  out += fmt::format("{:<{}}{:>9}{:>9}\n", "total", width, total.first, total.second);
  return out;
}

}  // namespace

ModuleCost CostOf(const Module& module) {
  const FunctionMetrics total = Measure(module).total;
  return {total.multiply_adds.known, total.multiply_adds.unknown, total.constant_bytes, total.param_bytes.known};
}

std::string RenderMetrics(const Module& module, const Counts& before, std::string_view input, ShownForm form) {
  const ModuleMetrics metrics = Measure(module);
  return form == ShownForm::Json ? RenderJson(module, before, metrics, input)
                                 : RenderText(module, before, metrics, input);
}

}  // namespace iropt
