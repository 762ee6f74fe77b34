// Random pipelines survive every way of printing and parsing them.
#include <random>

#include "catch.h"
#include "helpers.h"
#include "iropt/pass/pipeline.h"

using namespace iropt;

namespace {

using Kind = PipelineItem::Kind;

constexpr uint32_t kPipelines = 2000;

// A random pipeline of any shape, including names and values that are hard to quote.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  Pipeline Make(int depth) {
    Pipeline items(Below(4));
    for (PipelineItem& item : items) MakeItem(item, depth);
    return items;
  }

  PipelineFile MakeFile() {
    PipelineFile file;
    if (Below(2) == 0) file.opt_level = Below(kMaxOptLevel + 1);
    for (int i = Below(3); i > 0; --i) file.disabled.push_back({Name(), {}});
    for (int i = Below(3); i > 0; --i) file.required.push_back({Name(), {}});
    for (int i = Below(3); i > 0; --i) file.plugins.push_back({AnyString(), {}});
    file.config = Options();
    if (Below(4) != 0) file.passes = Make(3);
    for (int i = Below(3); i > 0; --i) file.instruments.push_back({Name(), Options(), {}});
    return file;
  }

 private:
  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  std::string AnyString() {
    std::string text(1 + Below(5), ' ');
    for (char& c : text) c = static_cast<char>(1 + Below(126));
    return Below(4) == 0 ? text + "\u00e9\u4e2d" : text;
  }

  std::string Name() {
    static const char* const kNames[] = {"FoldConstant", "tir.Simplify", "A",   "print-after", "Sequential",
                                         "fixpoint",     "default",      "O2",  "12",          "true",
                                         "a b",          "\"",           "x,y", "p(q)",        "<"};
    return Below(8) == 0 ? AnyString() : kNames[Below(std::size(kNames))];
  }

  OptionValue::Dict Options() {
    OptionValue::Dict options;
    for (int i = Below(4); i > 0; --i) {
      options.push_back({(Below(5) == 0 ? "odd key " : "key") + std::to_string(i), MakeValue(3), {}});
    }
    return options;
  }

  void MakeItem(PipelineItem& item, int depth) {
    item.kind = depth == 0 ? Kind::Pass : static_cast<Kind>(Below(5));
    if (item.kind == Kind::Pass) {
      item.name = Name();
      item.options = Options();
    } else if (item.kind == Kind::Named) {
      item.name = Below(2) == 0 ? "default" : "my.pipeline-2";
      item.count = Below(kMaxOptLevel + 1);
    } else {
      item.children = Make(depth - 1);
      if (item.kind != Kind::Sequential) item.count = Below(20) == 0 ? kMaxRounds : 1 + Below(9);
      if (item.kind == Kind::Sequential && Below(2) == 0) item.name = Name();
      if (item.kind == Kind::Sequential && Below(2) == 0) item.opt_level = Below(kMaxOptLevel + 1);
    }
  }

  double AnyDouble() {
    static const double kDoubles[] = {0.0, -0.0, 1.0, -2.0, 0.1, 1e300, -1e-300, 5e-324, 1e22, 123456789012345680.0};
    return Below(3) == 0 ? Below(1000) / 7.0 : kDoubles[Below(std::size(kDoubles))];
  }

  OptionValue MakeValue(int depth) {
    static const char* const kStrings[] = {"word", "",  "true", "null",    "1",   "-1.5",  "1e5", "inf", "nan",
                                           "-",    ".", "+5",   "float32", "a b", "x=y;z", "[",   "\\",  "\n"};
    switch (Below(depth > 0 ? 8 : 6)) {
      case 0: return {};
      case 1: return Below(2) == 0;
      case 2: return Below(4) == 0 ? INT64_MIN + Below(2) : int64_t{Below(1000)} - 500;
      case 3: return AnyDouble();
      case 4: return kStrings[Below(std::size(kStrings))];
      case 5: return AnyString();
      case 6: {
        OptionValue::List list;
        for (int i = Below(4); i > 0; --i) list.push_back(MakeValue(depth - 1));
        return list;
      }
      default: return Options();
    }
  }

  std::mt19937 random_;
};

