#include "transform/tir/schedule/run_schedule.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "iropt/ir/location.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/marked_text.h"
#include "iropt/support/check.h"
#include "iropt/support/file.h"
#include "transform/tir/schedule/builtin_intrinsics.h"

namespace iropt {

namespace {

// Returns the name of a part of the program for messages.
std::string NameOf(const Node* part) {
  if (const auto* block = As<tir::Block>(part)) return fmt::format("'{}'", block->name_hint);
  if (const auto* loop = As<tir::For>(part)) return fmt::format("'{}'", loop->loop_var->name);
  return "here";
}

}  // namespace

std::string TextOf(const schedule::Refusal& refusal) {
  std::string text = refusal.message;
  for (size_t i = 0; i < refusal.parts.size(); ++i) {
    const std::string mark = fmt::format("{{{}}}", i);
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
      text.replace(at, mark.size(), NameOf(refusal.parts[i]));
  }
  return text;
}

TensorIntrinsics::TensorIntrinsics(const PassOptions& options, const TypedOption<std::string>& path)
    : reader_(options.reader()) {
  if (path->empty()) return;
  const SourceSpan span = path.span();
  const Result<std::shared_ptr<const FileBuffer>> file = ReadFile(*path);
  if (!reader_) {
    options.Refuse(path, "cannot be read: the context has no reader of text");
  } else if (!file) {
    options.diagnostics().Error(span, "file", file.error().message);
  } else {
    const Module empty;
    Workspace scratch;
    file_ = reader_->ReadModule((*file)->text(), {empty, scratch, options.diagnostics(), span});
  }
}

std::optional<schedule::TensorIntrinsic> TensorIntrinsics::FindIn(const Module& module, std::string_view name) const {
  const ModuleEntry* description = module.Find(fmt::format("{}_desc", name));
  const ModuleEntry* implementation = module.Find(fmt::format("{}_impl", name));
  if (!description || !implementation) return std::nullopt;
  return schedule::TensorIntrinsic{As<PrimFunc>(description->func), As<PrimFunc>(implementation->func)};
}

std::optional<schedule::TensorIntrinsic> TensorIntrinsics::Find(std::string_view name, TextVersion version) {
  if (file_) {
    if (const auto found = FindIn(*file_, name)) return found;
  }
  const std::lock_guard lock(mutex_);
  for (const Builtin& builtin : builtins_) {
    if (builtin.name == name && builtin.version == version) return FindIn(builtin.module, name);
  }
  const std::string text = BuiltinIntrinsicText(name, version);
  if (text.empty() || !reader_) return std::nullopt;
  const Module empty;
  Workspace scratch;
  DiagnosticBuffer messages;
  DiagnosticEngine diagnostics(&messages);
  auto module = reader_->ReadModule(text, {empty, scratch, diagnostics, SourceSpan()});
  IROPT_CHECK(module);
  builtins_.push_back({std::string(name), version, *std::move(module)});
  return FindIn(builtins_.back().module, name);
}

const schedule::State* FunctionOf(std::span<const schedule::Value> args, const schedule::Schedule& sch) {
  const schedule::State* found = nullptr;
  const auto look = [&](const schedule::Value& value, auto&& self) -> void {
    if (const auto* name = value.As<schedule::Value::Name>()) {
      const schedule::Variable* variable = sch.Find(name->text);
      if (!found && variable) found = variable->state;
    }
    if (const auto* list = value.As<schedule::Value::List>()) {
      for (const schedule::Value& item : *list) self(item, self);
    }
  };
  for (const schedule::Value& arg : args) look(arg, look);
  return found;
}

void ReportRefusal(const schedule::Refusal& refusal, std::string note, SourceSpan note_span,
                   const schedule::Schedule& sch, const schedule::State* function, const TextReader* reader,
                   DiagnosticEngine& diagnostics) {
  const Node* place = nullptr;
  for (const Node* part : refusal.parts) {
    if (!place && part->span().known()) place = part;
  }
  DiagnosticBuilder error = diagnostics.Error(place ? Location(*place) : SourceSpan(), "schedule", TextOf(refusal));
  for (const Node* part : refusal.parts) {
    if (part != place && part->span().known()) error.Note(Location(*part), fmt::format("{} is here", NameOf(part)));
  }
  error.Note(note_span, std::move(note));
  const auto* writer = dynamic_cast<const MarkedTextWriter*>(reader);
  if (!writer || !function || refusal.parts.empty()) return;
  const ModuleEntry& entry = sch.EntryOf(*function);
  Module module = sch.original();
  module.Set(entry.var, function->func(), entry.storage);
  error.Note(fmt::format("the function '{}' before it:\n{}", entry.var->name,
                         writer->WriteMarked(module, entry.var, refusal.parts)));
}

Status ApplyTrace(const schedule::Trace& trace, schedule::Schedule& sch, const PassContext& context,
                  DiagnosticEngine& diagnostics) {
  for (size_t i = 0; i < trace.instructions.size(); ++i) {
    const schedule::Instruction& instruction = trace.instructions[i];
    if (sch.Apply(instruction).ok()) continue;
    ReportRefusal(sch.refusal(), fmt::format("instruction {} of the trace: {}", i, schedule::ToPython(instruction)),
                  instruction.span, sch, FunctionOf(instruction.args, sch), context.reader.get(), diagnostics);
    return Failure{ErrorCode::PassFailed};
  }
  return {};
}

}  // namespace iropt
