// Detection of the format of a module.
#include "iropt/exchange/formats.h"

#include "../catch.h"

namespace iropt {

namespace {

constexpr std::string_view kGraph[] = {".graph", ".g"};
constexpr std::string_view kBinary[] = {".bin"};
constexpr std::string_view kPicture[] = {".svg"};

const Format& Plain() {
  static const Format format;
  return format;
}

const Format& WithoutReader() {
  static const Format format;
  return format;
}

constexpr FormatRow kFormats[] = {
    {.name = "plain", .built_in = &Plain},
    {.name = "graph",
     .extensions = kGraph,
     .sniff = [](std::string_view text) { return text.starts_with("graph"); },
     .writes = false,
     .built_in = &Plain},
    {.name = "binary",
     .extensions = kBinary,
     .sniff = [](std::string_view text) { return text.starts_with(std::string_view("\0BIN", 4)); },
     .is_text = false,
     .library = "libiropt_there_is_none.so"},
    {.name = "picture", .extensions = kPicture, .reads = false, .built_in = &WithoutReader},
};

std::string_view Detected(std::string_view path, std::string_view text) {
  return DetectInputFormat(path, text, kFormats).name;
}

}  // namespace

TEST_CASE("the extension of a file determines its format") {
  CHECK(Detected("a.graph", "") == "graph");
  CHECK(Detected("b/a.g", std::string_view("\0BIN", 4)) == "graph");
  CHECK(Detected("a.bin", "graph {") == "binary");
}

TEST_CASE("without a known extension the contents determine the format") {
  CHECK(Detected("-", "graph {") == "graph");
  CHECK(Detected("a.txt", std::string_view("\0BIN", 4)) == "binary");
}

TEST_CASE("the first format is the default") {
  CHECK(Detected("-", "") == "plain");
  CHECK(Detected("a.txt", "something") == "plain");
  CHECK(Detected("a.svg", "") == "plain");
}

TEST_CASE("the extension of the output determines its format among those that can be written") {
  CHECK(DetectOutputFormat("a.svg", kFormats).name == "picture");
  CHECK(DetectOutputFormat("a.bin", kFormats).name == "binary");
  CHECK(DetectOutputFormat("a.graph", kFormats).name == "plain");
  CHECK(DetectOutputFormat("-", kFormats).name == "plain");
}

TEST_CASE("a format is found by its name, and an unknown one is an error that lists all") {
  CHECK((*FindInputFormat("binary", kFormats))->name == "binary");
  CHECK((*FindOutputFormat("picture", kFormats))->name == "picture");
  const Result<const FormatRow*> unknown = FindInputFormat("onyx", kFormats);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::Usage);
  CHECK(unknown.error().message == "unknown input format 'onyx': expected one of plain, graph, binary");
  const Result<const FormatRow*> read_only = FindOutputFormat("graph", kFormats);
  REQUIRE_FALSE(read_only.ok());
  CHECK(read_only.error().message == "unknown output format 'graph': expected one of plain, binary, picture");
}

TEST_CASE("a format whose shared object is not there cannot be loaded, and the error names both") {
  CHECK(*LoadFormat(kFormats[0]) == &Plain());
  const Result<const Format*> missing = LoadFormat(kFormats[2]);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().code == ErrorCode::Usage);
  CHECK(missing.error().message.starts_with("cannot load the format 'binary': "));
  CHECK(missing.error().message.find("libiropt_there_is_none.so") != std::string::npos);
}

TEST_CASE("a format does only what its row says") {
  DiagnosticEngine diagnostics(nullptr);
  const Result<Module> read = WithoutReader().Read({}, diagnostics);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().code == ErrorCode::Usage);
  CHECK(read.error().message == "modules cannot be read from this format");
  std::string text;
  OutputStream out(&text);
  const Status written = Plain().Write(Module(), {}, out, diagnostics);
  REQUIRE_FALSE(written.ok());
  CHECK(written.error().code == ErrorCode::Usage);
  CHECK(written.error().message == "modules cannot be written in this format");
}

TEST_CASE("formats have names of their own, and TVMScript is both read and printed") {
  CHECK(Formats().front().name == "tvmscript");
  for (const FormatRow& format : Formats()) {
    if (format.reads) CHECK(*FindInputFormat(format.name) == &format);
    if (format.writes) CHECK(*FindOutputFormat(format.name) == &format);
  }
}

}  // namespace iropt
