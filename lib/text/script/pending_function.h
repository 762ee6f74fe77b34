// A function whose header was read and whose body is still text.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "iropt/text/script/reading.h"
#include "symbol_table.h"
#include "text/script/relax/function_parser.h"
#include "text/script/tir/parser.h"

namespace iropt::text {

struct PendingFunction {
  Workspace workspace;
  std::optional<SymbolTable> symbols{std::in_place};  // until the body is read
  bool is_prim_func = false;
  RelaxSignature relax;
  TirSignature tir;
  uint32_t begin = 0;       // at the decorator
  uint32_t body_begin = 0;  // at the colon
  uint32_t body_end = 0;
  size_t index = 0;  // in the module
  const BaseFunc* result = nullptr;
  DiagnosticBuffer diagnostics;
  std::unique_ptr<OccurrenceRecorder> recorder;  // null if nobody asks for occurrences
  FunctionPart part;                             // if a Reading is kept
  uint64_t header_key = 0;                       // FunctionReading::header_key
  uint64_t key = 0;

  std::string_view name() const { return is_prim_func ? tir.name : relax.name; }
  Span name_span() const { return is_prim_func ? tir.name_span : relax.name_span; }
  bool is_private() const { return is_prim_func ? tir.is_private : relax.is_private; }

  // Begins to record occurrences in the text from the function on.
  void Record(std::string_view text);
  // Takes the reading of the same function from before. `base` is that of the text.
  void Reuse(std::shared_ptr<const FunctionReading> known, uint32_t base);
  // Makes the reading of the body, which was read now; `callee_key` gives ReadCallee::key.
  void Keep(uint32_t base, uint64_t names_key, FunctionRef<uint64_t(const GlobalVar*)> callee_key);

 private:
  std::string_view text_;  // that occurrences are recorded in, from the function on
};

}  // namespace iropt::text
