// Attributes and reducers that are written as lambdas.
#pragma once

#include "scalar_parser.h"

namespace iropt::text {

// `lambda a, b:` and the position of its body, which is skipped: the types of its parameters may come after it. False
// after an error, as for the next two.
bool ParseLambda(ScalarParser& p, std::vector<std::string_view>& params, uint32_t& body);
// T.comm_reducer(lambda x, y: x + y, [identity]), whose name was read.
bool ParseReducer(ScalarParser& p, uint32_t begin, PyValue& out);
// T.index_map(lambda i, j: (j, i), inverse_index_map=lambda j, i: (i, j)), whose name was read.
bool ParseIndexMap(ScalarParser& p, uint32_t begin, PyValue& out);
// A lambda from indices to indices. Null after an error.
const IndexMapAttr* ParseMapping(ScalarParser& p, DataType dtype, const IndexMapAttr* inverse);

}  // namespace iropt::text
