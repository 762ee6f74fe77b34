#include <set>
#include <string>

#include "catch.h"
#include "iropt/op/op.h"

namespace iropt::lsp {
namespace {

TEST_CASE("each operator of Relax has one summary, and each summary an operator", "[lsp]") {
  std::multiset<std::string> names;
#define IROPT_SUMMARY(name, summary) names.insert(name);
#include "lsp/operator_summaries.def"
  std::set<std::string> operators;
  for (const OpInfo& op : AllOps()) {
    if (op.is_graph_level()) operators.insert(std::string(op.script.substr(2)));
  }
  CHECK(names == std::multiset<std::string>(operators.begin(), operators.end()));
}

}  // namespace
}  // namespace iropt::lsp
