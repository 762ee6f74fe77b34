#include "iropt/lsp/script_analysis.h"

#include <fmt/format.h>

#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "catch.h"
#include "iropt/text/script/printer.h"

namespace iropt::lsp {
namespace {

std::string Function(std::string_view name, std::string_view operand = "x") {
  return fmt::format(
      "    @R.function\n    def {}(x: R.Tensor((\"n\", 4), \"float32\")) -> R.Tensor((\"n\", 4), \"float32\"):\n"
      "        n = T.int64()\n        y: R.Tensor((n, 4), \"float32\") = R.add(x, {})\n        return y\n",
      name, operand);
}

std::string Module(const std::vector<std::string>& functions) {
  std::string text = "@I.ir_module\nclass Module:\n";
  for (const std::string& function : functions) text += function;
  return text;
}

size_t NumNew(const ScriptAnalysis& analysis) {
  size_t count = 0;
  for (const FunctionPart& function : analysis.parts().at(0).reading->functions()) count += function.is_new;
  return count;
}

// The texts of all places of the symbol at the offset, with '=' before definitions.
std::vector<std::string> PlacesOf(const ScriptAnalysis& analysis, const TextDocument& document, std::string_view at) {
  const FoundOccurrence found = analysis.Find(static_cast<uint32_t>(document.text().find(at)));
  std::vector<std::string> places;
  REQUIRE(found.occurrence);
  for (const Occurrence& occurrence : found.function->reading->occurrences) {
    if (occurrence.kind > OccurrenceKind::kUse || occurrence.symbol != found.occurrence->symbol) continue;
    const TextSpan span = found.part->SpanOf(*found.function, occurrence);
    const Position position = document.PositionOf(span.begin);
    places.push_back(fmt::format("{}{}:{}", occurrence.kind == OccurrenceKind::kDefinition ? "=" : "", position.line,
                                 position.character));
  }
  return places;
}

TEST_CASE("ScriptAnalysis reads only functions that changed", "[lsp]") {
  TextDocument document(Module({Function("f"), Function("g"), Function("h")}));
  ScriptAnalysis analysis(1);
  analysis.Update(document);
  CHECK(NumNew(analysis) == 3);
  CHECK(analysis.Problems().empty());
  const auto at = static_cast<uint32_t>(document.text().find("R.add(x, x)", document.text().find("def g")));
  document.Replace({at + 9, at + 10}, "zz");
  analysis.Update(document);
  CHECK(NumNew(analysis) == 1);
  const std::vector<Problem> problems = analysis.Problems();
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].kind == "unknown-name");
  CHECK(document.Text(problems[0].span) == "zz");
  // The message moves with the text before it.
  document.Replace({0, 0}, "# a comment\n");
  analysis.Update(document);
  const std::vector<Problem> moved = analysis.Problems();
  REQUIRE(moved.size() == 1);
  CHECK(document.Text(moved[0].span) == "zz");
}

TEST_CASE("ScriptAnalysis keeps what it read of many functions", "[lsp]") {
  std::vector<std::string> functions;
  for (int i = 0; i < 21'000; ++i) functions.push_back(Function(fmt::format("f{}", i)));
  TextDocument document(Module(functions));
  ScriptAnalysis analysis(1);
  analysis.Update(document);
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<uint32_t>(document.text().find("x)", document.text().find("def f100(")));
    document.Replace({at, at + 1}, "x");
    document.Replace({at, at}, " ");
    analysis.Update(document);
    CHECK(NumNew(analysis) == 1);
  }
}

TEST_CASE("ScriptAnalysis keeps what it read when comments between functions change", "[lsp]") {
  TextDocument document("# comment\n" + Module({Function("f"), "    # comment\n", Function("g")}));
  ScriptAnalysis analysis(1);
  analysis.Update(document);
  document.Replace({2, 4}, "\n\n# another");
  analysis.Update(document);
  CHECK(NumNew(analysis) == 0);
  // Those of a header move what is in the function.
  const auto header = static_cast<uint32_t>(document.text().find("    def g"));
  document.Replace({header, header}, "    # comment\n");
  analysis.Update(document);
  CHECK(NumNew(analysis) == 1);
  document.Replace({header, header + 14}, "");
  analysis.Update(document);
  const auto at = static_cast<uint32_t>(document.text().rfind("# comment"));
  document.Replace({at, at + 1}, "I.module_attrs({\"a\": 1})  #");
  analysis.Update(document);
  CHECK(NumNew(analysis) == 2);
  // What comments say about the version counts.
  document.Replace({0, 0}, "# from tvm.script import tirx as T\n");
  analysis.Update(document);
  CHECK(NumNew(analysis) == 2);
}

