// Kinds of diagnostics that kinds.def does not have.
#include "iropt/diag/diagnostic.h"

namespace iropt {

void Report(DiagnosticEngine& diagnostics) {
  diagnostics.Error({}, "bad-argument", "a kind of two words");
  diagnostics.Error({}, "syntax", "a kind of one word");
  diagnostics.Remark({}, DiagId::Dynamic("my-kind"), "a kind of a plugin");
#if CASE == 1  // is not a constant expression
  diagnostics.Error({}, "bad-argumnet", "misspelt");
#endif
#if CASE == 2  // is not a constant expression
  diagnostics.Warning({}, "sintax", "misspelt, of one word");
#endif
#if CASE == 3  // is not a constant expression
  diagnostics.Remark({}, "my-kind", "a kind that is not of the table");
#endif
}

#if CASE == 4  // could not convert|cannot convert|no viable conversion
void ReportText(DiagnosticEngine& diagnostics, std::string_view kind) { diagnostics.Error({}, kind, "a text"); }
#endif

}  // namespace iropt
