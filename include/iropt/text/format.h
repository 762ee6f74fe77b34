// The interface of readers and writers of modules. TVMScript is one format; others may be in shared objects of their
// own, which programs load when a file needs them (iropt/driver/formats.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"
#include "iropt/ir/module.h"
#include "iropt/support/file.h"
#include "iropt/support/lookup.h"
#include "iropt/support/result.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"
#include "iropt/text/stated_sizes.h"

namespace iropt {

// The names of values in a model that is not a text, by the variables of its main function; only those that differ.
using ValueNames = LookupMap<std::string, std::string>;

struct ReadRequest {
  std::string_view contents;                // a text, or the bytes of a binary format
  std::shared_ptr<const FileBuffer> owner;  // keeps the contents alive; constants may refer to it
  std::string name;                         // of the file, in messages
  std::string folder;                       // paths in the contents are relative to it; empty: the current one
  const StatedSizes* sizes = nullptr;       // those that readers of binary formats apply; null: none
  uint32_t base = 0;                        // the global source offset of the contents; 0 for a binary format
  // Sources in which a reader of a binary format describes what nodes of the IR come from; null: they have no spans.
  SourceManager* sources = nullptr;
  ValueNames* value_names = nullptr;  // gets them; null: they are not needed
  ParseOptions options;
};

struct WriteRequest {
  PrintOptions printing;
  std::string path = "-";  // of the file that is written; "-": the standard output
  // Of ONNX models: the version of the operator set, by default that of the input; and the file for the tensors, in the
  // folder of `path`, by default the model itself.
  std::optional<int64_t> onnx_opset = {};
  std::optional<std::string> external_data = {};
  // That the module was read with: names of ONNX nodes come from there. Null: none.
  const SourceManager* sources = nullptr;
};

// Formats have no state: all members may be called by several threads at once.
class Format {
 public:
  Format() = default;
  Format(const Format&) = delete;
  Format& operator=(const Format&) = delete;
  virtual ~Format() = default;

  // Fails with ErrorCode::Parse; what is wrong is reported to `diagnostics`, located if the format is a text. The
  // module need not be well-formed. Nothing of it refers to the contents unless it holds the owner.
  virtual Result<Module> Read(const ReadRequest& request, DiagnosticEngine& diagnostics) const;
  // Fails if the format cannot express the module, and reports each function and operator that it lacks. What was
  // appended to `out` before is to be thrown away.
  virtual Status Write(const Module& module, const WriteRequest& request, OutputStream& out,
                       DiagnosticEngine& diagnostics) const;
};

// TVMScript, of all versions.
const Format& ScriptFormat();
// The language of Graphviz, see iropt/text/dot/printer.h. It cannot be read.
const Format& DotFormat();

// Table that a shared object with a format exports, as the C function `const iropt::FormatLibrary* iroptGetFormat()`.
// Such an object does not link the library: it takes all definitions from the program that loads it, which must be of
// the same version.
struct FormatLibrary {
  const char* version;  // IROPT_VERSION
  const Format* format;
};
inline constexpr const char* kFormatEntryPoint = "iroptGetFormat";

}  // namespace iropt
