// Parsing a command line by a table of flags, with CLI11.
//
//   FlagParser parser("ir-opt", Flags(), arguments, options.input);
//   const Flag* flag = Flags().data();
//   #define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
//   #include "flags.def"
//   IROPT_RETURN_IF_ERROR(parser.Parse());
//
// ParseWithDefaults of arguments.h calls such a function with the flags of the environment.
#pragma once

#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "iropt/driver/flags.h"
#include "iropt/support/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace iropt {

// A flag that selects what is done, and those that would have no effect with it.
struct FlagExclusion {
  // Stands for the file that is named without a flag.
  static constexpr std::string_view kInput = "input";

  std::string_view flag;
  std::initializer_list<std::string_view> others;
};

// A flag that has an effect only with another one, or with a third one.
struct FlagRequirement {
  std::string_view flag;
  std::string_view needed;
  std::string_view alternative = {};
};

struct FlagRules {
  std::span<const FlagExclusion> exclusions = {};
  std::span<const FlagRequirement> requirements = {};
  // Other flags, which have no effect with `mode`, as messages say.
  std::span<const Flag> others = {};
  std::string mode = {};
  // The message about a flag that another mode has; null, or an empty text: no mode has it.
  std::string (*describe)(std::string_view name) = nullptr;
};

class FlagParser {
 public:
  // `tool` is the name of the program in messages. The first argument that is not a flag goes to `input`, others to
  // `more_inputs`; null: they are refused. Keeps references to all of them.
  FlagParser(std::string_view tool, std::span<const Flag> flags, const Arguments& arguments, std::string& input,
             std::vector<std::string>* more_inputs = nullptr, const FlagRules& rules = {});
  ~FlagParser();

  // Bind a flag to the member that it sets. CLI11 learns only of flags that are in the arguments: it compares each name
  // with all others.
  void Bind(const Flag& flag, bool& member);
  void Bind(const Flag& flag, std::vector<std::string>& member);
  // One value, the last one that is given: a text or a number, which may be optional.
  template <class T>
  void Bind(const Flag& flag, T& member);

  // Takes a flag without a member: ValuesOf has its values.
  void Declare(const Flag& flag);

  // Parses the arguments; the error names the wrong one. Refuses flags that have no effect by the rules. From then on,
  // messages of the tool have the format that the arguments name, also if they are wrong. Of the default flags, the
  // tool takes those that it has, except what the command line replaces or rules out.
  Status Parse();
  // The response files of the arguments.
  const std::vector<std::string>& response_files() const { return response_files_; }
  // Returns whether the flag, or FlagExclusion::kInput, is given. After Parse.
  bool IsGiven(std::string_view name) const;
  // Those that are given. After Parse.
  std::span<const std::string> ValuesOf(const Flag& flag) const;
  // The flags that are given, but for some, with their values; the same for all command lines that mean the same. After
  // Parse.
  std::string Settings(std::span<const std::string_view> without) const;

 private:
  static std::string DashedName(const Flag& flag);
  static std::string NameWithBareValue(const Flag& flag);
  static void Constrain(CLI::Option& option, const Flag& flag);
  std::string DescribeUnknown(std::string_view name) const;
  // Takes the arguments that CLI11 did not consume.
  Status PlaceInputs(const std::vector<std::string>& unplaced);
  // The words of both, normalized.
  Result<std::vector<std::string>> Merge();
  // False if the flag is certainly not given.
  bool IsMentioned(const Flag& flag) const;
  const Flag* Find(std::string_view name) const;
  // Returns whether a default flag is for this tool, and whether it has an effect with those of the command line.
  bool Takes(std::string_view word, const std::set<std::string_view>& given) const;
  bool Applies(const Flag& flag, const std::set<std::string_view>& given) const;
  struct Use;
  std::vector<Use> UsesIn(const std::vector<std::string>& words) const;
  Result<std::vector<std::string>> KeepLast(const std::vector<std::string>& words) const;
  Status CheckOptionalValues() const;
  Status CheckExclusions() const;
  Status CheckRequirements() const;

  std::string_view tool_;
  std::span<const Flag> flags_;
  const Arguments& arguments_;
  FlagRules rules_;
  std::vector<std::string>* more_inputs_;
  std::vector<std::string> response_files_;
  Result<std::vector<std::string>> merged_;
  // Of declared flags.
  std::deque<bool> switches_;
  std::deque<std::string> texts_;
  std::deque<std::vector<std::string>> lists_;
  std::unique_ptr<CLI::App> app_;  // here, only its sources compile CLI11, which takes seconds
};

}  // namespace iropt
