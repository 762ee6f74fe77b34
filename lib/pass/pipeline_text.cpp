// Reading of pipeline strings.
#include "pipeline_text.h"

#include <fmt/format.h>

#include <utility>

#include "iropt/pass/pipeline.h"
#include "iropt/support/edit_distance.h"
#include "reader.h"

namespace iropt {

namespace {

class PipelineReader {
 public:
  // The names of passes may be misspelled keywords; those of instruments, of which "report" is near "repeat", are not.
  enum class Names : uint8_t { OfPasses, OfInstruments };

  PipelineReader(Reader reader, DiagnosticEngine& diagnostics, Names names = Names::OfPasses,
                 std::optional<int> level = std::nullopt)
      : reader_(reader), diagnostics_(diagnostics), names_(names), level_(level) {}

  std::optional<Pipeline> Read() {
    Pipeline pipeline;
    if (reader_.AtEnd()) return pipeline;
    pipeline = ReadItems();
    if (!reader_.failed() && !reader_.AtEnd()) reader_.Error("expected ',' or the end of the pipeline");
    if (reader_.failed() || wrong_option_) return std::nullopt;
    return pipeline;
  }

 private:
  Pipeline ReadItems() {
    Pipeline items;
    do {
      items.push_back(ReadItem());
    } while (reader_.Consume(','));
    return items;
  }

  PipelineItem ReadItem() {
    PipelineItem item;
    const bool quoted = reader_.Peek() == '"';
    const size_t begin = reader_.position();
    item.name = ReadName();
    item.span = reader_.SpanFrom(begin);
    if (reader_.failed()) return item;
    if (item.name.empty()) {
      reader_.Error("expected the name of a pass");
    } else if (quoted) {
      ReadOptionsOfPass(item);
    } else if (item.name == "Sequential") {
      ReadSequential(item);
    } else if (item.name == "fixpoint") {
      ReadRounds(item, PipelineItem::Kind::Fixpoint);
    } else if (item.name == "repeat") {
      ReadRounds(item, PipelineItem::Kind::Repeat);
    } else if (item.name == kDefaultPipeline || IsBeforeLevel()) {
      ReadNamed(item, begin);
    } else if (!CheckKeyword(item)) {
      ReadOptionsOfPass(item);
    }
    return item;
  }

  std::string ReadName() {
    if (reader_.Peek() != '"') return std::string(reader_.TakeWord());
    return reader_.ReadString().value_or("");
  }

  // Returns the keyword if the name of a pass seems to be a misspelled one, which is an error.
  bool CheckKeyword(const PipelineItem& item) {
    if (names_ == Names::OfInstruments) return false;
    const char next = reader_.Peek();
    if (next != '(' && next != '<') return false;
    const std::optional<std::string_view> meant = NearestName(item.name, kPipelineKeywords);
    if (!meant || (next == '<' && item.name.size() != meant->size())) return false;
    reader_.ErrorAt(item.span, fmt::format("'{}' is not a group of passes; did you mean '{}'?", item.name, *meant));
    return true;
  }

  void ReadOptionsOfPass(PipelineItem& item) {
    ReadOptions(item.options);
    if (reader_.Peek() != '(') return;
    if (const std::optional<std::string> pass = NameInPython(item.name)) {
      reader_.ErrorAt(item.span, fmt::format("'{}(' begins a call in Python: expected the name of the pass, '{}'",
                                             item.name, *pass));
      return;
    }
    reader_.ErrorAt(item.span,
                    fmt::format("'{}' is not a group of passes: expected Sequential, fixpoint or repeat", item.name));
  }

  // Returns the name of the pass that a function of TVM makes: "tir.Simplify" for "tvm.tir.transform.Simplify".
  static std::optional<std::string> NameInPython(std::string_view function) {
    constexpr std::string_view kModule = "transform.";
    const size_t at = function.find(kModule);
    if (at == std::string_view::npos || (at != 0 && function[at - 1] != '.')) return std::nullopt;
    const bool is_tir = function.substr(0, at).ends_with("tir.");
    return fmt::format("{}{}", is_tir ? "tir." : "", function.substr(at + kModule.size()));
  }

