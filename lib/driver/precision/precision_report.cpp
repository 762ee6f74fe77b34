#include "precision_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "driver/html.h"
#include "iropt/support/file.h"

namespace iropt {

namespace {

using precision::ChosenOperator;

constexpr size_t kMostRows = 40;
constexpr size_t kLoweredRows = 10;  // of operators that have the format

std::string_view OperatorName(const ChosenOperator& chosen) { return precision::ScriptOf(*chosen.op.call); }

std::string RangeOf(const ChosenOperator& chosen) {
  return chosen.record ? precision::DescribeRange(*chosen.record) : std::string();
}

// Half of the constants.
uint64_t SavedBytes(const ChosenOperator& chosen) { return chosen.lowered ? chosen.op.constant_bytes / 2 : 0; }

uint64_t SavedBytes(const precision::Choice& choice) {
  uint64_t sum = 0;
  for (const ChosenOperator& chosen : choice.operators) sum += SavedBytes(chosen);
  return sum;
}

std::string Headline(const PrecisionSummary& summary) {
  const precision::Choice& choice = summary.choice;
  std::string line = fmt::format("{}: {} of {} operators, {} bytes of constants less", summary.format.name,
                                 choice.NumLowered(), choice.operators.size(), SavedBytes(choice));
  if (!summary.checked) return line;
  if (!choice.measures_outputs && summary.tolerance)
    return line + "; no output is a tensor of floats, so no error is known";
  line += fmt::format("; error {:.1e}", *summary.checked);
  if (choice.has_shares) line += fmt::format(", predicted {:.1e}", choice.predicted);
  if (summary.tolerance) line += fmt::format(", tolerance {:.1e}", *summary.tolerance);
  line += fmt::format(", on {} {}inputs", summary.num_samples, summary.is_random ? "random " : "");
  if (!choice.complete)
    line += "; the operators are taken in their order, because the values of a run need too much memory";
  // As behind a softmax over an axis of size 1.
  if (*summary.checked == 0 && choice.NumLowered() != 0) line += "; the outputs are the same bits, which proves little";
  return line;
}

// Those that stay, in their order, then those with the greatest errors.
std::vector<const ChosenOperator*> ShownRows(const precision::Choice& choice) {
  std::vector<const ChosenOperator*> rows, lowered;
  for (const ChosenOperator& chosen : choice.operators) (chosen.lowered ? lowered : rows).push_back(&chosen);
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  std::ranges::stable_sort(lowered, std::greater<>(), &ChosenOperator::error);
  if (lowered.size() > kLoweredRows) lowered.resize(kLoweredRows);
  rows.insert(rows.end(), lowered.begin(), lowered.end());
  return rows;
}

std::string ShortName(const std::string& name) {
  constexpr size_t kMost = 40;
  return name.size() <= kMost ? name : fmt::format("...{}", name.substr(name.size() - kMost + 3));
}

nlohmann::ordered_json RowOf(const ChosenOperator& chosen, const PrecisionSummary& summary) {
  nlohmann::ordered_json row = {{"name", chosen.op.name},
                                {"operator", OperatorName(chosen)},
                                {"format", chosen.lowered ? summary.format.name : "float32"}};
  if (summary.choice.has_shares) row["error_alone"] = chosen.error;
  if (const precision::ValueRecord* record = chosen.record; record && record->num_finite() != 0) {
    row["least"] = record->least;
    row["greatest"] = record->greatest;
    row["overflows"] = record->NumOverflows(summary.format);
    row["flushed"] = record->NumFlushed(summary.format);
  }
  row["constant_bytes"] = chosen.op.constant_bytes;
  row["saved_bytes"] = SavedBytes(chosen);
  if (!chosen.lowered) row["reason"] = chosen.op.reason;
  return row;
}

std::string RenderJson(const PrecisionSummary& summary) {
  const precision::Choice& choice = summary.choice;
  nlohmann::ordered_json json = {
      {"format", summary.format.name},     {"lowered", choice.NumLowered()}, {"operators", choice.operators.size()},
      {"saved_bytes", SavedBytes(choice)}, {"inputs", summary.num_samples},  {"random_inputs", summary.is_random},
      {"seconds", summary.seconds}};
  if (summary.tolerance) {
    json["tolerance"] = *summary.tolerance;
    if (choice.has_shares) json["predicted_error"] = choice.predicted;
    json["emulated_error"] = choice.measured;
    json["runs"] = choice.num_runs;
    json["backward_passes"] = choice.num_backward;
    json["measures_outputs"] = choice.measures_outputs;
    json["has_sensitivities"] = choice.complete;
  }
  if (summary.checked) json["error"] = *summary.checked;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ChosenOperator& chosen : choice.operators) rows.push_back(RowOf(chosen, summary));
  json["rows"] = std::move(rows);
  return json.dump(1) + '\n';
}

std::string RenderPage(const PrecisionSummary& summary) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Precision</title><style>"
      "body{{font:14px sans-serif;margin:2em}}table{{border-collapse:collapse}}td,th{{padding:2px 10px;text-align:left;"
      "border-bottom:1px solid "
      "#ddd}}.wide{{background:#fdf0e0}}.bar{{display:inline-block;height:9px;background:#3b6ea5}}"
      "</style></head><body><h1>Precision</h1><p>{}</p>\n<table><tr><th>operator</th><th>name</th><th>format</th>"
      "<th>error alone</th><th>range</th><th>constants, bytes</th><th>why it stays</th></tr>\n",
      EscapeHtml(Headline(summary)));
  double greatest = 0;
  for (const ChosenOperator& chosen : summary.choice.operators) greatest = std::max(greatest, chosen.error);
  for (const ChosenOperator& chosen : summary.choice.operators) {
    const double width = greatest == 0 ? 0 : 80 * chosen.error / greatest;
    page += fmt::format(
        "<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{:.1e} <span class=\"bar\" style=\"width:{:.0f}px\"></span></td>"
        "<td>{}</td><td>{}</td><td>{}</td></tr>\n",
        chosen.lowered ? "" : " class=\"wide\"", EscapeHtml(OperatorName(chosen)), EscapeHtml(chosen.op.name),
        chosen.lowered ? summary.format.name : "float32", chosen.error, width, EscapeHtml(RangeOf(chosen)),
        chosen.op.constant_bytes, EscapeHtml(chosen.lowered ? "" : chosen.op.reason));
  }
  return page + "</table></body></html>\n";
}

}  // namespace

