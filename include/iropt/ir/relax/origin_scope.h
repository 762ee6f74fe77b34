// Origins of the bindings that builders make.
#pragma once

#include "iropt/ir/node.h"

namespace iropt {

// While it lives, bindings that builders of this thread make come from here, unless they or their values say where they
// come from. Scopes nest; one of an unknown span ends the outer ones for its time.
class OriginScope {
 public:
  explicit OriginScope(Span origin);
  ~OriginScope();
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;

  // That of the innermost scope; unknown if there is none.
  static Span Current();

 private:
  Span outer_;
};

}  // namespace iropt
