// Options for what a run shows of its passes, and how.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace iropt {

// The form of something that is shown; None: it is not shown.
enum class ShownForm : uint8_t { None, Text, Json };
enum class TimesForm : uint8_t { None, Tree, List, Json };

// The runs of passes around which the module is printed: those of named passes, those with a number, or all.
struct PrintRequest {
  std::vector<std::string> passes;  // names, and numbers of runs of passes as PassCounter gives them
  bool all = false;

  bool wanted() const { return all || !passes.empty(); }
};

// Output of -print-changed for a pass: the changed functions, with or without a line for passes that changed nothing,
// or the difference of their texts.
enum class ChangePrinting : uint8_t { Off, All, Quiet, Diff, ColourDiff };

// Setting that makes a long run show how far it is; Auto: on a terminal.
enum class ProgressShown : uint8_t { Auto, Never, Always };

// The word of -print-changed for a way, which is empty for Off, and the way of a word; Off for any other word.
std::string_view NameOf(ChangePrinting mode);
ChangePrinting ChangePrintingOf(std::string_view word);

}  // namespace iropt
