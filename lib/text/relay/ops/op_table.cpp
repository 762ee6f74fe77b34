#include "op_table.h"

#include <deque>
#include <mutex>
#include <unordered_map>

#include "iropt/support/edit_distance.h"
#include "text/relay/parser_core.h"

namespace iropt::relay {

namespace {

// What a row says, parsed when its operator is first used.
struct ParsedRow {
  explicit ParsedRow(const OperatorRow& r) : row(&r) {}
  const OperatorRow* row;
  std::once_flag parsed;
  std::vector<PyKeyword> defaults;
  ArgumentCount count;
  Graph values;  // owns lists and texts
};

std::vector<PyKeyword> ParseAttributes(std::string_view text, Graph& graph) {
  // Any attributes, which nothing reads.
  if (text == "*") return {};
  Workspace workspace;
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  ParserCore core(text, 1, {}, workspace, graph, diagnostics);
  std::vector<PyKeyword> attributes;
  while (!core.Is(TokenKind::kEnd)) {
    const Token name = core.lex.Next();
    PyValue value(static_cast<const Attr*>(nullptr), Span());
    if (core.Skip(TokenKind::kAssign)) value = ParseValue(core).value_or(value);
    attributes.push_back({core.lex.Text(name), {}, value});
    if (!core.Skip(TokenKind::kComma)) break;
  }
  IROPT_CHECK(buffer.diagnostics().empty() && core.Is(TokenKind::kEnd), "the attributes '{}' are malformed", text);
  return attributes;
}

ArgumentCount CountArguments(std::string_view names) {
  ArgumentCount count{0, 0};
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    const std::string_view name = names.substr(0, comma);
    names.remove_prefix(std::min(comma + 1, names.size()));
    if (name.ends_with("...")) return {count.least, std::nullopt};
    if (!name.ends_with('?')) ++count.least;
    ++*count.most;
  }
  return count;
}

class OperatorTable {
 public:
  OperatorTable() {
    for (const std::span<const OperatorRow> family : OperatorFamilies()) {
      for (const OperatorRow& row : family) {
        by_name_.emplace(row.name, rows_.size());
        rows_.emplace_back(row);
      }
    }
  }

  static OperatorTable& Get() {
    static OperatorTable table;
    return table;
  }

  ParsedRow* Find(std::string_view name) {
    const auto row = by_name_.find(name);
    return row == by_name_.end() ? nullptr : &rows_[row->second];
  }

  const ParsedRow& Parsed(const OperatorRow& op) {
    ParsedRow& row = *Find(op.name);
    std::call_once(row.parsed, [&] {
      row.defaults = ParseAttributes(op.attributes, row.values);
      row.count = CountArguments(op.arguments);
    });
    return row;
  }

 private:
  std::deque<ParsedRow> rows_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

}  // namespace

std::span<const std::span<const OperatorRow>> OperatorFamilies() {
  static const std::span<const OperatorRow> families[] = {
      ApproximateOperators(), BinaryOperators(), ContribOperators(),     ConvolutionOperators(), CreateOperators(),
      DeformableOperators(),  DynOperators(),    ElementwiseOperators(), ImageOperators(),       IndexOperators(),
      ManipulateOperators(),  NnOperators(),     NormOperators(),        PoolOperators(),        QnnOperators(),
      QnnProductOperators(),  ReduceOperators(), ScatterOperators(),     SequenceOperators(),    SpatialOperators(),
      VisionOperators(),
  };
  return families;
}

const OperatorRow* FindOperator(std::string_view name) {
  const ParsedRow* row = OperatorTable::Get().Find(name);
  return row ? row->row : nullptr;
}

std::string_view NearestOperator(std::string_view name) {
  std::vector<std::string_view> names;
  for (const std::span<const OperatorRow> family : OperatorFamilies()) {
    for (const OperatorRow& row : family) names.push_back(row.name);
  }
  return NearestName(name, names).value_or(std::string_view());
}

std::span<const PyKeyword> DefaultsOf(const OperatorRow& op) { return OperatorTable::Get().Parsed(op).defaults; }

ArgumentCount ArgumentCountOf(const OperatorRow& op) { return OperatorTable::Get().Parsed(op).count; }

}  // namespace iropt::relay
