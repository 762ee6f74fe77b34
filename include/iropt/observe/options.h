// Options for what a run shows of its passes, and how.
#pragma once

#include <cstdint>

namespace iropt {

// The form of something that is shown; None: it is not shown.
enum class ShownForm : uint8_t { None, Text, Json };
enum class TimesForm : uint8_t { None, Tree, List, Json };

// Output of -print-changed for a pass: the changed functions, with or without a line for passes that changed nothing,
// or the difference of their texts.
enum class ChangePrinting : uint8_t { All, Quiet, Diff, ColourDiff };

// Setting that makes a long run show how far it is; Auto: on a terminal.
enum class ProgressShown : uint8_t { Auto, Never, Always };

}  // namespace iropt
