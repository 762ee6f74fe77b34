#include "completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "completion_scripts.h"
#include "flags.h"
#include "iropt/driver/catalog.h"
#include "iropt/driver/formats.h"
#include "iropt/support/check.h"

namespace iropt {

namespace {

// The words that scripts offer.
struct Vocabulary {
  std::vector<std::string> passes;
  std::vector<std::string> groups;  // what a pipeline has besides passes, as far as the names go
  std::vector<std::string> instruments;
  std::vector<std::string> configs;  // with the '='
};

Vocabulary MakeVocabulary(const PassRegistry& registry) {
  Vocabulary words;
  for (const auto& [name, row] : registry.passes()) words.passes.push_back(name);
  words.groups = {"Sequential(", "fixpoint(", "repeat<2>("};
  for (const std::string& name : PipelineNames(registry)) words.groups.push_back(name);
  for (const CatalogEntry& instrument : Instruments(registry)) words.instruments.push_back(instrument.name);
  for (const std::string& path : ConfigPaths(registry)) words.configs.push_back(path + '=');
  return words;
}

// The text with each @KEY@ replaced.
std::string Fill(std::string_view script, std::vector<std::pair<std::string_view, std::string>> values) {
  std::string out(script);
  for (const auto& [key, value] : values) {
    const std::string mark = fmt::format("@{}@", key);
    const size_t at = out.find(mark);
    IROPT_CHECK(at != std::string::npos, "the script has no {}", mark);
    out.replace(at, mark.size(), value);
  }
  return out;
}

// How the scripts name what a value is completed with.
std::string CompletionWord(const Flag& flag) {
  switch (flag.value.completion) {
    case Completion::None: return "none";
    case Completion::File: return "file";
    case Completion::Passes: return "passes";
    case Completion::Pipeline: return "pipeline";
    case Completion::Config: return "config";
    case Completion::Instruments: return "instruments";
    case Completion::Formats: {
      std::vector<std::string_view> names;
      for (const InputFormat& format : InputFormats()) names.push_back(format.name);
      return fmt::format("words {}", fmt::join(names, " "));
    }
    case Completion::Words: return fmt::format("words {}", fmt::join(WordsOf(flag.value), " "));
  }
  IROPT_UNREACHABLE("completion {}", static_cast<int>(flag.value.completion));
}

// Flags as one types them: those with a value end in '='. The short forms come first.
std::vector<std::string> TypedFlags() {
  std::vector<std::string> flags = {"-o", "-h", "-O0", "-O1", "-O2", "-O3", "-O4"};
  for (const Flag& flag : Flags()) {
    const bool may_be_alone = !TakesNextWord(flag.value);
    if (may_be_alone) flags.push_back(fmt::format("-{}", flag.name));
    if (flag.value.kind != ValueKind::Switch) flags.push_back(fmt::format("-{}=", flag.name));
  }
  return flags;
}

// Lines of a case statement of a shell: which flag is completed how.
std::string CaseLines() {
  std::string lines = "    o) echo file ;;\n";
  for (const Flag& flag : Flags()) {
    if (flag.value.kind == ValueKind::Switch) continue;
    lines += fmt::format("    {}) echo {} ;;\n", flag.name, CompletionWord(flag));
  }
  return lines;
}

// Flags whose value may be the next word, as alternatives of a case statement.
std::string FlagsBeforeValues() {
  std::string names = "o";
  for (const Flag& flag : Flags()) {
    if (TakesNextWord(flag.value)) names += fmt::format("|{}", flag.name);
  }
  return names;
}

std::string Words(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, "\n")); }

std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + '\'';
}

// As zsh's _describe takes them: "name:meaning".
std::string ZshFlags() {
  std::string lines = "    '-o:where the module goes'\n    '-h:print the help'\n";
  for (int level = 0; level <= 4; ++level) lines += fmt::format("    '-O{}:optimize at level {}'\n", level, level);
  for (const Flag& flag : Flags()) {
    if (!TakesNextWord(flag.value)) lines += "    " + Quoted(fmt::format("-{}:{}", flag.name, flag.summary)) + '\n';
    if (flag.value.kind != ValueKind::Switch) {
      lines += "    " + Quoted(fmt::format("-{}=:{}", flag.name, flag.summary)) + '\n';
    }
  }
  return lines;
}

std::string FishFlags() {
  std::string lines =
      "complete -c ir-opt -s o -r -F -d 'where the module goes'\ncomplete -c ir-opt -s h -d 'print the help'\n";
  for (int level = 0; level <= 4; ++level) {
    lines += fmt::format("complete -c ir-opt -o O{} -d 'optimize at level {}'\n", level, level);
  }
  for (const Flag& flag : Flags()) {
    const std::string description = Quoted(flag.summary);
    lines += fmt::format("complete -c ir-opt -o {} -d {}\n", flag.name, description);
  }
  return lines;
}

// fish shows the meaning of a word behind a tab.
std::string FishCases() {
  std::string lines = "        case o\n            echo file\n";
  for (const Flag& flag : Flags()) {
    if (flag.value.kind == ValueKind::Switch) continue;
    std::string words = CompletionWord(flag);
    lines += fmt::format("        case {}\n            echo {}\n", flag.name, words);
  }
  return lines;
}

}  // namespace

std::string RenderCompletion(std::string_view shell, const PassRegistry& registry) {
  const Vocabulary words = MakeVocabulary(registry);
  std::vector<std::pair<std::string_view, std::string>> values = {{"PASSES", Words(words.passes)},
                                                                  {"GROUPS", Words(words.groups)},
                                                                  {"INSTRUMENTS", Words(words.instruments)},
                                                                  {"CONFIGS", Words(words.configs)}};
  if (shell == "fish") {
    values.insert(values.end(), {{"FLAGS", FishFlags()}, {"CASES", FishCases()}});
    return Fill(kFishScript, std::move(values));
  }
  values.insert(values.end(), {{"CASES", CaseLines()}, {"BEFORE_VALUES", FlagsBeforeValues()}});
  const bool zsh = shell == "zsh";
  values.emplace_back("FLAGS", zsh ? ZshFlags() : Words(TypedFlags()));
  return Fill(zsh ? kZshScript : kBashScript, std::move(values));
}

}  // namespace iropt
