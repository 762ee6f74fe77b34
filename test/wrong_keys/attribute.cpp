// Keys of attributes that attr_keys.h does not have.
#include "iropt/ir/tir/stmt.h"

namespace iropt {

bool LaunchesThreads(const tir::AttrStmt& stmt) { return stmt.attr_key == attr::kThreadExtent; }
bool IsUnrolled(const tir::For& loop) { return loop.annotations->Find(attr::kPragmaUnroll) != nullptr; }
const Attr* Target(const PrimFunc& func) { return func.attrs->Find(attr::kTarget); }

#if CASE == 1  // 'kThreadExtnt' is not a member|no member named 'kThreadExtnt'
bool Misspelt(const tir::AttrStmt& stmt) { return stmt.attr_key == attr::kThreadExtnt; }
#endif

#if CASE == 2  // 'kTargt' is not a member|no member named 'kTargt'
const Attr* MisspeltTarget(const PrimFunc& func) { return func.attrs->Find(attr::kTargt); }
#endif

#if CASE == 3  // 'kPragmaUnrol' is not a member|no member named 'kPragmaUnrol'
bool MisspeltAnnotation(const tir::For& loop) { return loop.annotations->Find(attr::kPragmaUnrol) != nullptr; }
#endif

}  // namespace iropt
