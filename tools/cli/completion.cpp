#include "cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "iropt/driver/catalog.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/target.h"

namespace iropt {

namespace {

// In the scripts, {0} is the name of the tool and {1} the name of a function. The words of COMP_WORDS are cut at '=',
// '(' and others, so that the line itself is passed on.
constexpr std::string_view kBashScript =
    R"script(# Completion of {0} for bash: source <({0} -print-completion=bash)
{1}() {{
  local line=${{COMP_LINE:0:COMP_POINT}}
  mapfile -t COMPREPLY < <("$1" -complete "$line" "$COMP_WORDBREAKS" 2> /dev/null | cut -f 1)
  # A value may be continued; after other words a blank follows.
  if [[ ${{#COMPREPLY[@]}} -ne 1 || ${{COMPREPLY[0]}} == *[=/] || ${{line##*[[:space:]]}} == *=* ]]; then
    compopt -o nospace 2> /dev/null
  fi
}}
complete -F {1} {0}
)script";

constexpr std::string_view kZshScript = R"script(#compdef {0}
# Completion of {0} for zsh: in a folder of $fpath under the name _{0}.
{1}() {{
  local -a lines
  lines=("${{(@f)$($words[1] -complete "${{(j: :)words[1,CURRENT-1]}} $PREFIX" 2> /dev/null)}}")
  lines=(${{lines:#}})
  compadd -S '' -l -d lines -- ${{lines%%$'\t'*}}
}}
if [[ $funcstack[1] == _{0} ]]; then {1} "$@"; else compdef {1} {0}; fi
)script";

constexpr std::string_view kFishScript =
    R"script(# Completion of {0} for fish: {0} -print-completion=fish | source
complete -c {0} -f -a '({0} -complete (commandline -cp | string collect) 2> /dev/null)'
)script";

// The words of a line as a shell reads them; the last one is still being typed.
struct TypedLine {
  std::vector<std::string> words = {""};
  size_t kept = 0;  // the length of the part of the last word that the shell keeps

  TypedLine(std::string_view line, std::string_view breaks) {
    char quote = '\0';
    for (const char c : line) {
      if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
        if (!words.back().empty()) words.emplace_back();
        kept = 0;
      } else if (c == quote) {
        quote = '\0';
      } else if (quote == '\0' && (c == '"' || c == '\'')) {
        quote = c;
        if (!breaks.empty()) kept = words.back().size();
      } else {
        words.back() += c;
        if (quote == '\0' && breaks.find(c) != std::string_view::npos) kept = words.back().size();
      }
    }
  }
};

std::string_view WithoutDashes(std::string_view word) {
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  return word;
}

const Flag* FindFlag(std::span<const Flag> flags, std::string_view name) {
  if (name == "o") name = "output";
  const auto flag = std::ranges::find(flags, name, &Flag::name);
  return flag == flags.end() ? nullptr : &*flag;
}

class Completer {
 public:
  Completer(std::span<const Flag> flags, const TypedLine& line, const PassRegistry& registry)
      : flags_(flags), line_(line), registry_(registry) {}

  std::string Run() {
    const std::string_view current = line_.words.back();
    const size_t equals = current.find('=');
    if (current.starts_with('-') && equals != std::string_view::npos) {
      const Flag* flag = FindFlag(flags_, WithoutDashes(current.substr(0, equals)));
      if (flag != nullptr) OfferValues(*flag, current.substr(0, equals + 1), current.substr(equals + 1));
    } else if (const Flag* flag = FlagBefore()) {
      OfferValues(*flag, "", current);
    } else if (current.starts_with('-')) {
      OfferFlags(current.starts_with("--") ? "-" : "");
    } else {
      const size_t at = current.starts_with('@') ? 1 : 0;
      OfferFiles(current.substr(0, at), current.substr(at));
    }
    return std::move(out_);
  }

 private:
  // The flag whose value the last word is.
  const Flag* FlagBefore() const {
    if (line_.words.size() < 2) return nullptr;
    const std::string_view word = line_.words[line_.words.size() - 2];
    if (!word.starts_with('-') || word.size() < 2) return nullptr;
    const Flag* flag = FindFlag(flags_, WithoutDashes(word));
    return flag != nullptr && TakesNextWord(flag->value) ? flag : nullptr;
  }

  // Offers a word if it begins with the typed one.
  void Offer(std::string_view word, std::string_view meaning) {
    if (!word.starts_with(line_.words.back())) return;
    out_ += fmt::format("{}\t{}\n", word.substr(line_.kept), meaning);
  }
  void Offer(std::string_view before, std::string_view word, std::string_view meaning) {
    Offer(fmt::format("{}{}", before, word), meaning);
  }

  void OfferFlags(std::string_view dash) {
    if (FindFlag(flags_, "output") != nullptr) Offer(dash, "-o", "the output file");
    Offer(dash, "-h", "print the help");
    if (FindFlag(flags_, "opt-level") != nullptr) {
      for (int level = 0; level <= kMaxOptLevel; ++level) {
        Offer(dash, fmt::format("-O{}", level), fmt::format("optimize at level {}", level));
      }
    }
    for (const Flag& flag : flags_) {
      if (!TakesNextWord(flag.value)) Offer(dash, fmt::format("-{}", flag.name), flag.summary);
      if (flag.value.kind != ValueKind::Switch) Offer(dash, fmt::format("-{}=", flag.name), flag.summary);
    }
  }

  void OfferValues(const Flag& flag, std::string_view before, std::string_view value) {
    switch (flag.value.completion) {
      case Completion::None: return;
      case Completion::File: {
        const bool is_list = flag.value.kind == ValueKind::List;
        const size_t begin = is_list ? value.rfind(',') + 1 : 0;  // 0 if there is no comma
        return OfferFiles(fmt::format("{}{}", before, value.substr(0, begin)), value.substr(begin));
      }
      case Completion::Passes: return OfferPasses(UpToLast(",", before, value));
      case Completion::Pipeline: return OfferPipeline(UpToLast(",(", before, value));
      case Completion::Config:
        for (const std::string& path : ConfigPaths(registry_)) Offer(before, path + '=', "");
        return;
      case Completion::Instruments: return OfferInstruments(before, value);
      case Completion::Formats: return OfferFormats(before, &FormatRow::reads);
      case Completion::OutputFormats: return OfferFormats(before, &FormatRow::writes);
      case Completion::Targets:
        for (const TargetKind& kind : TargetKinds()) Offer(before, kind.name, fmt::format("for {}", kind.device));
        for (const TargetTag& tag : TargetTags()) Offer(before, tag.name, "");
        return;
      case Completion::Words:
        for (const std::string& word : WordsOf(flag.value)) Offer(before, word, "");
        return;
    }
  }

  // The text before the current item of a list.
  static std::string UpToLast(std::string_view separators, std::string_view before, std::string_view value) {
    return fmt::format("{}{}", before, value.substr(0, value.find_last_of(separators) + 1));
  }

  void OfferFormats(std::string_view before, bool FormatRow::*is_offered) {
    for (const FormatRow& format : Formats()) {
      if (format.*is_offered) Offer(before, format.name, "");
    }
  }

  void OfferPasses(std::string_view before) {
    for (const auto& [name, entry] : registry_.passes()) Offer(before, name, entry.summary);
  }

  void OfferPipeline(std::string_view before) {
    OfferPasses(before);
    for (const std::string& name : PipelineNames(registry_)) Offer(before, name, "a named pipeline");
    for (const std::string_view group : {"Sequential(", "fixpoint(", "repeat<2>("}) Offer(before, group, "");
  }

  void OfferInstruments(std::string_view before, std::string_view value) {
    // Within a list of passes that an instrument takes.
    if (value.rfind("=[") != std::string_view::npos && value.rfind("=[") + 1 > value.rfind(']') + 1) {
      return OfferPasses(UpToLast(",[", before, value));
    }
    for (const CatalogEntry& instrument : Instruments(registry_)) {
      Offer(UpToLast(",", before, value), instrument.name, instrument.summary);
    }
  }

  // Hidden files only after a typed dot.
  void OfferFiles(std::string_view before, std::string_view path) {
    const std::string folder = UpToLast("/", "", path);
    const bool in_home = folder.starts_with("~/") && std::getenv("HOME") != nullptr;
    const std::string place = in_home ? std::getenv("HOME") + folder.substr(1) : folder;
    std::error_code error;
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(place.empty() ? "." : place, error)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with('.') && !path.substr(folder.size()).starts_with('.')) continue;
      names.push_back(entry.is_directory(error) ? name + '/' : name);
    }
    std::ranges::sort(names);
    for (const std::string& name : names) Offer(before, folder + name, "");
  }

  std::span<const Flag> flags_;
  const TypedLine& line_;
  const PassRegistry& registry_;
  std::string out_;
};

// Of the words before the last one.
std::vector<std::string> PluginsIn(const TypedLine& line) {
  constexpr std::string_view kFlag = "load-pass-plugin=";
  std::vector<std::string> plugins;
  for (const std::string& word : line.words) {
    const std::string_view name = word.starts_with('-') ? WithoutDashes(word) : "";
    if (!name.starts_with(kFlag) || &word == &line.words.back()) continue;
    for (std::string_view rest = name.substr(kFlag.size() - 1); !rest.empty();) {
      rest.remove_prefix(1);  // '=' or ','
      plugins.emplace_back(rest.substr(0, rest.find(',')));
      rest.remove_prefix(plugins.back().size());
    }
  }
  return plugins;
}

}  // namespace

std::string CompletionScript(std::string_view tool, std::string_view shell) {
  const std::string_view script = shell == "fish" ? kFishScript : shell == "zsh" ? kZshScript : kBashScript;
  std::string function = fmt::format("_{}", tool);
  std::ranges::replace(function, '-', '_');
  return fmt::format(fmt::runtime(script), tool, function);
}

std::string Complete(std::span<const Flag> flags, std::string_view line, std::string_view breaks) {
  const TypedLine typed(line, breaks);
  CompilerInstance compiler;
  // Ignores plugins that cannot be loaded; the run reports them.
  static_cast<void>(compiler.LoadPlugins(PluginsIn(typed)));
  return Completer(flags, typed, compiler.registry()).Run();
}

std::optional<std::string> CompleteFor(std::span<const Flag> flags, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] != "-complete") return std::nullopt;
  return Complete(flags, arguments.size() > 1 ? arguments[1] : "", arguments.size() > 2 ? arguments[2] : "");
}

}  // namespace iropt
