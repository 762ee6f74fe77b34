// Attribute values in TVM's JSON of object graphs.
#pragma once

#include "iropt/ir/attr.h"
#include "iropt/support/result.h"
#include "object_graph.h"

namespace iropt::schedule {

// The value of an object: numbers, strings, lists and dictionaries of such. Others are errors.
Result<const Attr*> ReadAttr(const ObjectGraph& graph, size_t node);
// A map from strings.
Result<const DictAttr*> ReadDict(const ObjectGraph& graph, size_t node);
// The attributes of a function, under the names that functions of modules have.
Result<const DictAttr*> ReadFuncAttrs(const ObjectGraph& graph, size_t func);

}  // namespace iropt::schedule
