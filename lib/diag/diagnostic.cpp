#include "iropt/diag/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <utility>

#include "iropt/diag/joint_spans.h"
#include "iropt/support/check.h"

namespace iropt {

namespace {

constexpr auto kKinds = std::to_array<DiagnosticKind>({
#define IROPT_DIAGNOSTIC_KIND(id, severity, meaning) {id, Severity::severity, meaning},
#include "iropt/diag/kinds.def"
});

static_assert(std::ranges::is_sorted(kKinds, {}, &DiagnosticKind::id), "rows of kinds.def are in alphabetical order");
static_assert(std::ranges::adjacent_find(kKinds, {}, &DiagnosticKind::id) == kKinds.end(), "an id has one row");

// The added kinds, at stable addresses.
class AddedKinds {
 public:
  const DiagnosticKind* Find(std::string_view id) const {
    const std::scoped_lock lock(mutex_);
    const auto kind = std::ranges::find(kinds_, id, [](const Added& added) { return added.kind.id; });
    return kind == kinds_.end() ? nullptr : &kind->kind;
  }

  void Add(const DiagnosticKind& kind) {
    const std::scoped_lock lock(mutex_);
    Added& added = kinds_.emplace_back(Added{std::string(kind.id), std::string(kind.meaning), {}});
    added.kind = {added.id, kind.severity, added.meaning};
  }

 private:
  struct Added {
    std::string id;
    std::string meaning;
    DiagnosticKind kind;  // refers to the texts
  };

  mutable std::mutex mutex_;
  std::deque<Added> kinds_;
};

AddedKinds& TheAddedKinds() {
  static AddedKinds kinds;
  return kinds;
}

bool IsKindId(std::string_view id) {
  const bool has_ends = !id.empty() && id.front() != '-' && id.back() != '-';
  return has_ends && id.find("--") == std::string_view::npos &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

}  // namespace

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::Note: return "note";
    case Severity::Remark: return "remark";
    case Severity::Warning: return "warning";
    case Severity::Error: return "error";
  }
  IROPT_UNREACHABLE("severity {}", severity);
}

std::span<const DiagnosticKind> DiagnosticKinds() { return kKinds; }

const DiagnosticKind* FindDiagnosticKind(std::string_view id) {
  const auto row = std::ranges::lower_bound(kKinds, id, {}, &DiagnosticKind::id);
  return row != kKinds.end() && row->id == id ? &*row : TheAddedKinds().Find(id);
}

bool CanAddDiagnosticKind(const DiagnosticKind& kind) {
  const DiagnosticKind* known = FindDiagnosticKind(kind.id);
  return IsKindId(kind.id) &&
         (known == nullptr || (known->severity == kind.severity && known->meaning == kind.meaning));
}

bool AddDiagnosticKind(const DiagnosticKind& kind) {
  if (!CanAddDiagnosticKind(kind)) return false;
  if (FindDiagnosticKind(kind.id) == nullptr) TheAddedKinds().Add(kind);
  return true;
}

DiagnosticBuilder::DiagnosticBuilder(DiagnosticEngine* engine, Diagnostic diagnostic)
    : engine_(engine), diagnostic_(std::move(diagnostic)) {}

DiagnosticBuilder::~DiagnosticBuilder() { engine_->Report(std::move(diagnostic_)); }

DiagnosticBuilder& DiagnosticBuilder::Note(SourceSpan span, std::string message) {
  diagnostic_.notes.push_back({span, std::move(message)});
  return *this;
}

DiagnosticBuilder& DiagnosticBuilder::FixIt(SourceSpan span, std::string replacement) {
  diagnostic_.fix_its.push_back({span, std::move(replacement)});
  return *this;
}

namespace {

// Messages quote the input, and a name or a type in it may be of any length. Elides the middle of a long message.
void Shorten(std::string& message) {
  constexpr size_t kLongest = 4000;
  constexpr size_t kKept = kLongest / 2;
  if (message.size() <= kLongest) return;
  const auto is_inside_char = [&](size_t i) { return (static_cast<unsigned char>(message[i]) & 0xc0) == 0x80; };
  size_t begin = kKept;
  size_t end = message.size() - kKept;
  while (begin > 0 && is_inside_char(begin)) --begin;
  while (end < message.size() && is_inside_char(end)) ++end;
  message.replace(begin, end - begin, "...");
}

// Makes the span that of its first place, with notes for the others, which go to `notes`.
void ShowPlaces(SourceSpan& span, std::vector<DiagnosticNote>& notes) {
  if (!IsJoint(span)) return;
  const std::vector<SourceSpan> parts = PartsOf(span);
  span = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) notes.push_back({parts[i], "and from here"});
}

