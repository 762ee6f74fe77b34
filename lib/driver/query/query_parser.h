// Reads the patterns of -query.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/pattern.h"
#include "iropt/op/op.h"
#include "iropt/text/script/lexer.h"

namespace iropt {

class QueryParser {
 public:
  QueryParser(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics);

  // Nothing after an error, as for all of them.
  std::optional<Pattern> Parse();
  // The names of the pattern and what they match, in their order.
  const std::vector<std::pair<std::string, Pattern>>& names() const { return names_; }

 private:
  std::optional<Pattern> ParseChoice();
  std::optional<Pattern> ParseOperand();
  std::optional<Pattern> ParseTuple();
  std::optional<Pattern> ParseCall(std::string_view name, SourceSpan span);
  std::optional<Pattern> ParseItem(Pattern tuple);
  bool ParseAttribute(const OpInfo& op, std::vector<Pattern::Predicate>& conditions);
  const OpInfo* FindOperator(std::string_view name, SourceSpan span);
  std::string_view DottedName();
  Pattern Named(std::string_view name);
  std::nullopt_t Fail(SourceSpan span, DiagId kind, std::string message);
  std::nullopt_t Unexpected(std::string_view expected);
  SourceSpan Here() const;

  std::string_view text_;
  uint32_t base_;
  DiagnosticEngine& diagnostics_;
  Lexer lexer_;
  Module empty_;
  std::shared_ptr<Workspace> attributes_ = std::make_shared<Workspace>();  // of the pattern, which keeps it
  std::vector<std::pair<std::string, Pattern>> names_;
};

}  // namespace iropt
