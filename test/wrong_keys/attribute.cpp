// Keys of attributes that attr_keys.h does not have.
#include "iropt/ir/tir/stmt.h"

namespace iropt {

bool LaunchesThreads(const tir::AttrStmt& stmt) { return stmt.attr_key == attr::kThreadExtent; }
const Attr* Target(const PrimFunc& func) { return func.attrs->Find(attr::kTarget); }

#if CASE == 1  // 'kThreadExtnt' is not a member|no member named 'kThreadExtnt'
bool Misspelt(const tir::AttrStmt& stmt) { return stmt.attr_key == attr::kThreadExtnt; }
#endif

#if CASE == 2  // 'kTargt' is not a member|no member named 'kTargt'
const Attr* MisspeltTarget(const PrimFunc& func) { return func.attrs->Find(attr::kTargt); }
#endif

}  // namespace iropt
