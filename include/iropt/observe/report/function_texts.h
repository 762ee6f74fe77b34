// The texts of the functions of a run: each text once, then the lines that passes change.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/observe/module_changes.h"
#include "iropt/text/script/printer.h"

namespace iropt {

// Keeps some lines of the old text, leaves some out, then adds lines.
struct LineStep {
  size_t kept = 0;
  size_t removed = 0;
  std::vector<std::string> added = {};
};

struct TextChange {
  uint32_t function = 0;  // index in FunctionTexts::functions()
  std::vector<LineStep> steps = {};
};

// A function of a module of the run. The attributes of the module are one, too, without a name.
struct TextHistory {
  uint32_t module = 0;
  std::string name;
  std::string kind;   // "relax", "tir", "extern" or "module"
  std::string first;  // its text before the passes; empty if a pass adds it
  std::string last;
};

class FunctionTexts {
 public:
  explicit FunctionTexts(PrintOptions options) : options_(std::move(options)) { options_.show_meta = false; }

  const std::vector<TextHistory>& functions() const { return functions_; }
  void Begin(uint32_t module_index, const Module& module);
  // The changes of the texts of the module that began last, whose functions are now those of `module`.
  std::vector<TextChange> Update(const Module& module, const ModuleChanges& changes);

 private:
  std::string TextOf(const Module& module, const ModuleEntry* entry) const;
  uint32_t NumberOf(std::string_view name, std::string_view kind);
  void UpdateOne(const Module& module, std::string_view name, std::vector<TextChange>& out);

  PrintOptions options_;
  std::vector<TextHistory> functions_;
  std::map<std::string, uint32_t, std::less<>> numbers_;  // of the module that began last
  uint32_t module_ = 0;
};

}  // namespace iropt
