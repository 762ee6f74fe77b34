// Diagnostics: messages to the user, the engine that collects them, and their consumers.
//
//   diagnostics.Error(span, "unknown-operator", fmt::format("unknown operator '{}'", name))
//       .Note(previous, "an operator of a similar name is used here")
//       .FixIt(span, nearest);
//
// Messages start in lower case, end without a full stop, and quote text from the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/diag/diag_id.h"
#include "iropt/diag/source.h"

namespace iropt {

enum class Severity : uint8_t { Note, Remark, Warning, Error };

std::string_view SeverityName(Severity severity);

// A row of kinds.def, or a kind that a plugin adds.
struct DiagnosticKind {
  std::string_view id;
  Severity severity;
  std::string_view meaning;
};

// The rows of kinds.def in alphabetical order.
std::span<const DiagnosticKind> DiagnosticKinds();
// The kind of an id, also one that was added; null if there is none.
const DiagnosticKind* FindDiagnosticKind(std::string_view id);
// Adds a kind for the rest of the process; the texts are copied. An id is lower-case words joined by '-'. False if it
// is malformed, or the id of another kind. Thread-safe, as FindDiagnosticKind is.
bool AddDiagnosticKind(const DiagnosticKind& kind);
// Returns whether AddDiagnosticKind would succeed.
bool CanAddDiagnosticKind(const DiagnosticKind& kind);

// An addition to the message, possibly with another location.
struct DiagnosticNote {
  SourceSpan span;
  std::string message;
};

// Replace `span` by `replacement`; an empty span inserts.
struct FixItHint {
  SourceSpan span;
  std::string replacement;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  std::string_view kind;  // the name of a DiagId
  SourceSpan span;
  std::string message;
  std::vector<DiagnosticNote> notes;
  std::vector<FixItHint> fix_its;
  std::string file = {};  // the place if `span` is unknown; empty if there is none
};

// Receives diagnostics in the order in which they are shown.
class DiagnosticConsumer {
 public:
  virtual ~DiagnosticConsumer() = default;
  virtual void Consume(const Diagnostic& diagnostic) = 0;
};

class DiagnosticEngine;

// A diagnostic under construction; it is reported at the end of the full expression.
class DiagnosticBuilder {
 public:
  DiagnosticBuilder(DiagnosticEngine* engine, Diagnostic diagnostic);
  DiagnosticBuilder(const DiagnosticBuilder&) = delete;
  DiagnosticBuilder& operator=(const DiagnosticBuilder&) = delete;
  ~DiagnosticBuilder();

  DiagnosticBuilder& Note(SourceSpan span, std::string message);
  DiagnosticBuilder& Note(std::string message) { return Note(SourceSpan{}, std::move(message)); }
  DiagnosticBuilder& FixIt(SourceSpan span, std::string replacement);

 private:
  DiagnosticEngine* engine_;
  Diagnostic diagnostic_;
};

// Counts diagnostics and passes them on, up to a limit of errors. Used by one thread at a time; parallel work collects
// into a DiagnosticBuffer per item and replays them in order.
class DiagnosticEngine {
 public:
  static constexpr size_t kDefaultMaxErrors = 20;

  explicit DiagnosticEngine(DiagnosticConsumer* consumer, size_t max_errors = kDefaultMaxErrors)
      : consumer_(consumer), max_errors_(max_errors) {}
  DiagnosticEngine(const DiagnosticEngine&) = delete;
  DiagnosticEngine& operator=(const DiagnosticEngine&) = delete;

  // An undeclared kind is reported as "undeclared-kind", with a note.
  void Report(Diagnostic diagnostic);

  // Shortcuts; they report when the returned builder is destroyed, at the end of the statement.
  DiagnosticBuilder Error(SourceSpan span, DiagId kind, std::string message);
  DiagnosticBuilder Warning(SourceSpan span, DiagId kind, std::string message);
  DiagnosticBuilder Remark(SourceSpan span, DiagId kind, std::string message);

  // The input that is worked on: diagnostics without a location get the name of the file, and a note that names the
  // part of the file, such as "chunk 2, from line 5". Empty by default, for none.
  void set_input(std::string file, std::string part) {
    input_file_ = std::move(file);
    input_part_ = std::move(part);
  }
  // 0 sets no limit.
  void set_max_errors(size_t max_errors) { max_errors_ = max_errors; }
  // Reports warnings as errors from now on.
  void set_warnings_as_errors(bool as_errors) { warnings_as_errors_ = as_errors; }
  bool warnings_as_errors() const { return warnings_as_errors_; }
  size_t error_count() const { return error_count_; }
  size_t warning_count() const { return warning_count_; }
  bool has_errors() const { return error_count_ != 0; }
  // Returns whether further errors would not be shown, so that looking for them is pointless.
  bool error_limit_reached() const { return max_errors_ != 0 && error_count_ >= max_errors_; }

 private:
  friend class DiagnosticContext;
  friend class DiagnosticCapture;

  DiagnosticConsumer* consumer_;
  std::vector<const DiagnosticNote*> context_;  // outermost first
  size_t max_errors_;
  std::string input_file_;
  std::string input_part_;
  size_t error_count_ = 0;
  size_t warning_count_ = 0;
  bool told_limit_ = false;
  bool warnings_as_errors_ = false;
};

// During its lifetime, all reported diagnostics get a note with the current activity. The innermost note comes first.
class DiagnosticContext {
 public:
  DiagnosticContext(DiagnosticEngine& engine, SourceSpan span, std::string message)
      : engine_(engine), note_{span, std::move(message)} {
    engine_.context_.push_back(&note_);
  }
  DiagnosticContext(const DiagnosticContext&) = delete;
  DiagnosticContext& operator=(const DiagnosticContext&) = delete;
  ~DiagnosticContext() { engine_.context_.pop_back(); }

 private:
  DiagnosticEngine& engine_;
  DiagnosticNote note_;
};

// Keeps diagnostics to report them later.
class DiagnosticBuffer : public DiagnosticConsumer {
 public:
  void Consume(const Diagnostic& diagnostic) override { diagnostics_.push_back(diagnostic); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  // Reports everything to `engine` and forgets it.
  void ReplayInto(DiagnosticEngine& engine);

 private:
  std::vector<Diagnostic> diagnostics_;
};

// During its lifetime, an engine passes its diagnostics on to a buffer, without a limit and without the name of the
// part of the input. They do not count afterwards.
class DiagnosticCapture {
 public:
  explicit DiagnosticCapture(DiagnosticEngine& engine);
  DiagnosticCapture(const DiagnosticCapture&) = delete;
  DiagnosticCapture& operator=(const DiagnosticCapture&) = delete;
  ~DiagnosticCapture();

  const std::vector<Diagnostic>& diagnostics() const { return buffer_.diagnostics(); }

 private:
  // The parts of the engine that change.
  struct State {
    DiagnosticConsumer* consumer;
    size_t max_errors;
    std::string input_part;
    size_t error_count;
    size_t warning_count;
  };

  DiagnosticEngine& engine_;
  DiagnosticBuffer buffer_;
  State saved_;
};

}  // namespace iropt
