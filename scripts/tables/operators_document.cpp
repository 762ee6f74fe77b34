// Prints the tables of docs/operators.md: the operators of Relax by family, and the intrinsics.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "iropt/eval/evaluator.h"
#include "iropt/eval/tir/prim_func.h"
#include "iropt/infer/layout_rules.h"
#include "iropt/infer/type_rules.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/all.h"

namespace iropt {
namespace {

// The rows of ops.def in order, each family after its title.
struct Row {
  std::string_view title;  // empty for an operator
  std::string_view file;
  OpId id;
};
constexpr Row kRows[] = {
#define IROPT_OP_FAMILY(file, title) {title, #file, {}},
#define IROPT_OP(id, ...) {{}, {}, op::k##id},
#include "iropt/op/ops.def"
};

std::string_view KindText(ArgKind kind) {
  switch (kind) {
    case ArgKind::kExpr: return "any";
    case ArgKind::kTensor: return "tensor";
    case ArgKind::kScalar: return "tensor of rank 0";
    case ArgKind::kShape: return "shape";
    case ArgKind::kPrimValue: return "scalar";
    case ArgKind::kTuple: return "tuple";
    case ArgKind::kCallArgs: return "tuple of arguments";
    case ArgKind::kString: return "string";
    case ArgKind::kDataType: return "dtype";
    case ArgKind::kFunc: return "function";
  }
  return "";
}

std::string_view KindText(AttrKind kind) {
  switch (kind) {
    case AttrKind::kBool: return "bool";
    case AttrKind::kInt: return "int";
    case AttrKind::kDouble: return "float";
    case AttrKind::kString: return "string";
    case AttrKind::kDataType: return "dtype";
    case AttrKind::kIntList: return "ints";
    case AttrKind::kFloatList:
    case AttrKind::kDoubleList: return "floats";
    case AttrKind::kStringList: return "strings";
    case AttrKind::kOptInt: return "int or None";
    case AttrKind::kOptFloat: return "float or None";
    case AttrKind::kOptString: return "string or None";
    case AttrKind::kOptIntList: return "ints or None";
    case AttrKind::kOptBool: return "bool or None";
    case AttrKind::kIntOrIntList: return "int or ints";
    case AttrKind::kOptPrimValue: return "scalar or None";
    case AttrKind::kIndexMap: return "index map";
    case AttrKind::kVDevice: return "virtual device";
    case AttrKind::kDeviceMesh: return "device mesh";
    case AttrKind::kPlacement: return "placement";
    case AttrKind::kDict: return "dictionary";
  }
  return "";
}

// " = 1"; empty if the parameter is required.
std::string DefaultText(const OpDefault& fallback) {
  switch (fallback.kind) {
    case OpDefault::Kind::kRequired: return "";
    case OpDefault::Kind::kNone: return " = None";
    case OpDefault::Kind::kBool: return fallback.integer ? " = True" : " = False";
    case OpDefault::Kind::kInt: return fmt::format(" = {}", fallback.integer);
    case OpDefault::Kind::kFloat: return fmt::format(" = {}", fallback.real);
    case OpDefault::Kind::kString: return fmt::format(" = \"{}\"", fallback.text);
    case OpDefault::Kind::kSameAs: return fmt::format(" = `{}`", fallback.text);
  }
  return "";
}

std::string_view YesNo(bool value) { return value ? "yes" : "no"; }

void Append(std::string& list, const std::string& item) { list += (list.empty() ? "" : "<br>") + item; }

std::string Operands(const OpInfo& info) {
  std::string list;
  for (const OpParam& param : info.params) {
    if (param.role == OpParam::Role::kExtra) Append(list, fmt::format("`{}`: tensor = None", param.name));
    if (param.role != OpParam::Role::kArg) continue;
    const OpArg& arg = info.args[param.index];
    Append(list, fmt::format("`{}{}`: {}{}", param.rest ? "*" : "", param.name, KindText(arg.kind),
                             param.rest ? "" : DefaultText(param.fallback)));
  }
  return list;
}

std::string Attributes(const OpInfo& info) {
  std::string list;
  for (size_t i = 0; i < info.attrs.size(); ++i) {
    const auto param = std::find_if(info.params.begin(), info.params.end(),
                                    [&](const OpParam& p) { return p.role == OpParam::Role::kAttr && p.index == i; });
    const OpDefault fallback = param == info.params.end() ? OpDefault{} : param->fallback;
    Append(list, fmt::format("`{}`: {}{}", info.attrs[i].name, KindText(info.attrs[i].kind), DefaultText(fallback)));
  }
  for (const OpParam& param : info.params) {
    if (param.role == OpParam::Role::kResultTypes)
      Append(list, fmt::format("`{}`: types{}", param.name, DefaultText(param.fallback)));
  }
  return list;
}

constexpr std::string_view kLoopLevel = R"(
## PrimFuncs

FoldConstant also evaluates PrimFuncs that are called with constants. It supports all statements and expressions except
`ProducerLoad`, which reads a tensor that has no buffer yet. These are the intrinsics of
[intrinsics.def](../include/iropt/op/intrinsics.def); those that are not evaluated call the runtime or code outside of the
module, or are for the units of accelerators.

| intrinsic | operands | evaluated |
| --- | --- | --- |
)";

std::string LoopLevel() {
  std::string text(kLoopLevel);
  for (const OpInfo& info : AllOps()) {
    if (!info.intrinsic) continue;
    const int count = info.intrinsic->num_args;
    text += fmt::format("| `{}` | {} | {} |\n", info.script, count < 0 ? "any number" : std::to_string(count),
                        YesNo(IsEvaluated(info)));
  }
  return text;
}

std::string Document() {
  std::string text;
  for (const Row& row : kRows) {
    if (!row.title.empty()) {
      text += fmt::format("\n## {}\n\n[{}.def](../include/iropt/op/ops/{}.def)\n\n", row.title, row.file, row.file);
      text +=
          "| operator | operands | attributes | result | pure | evaluated | follows layouts |\n| --- | --- | --- | --- "
          "| "
          "--- | --- | --- |\n";
      continue;
    }
    const OpInfo& info = OpInfoOf(row.id);
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", info.script, Operands(info), Attributes(info),
                        ResultPhraseOf(info), YesNo(info.pure), YesNo(HasKernel(info)),
                        YesNo(LayoutRuleOf(info) != nullptr));
  }
  return text + LoopLevel();
}

}  // namespace
}  // namespace iropt

int main() { std::fputs(iropt::Document().c_str(), stdout); }
