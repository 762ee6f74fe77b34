#include "driver/check/proof_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "driver/html.h"

namespace iropt {

namespace {

constexpr std::string_view kStyle =
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse;margin-bottom:2em}td,th{padding:2px 10px;"
    "text-align:left;border-bottom:1px solid #8884}.proved{color:#2a7d2a}.refuted{color:#c22}.open{color:#a60}"
    "#open:checked~table .proved-row{display:none}:root{color-scheme:light dark}";

std::string_view ClassOf(ProofRecord::Answer answer) {
  switch (answer) {
    case ProofRecord::Answer::kProved: return "proved";
    case ProofRecord::Answer::kRefuted: return "refuted";
    case ProofRecord::Answer::kNotDecided: break;
  }
  return "open";
}

std::string PassOf(const ProofRecord& proof) { return proof.pass.empty() ? "all passes" : proof.pass; }

// How many answers of each kind passes have, in the order of the passes, and the reasons by how often they occur.
std::string RenderSummary(const std::vector<ProofRecord>& proofs) {
  using Answer = ProofRecord::Answer;
  std::vector<std::string> passes;
  std::map<std::pair<std::string, Answer>, size_t> counts;
  std::map<std::string, size_t> reasons;
  for (const ProofRecord& proof : proofs) {
    if (std::ranges::find(passes, PassOf(proof)) == passes.end()) passes.push_back(PassOf(proof));
    ++counts[{PassOf(proof), proof.answer}];
    if (proof.answer == Answer::kNotDecided) ++reasons[proof.reason];
  }
  std::string text = "<table><tr><th>pass</th><th>proved</th><th>refuted</th><th>not decided</th></tr>\n";
  for (const std::string& pass : passes) {
    text += fmt::format("<tr><td>{}</td>", EscapeHtml(pass));
    for (const Answer answer : {Answer::kProved, Answer::kRefuted, Answer::kNotDecided}) {
      const size_t count = counts[{pass, answer}];
      text += fmt::format("<td class=\"{}\">{}</td>", ClassOf(answer), count == 0 ? "" : std::to_string(count));
    }
    text += "</tr>\n";
  }
  text += "</table>\n";
  if (reasons.empty()) return text;
  std::vector<std::pair<std::string, size_t>> sorted(reasons.begin(), reasons.end());
  std::ranges::stable_sort(sorted, std::greater<>(), &std::pair<std::string, size_t>::second);
  text += "<table><tr><th>why it is not decided</th><th>how often</th></tr>\n";
  for (const auto& [reason, count] : sorted)
    text += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", EscapeHtml(reason), count);
  return text + "</table>\n";
}

std::string RenderPage(const std::vector<ProofRecord>& proofs) {
  const auto count = [&](ProofRecord::Answer answer) {
    return std::ranges::count(proofs, answer, &ProofRecord::answer);
  };
  std::string page = fmt::format(
      "{}<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Proofs</title><style>{}</style></head><body>"
      "<h1>Proofs</h1><p>{} of {} proved, {} refuted, {} not decided</p>\n{}",
      kProofPageBegin, kStyle, count(ProofRecord::Answer::kProved), proofs.size(), count(ProofRecord::Answer::kRefuted),
      count(ProofRecord::Answer::kNotDecided), RenderSummary(proofs));
  page +=
      "<input type=\"checkbox\" id=\"open\"><label for=\"open\">only what is not proved</label>\n<table><tr>"
      "<th>pass</th><th>function</th><th>answer</th><th>reason</th><th>runs that agree</th><th>seconds</th>"
      "<th>questions to Z3</th></tr>\n";
  for (const ProofRecord& proof : proofs) {
    page += fmt::format(
        "<tr{}><td>{}</td><td>{}</td><td class=\"{}\">{}</td><td>{}</td><td>{}</td><td>{:.3f}</td><td>{}</td></tr>\n",
        proof.answer == ProofRecord::Answer::kProved ? " class=\"proved-row\"" : "", EscapeHtml(PassOf(proof)),
        EscapeHtml(proof.function), ClassOf(proof.answer), NameOf(proof.answer), EscapeHtml(proof.reason),
        proof.num_runs, proof.seconds, proof.num_queries);
  }
  return page + "</table></body></html>\n";
}

std::string RenderJson(const std::vector<ProofRecord>& proofs) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ProofRecord& proof : proofs) {
    nlohmann::ordered_json row = {{"pass", proof.pass}, {"function", proof.function}, {"answer", NameOf(proof.answer)}};
    if (!proof.reason.empty()) row["reason"] = proof.reason;
    row["runs"] = proof.num_runs;
    row["seconds"] = proof.seconds;
    row["terms"] = proof.num_terms;
    row["queries"] = proof.num_queries;
    rows.push_back(std::move(row));
  }
  const nlohmann::ordered_json report = {{"proofs", std::move(rows)}};
  return report.dump() + "\n";
}

}  // namespace

Status WriteProofs(const std::vector<ProofRecord>& proofs, bool is_page, AtomicFile& file) {
  file.stream().Append(is_page ? RenderPage(proofs) : RenderJson(proofs));
  return file.Commit();
}

}  // namespace iropt
