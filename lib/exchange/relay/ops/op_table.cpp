#include "op_table.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <vector>

#include "exchange/relay/parser_core.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/lookup.h"

namespace iropt::relay {

namespace {

// An operator whose row is parsed when it is first used.
struct TableEntry {
  explicit TableEntry(const OperatorRow& row) { op.row = &row; }
  std::once_flag parsed;
  Operator op;
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
        by_name_.try_emplace(row.name, rows_.size());
        rows_.emplace_back(row);
      }
    }
  }

  static OperatorTable& Get() {
    static OperatorTable table;
    return table;
  }

  const Operator* Find(std::string_view name) {
    const auto* row = by_name_.Find(name);
    if (!row) return nullptr;
    TableEntry& entry = rows_[*row];
    std::call_once(entry.parsed, [&] {
      entry.op.attributes = ParseAttributes(entry.op.row->attributes, entry.values);
      entry.op.count = CountArguments(entry.op.row->arguments);
    });
    return &entry.op;
  }

 private:
  std::deque<TableEntry> rows_;
  LookupMap<std::string_view, size_t> by_name_;
};

std::string_view LastComponent(std::string_view name) { return name.substr(name.rfind('.') + 1); }

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

const Operator* FindOperator(std::string_view name) { return OperatorTable::Get().Find(name); }

std::string_view NearestOperator(std::string_view name) {
  std::vector<std::string_view> names;
  for (const std::span<const OperatorRow> family : OperatorFamilies()) {
    for (const OperatorRow& row : family) names.push_back(row.name);
  }
  const std::string_view last = LastComponent(name);
  const auto same = std::ranges::find(names, last, LastComponent);
  return same == names.end() ? NearestName(name, names).value_or(std::string_view()) : *same;
}

}  // namespace iropt::relay
