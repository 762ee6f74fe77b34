#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "iropt/diag/consumers.h"
#include "iropt/support/version.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "https://json.schemastore.org/sarif-2.1.0.json";

// SARIF has no level for remarks.
std::string_view LevelOf(Severity severity) { return severity < Severity::Warning ? "note" : SeverityName(severity); }

Json TextOf(std::string_view text) { return {{"text", text}}; }

// A path as a reference to a URI (RFC 3986).
std::string UriOf(std::string_view path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "-._~/";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool plain = kPlain.find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

Json ArtifactOf(std::string_view path) { return {{"uri", UriOf(path)}}; }

// The place of a span; null if it has none.
Json PhysicalLocation(SourceSpan span, const SourceManager& sources, std::string_view region_name) {
  if (!span.known()) return {};
  const SourceLocation begin = sources.Locate(span.begin);
  if (begin.line == 0) return {};
  const SourceLocation end = sources.Locate(std::max(span.begin, span.end));
  const Json region{
      {"startLine", begin.line}, {"startColumn", begin.column}, {"endLine", end.line}, {"endColumn", end.column}};
  return {{"artifactLocation", ArtifactOf(begin.name)}, {std::string(region_name), region}};
}

Json RelatedLocation(const DiagnosticNote& note, const SourceManager& sources) {
  Json location{{"message", TextOf(note.message)}};
  Json place = PhysicalLocation(note.span, sources, "region");
  if (!place.is_null()) location["physicalLocation"] = std::move(place);
  return location;
}

// All hints of a diagnostic belong together.
Json FixOf(const std::vector<FixItHint>& hints, const SourceManager& sources) {
  Json changes = Json::array();
  for (const FixItHint& hint : hints) {
    Json place = PhysicalLocation(hint.span, sources, "deletedRegion");
    if (place.is_null()) continue;
    const Json replacement{{"deletedRegion", place["deletedRegion"]}, {"insertedContent", TextOf(hint.replacement)}};
    changes.push_back({{"artifactLocation", place["artifactLocation"]}, {"replacements", Json::array({replacement})}});
  }
  return changes.empty() ? Json() : Json{{"artifactChanges", std::move(changes)}};
}

}  // namespace

class SarifConsumer::Document {
 public:
  explicit Document(const SourceManager& sources) : sources_(sources) {}

  void AddResult(const Diagnostic& diagnostic) {
    successful_ &= diagnostic.severity != Severity::Error;
    Json result{{"ruleId", diagnostic.kind},
                {"ruleIndex", IndexOfRule(diagnostic.kind)},
                {"level", LevelOf(diagnostic.severity)},
                {"message", TextOf(diagnostic.message)}};
    Json place = PhysicalLocation(diagnostic.span, sources_, "region");
    if (place.is_null() && !diagnostic.file.empty()) place["artifactLocation"] = ArtifactOf(diagnostic.file);
    result["locations"] = Json::array();
    if (!place.is_null()) result["locations"].push_back({{"physicalLocation", std::move(place)}});
    for (const DiagnosticNote& note : diagnostic.notes) {
      result["relatedLocations"].push_back(RelatedLocation(note, sources_));
    }
    Json fix = FixOf(diagnostic.fix_its, sources_);
    if (!fix.is_null()) result["fixes"] = Json::array({std::move(fix)});
    results_.push_back(std::move(result));
  }

  void AddOutput(std::string_view text) { notifications_.push_back({{"level", "note"}, {"message", TextOf(text)}}); }

  std::string Render() const {
    Json invocation{{"executionSuccessful", successful_}};
    if (!notifications_.empty()) invocation["toolExecutionNotifications"] = notifications_;
    const Json driver{{"name", "ir-opt"}, {"version", IROPT_VERSION}, {"rules", rules_}};
    const Json run{{"tool", {{"driver", driver}}},
                   {"invocations", Json::array({invocation})},
                   {"columnKind", "unicodeCodePoints"},
                   {"results", results_}};
    const Json document{{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
    // Names and messages may quote malformed UTF-8 from the input, which JSON cannot hold.
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  }

 private:
  size_t IndexOfRule(std::string_view kind) {
    const auto same = [&](const Json& rule) { return rule["id"] == kind; };
    const auto known = std::ranges::find_if(rules_, same);
    if (known != rules_.end()) return static_cast<size_t>(known - rules_.begin());
    const DiagnosticKind* row = FindDiagnosticKind(kind);
    Json rule{{"id", kind}};
    if (row != nullptr) rule["shortDescription"] = TextOf(row->meaning);
    rules_.push_back(std::move(rule));
    return rules_.size() - 1;
  }

  const SourceManager& sources_;
  bool successful_ = true;
  Json rules_ = Json::array();
  Json results_ = Json::array();
  Json notifications_ = Json::array();
};

SarifConsumer::SarifConsumer(OutputStream* out, const SourceManager* sources)
    : out_(out), document_(std::make_unique<Document>(*sources)) {}

SarifConsumer::~SarifConsumer() {
  // The program reports the exception, in a document of its own.
  if (std::uncaught_exceptions() != 0) return;
  try {
    static_cast<void>(Flush());
    out_->Append(document_->Render());
    static_cast<void>(out_->Flush());
  } catch (...) {
    // Memory for the document ran out; the exit code remains.
  }
}

void SarifConsumer::Consume(const Diagnostic& diagnostic) { document_->AddResult(diagnostic); }

Status SarifConsumer::Flush() {
  if (!text_.empty()) document_->AddOutput(std::exchange(text_, {}));
  return {};
}

}  // namespace iropt
