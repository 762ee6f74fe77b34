// From the compact spans of nodes to the source spans of diagnostics.
#pragma once

#include "iropt/diag/source.h"
#include "iropt/ir/node.h"

namespace iropt {

inline SourceSpan Location(Span s) { return {s.begin, s.end()}; }
inline SourceSpan Location(const Node& n) { return Location(n.span()); }

}  // namespace iropt
