#include "iropt/support/result.h"

#include <string_view>

#include "iropt/support/check.h"

namespace iropt {

void ErrorDeleter::operator()(Error* error) const noexcept { delete error; }

ErrorPtr MakeError(const Error& error) { return ErrorPtr(new Error(error)); }

ErrorPtr MakeError(Error&& error) { return ErrorPtr(new Error(std::move(error))); }

ErrorPtr MakeError(Failure failure) { return ErrorPtr(new Error{failure.code, {}}); }

void FailedResult(const Error* error) {
  IROPT_UNREACHABLE("value of a failure: {}", error != nullptr ? std::string_view(error->message) : "that was moved");
}

void NoError() { IROPT_UNREACHABLE("error() of a success"); }

}  // namespace iropt
