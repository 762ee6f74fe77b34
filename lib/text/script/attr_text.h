// Attribute values in scripts: dictionaries of functions, modules, blocks and loops, T.target, T.index_map, I.vdevice,
// R.device_mesh.
#pragma once

#include "parser_core.h"
#include "printer_core.h"

namespace iropt::text {

// Reads one value at the current token, with the operators that bind as tightly as `least`. Null after an error. Names
// of variables are looked up: an expression over them is an attribute, too.
const Attr* ParseAttr(ParserCore::Shared shared, ScriptDialect mode, Precedence least = Precedence::kLambda);
// Reads `lambda i, j: (j, i)` as T.index_map(lambda i, j: (j, i)) has it. Null after an error.
const Attr* ParseIndexMapLambda(ParserCore::Shared shared);
// Returns whether the current token begins a value that only attributes have: T.target(...), T.index_map(...),
// I.vdevice(...), or a dictionary.
bool AtAttrConstructor(const ParserCore::Shared& shared);

// Returns whether a number is printed without its dtype in the text of Relax.
bool IsPlainFloat(const FloatAttr& attr);
// Prints a value. `free` names what the text has not defined yet; see PrimPrinter.
void PrintAttr(const Attr* attr, PrintContext& context, ScriptDialect mode, FreeNames* free = nullptr);

}  // namespace iropt::text
