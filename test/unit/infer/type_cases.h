// Calls with the types that they have, read from the files in test/unit/infer/types. Their format:
//
//   # A comment.
//   [title]                          the declarations before it end here
//   sizes n m                        symbolic variables
//   each add subtract                the calls that follow are read for each of these, in place of $op
//   x: R.Tensor((n, 4), "float32")   a variable of this type
//   R.add(x, x) -> R.Tensor((n, 4), "float32")
//   R.add(x, s) !! must be a tensor or a scalar
//
// The last line is a call that is refused: the error is in the call, and its message contains what stands behind. A
// line that starts with "global" is a line of the module around the calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace iropt {

struct TypeCase {
  std::string file;
  int line = 0;
  std::string call;
  std::string declarations;  // of the variables that the call mentions, in the body of a function
  std::string sizes;         // names of symbolic variables, separated by spaces
  std::string globals;       // functions of the module
  std::string expected;      // a type; or the message
  bool refused = false;
};

// All cases of a folder, by the names of the files. Throws std::runtime_error for a line that is none of the above.
std::vector<TypeCase> ReadTypeCases(const std::string& folder);

}  // namespace iropt
