// The callables of a text, with their parameters and documentation: operators, other names of R, T and I, and the
// functions of the module.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/op/op.h"

namespace iropt::lsp {

struct Callable {
  struct Parameter {
    std::string name;
    uint32_t begin = 0;  // in the label
    uint32_t end = 0;
    bool rest = false;  // takes all further positional arguments
    bool keyword_only = false;
  };

  std::string label;  // "R.nn.relu(data)"
  std::vector<Parameter> parameters;
  std::string documentation;  // Markdown

  // The parameter of an argument; its index is out of range if there is none.
  size_t ParameterOf(uint32_t argument, std::string_view keyword) const;
};

// The callable of a dotted name, with its prefix; nothing if it is unknown. `module` may be null.
std::optional<Callable> FindCallable(std::string_view name, const Module* module);

// What an operator gives or does, in a few words; empty for operators of plugins.
std::string_view SummaryOf(const OpInfo& op);
Callable DescribeOperator(const OpInfo& op);

// The operator of a dotted name; null if there is none.
const OpInfo* FindOperator(std::string_view name);

}  // namespace iropt::lsp
