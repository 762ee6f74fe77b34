// ir-opt -query: files, and what is printed.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "iropt/diag/joint_spans.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/query.h"
#include "iropt/driver/split_input.h"

namespace iropt {

namespace {

class QueryRun {
 public:
  explicit QueryRun(const QueryOptions& options) : options_(options), compiler_(options.compiler) {}

  int Run() {
    if (const Status loaded = compiler_.LoadPlugins(options_.plugins); !loaded.ok())
      return compiler_.Report(loaded.error(), "usage");
    const Result<uint32_t> base = compiler_.AddText("query", options_.query);
    if (!base.ok()) return compiler_.Report(base.error(), "usage");
    const std::optional<Query> query = Query::Parse(options_.query, *base, compiler_.diagnostics());
    if (!query) return compiler_.Finish(Failure{ErrorCode::Usage});
    OutputStream out(1);
    int code = 0;
    for (const std::string& input : options_.inputs) {
      const int failed = compiler_.Finish(SearchFile(input, *query, out));
      if (code == 0) code = failed;
    }
    if (options_.form == ShownForm::Text)
      out.Append(fmt::format("{} {} in {} {}\n", found_, found_ == 1 ? "match" : "matches", options_.inputs.size(),
                             options_.inputs.size() == 1 ? "file" : "files"));
    if (const Status written = out.Flush(); !written.ok()) return compiler_.Report(written.error(), "file");
    return code != 0 ? code : found_ > 0 ? 0 : kNoMatches;
  }

 private:
  Status SearchFile(const std::string& path, const Query& query, OutputStream& out) {
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(path));
    ModuleSource source = compiler_.SourceAt(path, text);
    IROPT_ASSIGN_OR_RETURN(source.format, compiler_.FormatOf(path, source.text));
    std::vector<InputPart> parts = {{source.text, 1}};
    if (!options_.split_marker.empty()) parts = SplitInput(source.text, options_.split_marker);
    for (const InputPart& part : parts) {
      source.text = part.text;
      source.first_line = part.first_line;
      IROPT_ASSIGN_OR_RETURN(const Module module, compiler_.Parse(source));
      for (const QueryMatch& match : query.FindIn(module)) Show(source.name, match, out);
    }
    return {};
  }

  void Show(const std::string& file, const QueryMatch& match, OutputStream& out) {
    ++found_;
    const SourceSpan place = PartsOf(match.span).front();
    const SourceLocation begin = place.known() ? compiler_.sources().Locate(place.begin) : SourceLocation{};
    if (options_.form == ShownForm::Json) return ShowJson(file, match, place, out);
    const std::string_view line =
        begin.line_text.substr(std::min(begin.line_text.find_first_not_of(" \t"), begin.line_text.size()));
    if (begin.line == 0) {
      out.Append(fmt::format("{}: {}: {}\n", file, match.function, match.variable));
    } else {
      out.Append(fmt::format("{}:{}:{}: {}: {}\n", file, begin.line, begin.column, match.function, line));
    }
  }

  void ShowJson(const std::string& file, const QueryMatch& match, SourceSpan place, OutputStream& out) {
    const SourceLocation begin = place.known() ? compiler_.sources().Locate(place.begin) : SourceLocation{};
    nlohmann::ordered_json object = {{"file", file}, {"function", match.function}, {"variable", match.variable}};
    if (begin.line != 0) {
      const SourceLocation end = compiler_.sources().Locate(place.end);
      object["line"] = begin.line;
      object["column"] = begin.column;
      object["end_line"] = end.line;
      object["end_column"] = end.column;
    }
    object["operands"] = nlohmann::ordered_json::object();
    for (const auto& [name, operand] : match.operands) object["operands"][name] = operand;
    out.Append(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
  }

  const QueryOptions& options_;
  CompilerInstance compiler_;
  size_t found_ = 0;
};

}  // namespace

int RunQuery(const QueryOptions& options) { return QueryRun(options).Run(); }

}  // namespace iropt
