// The starting point of programs that work with modules: it reads modules, creates passes by name and prints messages
// to stderr. Both the tools and small programs use it:
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
// It must outlive the modules, passes and contexts that it makes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "iropt/analysis/well_formed.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"
#include "iropt/driver/compiler_options.h"
#include "iropt/driver/weight_files.h"
#include "iropt/exchange/format.h"
#include "iropt/exchange/formats.h"
#include "iropt/ir/module.h"
#include "iropt/observe/module_console.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/registry.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"

namespace iropt {

class DiagnosticTee;

// A file, or a part of it, that holds a module.
struct ModuleSource {
  std::string name;                         // in messages
  std::shared_ptr<const FileBuffer> owner;  // keeps `text` alive
  std::string_view text;                    // all of the owner, or a part of it
  uint32_t first_line = 1;                  // the number of the part's first line
  const FormatRow* format = nullptr;        // null: detected by FormatOf
  const FormatRow* output = nullptr;        // that the module is written in, if it is the same; null: another
  std::string folder = {};                  // paths of weights in the text are relative to it; empty: the current one
  std::optional<std::string> weights = {};  // the file of all weights, whatever files the text names
  // The module is the result of this for the one in the text, which it verifies first; null: that one.
  std::function<Result<Module>(const Module&)> transform = nullptr;
  // The version of a text that does not show its version.
  std::optional<TextVersion> unknown_version = {};
  ValueNames* value_names = nullptr;  // gets those of a model; null: they are not needed
};

// The numbers of nodes of files, if their formats are graphs.
struct FileNodes {
  std::optional<uint64_t> read = {};
  uint64_t left_out = 0;  // bytes of those that the module does not need
  std::optional<uint64_t> written = {};
};

class CompilerInstance final : public ModuleConsole {
 public:
  // Reports to `consumer`, which must outlive it; if that is null, to stderr, in the format of the options.
  explicit CompilerInstance(CompilerOptions options = {}, DiagnosticConsumer* consumer = nullptr);
  CompilerInstance(CompilerOptions options, DiagnosticConsumer& consumer)
      : CompilerInstance(std::move(options), &consumer) {}
  ~CompilerInstance();
  CompilerInstance(const CompilerInstance&) = delete;
  CompilerInstance& operator=(const CompilerInstance&) = delete;

  const CompilerOptions& options() const { return options_; }
  // The version of the text of modules that are read from now on, unless the options name one.
  void set_default_version(TextVersion version) { default_version_ = version; }
  // That of the options, or else the default; nullopt if none is named. Fails if the options name an unknown one.
  Result<std::optional<TextVersion>> named_version() const;
  int threads() const { return threads_; }
  // The verifier options.
  VerifyOptions verify_options() const { return {.check_types = !options_.skip_type_check, .threads = threads_}; }
  SourceManager& sources() { return sources_; }
  // The engine for all diagnostics below.
  DiagnosticEngine& diagnostics() { return diagnostics_; }
  // Also gets the diagnostics that are reported from now on; null for none. It must outlive the compiler, or be reset.
  void set_listener(DiagnosticConsumer* listener);
  // In the format of the options, in which the text between two flushes is one piece.
  OutputStream& err() override { return formatted_err_ ? *formatted_err_ : console_; }

  // All passes, pipelines and configuration options. Programs may add to it.
  PassRegistry& registry() { return registry_; }
  // Loads the plugins at these paths.
  Status LoadPlugins(std::span<const std::string> paths);

  // Reads a file, or the standard input for "-", and checks that the module is well-formed.
  Result<Module> ReadModule(const std::string& path);
  // Parses `text`, which messages call `name`, and checks that the module is well-formed.
  Result<Module> ParseModule(std::string text, std::string name = "module");
  // The source of a module in a file whose text was read, "-" for the standard input, with the options for weights.
  ModuleSource SourceAt(const std::string& path, std::shared_ptr<const FileBuffer> text) const;
  // The two steps of both: reading, with the transform of the source, and verifying, which the options can turn off.
  Result<Module> Parse(const ModuleSource& source);
  // Passes also run on fragments of programs, with variables that they do not define; whole programs have none.
  Status Verify(const Module& module, bool allow_free_vars = true);
  // The format in the options, else that of the file or the text. Fails if the former is unknown.
  Result<const FormatRow*> FormatOf(std::string_view path, std::string_view text) const;
  // The format that modules are written in to the file: `emit`, or that of the extension if it is empty.
  static Result<const FormatRow*> OutputFormatOf(std::string_view path, const std::string& emit);

  // Of the file that was read last, and of the one that was written after it.
  const FileNodes& file_nodes() const { return file_nodes_; }

  WeightFiles& weights() { return weights_; }
  const WeightFiles& weights() const { return weights_; }

  void Print(const Module& module, OutputStream& out, const std::string& path = "-") const override;
  // Writes the module in a format, which may not be able to express it. On a terminal, text has no data of big
  // constants, and a remark tells so.
  Status Write(const Module& module, OutputStream& out, const std::string& path, const Format& format,
               NetworkMode mode = NetworkMode::Auto);
  std::string PrintToString(const Module& module) const;
  std::string ShownText(const Module& module) const override;
  Status PrintUnderHeading(const Module& module, const std::string& heading, std::string_view details) override;
  std::string Heading(std::string heading, std::string_view details, std::string_view result = {}) const override;

  // A pipeline in the syntax of `ir-opt -passes=`: one pass, or a list. Under a context of MakeContext, the passes that
  // its passes require come from this registry, too. The target and the configuration of `context` choose the passes of
  // named pipelines, see BuildPipeline.
  Result<Pass> MakePass(const std::string& pipeline, const PassContext* context = nullptr);
  // A context with this registry, whose passes report to diagnostics(), and in which PrintIR prints modules to stderr.
  PassContext MakeContext(int opt_level = kDefaultOptLevel);

  // The input that is worked on, which diagnostics without a location and printed modules name: its file and, unless it
  // is the whole file, the part, such as "chunk 2, from line 5". Both are empty for none.
  const std::string& chunk() const override { return chunk_; }
  void set_input(std::string file, std::string chunk);
  // From now on headings name the file, too: there are several inputs.
  void set_names_inputs() { names_inputs_ = true; }

  // Adds a text that is not a file, such as the value of a flag, to the sources, so that messages have locations in it.
  Result<uint32_t> AddText(std::string name, std::string text);

  // Reports an error unless a diagnostic was reported already. Returns its exit code.
  int Report(const Error& error, DiagId kind);
  // The return value of main: 0, or the exit code of the error, which is reported.
  int Finish(const Status& status);

 private:
  const CompilerOptions options_;
  std::optional<TextVersion> default_version_;
  const int threads_;
  SourceManager sources_;
  OutputStream console_;
  std::unique_ptr<DiagnosticConsumer> own_consumer_;  // null if the consumer was given
  std::unique_ptr<DiagnosticTee> consumers_;
  std::optional<OutputStream> formatted_err_;  // over own_consumer_; nothing if text is printed as it is
  DiagnosticEngine diagnostics_;
  PassRegistry registry_;
  std::string input_;
  std::string chunk_;
  bool names_inputs_ = false;  // in headings
  FileNodes file_nodes_;
  WeightFiles weights_;
};

}  // namespace iropt
