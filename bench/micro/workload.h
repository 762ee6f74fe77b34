// Modules of a given size to measure on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"
#include "iropt/ir/context.h"
#include "iropt/ir/module.h"

namespace iropt::bench {

// The dependencies between the bindings of a module. In all forms, of ten bindings one repeats another, one is not
// used, and one has constant operands only.
enum class Form : uint8_t {
  Chain,      // one function; each binding uses the one before
  Wide,       // one function; bindings use the parameters only, and all are returned
  Functions,  // functions of 64 bindings each
};
inline constexpr Form kForms[] = {Form::Chain, Form::Wide, Form::Functions};

std::string_view FormName(Form form);

// About `bindings` bindings as TVMScript.
std::string MakeText(Form form, int64_t bindings);

// Such a module with a context of its own, so that interning starts with empty tables.
class Workload {
 public:
  Workload(Form form, int64_t bindings);
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  const std::string& text() const { return text_; }
  uint32_t base() const { return base_; }
  DiagnosticEngine& diagnostics() { return diagnostics_; }
  // Reads the text once more.
  Module Read();
  const Module& module() const { return module_; }

 private:
  IRContext context_;
  IRContext::Scope scope_{context_};
  SourceManager sources_;
  DiagnosticBuffer buffer_;
  DiagnosticEngine diagnostics_{&buffer_};
  std::string text_;
  uint32_t base_;
  Module module_;
};

}  // namespace iropt::bench