std::string RenderPrecisionTable(const PrecisionSummary& summary) {
  std::string text = fmt::format("{}\n", Headline(summary));
  const std::vector<const ChosenOperator*> rows = ShownRows(summary.choice);
  if (rows.empty()) return text;
  const bool has_errors = summary.choice.has_shares;
  if (!has_errors && summary.choice.NumLowered() == summary.choice.operators.size()) return text;
  text += fmt::format("{:<9} {:>11}  {:<24} {:<40} {}\n", "format", has_errors ? "error alone" : "", "range",
                      "operator", "why it stays");
  for (const ChosenOperator* row : rows) {
    text += fmt::format("{:<9} {:>11}  {:<24} {:<40} {}\n", row->lowered ? summary.format.name : "float32",
                        has_errors && row->error != 0 ? fmt::format("{:.1e}", row->error) : "", RangeOf(*row),
                        ShortName(row->op.name), row->lowered ? "" : row->op.reason);
    while (text.ends_with(" \n")) text.erase(text.size() - 2, 1);
  }
  const size_t left = summary.choice.operators.size() - rows.size();
  if (left != 0) text += fmt::format("and {} more, which -precision-report=FILE has\n", left);
  return text;
}

Status WritePrecisionReport(const PrecisionSummary& summary, const std::string& path) {
  IROPT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  file.stream().Append(path.ends_with(".html") ? RenderPage(summary) : RenderJson(summary));
  IROPT_RETURN_IF_ERROR(file.Finish());
  return file.Commit();
}

}  // namespace iropt
