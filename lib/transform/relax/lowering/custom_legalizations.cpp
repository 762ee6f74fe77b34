// A call of an operator becomes a call_tir of the first PrimFunc of its list that fits: its parameters are the tensors
// of the operands, those of tuples one by one, then the results. Dtypes, ranks and dimensions must be equal; a variable
// stands for one dimension. Other operands and attributes are not passed on. If none fits, the operator is legalized as
// without the list.
#include "custom_legalizations.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/transform/options/LegalizeOps.h"
#include "transform/relax/util/named_prim_funcs.h"
#include "transform/relax/util/operator_name.h"

namespace iropt {

namespace {

class CustomLegalization {
 public:
  CustomLegalization(std::shared_ptr<const NamedPrimFuncs> sources, std::vector<std::string> names)
      : sources_(std::move(sources)), names_(std::move(names)) {}

  const Expr* operator()(LegalizeCall& call) const {
    for (const std::string& name : names_) {
      const ModuleEntry* found = sources_->Find(name, call.module().module());
      if (!found) return call.Error(fmt::format("neither the file nor the module has a PrimFunc '{}'", name));
      const Expr* result = Apply(*found, call);
      if (result) return result;
    }
    const Legalization row = LegalizationOf(*To<Op>(call.call().op)->info);
    return row.legalize ? row.legalize(call) : call.Unchanged(std::string(row.reason));
  }

 private:
  // Null if the function does not fit.
  const Expr* Apply(const ModuleEntry& found, LegalizeCall& call) const {
    const auto& func = *To<PrimFunc>(found.func);
    Workspace& workspace = call.builder().workspace();
    std::vector<const Expr*> tensors;
    std::vector<const Type*> types;
    for (const Expr* arg : call.call().args) {
      ForEachItem(arg, arg->type, workspace, [&](const Expr* item) {
        const auto* tensor = As<TensorType>(item->type);
        if (tensor) tensors.push_back(item);
        if (tensor) types.push_back(tensor);
      });
    }
    ForEachLeaf(call.call().type, [&](const Type* leaf) { types.push_back(leaf); });
    if (types.size() != func.param_buffers.size()) return nullptr;
    if (!AcceptsTensors(func, types)) return nullptr;
    const Expr* callee = sources_->Import(found, call.module());
    const Expr* tuple = workspace.New<Tuple>(workspace.Copy(tensors), nullptr);
    const List<const Expr*> args = workspace.arena().Copy<const Expr*>({callee, tuple});
    const Type* const out[] = {call.call().type};
    return NewLike<Call>(workspace, call.call(), GetOp(op::kCallTir), args, nullptr,
                         TupleType::Get(workspace.arena(), out), nullptr);
  }

  std::shared_ptr<const NamedPrimFuncs> sources_;
  std::vector<std::string> names_;
};

std::vector<std::string> ReadNames(const PassOptions& options, const pass_options::LegalizeOps& given,
                                   const OptionValue& value) {
  std::vector<std::string> names;
  const OptionValue::List one = {value};
  for (const OptionValue& item : value.as_list() ? *value.as_list() : one) {
    if (item.as_string()) {
      names.push_back(*item.as_string());
    } else {
      options.Refuse(given.customize_legalize_map, item.span(),
                     "must have names of PrimFuncs, or lists of them, by operators");
    }
  }
  return names;
}

}  // namespace

void ReadCustomLegalizations(const PassOptions& options, LegalizeOptions& legalize) {
  const pass_options::LegalizeOps given(options);
  const auto entries = options.Entries(given.customize_legalize_map, "must be an object with operators as its keys");
  if (entries.empty()) return;
  const auto sources = std::make_shared<const NamedPrimFuncs>(options, given.file);
  for (const OptionValue::Entry& entry : entries) {
    const OpInfo* op = FindRelaxOp(entry.key);
    if (!op) {
      options.Refuse(given.customize_legalize_map, entry.key_span,
                     fmt::format("has '{}', which is not an operator of Relax", entry.key));
      continue;
    }
    legalize.customize[std::string(op->name)] = CustomLegalization(sources, ReadNames(options, given, entry.value));
  }
}

}  // namespace iropt
