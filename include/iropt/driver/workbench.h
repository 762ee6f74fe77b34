// What a program that uses the library begins with: text becomes modules, names become passes, messages go to stderr.
//
//   Status Run(Workbench& bench) {
//     IROPT_ASSIGN_OR_RETURN(Module module, bench.ReadModule("in.ir"));
//     IROPT_ASSIGN_OR_RETURN(const Pass pass, bench.MakePass("FoldConstant,EliminateCommonSubexpr"));
//     IROPT_ASSIGN_OR_RETURN(PassResult result, pass(std::move(module)));
//     std::cout << ModuleToString(result.module);
//     return {};
//   }
//
//   int main() {
//     Workbench bench;
//     return bench.Finish(Run(bench));
//   }
//
// It holds nothing that programs could not make themselves: they need one only where its choices suit them.
#pragma once

#include <string>

#include "iropt/diag/consumers.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"
#include "iropt/ir/module.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pass.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"

namespace iropt {

class Workbench {
 public:
  Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  SourceManager& sources() { return sources_; }
  // Where everything below reports: messages with their place, on stderr.
  DiagnosticEngine& diagnostics() { return diagnostics_; }

  // Reads a file, or the standard input for "-", and checks that the module is well-formed.
  Result<Module> ReadModule(const std::string& path);
  // The same with text at hand; `name` stands for it in messages.
  Result<Module> ParseModule(std::string text, std::string name = "module");
  // A pipeline as `ir-opt -passes=` takes it: one pass, or a list.
  Result<Pass> MakePass(std::string pipeline);
  // A context whose passes report to diagnostics(), and in which PrintIR shows modules on stderr. The workbench must
  // outlive it.
  PassContext MakeContext(int opt_level = kDefaultOptLevel);

  // What main returns: 0, or the exit code of the error, which is shown unless a diagnostic has told of it.
  int Finish(const Status& status);

 private:
  OutputStream err_;
  SourceManager sources_;
  TextConsumer consumer_;
  DiagnosticEngine diagnostics_;
};

}  // namespace iropt
