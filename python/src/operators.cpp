#include "operators.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "iropt/infer/infer.h"
#include "iropt/op/op.h"
#include "node.h"
#include "session.h"

namespace iropt::python {

namespace {

// How many operands such an operator may have; fewer are given in a call.
constexpr size_t kMostOperands = 8;

// The function of Python that all type rules are: of the name, the types of operands, and attributes. Never destroyed,
// since operators stay for the rest of the process.
py::object& Rule() {
  static auto& rule = *new py::object;
  return rule;
}

const Type* InferByPython(const Call& call, InferContext& ctx) {
  const py::gil_scoped_acquire lock;
  const KeepRef keep = Session::Current()->keep();
  py::list types;
  for (const Expr* arg : call.args) types.append(ToPython(TypeOfExpr(arg, ctx.module()), keep));
  try {
    const py::object type = Rule()(std::string(To<Op>(call.op)->info->name), types);
    if (IsNode(type)) {
      if (const auto* found = As<Type>(GetNode(type).node); found && !found->has_shape_var()) return found;
    }
    return ctx.Error(call, "the type rule of the program gives something else than a type");
  } catch (const py::error_already_set& error) {
    return ctx.Error(call, py::str(error.value()).cast<std::string>());
  }
}

void Add(const std::string& name, bool pure) {
  static constexpr std::string_view kNames[kMostOperands] = {"arg0", "arg1", "arg2", "arg3", "arg4", "arg5", "arg6", "arg7"};
  std::vector<OpArg> args;
  for (const std::string_view arg : kNames) args.push_back({arg, arg, ArgKind::kExpr, ArgAbsence::kOmitted});
  const OpSpec spec{.name = name, .args = std::move(args), .functions = {.infer = &InferByPython}, .pure = pure};
  const std::string refusal = RefusalOf(spec);
  if (!refusal.empty()) throw py::value_error(fmt::format("operator '{}': {}", name, refusal));
  AddOp(spec);
}

}  // namespace

void AddOperators(py::module_& m) {
  m.def("add_op", &Add);
  m.def("set_type_rule", [](py::object rule) { Rule() = std::move(rule); });
}

}  // namespace iropt::python
