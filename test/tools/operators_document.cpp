// Writes docs/operators.md from the operator table to stdout. With a file as its argument it says instead whether the
// file is what it would write, with exit code 1 where it is not.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "iropt/eval/evaluator.h"
#include "iropt/eval/tir/prim_func.h"
#include "iropt/infer/layout_rules.h"
#include "iropt/infer/type_rules.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"

namespace iropt {
namespace {

struct Family {
  std::string_view title;
  std::string_view file;
  std::vector<std::string_view> names;
};

// The families of ops.def in its order; a test counts that none is missing.
#define IROPT_OP(name, ...) "relax." #name,
const std::vector<Family> kFamilies{
    {"One tensor, element by element",
     "unary",
     {
#include "iropt/op/ops/unary.def"
     }},
    {"Several tensors, broadcast against each other",
     "binary",
     {
#include "iropt/op/ops/binary.def"
     }},
    {"Making tensors",
     "create",
     {
#include "iropt/op/ops/create.def"
     }},
    {"Element types",
     "datatype",
     {
#include "iropt/op/ops/datatype.def"
     }},
    {"Rearranging elements",
     "manipulate",
     {
#include "iropt/op/ops/manipulate.def"
     }},
    {"Picking elements, sampling",
     "index",
     {
#include "iropt/op/ops/index.def"
     }},
    {"Reductions and scans",
     "statistical",
     {
#include "iropt/op/ops/statistical.def"
     }},
    {"Order",
     "sorting",
     {
#include "iropt/op/ops/sorting.def"
     }},
    {"Products of matrices and tensors",
     "linear_algebra",
     {
#include "iropt/op/ops/linear_algebra.def"
     }},
    {"Convolutions",
     "convolution",
     {
#include "iropt/op/ops/convolution.def"
     }},
    {"Pooling",
     "pooling",
     {
#include "iropt/op/ops/pooling.def"
     }},
    {"Neural networks",
     "nn",
     {
#include "iropt/op/ops/nn.def"
     }},
    {"Images",
     "image",
     {
#include "iropt/op/ops/image.def"
     }},
    {"Gradients",
     "grad",
     {
#include "iropt/op/ops/grad.def"
     }},
    {"Calls and effects",
     "call",
     {
#include "iropt/op/ops/call.def"
     }},
    {"Shapes as values, inspection",
     "shape",
     {
#include "iropt/op/ops/shape.def"
     }},
    {"Memory, devices, the virtual machine",
     "memory",
     {
#include "iropt/op/ops/memory.def"
     }},
    {"Collective communication and distribution",
     "distributed",
     {
#include "iropt/op/ops/distributed.def"
     }},
};
#undef IROPT_OP

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
    case AttrKind::kFloatList: return "floats";
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

// " = 1"; empty where the parameter is required.
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

constexpr std::string_view kIntroduction = R"(# Operators

The graph-level operators, as the table in [include/iropt/op/ops.def](../include/iropt/op/ops.def) states them. This file is
written by `operators_document`, and a test compares them:

    scripts/build.sh release operators_document
    build/bin/operators_document > docs/operators.md

*Operands* and *attributes* are those of the script function, with their defaults; attributes stand in the order in which they
are printed. *Result* says what the type of the result is. Dimensions may be symbolic; where a shape, a rank or a dtype of an
operand is not known, so much of the result is not known either. An operator is *pure* where a call has no effect but its
result, *evaluated* where it can be computed on the host, and so folded, and it *follows layouts* where ConvertLayout can
store the axes of its tensors in another order.
)";

constexpr std::string_view kLoopLevel = R"(
## Loop-level functions

FoldConstant also runs loop-level functions that are called with constants. Every statement is run, and every expression is
evaluated, but for `ProducerLoad`, which reads a tensor that has no buffer yet. These are the intrinsics of
[intrinsics.def](../include/iropt/op/intrinsics.def); those that are not evaluated call into the runtime or into code outside of the
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
  std::string text(kIntroduction);
  for (const Family& family : kFamilies) {
    text +=
        fmt::format("\n## {}\n\n[{}.def](../include/iropt/op/ops/{}.def)\n\n", family.title, family.file, family.file);
    text +=
        "| operator | operands | attributes | result | pure | evaluated | follows layouts |\n| --- | --- | --- | --- | "
        "--- | --- | --- |\n";
    for (const std::string_view name : family.names) {
      const OpInfo& info = *FindOp(name);
      text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", info.script, Operands(info), Attributes(info),
                          TypeRulePhrase(TypeRuleOf(info)), YesNo(info.pure), YesNo(HasKernel(info)),
                          YesNo(LayoutRuleOf(info) != nullptr));
    }
  }
  return text + LoopLevel();
}

bool IsComplete() {
  size_t listed = 0;
  for (const Family& family : kFamilies) listed += family.names.size();
  const auto ops = AllOps();
  return listed == static_cast<size_t>(
                       std::count_if(ops.begin(), ops.end(), [](const OpInfo& op) { return op.is_graph_level(); }));
}

int Run(int argc, char** argv) {
  if (!IsComplete()) {
    std::fputs("ops.def has a family that this program does not list\n", stderr);
    return 1;
  }
  const std::string document = Document();
  if (argc < 2) {
    std::fputs(document.c_str(), stdout);
    return 0;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string found((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (found == document) return 0;
  fmt::print(stderr, "{} is not what the operator table says; write it again:\n  {} > {}\n", argv[1], argv[0], argv[1]);
  return 1;
}

}  // namespace
}  // namespace iropt

int main(int argc, char** argv) { return iropt::Run(argc, argv); }
