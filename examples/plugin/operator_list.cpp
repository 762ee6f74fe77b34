// A plugin with a code generator, for functions with the attribute Codegen="operator_list": its code is the list of the
// operators of each function. RunCodegen calls it:
//
//   ir-opt -load-pass-plugin=operator_list.so -passes='FuseOpsByPattern<...>,MergeCompositeFunctions,RunCodegen'
#include <string>

#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/pass/code_generator.h"
#include "iropt/pass/plugin.h"

namespace {

using namespace iropt;

struct OperatorLister : WalkHandler {
  std::string text;
  void OnCall(const Call& call) {
    if (const auto* op = As<Op>(call.op)) text.append(" ").append(op->name);
  }
};

Result<std::string> Generate(const CodegenRequest& request) {
  const OptionValue* end = request.options.Find("end");
  std::string code;
  for (const ModuleEntry& entry : request.functions) {
    OperatorLister lister;
    Walk(*To<Function>(entry.func), lister);
    code.append(SymbolOf(entry)).append(":").append(lister.text);
    code.append(end != nullptr && end->as_string() != nullptr ? *end->as_string() : ";");
  }
  return code;
}

Status Register(PassRegistry&) { return AddCodeGenerator("operator_list", &Generate); }

}  // namespace

IROPT_PASS_PLUGIN("operator-list", "1.0", Register)
