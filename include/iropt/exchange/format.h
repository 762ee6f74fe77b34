// The interface of readers and writers of modules. TVMScript is one format; others may be in shared objects of their
// own, which programs load when a file needs them (iropt/exchange/formats.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "iropt/analysis/relax/inference_calls.h"
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

// Options that formats have themselves, by the names of their flags.
using FormatOptions = std::map<std::string, std::optional<std::string>, std::less<>>;
// The value of an option; nothing if it is not given. `options` may be null.
inline std::optional<std::string> OptionOf(const FormatOptions* options, std::string_view name) {
  const auto given = options ? options->find(name) : FormatOptions::const_iterator();
  return options && given != options->end() ? given->second : std::nullopt;
}

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
  // Gets the number of nodes in the file, if the format is one of graphs.
  std::optional<uint64_t>* nodes = nullptr;
  // Gets the bytes of the nodes in the file that the module does not need, see MostFileBytes; null: not asked for.
  uint64_t* left_out = nullptr;
  // The module is written in this format again, with these options.
  bool is_written_back = false;
  const FormatOptions* format_options = nullptr;
  ParseOptions options;
};

struct WriteRequest {
  PrintOptions printing;
  std::string path = "-";  // of the file that is written; "-": the standard output
  const FormatOptions* options = nullptr;
  // The value of an option of the format; nothing if it is not given.
  std::optional<std::string> Option(std::string_view name) const { return OptionOf(options, name); }
  NetworkMode mode = NetworkMode::Auto;  // of batch norms and dropouts
  // That the module was read with: names of what nodes come from. Null: none.
  const SourceManager* sources = nullptr;
  // Gets the number of nodes in the file, if the format is one of graphs.
  std::optional<uint64_t>* nodes = nullptr;
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

struct FormatRow {
  std::string_view name;                              // for -x and -emit
  std::span<const std::string_view> extensions = {};  // of files, with the dot
  // Returns whether the contents are certainly in this format. Null if they do not show it.
  bool (*sniff)(std::string_view contents) = nullptr;
  bool reads = true;    // -x
  bool writes = true;   // -emit
  bool is_text = true;  // messages have lines of the file
  // Files of weights have parameters of the function `main` by their names, as the text does not refer to tensors.
  bool weights_are_parameters = false;
  // By how many bytes passes may make constants grow where a file in this format becomes another one; -1: by any
  // number.
  int64_t max_constant_growth = -1;
  // One of the two: the format in this program, or the name of the shared object that has it.
  const Format& (*built_in)() = nullptr;
  const char* library = nullptr;
};

// Table that a shared object with a format exports, as the C function `const iropt::FormatLibrary* iroptGetFormat()`.
// Such an object does not link the library: it takes all definitions from the program that loads it, which must be of
// the same version.
struct FormatLibrary {
  const char* version;  // IROPT_VERSION
  const Format* format;
};
inline constexpr const char* kFormatEntryPoint = "iroptGetFormat";

}  // namespace iropt
