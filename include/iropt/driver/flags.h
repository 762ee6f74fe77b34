// Flags: the rows of the flags.def of a tool and those of instruments, for the parser of the command line and the help.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iropt {

enum class FlagGroup : uint8_t {
  Pipeline,
  Run,
  Reduction,
  Files,
  Input,
  Output,
  Checks,
  Observation,
  Discovery,
  Other
};

// The title of the group in the help.
std::string_view FlagGroupTitle(FlagGroup group);

enum class ValueKind : uint8_t {
  Switch,
  Text,
  Pair,
  Repeated,
  List,
  Number,
  Real,
  Word,
  SwitchOrWord,
  SwitchOrText,
  SwitchOrTexts
};

// The kind of completion of a value.
enum class Completion : uint8_t {
  None,
  File,
  Passes,
  Pipeline,
  Config,
  Instruments,
  Formats,
  OutputFormats,
  Targets,
  Words
};

struct FlagValue {
  ValueKind kind = ValueKind::Switch;
  std::string_view placeholder;  // "FILE"; of words, "text|json"
  Completion completion = Completion::None;
  int64_t least = 0;  // of a number
  int64_t most = 0;
  std::string_view bare = {};  // of a switch or text: the text if no value is given
};

struct Flag {
  FlagGroup group;
  std::string_view name;
  FlagValue value;
  std::string_view summary;
  std::string_view details;
};

// The words that a value may be.
std::vector<std::string> WordsOf(const FlagValue& value);

// Returns whether each use of the flag adds a value.
bool AddsUp(const FlagValue& value);

// Returns whether the flag may stand without its value.
bool IsOptionalValue(const FlagValue& value);

// Returns whether the word after the flag is its value.
bool TakesNextWord(const FlagValue& value);

// "-passes=PIPELINE", "-list-passes[=text|json]", ...
std::string Spelling(const Flag& flag);

}  // namespace iropt
