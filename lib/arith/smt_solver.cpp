#include "iropt/arith/smt_solver.h"

#include <fmt/format.h>

#include <mutex>
#include <type_traits>
#include <unordered_map>

#include "iropt/support/shared_object.h"

namespace iropt::arith {

const Result<SmtSolver>& SmtSolver::Get() {
  static const Result<SmtSolver> solver = Load();
  return solver;
}

bool SmtSolver::IsUnsatisfiable(const std::string& script, uint64_t limit) const {
  static std::mutex mutex;
  static std::unordered_map<std::string, bool> answers;
  constexpr size_t kMostAnswers = 1 << 16;
  const std::string commands = fmt::format("(set-option :rlimit {})\n{}(check-sat)\n", limit, script);
  {
    const std::scoped_lock lock(mutex);
    if (const auto known = answers.find(commands); known != answers.end()) return known->second;
  }
  bool result = false;
  InSession([&](Eval eval) { result = eval(commands).starts_with("unsat"); });
  const std::scoped_lock lock(mutex);
  if (answers.size() < kMostAnswers) answers.emplace(commands, result);
  return result;
}

void SmtSolver::InSession(FunctionRef<void(Eval eval)> ask) const {
  void* config = mk_config_();
  void* context = mk_context_(config);
  set_error_handler_(context, nullptr);
  ask([&](const std::string& commands) { return std::string(eval_(context, commands.c_str())); });
  del_context_(context);
  del_config_(config);
}

Result<SmtSolver> SmtSolver::Load() {
  Result<void*> object = OpenSharedObject("libz3.so.4");
  if (!object.ok()) return object.error();
  SmtSolver solver;
  const auto find = [&](auto& function, const char* name) {
    void* symbol = FindSymbol(*object, name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
    return symbol != nullptr;
  };
  const bool found = find(solver.mk_config_, "Z3_mk_config") && find(solver.del_config_, "Z3_del_config") &&
                     find(solver.mk_context_, "Z3_mk_context") && find(solver.del_context_, "Z3_del_context") &&
                     find(solver.set_error_handler_, "Z3_set_error_handler") &&
                     find(solver.eval_, "Z3_eval_smtlib2_string");
  if (!found) return Error{ErrorCode::Usage, "libz3.so.4 lacks functions of Z3's C interface"};
  return solver;
}

}  // namespace iropt::arith
