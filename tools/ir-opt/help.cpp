#include "help.h"

#include <fmt/format.h>

#include <string_view>

namespace iropt {

namespace {

constexpr size_t kNameWidth = 28;
constexpr size_t kLineWidth = 100;

std::string FlagName(const CLI::Option& option) {
  if (option.get_positional()) return option.get_type_name();
  const std::string name = "-" + option.get_lnames().front();
  return option.get_type_name().empty() ? name : fmt::format("{}={}", name, option.get_type_name());
}

// The words of the text in lines that begin at the column behind the names.
std::string Wrap(std::string_view text) {
  std::string out;
  size_t column = kNameWidth;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column + 1 + word.size() > kLineWidth) {
      out += fmt::format("\n{:{}}", "", kNameWidth);
      column = kNameWidth;
    } else if (column != kNameWidth) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string RenderOption(const CLI::Option& option) {
  const std::string name = "  " + FlagName(option);
  const std::string gap =
      name.size() < kNameWidth ? std::string(kNameWidth - name.size(), ' ') : fmt::format("\n{:{}}", "", kNameWidth);
  return name + gap + Wrap(option.get_description()) + '\n';
}

}  // namespace

std::string RenderHelp(const CLI::App& app) {
  std::string out = fmt::format("{}\n\nusage: {} [flags] [FILE]\n\n", app.get_description(), app.get_name());
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    out += RenderOption(*option);
  }
  for (const std::string& group : app.get_groups()) {
    const auto options =
        app.get_options([&](const CLI::Option* o) { return !o->get_positional() && o->get_group() == group; });
    if (options.empty()) continue;
    out += fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : options) out += RenderOption(*option);
  }
  return out + app.get_footer();
}

}  // namespace iropt