TEST_CASE("ScriptAnalysis follows what is wrong in a macro", "[lsp]") {
  TextDocument document(
      "@T.macro\ndef m(A):\n    T.evaluate(A[0])\n    T.evaluate(missing)\n\n@T.prim_func\n"
      "def f(A: T.Buffer((4,), \"int32\")):\n    m(A)\n");
  ScriptAnalysis analysis(1);
  const auto place = [&] {
    analysis.Update(document);
    const std::vector<Problem> problems = analysis.Problems();
    REQUIRE(!problems.empty());
    return document.Text(problems[0].span);
  };
  CHECK(place() == "missing");
  document.Replace({0, 0}, "# comment\n");
  CHECK(place() == "missing");
  const auto line = static_cast<uint32_t>(document.text().find("    T.evaluate(missing"));
  document.Replace({line, line}, "    # comment\n");
  CHECK(place() == "missing");
}

TEST_CASE("ScriptAnalysis reads functions again whose surroundings changed", "[lsp]") {
  TextDocument document(Module({Function("f"), Function("g", "cls.f(x)")}));
  document.Replace(
      {static_cast<uint32_t>(document.text().find("cls.f")), static_cast<uint32_t>(document.text().find("cls.f")) + 3},
      "Module");
  ScriptAnalysis analysis(1);
  analysis.Update(document);
  CHECK(analysis.Problems().empty());
  const auto at = static_cast<uint32_t>(document.text().find("def f"));
  document.Replace({at + 4, at + 5}, "renamed");
  analysis.Update(document);
  REQUIRE(analysis.Problems().size() == 1);
  CHECK(analysis.Problems()[0].kind == "unknown-function");
}

TEST_CASE("Occurrences know definitions of symbolic variables, branches and outputs", "[lsp]") {
  TextDocument document(Module({Function("f"),
                                "    @R.function\n"
                                "    def g(c: R.Tensor((), \"bool\"), x: R.Tensor((4,), \"float32\")):\n"
                                "        if c:\n"
                                "            y = R.exp(x)\n"
                                "        else:\n"
                                "            y = R.abs(x)\n"
                                "        with R.dataflow():\n"
                                "            gv = R.negative(y)\n"
                                "            R.output(gv)\n"
                                "        return gv\n"}));
  ScriptAnalysis analysis(1);
  analysis.Update(document);
  CHECK(analysis.Problems().empty());
  CHECK(PlacesOf(analysis, document, "n = T.int64") == std::vector<std::string>{"3:24", "3:58", "=4:8", "5:21"});
  CHECK(PlacesOf(analysis, document, "y = R.exp") == std::vector<std::string>{"=10:12", "=12:12", "14:28"});
  CHECK(PlacesOf(analysis, document, "gv = R.neg") == std::vector<std::string>{"=14:12", "15:21", "16:15"});
}

TEST_CASE("Occurrences of PrimFuncs", "[lsp]") {
  TextDocument document(
      "@T.prim_func\n"
      "def f(A: T.Buffer((16,), \"float32\"), b: T.handle):\n"
      "    n = T.int64()\n"
      "    B = T.match_buffer(b, (n,))\n"
      "    for i in range(16):\n"
      "        with T.block(\"copy\"):\n"
      "            v = T.axis.spatial(16, i)\n"
      "            B[v] = A[v] + T.Cast(\"float32\", n)\n");
  ScriptAnalysis analysis(1);
  analysis.Update(document);
  CHECK(analysis.Problems().empty());
  CHECK(PlacesOf(analysis, document, "A: T.Buffer") == std::vector<std::string>{"=1:6", "7:19"});
  CHECK(PlacesOf(analysis, document, "B = T.match") == std::vector<std::string>{"=3:4", "7:12"});
  CHECK(PlacesOf(analysis, document, "i in") == std::vector<std::string>{"=4:8", "6:35"});
  CHECK(PlacesOf(analysis, document, "v = T.axis") == std::vector<std::string>{"=6:12", "7:14", "7:21"});
  CHECK(PlacesOf(analysis, document, "n = T.int64") == std::vector<std::string>{"=2:4", "3:27", "7:44"});
}

