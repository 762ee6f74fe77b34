#include "iropt/pass/ir_form.h"

namespace iropt {

namespace {

constexpr IRFormRow kRows[] = {
#define IROPT_IR_FORM(Id, Name, OfInput, Meaning) {IRForm::Id, Name, OfInput, Meaning},
#include "iropt/pass/ir_forms.def"
};

}  // namespace

std::span<const IRFormRow> IRFormRows() { return kRows; }

std::string_view IRFormName(IRForm form) { return kRows[static_cast<size_t>(form)].name; }

std::vector<IRForm> IRForms::List() const {
  std::vector<IRForm> forms;
  for (const IRFormRow& row : kRows) {
    if (Has(row.form)) forms.push_back(row.form);
  }
  return forms;
}

IRForms FormsOfInput() {
  IRForms forms;
  for (const IRFormRow& row : kRows) {
    if (row.of_input) forms = forms | IRForms{row.form};
  }
  return forms;
}

}  // namespace iropt
