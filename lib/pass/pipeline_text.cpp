// Reading of pipeline strings.
#include "pipeline_text.h"

#include <fmt/format.h>

#include <utility>

#include "iropt/pass/pipeline.h"
#include "reader.h"

namespace iropt {

namespace {

class PipelineReader {
 public:
  explicit PipelineReader(Reader reader) : reader_(reader) {}

  std::optional<Pipeline> Read() {
    Pipeline pipeline;
    if (reader_.AtEnd()) return pipeline;
    pipeline = ReadItems();
    if (!reader_.failed() && !reader_.AtEnd()) reader_.Error("expected ',' or the end of the pipeline");
    if (reader_.failed()) return std::nullopt;
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
    reader_.AtEnd();
    const size_t begin = reader_.position();
    item.name = reader_.TakeWord();
    item.span = reader_.SpanFrom(begin);
    if (item.name.empty()) {
      reader_.Error("expected the name of a pass");
    } else if (item.name == "Sequential") {
      ReadSequential(item);
    } else if (item.name == "fixpoint") {
      ReadRounds(item, PipelineItem::Kind::Fixpoint);
    } else if (item.name == "repeat") {
      ReadRounds(item, PipelineItem::Kind::Repeat);
    } else if (item.name == "default") {
      ReadDefault(item);
    } else {
      ReadOptions(item.options);
      if (reader_.Peek() == '(') reader_.Error(fmt::format("'{}' takes no passes", item.name));
    }
    return item;
  }

  void ReadSequential(PipelineItem& item) {
    item.kind = PipelineItem::Kind::Sequential;
    item.name.clear();
    Value::Dict options;
    ReadOptions(options);
    for (const Value::Entry& option : options) {
      const std::string* name = option.value.as_string();
      const int64_t* level = option.value.as_int();
      if (option.key == "name" && name != nullptr && !name->empty()) {
        item.name = *name;
      } else if (option.key == "opt_level" && level != nullptr && *level >= 0 && *level <= kMaxOptLevel) {
        item.opt_level = static_cast<int>(*level);
      } else {
        reader_.ErrorAt(option.key_span, fmt::format("a Sequential takes the options 'name', a string, and "
                                                     "'opt_level', an integer from 0 to {}",
                                                     kMaxOptLevel));
      }
    }
    ReadChildren(item);
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
    const std::optional<Value> value = reader_.ReadValue();
    if (!value) return 1;
    const int64_t* count = value->as_int();
    if (count != nullptr && *count >= 1 && *count <= kMaxRounds) return *count;
    reader_.ErrorAt(reader_.SpanFrom(begin), fmt::format("expected an integer from 1 to {}", kMaxRounds));
    return 1;
  }

  void ReadDefault(PipelineItem& item) {
    item.kind = PipelineItem::Kind::Default;
    item.name.clear();
    if (!reader_.Expect('<', "and a level after 'default'")) return;
    reader_.AtEnd();
    const size_t begin = reader_.position();
    const std::string_view level = reader_.TakeWord();
    if (level.size() != 2 || level[0] != 'O' || level[1] < '0' || level[1] > '0' + kMaxOptLevel) {
      reader_.ErrorAt(reader_.SpanFrom(begin), fmt::format("expected a level from O0 to O{}", kMaxOptLevel));
      return;
    }
    item.count = level[1] - '0';
    reader_.Expect('>', "after the level");
  }

  void ReadChildren(PipelineItem& item) {
    if (!reader_.Expect('(', "and passes") || !reader_.Enter()) return;
    if (!reader_.Consume(')')) {
      item.children = ReadItems();
      if (!reader_.failed()) reader_.Expect(')', "or ','");
    }
    reader_.Leave();
  }

  void ReadOptions(Value::Dict& options) {
    if (!reader_.Consume('<') || reader_.Consume('>')) return;
    do {
      ReadOption(options);
    } while (reader_.Consume(';'));
    if (!reader_.failed()) reader_.Expect('>', "or ';' after an option");
  }

  void ReadOption(Value::Dict& options) {
    reader_.AtEnd();
    const size_t begin = reader_.position();
    std::string key(reader_.TakeWord());
    const SourceSpan key_span = reader_.SpanFrom(begin);
    if (key.empty()) {
      reader_.Error("expected an option, name=value");
      return;
    }
    for (const Value::Entry& earlier : options) {
      if (earlier.key == key) reader_.ErrorAt(key_span, fmt::format("option '{}' is given twice", key));
    }
    if (!reader_.Expect('=', fmt::format("and a value after '{}'", key))) return;
    std::optional<Value> value = reader_.ReadValue();
    if (value) options.push_back({std::move(key), *std::move(value), key_span});
  }

  Reader reader_;
};

}  // namespace

std::optional<Pipeline> ParsePipeline(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics) {
  return PipelineReader(Reader(text, base, Reader::Words::Bare, diagnostics)).Read();
}

std::optional<Pipeline> ParseEmbeddedPipeline(std::string_view text, SourceSpan quoted, DiagnosticEngine& diagnostics) {
  if (quoted.end - quoted.begin == text.size() + 2) return ParsePipeline(text, quoted.begin + 1, diagnostics);
  return PipelineReader(Reader(text, quoted, Reader::Words::Bare, diagnostics)).Read();
}

}  // namespace iropt