Pipeline FromText(const std::string& text) {
  Reports reports;
  std::optional<Pipeline> pipeline = ParsePipeline(text, 1, reports.engine());
  INFO(text);
  REQUIRE(reports.texts() == Log{});
  REQUIRE(pipeline);
  return *std::move(pipeline);
}

PipelineFile FromFile(const std::string& text) {
  Reports reports;
  std::optional<PipelineFile> file = ParsePipelineFile(text, 1, reports.engine());
  INFO(text);
  REQUIRE(reports.texts() == Log{});
  REQUIRE(file);
  return *std::move(file);
}

Pipeline FromJson(const std::string& list) {
  const PipelineFile file = FromFile("{\"passes\": " + list + "}");
  REQUIRE(file.passes);
  return *file.passes;
}

bool SameNames(const std::vector<LocatedName>& a, const std::vector<LocatedName>& b) {
  return std::ranges::equal(a, b, {}, &LocatedName::name, &LocatedName::name);
}

void CheckSame(const PipelineFile& a, const PipelineFile& b) {
  CHECK(a.opt_level == b.opt_level);
  CHECK(SameNames(a.disabled, b.disabled));
  CHECK(SameNames(a.required, b.required));
  CHECK(SameNames(a.plugins, b.plugins));
  CHECK(a.config == b.config);
  CHECK(a.passes == b.passes);
  REQUIRE(a.instruments.size() == b.instruments.size());
  for (size_t i = 0; i < a.instruments.size(); ++i) {
    CHECK(a.instruments[i].name == b.instruments[i].name);
    CHECK(a.instruments[i].options == b.instruments[i].options);
  }
}

// White space where the syntax allows it.
std::string Loosen(const std::string& text) {
  std::string loose;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    const bool separates = !in_string && std::string_view(",;=<>()[]{}:").find(c) != std::string_view::npos;
    loose += separates ? std::string(" ") + c + "\n\t" : std::string(1, c);
    if (in_string && c == '\\') loose += text[++i];
  }
  return loose;
}

}  // namespace

TEST_CASE("every pipeline reads back from its string") {
  for (uint32_t seed = 0; seed < kPipelines; ++seed) {
    const Pipeline pipeline = Generator(seed).Make(4);
    const std::string text = PrintPipeline(pipeline);
    const Pipeline again = FromText(text);
    CHECK(again == pipeline);
    CHECK(PrintPipeline(again) == text);
    CHECK(FromText(Loosen(text)) == pipeline);
  }
}

TEST_CASE("every pipeline reads back from its JSON") {
  for (uint32_t seed = 0; seed < kPipelines; ++seed) {
    const Pipeline pipeline = Generator(seed).Make(4);
    const std::string json = PrintPipelineJson(pipeline);
    const Pipeline again = FromJson(json);
    CHECK(again == pipeline);
    CHECK(PrintPipelineJson(again) == json);
  }
}

TEST_CASE("strings and JSON are equivalent") {
  for (uint32_t seed = 0; seed < kPipelines; ++seed) {
    const std::string text = PrintPipeline(Generator(seed).Make(4));
    const std::string json = PrintPipelineJson(FromText(text));
    CHECK(PrintPipeline(FromJson(json)) == text);
    // A file may also contain a pipeline string unchanged.
    CHECK(PrintPipelineJson(FromJson(ToJson(OptionValue(text)))) == json);
  }
}

TEST_CASE("every pipeline file reads back") {
  for (uint32_t seed = 0; seed < kPipelines; ++seed) {
    const PipelineFile file = Generator(seed).MakeFile();
    const std::string text = PrintPipelineFile(file);
    const PipelineFile again = FromFile(text);
    CheckSame(again, file);
    CHECK(PrintPipelineFile(again) == text);
  }
}