TEST_CASE("ScriptAnalysis takes the names of functions without a module from their symbols", "[lsp]") {
  const TextDocument document(
      "@R.function\ndef f(x: R.Tensor((4,), \"float32\")):\n    R.func_attr({\"global_symbol\": \"entry\"})\n    "
      "return x\n");
  ScriptAnalysis analysis(1);
  analysis.Update(document);
  CHECK(analysis.Problems().empty());
}

TEST_CASE("ScriptAnalysis reports a block without a beginning once", "[lsp]") {
  const TextDocument document(
      "@Ix: .ir_module\nclass Module:\n    @R.function\n    def f():\n        y = 1\nx:\n   z\n    @R.function\n    "
      "def g():\n"
      "        return 1\n");
  ScriptAnalysis analysis(1);
  analysis.Update(document);
  CHECK(analysis.Problems().size() < 12);
}

// What an analysis says must not depend on what the text was before.
TEST_CASE("ScriptAnalysis finds the same as a new one", "[lsp]") {
  const std::string alphabet = "xynR.T(),:= \n\"4f#@";
  std::mt19937 random(11);
  const std::string original = Module({Function("f"), Function("g", "Module.f(x)"), Function("h")});
  TextDocument document(original);
  ScriptAnalysis analysis(1);
  for (int i = 0; i < 600; ++i) {
    if (i % 40 == 0) document = TextDocument(original);
    const auto begin = static_cast<uint32_t>(random() % (document.size() + 1));
    const uint32_t end = std::min<uint32_t>(document.size(), begin + random() % 3);
    document.Replace({begin, end}, std::string(random() % 2, alphabet[random() % alphabet.size()]));
    analysis.Update(document);
    ScriptAnalysis fresh(1);
    fresh.Update(document);
    const auto describe = [](const ScriptAnalysis& a) {
      std::vector<std::string> described;
      for (const Problem& p : a.Problems())
        described.push_back(fmt::format("{}-{} {}", p.span.begin, p.span.end, p.message));
      for (const ModulePart& part : a.parts()) {
        for (const FunctionPart& f : part.reading->functions())
          described.push_back(fmt::format("{} {} {} {}", f.reading->name, f.begin, f.reading->occurrences.size(),
                                          f.reading->func != nullptr));
      }
      return described;
    };
    REQUIRE(describe(analysis) == describe(fresh));
  }
}

// A module with a function of many statements.
std::string LongModule(int statements) {
  std::string text = Module({Function("f")}) +
                     "    @R.function\n    def g(c: R.Tensor((), \"bool\"), x: R.Tensor((\"n\", 4), \"float32\"), "
                     "y: R.Tensor((\"n\", 4), \"float32\")):\n        n = T.int64()\n        cls = Module\n";
  std::string last = "x";
  const auto add = [&](int i, std::string_view indent) {
    const std::string name = fmt::format("lv{}", i);
    switch (i % 7) {
      case 0: text += fmt::format("{}{}: R.Tensor((n, 4), \"float32\") = R.add({}, y)\n", indent, name, last); break;
      case 1: text += fmt::format("{}{} = R.exp({})  # a comment\n", indent, name, last); break;
      case 2: text += fmt::format("{}y = R.multiply(y, {})\n{}{} = y\n", indent, last, indent, name); break;
      case 3: text += fmt::format("{}{} = cls.f({})\n", indent, name, last); break;
      case 4: text += fmt::format("{}{} = R.add(R.exp({}), R.const(1, \"float32\"))\n", indent, name, last); break;
      default:
        text += fmt::format("{}{}: R.Tensor((n, 4), \"float32\") = R.nn.relu(\n{}    {}\n{})\n", indent, name, indent,
                            last, indent);
    }
    last = name;
  };
  for (int i = 0; i < statements / 3; ++i) add(i, "        ");
  text += fmt::format(
      "        if c:\n            z = R.abs({0})\n        else:\n            z = R.negative({0})\n        with "
      "R.dataflow():\n",
      last);
  for (int i = statements / 3; i < statements; ++i) add(i, "            ");
  return text + fmt::format("            R.output({0}, y)\n        w = R.add({0}, z)\n        return (w, y)\n", last);
}

