// Statements that TVM 0.25 added: the threads that run a kernel, scalars, hints. They are rows of statements.def.
#pragma once

#include "parser.h"

namespace iropt::text {

// T.device_entry(): what follows runs on the device.
bool DeviceEntry(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result);
// with T.hint("message", key=value):
bool Hint(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result);
// with T.tile.compose_op(): operations that are one.
bool ComposeOp(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result);

// bx, by = T.cta_id([4, 2]): variables for the number of a group of threads in the next larger one.
bool ScopeIds(TirParser& p, PyArgs& args, PyValue& result);

// A scalar: a buffer of one element whose name stands for the element.
const PrimExpr* OpenScalar(TirParser& p, std::string_view name, DataType dtype, std::string_view scope, Span span);
// T.decl_scalar("float32", data, "local", 0): a scalar over the memory of a pointer
bool DeclScalar(TirParser& p, PyArgs& args, const PyValue* const* v, PyValue& result);
// T.local_scalar("float32"), T.shared_scalar("float32"), T.alloc_scalar("float32", "global")
bool AllocScalar(TirParser& p, PyArgs& args, std::string_view scope, PyValue& result);

}  // namespace iropt::text