  void ReadSequential(PipelineItem& item) {
    item.kind = PipelineItem::Kind::Sequential;
    item.name.clear();
    OptionValue::Dict options;
    ReadOptions(options);
    for (const OptionValue::Entry& option : options) ReadOptionOfSequential(option, item);
    ReadChildren(item);
  }

  void ReadOptionOfSequential(const OptionValue::Entry& option, PipelineItem& item) {
    static constexpr std::string_view kOptions[] = {"name", "opt_level", "at_level"};
    const std::string* name = option.value.as_string();
    const int64_t* level = option.value.as_int();
    if (option.key == "name") {
      if (name != nullptr && !name->empty()) {
        item.name = *name;
      } else {
        WrongOption(option, "'name' of a Sequential must be a string that is not empty");
      }
    } else if (option.key == "opt_level" || option.key == "at_level") {
      if (level != nullptr && *level >= 0 && *level <= kMaxOptLevel) {
        (option.key == "opt_level" ? item.opt_level : item.at_level) = static_cast<int>(*level);
      } else {
        WrongOption(option,
                    fmt::format("'{}' of a Sequential must be an integer from 0 to {}", option.key, kMaxOptLevel));
      }
    } else {
      ReportUnknownName(fmt::format("a Sequential has no option '{}'", option.key), option.key, kOptions,
                        "unknown-option", option.key_span, diagnostics_);
      wrong_option_ = true;
    }
  }

  void WrongOption(const OptionValue::Entry& option, std::string message) {
    diagnostics_.Error(option.value.span(), "wrong-option-type", std::move(message));
    wrong_option_ = true;
  }

  void ReadRounds(PipelineItem& item, PipelineItem::Kind kind) {
    item.kind = kind;
    const bool may_be_left_out = kind == PipelineItem::Kind::Fixpoint;
    const std::string name = std::exchange(item.name, {});
    item.count = kDefaultFixpointRounds;
    if (reader_.Peek() == '<' || !may_be_left_out) {
      reader_.Expect('<', fmt::format("and a number after '{}'", name));
      item.count = static_cast<int>(ReadCount());
      reader_.Expect('>', "after the number");
    }
    ReadChildren(item);
  }

  int64_t ReadCount() {
    if (reader_.failed()) return 1;
    reader_.AtEnd();
    const size_t begin = reader_.position();
    const std::optional<OptionValue> value = reader_.ReadValue();
    if (!value) return 1;
    const int64_t* count = value->as_int();
    if (count != nullptr && *count >= 1 && *count <= kMaxRounds) return *count;
    reader_.ErrorAt(reader_.SpanFrom(begin), fmt::format("expected an integer from 1 to {}", kMaxRounds));
    return 1;
  }

  // Returns whether "<O2>" comes next.
  bool IsBeforeLevel() const {
    Reader ahead = reader_;
    if (!ahead.Consume('<') || ahead.AtEnd()) return false;
    return IsLevel(ahead.TakeWord()) && ahead.Consume('>');
  }

  void ReadNamed(PipelineItem& item, size_t item_begin) {
    item.kind = PipelineItem::Kind::Named;
    if (level_ && reader_.Peek() != '<') {
      item.count = *level_;
      return;
    }
    if (!reader_.Expect('<', fmt::format("and a level after '{0}', as in '{0}<O{1}>'", item.name, kDefaultOptLevel)))
      return;
    reader_.AtEnd();
    const size_t begin = reader_.position();
    const std::string_view level = reader_.TakeWord();
    if (!IsLevel(level)) {
      reader_.ErrorAt(reader_.SpanFrom(begin), fmt::format("expected a level from O0 to O{}", kMaxOptLevel));
      return;
    }
    item.count = level[1] - '0';
    reader_.Expect('>', "after the level");
    item.span = reader_.SpanFrom(item_begin);
  }

