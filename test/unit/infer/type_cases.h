// Calls with their expected types and values, read from the files in test/unit/infer/types. The format:
//
//   # A comment.
//   [title]                          the declarations before it end here
//   sizes n m                        symbolic variables
//   each add subtract                the calls that follow are read for each of these, in place of $op
//   dtypes float16 float32           those that mention $dtype are read for each of these, in place of it
//   x: R.Tensor((n, 4), "float32")   a variable of this type
//   R.add(x, x) -> R.Tensor((n, 4), "float32")
//   R.add(x, s) !! must be a tensor or a scalar
//   R.add(R.const([1, 2], "$dtype"), R.const(1, "$dtype")) == R.const([2, 3], "$dtype")
//
// The call with "!!" is refused: the error is in the call, and its message contains the text after "!!". The call with
// "==" is evaluated, too, and has the type and the value of the expression after "=="; it is also a sample call of the
// operator. A line that starts with "global" is a line of the module around the calls.
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
  std::string expected;      // a type, a message or a value
  enum class Kind { kType, kRefused, kValue } kind = Kind::kType;
  std::string dtype;  // the value of $dtype; or empty
};

// All cases of the folder IROPT_TYPE_CASES, an environment variable or else the macro, by the names of the files.
// Throws std::runtime_error for a malformed line.
const std::vector<TypeCase>& TypeCases();

// A module with the case: the function "main" binds the call to `result`, and a value of the expected type, or the
// expected value, to `expected`.
std::string ModuleText(const TypeCase& c);

}  // namespace iropt
