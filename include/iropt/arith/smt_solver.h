// Z3, for questions in the language SMT-LIB 2. It is loaded (libz3.so.4, of Debian's libz3-4) when the first question
// is asked, and never linked.
#pragma once

#include <cstdint>
#include <string>

#include "iropt/support/function_ref.h"
#include "iropt/support/result.h"

namespace iropt::arith {

class SmtSolver {
 public:
  // Runs commands in a session, and returns what they print.
  using Eval = FunctionRef<std::string(const std::string& commands)>;

  // Fails with ErrorCode::Usage if there is no Z3.
  static const Result<SmtSolver>& Get();

  // Returns whether the script, which asserts something, has no solution. Works no more than the limit, in units of Z3.
  // Answers are kept: proofs ask the same again for other dtypes and laws.
  bool IsUnsatisfiable(const std::string& script, uint64_t limit) const;
  // Calls ask(eval), where eval runs commands in one session.
  void InSession(FunctionRef<void(Eval eval)> ask) const;

 private:
  static Result<SmtSolver> Load();

  // The functions of Z3's C interface that are used, by their signatures in its reference.
  void* (*mk_config_)() = nullptr;
  void (*del_config_)(void*) = nullptr;
  void* (*mk_context_)(void*) = nullptr;
  void (*del_context_)(void*) = nullptr;
  void (*set_error_handler_)(void*, void*) = nullptr;
  const char* (*eval_)(void*, const char*) = nullptr;
};

}  // namespace iropt::arith