  void ReadChildren(PipelineItem& item) {
    reader_.Peek();
    const size_t begin = reader_.position();
    if (!reader_.Expect('(', "and passes") || !reader_.Enter()) return;
    const SourceSpan opened = reader_.SpanFrom(begin);
    if (!reader_.Consume(')')) {
      item.children = ReadItems();
      reader_.ExpectClosing(')', "or ','", opened);
    }
    reader_.Leave();
  }

  void ReadOptions(OptionValue::Dict& options) {
    reader_.Peek();
    const size_t begin = reader_.position();
    if (!reader_.Consume('<')) return;
    const SourceSpan opened = reader_.SpanFrom(begin);
    if (reader_.Consume('>')) return;
    do {
      ReadOption(options);
    } while (reader_.Consume(';'));
    reader_.ExpectClosing('>', "or ';' after an option", opened);
  }

  void ReadOption(OptionValue::Dict& options) {
    reader_.AtEnd();
    const size_t begin = reader_.position();
    std::string key = ReadName();
    const SourceSpan key_span = reader_.SpanFrom(begin);
    if (reader_.failed()) return;
    if (key.empty()) {
      reader_.Error("expected an option, name=value");
      return;
    }
    for (const OptionValue::Entry& earlier : options) {
      if (earlier.key == key) reader_.ErrorAt(key_span, fmt::format("option '{}' is given twice", key));
    }
    // As in LLVM's pipelines, a name alone switches something on.
    const char next = reader_.Peek();
    if (next == ';' || next == '>') {
      OptionValue on = true;
      on.set_span(key_span);
      return options.push_back({std::move(key), std::move(on), key_span});
    }
    if (!reader_.Expect('=', fmt::format("and a value after '{}'", key))) return;
    std::optional<OptionValue> value = reader_.ReadValue();
    if (value) options.push_back({std::move(key), *std::move(value), key_span});
  }

  Reader reader_;
  DiagnosticEngine& diagnostics_;
  const Names names_;
  const std::optional<int> level_;
  bool wrong_option_ = false;  // of a Sequential; those of passes are checked when they are created
};

}  // namespace

std::optional<Pipeline> ParsePipeline(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics,
                                      std::optional<int> level) {
  const Reader reader(text, base, Reader::Words::Bare, diagnostics);
  return PipelineReader(reader, diagnostics, PipelineReader::Names::OfPasses, level).Read();
}

std::optional<Pipeline> ParsePipelineAt(std::string_view text, SourceSpan whole, DiagnosticEngine& diagnostics) {
  return PipelineReader(Reader(text, whole, Reader::Words::Bare, diagnostics), diagnostics).Read();
}

std::optional<Pipeline> ParseEmbeddedPipeline(std::string_view text, SourceSpan quoted, DiagnosticEngine& diagnostics) {
  if (quoted.end - quoted.begin == text.size() + 2) return ParsePipeline(text, quoted.begin + 1, diagnostics);
  return ParsePipelineAt(text, quoted, diagnostics);
}

std::optional<std::vector<InstrumentSpec>> ParseInstruments(std::string_view text, uint32_t base,
                                                            DiagnosticEngine& diagnostics) {
  const Reader reader(text, base, Reader::Words::Bare, diagnostics);
  std::optional<Pipeline> items = PipelineReader(reader, diagnostics, PipelineReader::Names::OfInstruments).Read();
  if (!items) return std::nullopt;
  std::vector<InstrumentSpec> specs;
  for (PipelineItem& item : *items) {
    if (item.kind != PipelineItem::Kind::Pass) {
      diagnostics.Error(item.span, "pipeline-syntax", "expected an instrument, not a group of passes");
      return std::nullopt;
    }
    specs.push_back({std::move(item.name), std::move(item.options), item.span});
  }
  return specs;
}

}  // namespace iropt
