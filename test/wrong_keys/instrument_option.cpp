// Options of an instrument by wrong names, as other types, and of another instrument.
#include "instrument_options/Limits.h"
#include "instrument_options/PrintAfter.h"
#include "instrument_options/Timing.h"

namespace iropt {

using instrument_options::Limits;
using instrument_options::PrintAfter;
using instrument_options::Timing;

bool IsList(const Timing& given) { return *given.format == Timing::Format::kList; }
const std::vector<LocatedName>& Passes(const PrintAfter& given) { return *given.passes; }
void SetTimeout(Limits& limits) { limits.pass_timeout.Set(1.5); }

#if CASE == 1  // no member named 'max_rs'
int64_t Misspelt(const Limits& given) { return *given.max_rs; }
#endif

#if CASE == 2  // 'kLst' is not a member|no member named 'kLst'
bool MisspeltChoice(const Timing& given) { return *given.format == Timing::Format::kLst; }
#endif

#if CASE == 3  // no match for .operator==|invalid operands
bool ChoiceAsText(const Timing& given) { return *given.format == "list"; }
#endif

#if CASE == 4  // no member named 'format'
void OptionOfOther(Limits& limits) { limits.format.Set(Timing::Format::kList); }
#endif

#if CASE == 5  // cannot convert|no viable conversion|could not convert
void OtherType(PrintAfter& given) { given.passes.Set("FoldConstant"); }
#endif

}  // namespace iropt
