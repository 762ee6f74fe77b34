// What every program that works with modules begins with: text becomes modules, names become passes, messages go to
// stderr. The tools and the smallest programs use it alike:
//
//   Status Run(CompilerInstance& compiler) {
//     IROPT_ASSIGN_OR_RETURN(Module module, compiler.ReadModule("in.ir"));
//     IROPT_ASSIGN_OR_RETURN(const Pass pass, compiler.MakePass("FoldConstant,EliminateCommonSubexpr"));
//     PassContext context = compiler.MakeContext(/*opt_level=*/3);
//     IROPT_ASSIGN_OR_RETURN(const PassResult result, pass(std::move(module), context));
//     std::cout << ModuleToString(result.module);
//     return {};
//   }
//
//   int main() {
//     CompilerInstance compiler;
//     return compiler.Finish(Run(compiler));
//   }
//
// Modules, passes and contexts that it makes may be used as long as it lives.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "iropt/analysis/well_formed.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"
#include "iropt/driver/compiler_options.h"
#include "iropt/driver/formats.h"
#include "iropt/ir/module.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/registry.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"

namespace iropt {

// A text that holds a module.
struct ModuleSource {
  std::string name;                         // in messages
  std::shared_ptr<const FileBuffer> owner;  // keeps `text` alive
  std::string_view text;                    // all of the owner, or a part of it
  uint32_t first_line = 1;                  // the number of the part's first line
  const InputFormat* format = nullptr;      // null: the one that FormatOf finds
};

class CompilerInstance {
 public:
  // Reports to stderr, in the format of the options.
  explicit CompilerInstance(CompilerOptions options = {});
  // Reports to `consumer`, which must outlive it.
  CompilerInstance(CompilerOptions options, DiagnosticConsumer& consumer);
  CompilerInstance(const CompilerInstance&) = delete;
  CompilerInstance& operator=(const CompilerInstance&) = delete;

  const CompilerOptions& options() const { return options_; }
  int threads() const { return threads_; }
  // How the options want modules to be checked.
  VerifyOptions verify_options() const { return {.check_types = !options_.skip_type_check, .threads = threads_}; }
  SourceManager& sources() { return sources_; }
  // Where everything below reports.
  DiagnosticEngine& diagnostics() { return diagnostics_; }
  // The standard error output, for what is not a diagnostic.
  OutputStream& err() { return err_; }

  // All passes, pipelines and configuration options. Programs may add to it.
  PassRegistry& registry() { return registry_; }
  // Adds what the shared objects at these paths register.
  Status LoadPlugins(std::span<const std::string> paths);

  // Reads a file, or the standard input for "-", and checks that the module is well-formed.
  Result<Module> ReadModule(const std::string& path);
  // The same with a text; `name` stands for it in messages.
  Result<Module> ParseModule(std::string text, std::string name = "module");
  // The two steps of both. The options may switch the second one off.
  Result<Module> Parse(const ModuleSource& source);
  Status Verify(const Module& module);
  // The format that the options ask for, else that of the file or the text. Fails where the former is unknown.
  Result<const InputFormat*> FormatOf(std::string_view path, std::string_view text) const;

  void Print(const Module& module, OutputStream& out) const;
  std::string PrintToString(const Module& module) const;

  // A pipeline as `ir-opt -passes=` takes it: one pass, or a list. Under a context of MakeContext, the passes that its
  // passes require come from this registry, too.
  Result<Pass> MakePass(const std::string& pipeline);
  // A context with this registry, whose passes report to diagnostics(), and in which PrintIR shows modules on stderr.
  PassContext MakeContext(int opt_level = kDefaultOptLevel);

  // The part of the input that is being worked on, such as "chunk 2, from line 5": diagnostics without a place and
  // printed modules name it. Empty for the whole input.
  const std::string& chunk() const { return chunk_; }
  void set_chunk(std::string chunk);

  // Adds a text that is not a file, such as the value of a flag, to the sources, so that messages show where in it they
  // are about.
  Result<uint32_t> AddText(std::string name, std::string text);

  // Reports an error unless a diagnostic has told of it. Returns its exit code.
  int Report(const Error& error, std::string_view kind);
  // What main returns: 0, or the exit code of the error, which is reported.
  int Finish(const Status& status);

 private:
  CompilerInstance(CompilerOptions options, DiagnosticConsumer* consumer);

  const CompilerOptions options_;
  const int threads_;
  SourceManager sources_;
  OutputStream err_;
  std::unique_ptr<DiagnosticConsumer> own_consumer_;  // null where it was given one
  DiagnosticEngine diagnostics_;
  PassRegistry registry_;
  std::string chunk_;
};

}  // namespace iropt
