#include "iropt/infer/einsum.h"

#include <map>
#include <utility>

#include "iropt/support/characters.h"

namespace iropt {

std::optional<EinsumEquation> ParseEinsum(std::string_view text) {
  EinsumEquation equation;
  std::string current;
  bool arrow = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '-' && !arrow && text.substr(i, 2) == "->") {
      arrow = true;
      ++i;
    } else if (c == ',' && !arrow) {
    } else if (text.substr(i, 3) == "..." && current.find('.') == std::string::npos) {
      current += '.';
      i += 2;
      continue;
    } else if (IsLetter(c)) {
      current += c;
      continue;
    } else {
      return std::nullopt;
    }
    equation.inputs.push_back(std::exchange(current, ""));
  }
  if (arrow) {
    equation.output = current;
    return equation;
  }
  equation.inputs.push_back(current);
  std::map<char, int> count;
  for (const std::string& input : equation.inputs) {
    for (const char label : input) ++count[label];
  }
  for (const auto& [label, n] : count) {
    if (label == '.' || n == 1) equation.output += label;
  }
  return equation;
}

}  // namespace iropt
