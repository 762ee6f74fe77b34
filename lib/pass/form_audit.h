// Checks what passes say of the forms of modules (see ir_form.h) against modules.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/pass/pass_info.h"
#include "iropt/support/result.h"

namespace iropt {

// The forms that the module is seen to be in: of those that show in its structure. Functions that passes leave alone do
// not count. Linear.
IRForms VisibleForms(const Module& module);

// Fails where `after`, which a pass made of a module in the forms `before`, is in fewer forms than the pass says.
Status CheckFormClaims(const PassInfo& info, IRForms before, const Module& after);

}  // namespace iropt
