// Forms: what holds for a whole module beyond being well-formed, and what passes may therefore rely on. A pass says
// which forms it needs, establishes and preserves (see PassInfo); when a pipeline is built, what its passes need is
// held against what those before them guarantee. Functions that passes leave alone (attribute SkipOptimization) do not
// count. The configuration option testing.verify_forms, which -verify-each sets, holds what passes say against what
// they make, as far as that shows.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace iropt {

enum class IRForm : uint8_t {
#define IROPT_IR_FORM(Id, Name, OfInput, Meaning) Id,
#include "iropt/pass/ir_forms.def"
};

// A row of ir_forms.def.
struct IRFormRow {
  IRForm form;
  std::string_view name;
  bool of_input;
  std::string_view meaning;
};

// All of them, in the order of the enumerators.
std::span<const IRFormRow> IRFormRows();
std::string_view IRFormName(IRForm form);

// A set of forms.
class IRForms {
 public:
  constexpr IRForms() = default;
  constexpr IRForms(std::initializer_list<IRForm> forms) {
    for (const IRForm form : forms) bits_ |= BitOf(form);
  }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool Has(IRForm form) const { return (bits_ & BitOf(form)) != 0; }
  // In the order of the enumerators.
  std::vector<IRForm> List() const;

  friend constexpr IRForms operator|(IRForms a, IRForms b) { return IRForms(a.bits_ | b.bits_); }
  friend constexpr IRForms operator&(IRForms a, IRForms b) { return IRForms(a.bits_ & b.bits_); }
  // Those of `a` that are not in `b`.
  friend constexpr IRForms operator-(IRForms a, IRForms b) { return IRForms(a.bits_ & ~b.bits_); }
  friend constexpr bool operator==(IRForms a, IRForms b) = default;

 private:
  constexpr explicit IRForms(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t BitOf(IRForm form) { return uint32_t{1} << static_cast<uint32_t>(form); }

  uint32_t bits_ = 0;
};

// The forms that every module which enters a pipeline is in.
IRForms FormsOfInput();

}  // namespace iropt
