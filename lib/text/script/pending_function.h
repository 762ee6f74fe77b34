// A function whose header was read and whose body is still text.
#pragma once

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
  bool loop_level = false;
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
  uint64_t key = 0;                              // FunctionReading::key

  std::string_view name() const { return loop_level ? tir.name : relax.name; }
  Span name_span() const { return loop_level ? tir.name_span : relax.name_span; }
  bool is_private() const { return loop_level ? tir.is_private : relax.is_private; }

  // Begins to record occurrences in the text from the function on.
  void Record(std::string_view text);
  // Takes the reading of the same function from before. `base` is that of the text.
  void Reuse(std::shared_ptr<const FunctionReading> known, uint32_t base);
  // Makes the reading of the body, which was read now.
  void Keep(uint32_t base);
};

}  // namespace iropt::text
