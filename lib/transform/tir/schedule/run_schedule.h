// Traces in passes: where tensor intrinsics come from, and how refusals are reported.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/text_reader.h"
#include "iropt/schedule/schedule.h"
#include "iropt/schedule/trace.h"

namespace iropt {

// The tensor intrinsics of the file that an option of a pass names, and the ones that are built in. The
// intrinsic `name` is described by the PrimFunc `name_desc`, and implemented by `name_impl`.
class TensorIntrinsics : public schedule::IntrinsicTable {
 public:
  TensorIntrinsics(const PassOptions& options, const TypedOption<std::string>& path);
  // Only those that are built in. The reader may be null, and must outlive the table otherwise.
  explicit TensorIntrinsics(const TextReader* reader) : reader_(reader) {}
  std::optional<schedule::TensorIntrinsic> Find(std::string_view name, TextVersion version) override;

 private:
  std::optional<schedule::TensorIntrinsic> FindIn(const Module& module, std::string_view name) const;

  const TextReader* reader_;
  std::optional<Module> file_;
  struct Builtin {
    std::string name;
    TextVersion version;
    Module module;
  };
  std::mutex mutex_;  // of the following: a pass may run in several threads
  std::deque<Builtin> builtins_;
};

// The function that a block or loop among the arguments of a primitive is in; null if there is none.
const schedule::State* FunctionOf(std::span<const schedule::Value> args, const schedule::Schedule& sch);

// Returns why a primitive was refused, with names for the parts of the program.
std::string TextOf(const schedule::Refusal& refusal);

// Reports why a primitive was refused, at the first part of the program that it names, with a note on who asked for it
// and where, and the function as it is at that time, in which these parts are marked. The function may be null, then it
// is not shown; so it is if the reader is null or does not write marked text.
void ReportRefusal(const schedule::Refusal& refusal, std::string note, SourceSpan note_span,
                   const schedule::Schedule& sch, const schedule::State* function, const TextReader* reader,
                   DiagnosticEngine& diagnostics);

// Applies the instructions, and reports the first one that cannot be applied.
Status ApplyTrace(const schedule::Trace& trace, schedule::Schedule& sch, const PassContext& context,
                  DiagnosticEngine& diagnostics);

}  // namespace iropt
