// Parsing a command line by a table of flags, with CLI11.
//
//   FlagParser parser("ir-opt", Flags(), options.input);
//   const Flag* flag = Flags().data();
//   #define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) parser.Bind(*flag++, line.Member);
//   #include "flags.def"
//   IROPT_RETURN_IF_ERROR(parser.Parse(arguments));
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cli/flags.h"
#include "iropt/support/result.h"

namespace iropt {

// A flag that selects what is done, and those that would have no effect beside it.
struct FlagExclusion {
  // Stands for the file that is named without a flag.
  static constexpr std::string_view kInput = "input";

  std::string_view flag;
  std::initializer_list<std::string_view> others;
};

// A flag that has an effect only beside another one.
struct FlagRequirement {
  std::string_view flag;
  std::string_view needed;
};

class FlagParser {
 public:
  // `tool` is the name of the program in messages. The one argument that is not a flag goes to `input`.
  FlagParser(std::string_view tool, std::span<const Flag> flags, std::string& input);

  // What the flag sets.
  void Bind(const Flag& flag, bool& member);
  void Bind(const Flag& flag, std::vector<std::string>& member);
  // One value, of which a second one is refused.
  template <class T>
  void Bind(const Flag& flag, T& member) {
    CLI::Option* option = nullptr;
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::optional<std::string>>) {
      if (IsOptionalValue(flag.value)) option = AddOptionalValue(flag, member);
    }
    if (!option) option = app_.add_option(DashedName(flag), member);
    Constrain(*option, flag);
  }

  // Parses the arguments after the name of the program; the error names the wrong one. From then on, messages of the
  // tool have the format that the arguments name, also if they are wrong.
  Status Parse(const std::vector<std::string>& arguments);
  // Refuses flags that have no effect beside others. After Parse.
  Status CheckExclusions(std::span<const FlagExclusion> exclusions) const;
  // Refuses flags without those that they need. After Parse.
  Status CheckRequirements(std::span<const FlagRequirement> requirements) const;

 private:
  static std::string DashedName(const Flag& flag);
  static std::string NameWithBareValue(const Flag& flag);
  template <class T>
  CLI::Option* AddOptionalValue(const Flag& flag, T& member) {
    return app_.add_flag(NameWithBareValue(flag), member);
  }
  static void Constrain(CLI::Option& option, const Flag& flag);
  std::string DescribeUnknown(std::string_view name) const;
  std::string DescribeUnplaced(const std::vector<std::string>& unplaced) const;
  // Of the flag or FlagExclusion::kInput.
  bool IsGiven(std::string_view name) const;
  Status CheckSwitches(const std::vector<std::string>& arguments) const;
  Status CheckRepetition() const;

  std::string_view tool_;
  std::span<const Flag> flags_;
  CLI::App app_;
};

}  // namespace iropt
