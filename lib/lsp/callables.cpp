#include "callables.h"

#include <fmt/format.h>

#include <algorithm>

#include "describe_node.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/intrinsics.h"
#include "iropt/text/script/vocabulary.h"

namespace iropt::lsp {

namespace {

// Builds the label of a callable, parameter by parameter.
class LabelBuilder {
 public:
  explicit LabelBuilder(std::string_view name) { callable_.label = fmt::format("{}(", name); }

  void Add(std::string_view name, std::string_view rest_of_text, bool rest = false, bool keyword_only = false) {
    if (!callable_.parameters.empty()) callable_.label += ", ";
    const auto begin = static_cast<uint32_t>(callable_.label.size());
    callable_.label += fmt::format("{}{}{}", rest ? "*" : "", name, rest_of_text);
    callable_.parameters.push_back(
        {std::string(name), begin, static_cast<uint32_t>(callable_.label.size()), rest, keyword_only});
  }

  Callable Finish(std::string documentation, std::string_view result = {}) {
    callable_.label += ")";
    if (!result.empty()) callable_.label += fmt::format(" -> {}", result);
    callable_.documentation = std::move(documentation);
    return std::move(callable_);
  }

 private:
  Callable callable_;
};

std::string TextOf(const OpDefault& fallback) {
  using Kind = OpDefault::Kind;
  switch (fallback.kind) {
    case Kind::kRequired: return {};
    case Kind::kNone: return "=None";
    case Kind::kBool: return fallback.integer ? "=True" : "=False";
    case Kind::kInt: return fmt::format("={}", fallback.integer);
    case Kind::kFloat: return fmt::format("={}", fallback.real);
    case Kind::kString: return fmt::format("=\"{}\"", fallback.text);
    case Kind::kSameAs: return fmt::format("={}", fallback.text);
  }
  return {};
}

std::string_view MeaningOf(OpPattern pattern) {
  switch (pattern) {
    case OpPattern::kElemWise: return "element-wise";
    case OpPattern::kBroadcast: return "broadcast";
    case OpPattern::kInjective: return "injective";
    case OpPattern::kCommReduce: return "reduction";
    case OpPattern::kOutEWiseFusable: return "element-wise operators fuse into its output";
    case OpPattern::kTuple: return "tuple";
    case OpPattern::kOpaque: return "not fused";
  }
  return {};
}

std::string_view MeaningOf(ArgKind kind) {
  switch (kind) {
    case ArgKind::kExpr: return "an expression";
    case ArgKind::kTensor: return "a tensor";
    case ArgKind::kScalar: return "a tensor or a number";
    case ArgKind::kShape: return "a shape";
    case ArgKind::kPrimValue: return "a scalar";
    case ArgKind::kTuple: return "a tuple";
    case ArgKind::kCallArgs: return "a tuple of arguments";
    case ArgKind::kString: return "a string";
    case ArgKind::kDataType: return "a data type";
    case ArgKind::kFunc: return "a function";
  }
  return {};
}

std::string DocumentationOf(const OpInfo& op) {
  std::string text;
  if (const std::string_view summary = SummaryOf(op); !summary.empty()) text = fmt::format("{}\n\n", summary);
  text += fmt::format("`{}`, {}", op.name, op.pure ? "pure" : "impure");
  if (op.is_graph_level()) text += fmt::format("; for fusion: {}", MeaningOf(op.pattern));
  if (op.since != TextVersion::kV0_18) text += fmt::format("; since TVM {}", ToString(op.since));
  text += "\n";
  for (const OpArg& arg : op.args) text += fmt::format("\n- `{}`: {}", arg.name, MeaningOf(arg.kind));
  for (const OpAttr& attr : op.attrs) text += fmt::format("\n- `{}`: attribute", attr.name);
  if (!op.layout_axes.empty()) text += "\n\nConvertLayout can choose its layouts.";
  return text;
}

Callable DescribeName(const ScriptName& name) {
  LabelBuilder builder(fmt::format("{}.{}", name.prefix, name.name));
  for (size_t i = 0; i < name.params.size(); ++i) builder.Add(name.params[i], i < name.required ? "" : "=...");
  return builder.Finish(std::string(name.summary));
}

Callable DescribeFunction(std::string_view name, const BaseFunc& func) {
  LabelBuilder builder(name);
  if (const auto* function = As<Function>(&func); function && function->body) {
    for (const Var* param : function->params)
      builder.Add(param->name(), fmt::format(": {}", TypeToString(param->type)));
    return builder.Finish({}, function->ret_type ? TypeToString(function->ret_type) : "");
  }
  if (const auto* prim = As<PrimFunc>(&func)) {
    for (size_t i = 0; i < prim->params.size(); ++i) {
      const tir::Buffer* buffer = prim->param_buffers[i];
      builder.Add(buffer ? buffer->name : prim->params[i]->name,
                  fmt::format(": {}", buffer ? DescribeBuffer(*buffer)
                                             : fmt::format("T.{}", prim->params[i]->dtype.ToString())));
    }
    return builder.Finish({});
  }
  if (const auto* type = func.type ? As<FuncType>(func.type) : nullptr) {
    for (size_t i = 0; i < type->params.size(); ++i)
      builder.Add(fmt::format("arg{}", i), fmt::format(": {}", TypeToString(type->params[i])));
    return builder.Finish({}, TypeToString(type->ret));
  }
  return builder.Finish({});
}

}  // namespace

std::string_view SummaryOf(const OpInfo& op) {
  struct Row {
    std::string_view name;
    std::string_view summary;
  };
  static constexpr Row kRows[] = {
#define IROPT_SUMMARY(name, summary) {name, summary},
#include "operator_summaries.def"
  };
  // Intrinsics on scalars have the names of the operators that do the same with each element.
  const std::string_view name = op.script.substr(op.script.find('.') + 1);
  const auto row = std::ranges::find(kRows, name, &Row::name);
  return row == std::end(kRows) || (!op.is_graph_level() && !row->summary.ends_with("each element"))
             ? std::string_view()
             : row->summary;
}

size_t Callable::ParameterOf(uint32_t argument, std::string_view keyword) const {
  if (!keyword.empty()) {
    const auto found = std::ranges::find(parameters, keyword, &Parameter::name);
    return static_cast<size_t>(found - parameters.begin());
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i == argument || parameters[i].rest) return i;
  }
  return parameters.size();
}