// Everything that is known of the text.
std::vector<std::string> Describe(const ScriptAnalysis& analysis) {
  std::vector<std::string> described;
  for (const Problem& problem : analysis.Problems()) {
    described.push_back(fmt::format("{}-{} {}", problem.span.begin, problem.span.end, problem.message));
    for (const Problem::Related& related : problem.related)
      described.push_back(fmt::format("{}-{} {}", related.span.begin, related.span.end, related.message));
  }
  for (const ModulePart& part : analysis.parts()) {
    for (const FunctionPart& function : part.reading->functions()) {
      std::unordered_map<uint32_t, uint32_t> numbers;  // of the symbols, in the order of their occurrence
      std::string places;
      for (const Occurrence& o : function.reading->occurrences) {
        const bool is_symbol = o.kind <= OccurrenceKind::kUse;
        const size_t number =
            is_symbol ? numbers.try_emplace(o.symbol, static_cast<uint32_t>(numbers.size())).first->second : 0;
        places += fmt::format("{}-{}:{}/{} ", o.begin, o.end, static_cast<int>(o.kind), number);
      }
      described.push_back(fmt::format("{} {} {}", function.reading->name, function.begin, places));
    }
    if (part.complete) described.push_back(ModuleToString(part.reading->module()));
  }
  return described;
}

TEST_CASE("ScriptAnalysis finds the same in a long function as a new one", "[lsp]") {
  const std::vector<std::string> inserted = {"x",
                                             "n",
                                             "lv7",
                                             "(",
                                             ")",
                                             ",",
                                             "=",
                                             " ",
                                             "\n",
                                             "\"",
                                             "#",
                                             "R.",
                                             "y = x\n",
                                             "with R.dataflow():\n",
                                             "R.output(y)\n",
                                             "return y\n",
                                             "else:\n",
                                             "        ",
                                             "R = x\n",
                                             "cls",
                                             "if c:\n"};
  std::mt19937 random(7);
  TextDocument document(LongModule(500));
  ScriptAnalysis analysis(1);
  for (int i = 0; i < 120; ++i) {
    const auto begin = static_cast<uint32_t>(random() % (document.size() + 1));
    const uint32_t end = std::min<uint32_t>(document.size(), begin + (random() % 8 == 0 ? 4'000 : random() % 4));
    const std::string removed(document.Text({begin, end}));
    const std::string& text = inserted[random() % inserted.size()];
    for (const bool undo : {false, true}) {
      if (undo && i % 16 == 0) continue;
      const auto new_end = static_cast<uint32_t>(begin + text.size());
      document.Replace({begin, undo ? new_end : end}, undo ? removed : text);
      analysis.Update(document);
      ScriptAnalysis fresh(1);
      fresh.Update(document);
      INFO("edit " << i << " at " << begin << ", '" << text << "' for " << end - begin << " bytes, undo: " << undo);
      REQUIRE(Describe(analysis) == Describe(fresh));
    }
    if (i % 16 == 0) document = TextDocument(LongModule(500));
  }
}

TEST_CASE("Symbols stand for nodes that outlive the reader", "[lsp]") {
  const TextDocument document(
      Module({Function("f"),
              "    @T.prim_func\n    def g(A: T.Buffer((4,), \"int32\")):\n        cls = Module\n        size = "
              "T.meta_var(4)\n        for i in range(size):\n            A[i] = cls.h(i)\n",
              "    @T.prim_func\n    def h(x: T.int32) -> T.int32:\n        return x\n"}));
  ScriptAnalysis analysis(1);
  analysis.Update(document);
  const FoundOccurrence found = analysis.Find(static_cast<uint32_t>(document.text().find("cls = ")));
  const IRContext::Scope scope(analysis.context());
  CHECK(found.node() == NoneAttr::Get());
}

TEST_CASE("ScriptAnalysis keeps functions that do not call one whose header changed", "[lsp]") {
  TextDocument document(Module({Function("f"), Function("g", "Module.f(x)"), Function("h")}));
  ScriptAnalysis analysis(1);
  analysis.Update(document);
  const auto at = static_cast<uint32_t>(document.text().find("4), \"float32\")) ->"));
  document.Replace({at, at + 1}, "5");
  analysis.Update(document);
  CHECK(NumNew(analysis) == 2);
  CHECK(!analysis.Problems().empty());
  document.Replace({at, at + 1}, "4");
  analysis.Update(document);
  CHECK(NumNew(analysis) == 2);
  CHECK(analysis.Problems().empty());
}

}  // namespace
}  // namespace iropt::lsp