// The same for each of the notes, whose other places follow it.
void ShowPlacesOfNotes(std::vector<DiagnosticNote>& notes) {
  if (std::ranges::none_of(notes, [](const DiagnosticNote& note) { return IsJoint(note.span); })) return;
  std::vector<DiagnosticNote> shown;
  for (DiagnosticNote& note : notes) {
    std::vector<DiagnosticNote> others;
    ShowPlaces(note.span, others);
    shown.push_back(std::move(note));
    shown.insert(shown.end(), others.begin(), others.end());
  }
  notes = std::move(shown);
}

}  // namespace

void DiagnosticEngine::Report(Diagnostic diagnostic) {
  if (FindDiagnosticKind(diagnostic.kind) == nullptr) {
    diagnostic.notes.push_back({{}, fmt::format("the kind '{}' of this message is not declared", diagnostic.kind)});
    diagnostic.kind = DiagId("undeclared-kind").name();
  }
  if (diagnostic.severity == Severity::Warning && warnings_as_errors_) diagnostic.severity = Severity::Error;
  if (diagnostic.severity == Severity::Warning) ++warning_count_;
  if (diagnostic.severity == Severity::Error) {
    const bool hidden = error_limit_reached();
    ++error_count_;
    if (hidden) {
      if (std::exchange(told_limit_, true)) return;
      diagnostic = Diagnostic{.severity = Severity::Error,
                              .kind = DiagId("too-many-errors").name(),
                              .span = {},
                              .message = "too many errors",
                              .notes = {},
                              .fix_its = {},
                              .file = {}};
    }
  }
  ShowPlacesOfNotes(diagnostic.notes);
  ShowPlaces(diagnostic.span, diagnostic.notes);
  if (!diagnostic.span.known()) {
    diagnostic.file = input_file_;
    if (!input_part_.empty()) diagnostic.notes.push_back({{}, fmt::format("in {}", input_part_)});
  }
  // Innermost first. Of a deep nesting, the first and the last notes say enough.
  constexpr size_t kMostAtAnEnd = 2;
  const size_t left_out = context_.size() > 2 * kMostAtAnEnd ? context_.size() - 2 * kMostAtAnEnd : 0;
  for (size_t i = 0; i < context_.size(); ++i) {
    if (left_out > 1 && i == kMostAtAnEnd) {
      diagnostic.notes.push_back({{}, fmt::format("{} notes are left out", left_out)});
      i += left_out;
    }
    diagnostic.notes.push_back(*context_[context_.size() - 1 - i]);
  }
  Shorten(diagnostic.message);
  for (DiagnosticNote& note : diagnostic.notes) Shorten(note.message);
  consumer_->Consume(diagnostic);
}

DiagnosticBuilder DiagnosticEngine::Error(SourceSpan span, DiagId kind, std::string message) {
  return {this, {Severity::Error, kind.name(), span, std::move(message), {}, {}}};
}

DiagnosticBuilder DiagnosticEngine::Warning(SourceSpan span, DiagId kind, std::string message) {
  return {this, {Severity::Warning, kind.name(), span, std::move(message), {}, {}}};
}

DiagnosticBuilder DiagnosticEngine::Remark(SourceSpan span, DiagId kind, std::string message) {
  return {this, {Severity::Remark, kind.name(), span, std::move(message), {}, {}}};
}

void DiagnosticBuffer::ReplayInto(DiagnosticEngine& engine) {
  for (Diagnostic& diagnostic : std::exchange(diagnostics_, {})) engine.Report(std::move(diagnostic));
}

DiagnosticCapture::DiagnosticCapture(DiagnosticEngine& engine)
    : engine_(engine),
      saved_{std::exchange(engine.consumer_, &buffer_), std::exchange(engine.max_errors_, 0),
             std::exchange(engine.input_part_, {}), std::exchange(engine.error_count_, 0),
             std::exchange(engine.warning_count_, 0)} {}

DiagnosticCapture::~DiagnosticCapture() {
  engine_.consumer_ = saved_.consumer;
  engine_.max_errors_ = saved_.max_errors;
  engine_.input_part_ = std::move(saved_.input_part);
  engine_.error_count_ = saved_.error_count;
  engine_.warning_count_ = saved_.warning_count;
}

}  // namespace iropt
