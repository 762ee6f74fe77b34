// Constants in files: how the text refers to them, and where the reader locates the references.
#include "catch.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/structural.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

namespace iropt {

namespace {

constexpr std::string_view kModule = R"(@R.function
def main(x: R.Tensor((2,), "float32")):
    a = R.add(x, R.const([1, 2], "float32"))
    b = R.add(a, R.const([3, 4], "float32"))
    c = R.add(b, R.const([5, 6], "float32"))
    d = R.add(c, R.const([1, 2], "float32"))
    return d
)";

class Tester {
 public:
  Tester() {
    const auto module = ParseModule(kModule, 1, {}, diagnostics_);
    REQUIRE(module);
    module_ = *module;
    struct Handler : WalkHandler {
      explicit Handler(Tester& tester) : tester(tester) {}
      void OnConstant(const Constant& constant) { tester.arrays_.push_back(constant.data); }
      Tester& tester;
    } handler(*this);
    Walk(To<Function>(module_.functions()[0].func), handler);
    REQUIRE(arrays_.size() == 4);
  }

  // The text with each array in a file; equal arrays must get one reference.
  std::string Print(const std::vector<std::pair<std::string, std::string>>& references,
                    const std::string& folder = {}) {
    for (size_t i = 0; i < arrays_.size(); ++i) {
      const auto& [path, name] = references[i];
      external_[arrays_[i]] = {.path = path,
                               .absolute = path.starts_with('/'),
                               .name = name,
                               .hash = arrays_[i]->ContentHash(),
                               .span = {},
                               .file = {}};
    }
    return ModuleToString(module_, {.external = &external_, .folder = folder});
  }

  // Reads a text with the arrays; `opened` gets its references.
  std::optional<Module> Read(std::string_view text) {
    const auto open = [&](FileTensor tensor) -> Result<std::shared_ptr<const NDArray>> {
      opened.push_back(tensor);
      for (const NDArray* array : arrays_) {
        if (tensor.name == "missing") break;
        if (array->ContentHash() == tensor.hash) return array->shared_from_this();
      }
      return Error{ErrorCode::Usage, "it is missing"};
    };
    return ParseModule(text, 1, {.open_tensor = open}, diagnostics_);
  }

  const Module& module() const { return module_; }
  const std::vector<Diagnostic>& diagnostics() const { return buffer_.diagnostics(); }

  std::vector<FileTensor> opened;

 private:
  DiagnosticBuffer buffer_;
  DiagnosticEngine diagnostics_{&buffer_};
  Module module_;
  std::vector<const NDArray*> arrays_;
  ExternalArrays external_;
};

std::string_view TextAt(std::string_view text, SourceSpan span) {
  return text.substr(span.begin - 1, span.end - span.begin);
}

}  // namespace

TEST_CASE("a reference is located at the name in the text", "[weights]") {
  Tester t;
  // Quotes, escapes and line breaks are escaped for JSON and for Python. One name may occur in two files.
  const std::string text = t.Print({{"w", "a.b"}, {"v \"1\"\\", "x\"y\\\n"}, {"w", "x\"y\\\n"}, {"w", "a.b"}});
  const auto again = t.Read(text);
  REQUIRE(again);
  CHECK(StructuralEqual(t.module(), *again));
  REQUIRE(t.opened.size() == 3);
  CHECK(t.opened[0].name == "a.b");
  CHECK(TextAt(text, t.opened[0].span) == "a.b");
  CHECK(t.opened[1].path == "v \"1\"\\");
  CHECK(t.opened[1].name == "x\"y\\\n");
  CHECK(t.opened[2].name == "x\"y\\\n");
  for (size_t i = 1; i < 3; ++i) CHECK(TextAt(text, t.opened[i].span) == R"(x\\\"y\\\\\\n)");
  CHECK(t.opened[1].span.begin < t.opened[2].span.begin);
}

TEST_CASE("a reference in another spelling is located at the section", "[weights]") {
  Tester t;
  std::string text = t.Print({{"w", "a"}, {"w", "b"}, {"w", "missing"}, {"w", "a"}});
  for (size_t at = 0; (at = text.find("_name\\\": ", at)) != std::string::npos; ++at) text.replace(at + 7, 2, ":  ");
  CHECK_FALSE(t.Read(text));
  REQUIRE(t.diagnostics().size() == 1);
  CHECK(t.diagnostics()[0].kind == "bad-weights");
  CHECK(t.diagnostics()[0].message == "it is missing");
  CHECK(TextAt(text, t.diagnostics()[0].span).starts_with("\"\"\"{"));
}

TEST_CASE("references cannot be read without a function that opens files", "[weights]") {
  Tester t;
  const std::string text = t.Print({{"w", "a"}, {"w", "b"}, {"w", "c"}, {"w", "a"}});
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  CHECK_FALSE(ParseModule(text, 1, {}, diagnostics));
  REQUIRE(buffer.diagnostics().size() == 3);
  CHECK(buffer.diagnostics()[0].message == "constants in files can't be read here");
}

TEST_CASE("paths are relative to the folder of the text, unless they are absolute", "[weights]") {
  Tester t;
  const std::string text =
      t.Print({{"weights/w", "a"}, {"/none/w", "b"}, {"./deep/../w", "c"}, {"weights/w", "a"}}, "weights/sub");
  REQUIRE(t.Read(text));
  CHECK(t.opened[0].path == "../w");
  CHECK_FALSE(t.opened[0].absolute);
  CHECK(t.opened[1].path == "/none/w");
  CHECK(t.opened[1].absolute);
  CHECK(t.opened[2].path == "../../w");
}

}  // namespace iropt
