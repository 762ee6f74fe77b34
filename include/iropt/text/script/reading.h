// The results of the reader of TVMScript that editors keep: all that was read in spite of errors, and the places where
// names occur. A text that changes is read again with the same Reading; then only functions that changed, or that
// depend on what changed, are read.
//
//   Reading reading;
//   ParseModule(text, 1, {.reading = &reading}, diagnostics);
//   for (const FunctionPart& part : reading.functions()) ...
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/lookup.h"

namespace iropt {

enum class OccurrenceKind : uint8_t {
  kDefinition,  // of a variable, a buffer, a symbolic variable or a local function
  kUse,         // of one
  kFunction,    // a function of the module is named: f in cls.f
  kOperator,    // R.nn.conv2d, T.exp: with the prefix
  kAttribute,   // the name of a keyword argument
};

// A place where a function names something. Offsets count from the beginning of the function.
struct Occurrence {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t symbol = 0;  // of definitions and uses: an index into FunctionReading::symbols
  OccurrenceKind kind = OccurrenceKind::kUse;
};

// Another function that a function names, and what its reading depends on there.
struct ReadCallee {
  const GlobalVar* var = nullptr;
  uint64_t key = 0;
};

// The result of reading a function. Immutable.
struct FunctionReading {
  std::string name;
  SourceSpan span;                      // of its text when it was read, from the decorator to the end of the body
  uint32_t name_begin = 0;              // from the beginning of the span
  uint32_t body_begin = 0;              // the colon after the header
  const BaseFunc* func = nullptr;       // null if the function has errors
  FuncStorageRef storage;               // of the function, or of what was read of it
  std::vector<const Node*> symbols;     // of the definitions: a Var, tir::Var, tir::Buffer or tir::IterVar, or
                                        // another node if they have none
  std::vector<Occurrence> occurrences;  // in the order of the text, one at a place
  std::vector<Diagnostic> diagnostics;  // of its body, located where it was read

  // For the reader: what must be the same so that the function is not read again.
  uint64_t header_key = 0;  // of its header and of the text around functions
  uint64_t key = 0;         // also of its body
  uint64_t names_key = 0;   // of the names of all functions
  std::vector<ReadCallee> callees;
};

// A function of a text.
struct FunctionPart {
  std::shared_ptr<const FunctionReading> reading;
  uint32_t begin = 0;  // the global source offset that its text has now
  bool is_new = true;  // it was read now, and not kept
};

// The last reading of a text. To be used with one context only.
class Reading {
 public:
  // In the order of the text. Functions whose headers can't be read are missing.
  const std::vector<FunctionPart>& functions() const { return functions_; }
  // Functions with errors are in it without their bodies.
  const Module& module() const { return module_; }

  // ---- For the reader

  struct Metadata {
    uint64_t key = 0;  // of its text
    std::map<std::string, std::vector<const Node*>, std::less<>> entries;
    FuncStorageRef storage;
  };
  // The function as it was read before, or null.
  std::shared_ptr<const FunctionReading> Find(const std::string& name) const;
  // The metadata section that was read before.
  Metadata& metadata() { return metadata_; }
  void Replace(std::vector<FunctionPart> functions, Module module);

 private:
  std::vector<FunctionPart> functions_;
  LookupMap<std::string_view, size_t> by_name_;  // views of their names
  Module module_;
  Metadata metadata_;
};

// Diagnostics that are located where the function was read, located in the text where it begins at `begin`.
std::vector<Diagnostic> MovedDiagnostics(const std::vector<Diagnostic>& diagnostics, const FunctionReading& function,
                                         uint32_t begin);

}  // namespace iropt
