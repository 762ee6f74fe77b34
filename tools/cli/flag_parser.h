// Parsing a command line by a table of flags, with CLI11.
//
//   FlagParser parser(Flags(), options.input);
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

class FlagParser {
 public:
  // The one argument that is not a flag goes to `input`.
  FlagParser(std::span<const Flag> flags, std::string& input);

  // What the flag sets.
  void Bind(const Flag& flag, bool& member);
  void Bind(const Flag& flag, std::vector<std::string>& member);
  // One value, of which a second one is refused.
  template <class T>
  void Bind(const Flag& flag, T& member) {
    CLI::Option* option = nullptr;
    if constexpr (std::is_same_v<T, std::string>) {
      if (flag.value.kind == ValueKind::SwitchOrWord) option = AddSwitchOrWord(flag, member);
    }
    if (!option) option = app_.add_option(DashedName(flag), member);
    Constrain(*option, flag);
  }

  // Parses the arguments after the name of the program; the error names the wrong one.
  Status Parse(const std::vector<std::string>& arguments);
  // Refuses flags that have no effect beside others. After Parse.
  Status CheckExclusions(std::span<const FlagExclusion> exclusions) const;

 private:
  static std::string DashedName(const Flag& flag);
  CLI::Option* AddSwitchOrWord(const Flag& flag, std::string& member);
  static void Constrain(CLI::Option& option, const Flag& flag);
  std::string DescribeUnplaced(const std::vector<std::string>& unplaced) const;
  Status CheckSwitches(const std::vector<std::string>& arguments) const;
  Status CheckRepetition() const;

  std::span<const Flag> flags_;
  CLI::App app_;
};

}  // namespace iropt
