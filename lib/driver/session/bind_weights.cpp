#include "driver/session/bind_weights.h"

#include <fmt/format.h>

#include <utility>

#include "iropt/pass/pass.h"

namespace iropt {

Result<Module> BindWeights(Module module, const std::string& path, CompilerInstance& compiler) {
  const std::string pipeline =
      fmt::format("BindParams<params={};func_name=main;ignore_unknown=true>", ToJson(OptionValue(path)));
  PassContext context = compiler.MakeContext(kMaxOptLevel);
  IROPT_ASSIGN_OR_RETURN(const Pass pass, compiler.MakePass(pipeline, &context));
  IROPT_ASSIGN_OR_RETURN(PassResult result, pass(std::move(module), context));
  return std::move(result.module);
}

}  // namespace iropt
