// Detection of the format of a module.
#include "iropt/driver/formats.h"

#include "../catch.h"

namespace iropt {

namespace {

std::optional<Module> ReadNothing(std::string_view, uint32_t, const ParseOptions&, DiagnosticEngine&) {
  return Module();
}

constexpr std::string_view kGraph[] = {".graph", ".g"};
constexpr std::string_view kBinary[] = {".bin"};

constexpr InputFormat kFormats[] = {
    {.name = "plain", .extensions = {}, .sniff = nullptr, .parse = &ReadNothing},
    {.name = "graph",
     .extensions = kGraph,
     .sniff = [](std::string_view text) { return text.starts_with("graph"); },
     .parse = &ReadNothing},
    {.name = "binary",
     .extensions = kBinary,
     .sniff = [](std::string_view text) { return text.starts_with(std::string_view("\x00BIN", 4)); },
     .parse = &ReadNothing},
};

std::string_view Detected(std::string_view path, std::string_view text) {
  return DetectInputFormat(path, text, kFormats).name;
}

}  // namespace

TEST_CASE("the extension of a file determines its format") {
  CHECK(Detected("a.graph", "") == "graph");
  CHECK(Detected("b/a.g", std::string_view("\x00BIN", 4)) == "graph");
  CHECK(Detected("a.bin", "graph {") == "binary");
}

TEST_CASE("without a known extension the contents determine the format") {
  CHECK(Detected("-", "graph {") == "graph");
  CHECK(Detected("a.txt", std::string_view("\x00BIN", 4)) == "binary");
}

TEST_CASE("the first format is the default") {
  CHECK(Detected("-", "") == "plain");
  CHECK(Detected("a.txt", "something") == "plain");
}

TEST_CASE("a format is found by its name, and an unknown one is an error that lists all") {
  CHECK((*FindInputFormat("binary", kFormats))->name == "binary");
  const Result<const InputFormat*> unknown = FindInputFormat("onyx", kFormats);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::Usage);
  CHECK(unknown.error().message == "unknown input format 'onyx': expected one of plain, graph, binary");
}

TEST_CASE("formats have names of their own, and TVMScript is both read and printed") {
  CHECK(InputFormats().front().name == "tvmscript");
  CHECK(OutputFormats().front().name == "tvmscript");
  for (const InputFormat& format : InputFormats()) CHECK(*FindInputFormat(format.name) == &format);
}

}  // namespace iropt
