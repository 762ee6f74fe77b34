#include "completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "flag_table.h"
#include "iropt/driver/catalog.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/target.h"

namespace iropt {

namespace {

// The words of COMP_WORDS are cut at '=', '(' and others, so that the line itself is passed on.
constexpr std::string_view kBashScript =
    R"script(# Completion of ir-opt for bash: source <(ir-opt -print-completion=bash)
_ir_opt() {
  local line=${COMP_LINE:0:COMP_POINT}
  mapfile -t COMPREPLY < <("$1" -complete "$line" "$COMP_WORDBREAKS" 2> /dev/null | cut -f 1)
  # A value may be continued; after other words a blank follows.
  if [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} == *[=/] || ${line##*[[:space:]]} == *=* ]]; then
    compopt -o nospace 2> /dev/null
  fi
}
complete -F _ir_opt ir-opt
)script";

constexpr std::string_view kZshScript = R"script(#compdef ir-opt
# Completion of ir-opt for zsh: in a folder of $fpath under the name _ir-opt.
_ir_opt() {
  local -a lines
  lines=("${(@f)$($words[1] -complete "${(j: :)words[1,CURRENT-1]} $PREFIX" 2> /dev/null)}")
  lines=(${lines:#})
  compadd -S '' -l -d lines -- ${lines%%$'\t'*}
}
if [[ $funcstack[1] == _ir-opt ]]; then _ir_opt "$@"; else compdef _ir_opt ir-opt; fi
)script";

constexpr std::string_view kFishScript =
    R"script(# Completion of ir-opt for fish: ir-opt -print-completion=fish | source
complete -c ir-opt -f -a '(ir-opt -complete (commandline -cp | string collect) 2> /dev/null)'
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

const Flag* FindFlag(std::string_view name) {
  if (name == "o") name = "output";
  const auto flag = std::ranges::find(Flags(), name, &Flag::name);
  return flag == Flags().end() ? nullptr : &*flag;
}

class Completer {
 public:
  Completer(const TypedLine& line, const PassRegistry& registry) : line_(line), registry_(registry) {}

  std::string Run() {
    const std::string_view current = line_.words.back();
    const size_t equals = current.find('=');
    if (current.starts_with('-') && equals != std::string_view::npos) {
      const Flag* flag = FindFlag(WithoutDashes(current.substr(0, equals)));
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
    const Flag* flag = FindFlag(WithoutDashes(word));
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
    Offer(dash, "-o", "the output file");
    Offer(dash, "-h", "print the help");
    for (int level = 0; level <= kMaxOptLevel; ++level) {
      Offer(dash, fmt::format("-O{}", level), fmt::format("optimize at level {}", level));
    }
    for (const Flag& flag : Flags()) {
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
      case Completion::Formats:
        for (const InputFormat& format : InputFormats()) Offer(before, format.name, "");
        return;
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

std::string_view CompletionScript(std::string_view shell) {
  if (shell == "fish") return kFishScript;
  return shell == "zsh" ? kZshScript : kBashScript;
}

std::string Complete(std::string_view line, std::string_view breaks) {
  const TypedLine typed(line, breaks);
  CompilerInstance compiler;
  // Ignores plugins that cannot be loaded; the run reports them.
  static_cast<void>(compiler.LoadPlugins(PluginsIn(typed)));
  return Completer(typed, compiler.registry()).Run();
}

}  // namespace iropt