const OpInfo* FindOperator(std::string_view name) {
  if (name.starts_with("R.op."))
    name.remove_prefix(5);
  else if (name.starts_with("R."))
    name.remove_prefix(2);
  else
    return name.starts_with("T.") ? FindIntrinsicByScript(name.substr(2)) : nullptr;
  return FindGraphOpByScript(name);
}

Callable DescribeOperator(const OpInfo& op) {
  LabelBuilder builder(op.script);
  if (op.params.empty()) {
    for (const OpArg& arg : op.args) builder.Add(arg.name, "");
    for (const OpAttr& attr : op.attrs) builder.Add(attr.name, TextOf(attr.fallback));
  }
  for (const OpParam& param : op.params)
    builder.Add(param.name, TextOf(param.fallback), param.rest, param.keyword_only);
  return builder.Finish(DocumentationOf(op));
}

std::optional<Callable> FindCallable(std::string_view name, const Module* module) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view prefix = name.substr(0, dot);
  const std::string_view member = name.substr(dot + 1);
  if (const OpInfo* op = FindOperator(name)) return DescribeOperator(*op);
  if (const ScriptName* known = FindScriptName(prefix, member)) return DescribeName(*known);
  const ModuleEntry* entry = module ? module->Find(member) : nullptr;
  return entry ? std::optional(DescribeFunction(name, *entry->func)) : std::nullopt;
}

}  // namespace iropt::lsp
