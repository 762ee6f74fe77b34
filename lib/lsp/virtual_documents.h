// Read-only documents that the server makes of others: the module after a pass, the difference that passes make, what a
// function computes, the module that a file of another format holds.
//
//   ir-opt:/after/3-FoldConstant.ir?source=URI&passes=PIPELINE&step=3     the module after the third pass that ran
//   ir-opt:/diff/main.diff?source=URI&passes=PIPELINE                     what the passes change, as a unified
//   difference;
//                                      &from=2&to=5 between two steps, of which 0 is the module itself
//   ir-opt:/diff/main.diff?left=URI&right=URI                             the difference between any two documents
//   ir-opt:/run/main.txt?source=URI&function=main                         the results of a function on random inputs
//   ir-opt:/module/model.ir?source=URI                                    the module in an ONNX file or another one
//
// &part=1 says that the module is the second one of its source.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/support/result.h"
#include "protocol.h"

namespace iropt::lsp {

enum class ViewKind : uint8_t { kAfter, kDiff, kRun, kModule };

struct View {
  std::string_view name;  // in the URI
  std::string_view extension;
  std::string_view language;  // as editors call it
};
const View& ViewOf(ViewKind kind);

struct VirtualUri {
  static constexpr std::string_view kScheme = "ir-opt:";

  ViewKind kind;
  std::string title;
  std::map<std::string, std::string> parameters = {};  // decoded

  // Nothing for the URI of another document.
  static std::optional<VirtualUri> Parse(std::string_view uri);
  std::string ToString() const;
  // Empty if there is no such parameter.
  std::string Parameter(const std::string& name) const;
};

// The path of a file: URI; empty for another one.
std::string PathOf(std::string_view uri);

std::string UriOf(std::string_view path);

// The text of a document that is open.
using OpenTexts = std::function<std::optional<std::string>(const std::string& uri)>;

// The URIs of the files that a virtual document is made of; nothing if it is made of others in too many steps.
std::optional<std::vector<std::string>> SourcesOf(const VirtualUri& uri);

// ---- The functions below run passes and functions, and take the standard streams of the process for their output:
// call them in a process of their own (background_work.h).

// The text of a virtual document.
Result<std::string> MakeContent(const VirtualUri& uri, const OpenTexts& texts);
// The text of a test with other CHECK lines: those of its modules after the passes.
Result<std::string> RenewedChecks(const std::string& source_uri, const std::string& source,
                                  const std::vector<std::string_view>& modules, const std::string& pipeline);
// The passes that a pipeline runs on a module, or on one of the modules of the source: [{"name", "changed", "uri"}].
Result<Json> ListSteps(const std::string& source_uri, const std::string& source, const std::string& pipeline,
                       std::optional<size_t> part);

}  // namespace iropt::lsp
