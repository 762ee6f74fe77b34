// Macros for the kinds of values in rows of a flags.def (see tools/ir-opt/flags.def), and for rows as entries of a
// table of flags:
//
//   constexpr Flag kFlags[] = {
//   #define IROPT_FLAG IROPT_FLAG_ROW
//   #include "flags.def"
//   };
#pragma once

#include "iropt/driver/flags.h"

#define IROPT_SWITCH                                                                                                   \
  {}
#define IROPT_TEXT(Placeholder, Completes)                                                                             \
  { ValueKind::Text, Placeholder, Completion::Completes }
#define IROPT_PAIR(Placeholder, Completes)                                                                             \
  { ValueKind::Pair, Placeholder, Completion::Completes }
#define IROPT_REPEATED(Placeholder, Completes)                                                                         \
  { ValueKind::Repeated, Placeholder, Completion::Completes }
#define IROPT_LIST(Placeholder, Completes)                                                                             \
  { ValueKind::List, Placeholder, Completion::Completes }
#define IROPT_NUMBER(Least, Most)                                                                                      \
  { ValueKind::Number, "N", Completion::None, Least, Most }
#define IROPT_REAL                                                                                                     \
  { ValueKind::Real, "X", Completion::None }
#define IROPT_WORD(Choices)                                                                                            \
  { ValueKind::Word, Choices, Completion::Words }
#define IROPT_SWITCH_OR_WORD(Choices)                                                                                  \
  { ValueKind::SwitchOrWord, Choices, Completion::Words }
#define IROPT_SWITCH_OR_TEXT(Placeholder, Bare)                                                                        \
  { ValueKind::SwitchOrText, Placeholder, Completion::None, 0, 0, Bare }
#define IROPT_SWITCH_OR_TEXTS(Placeholder, Bare)                                                                       \
  { ValueKind::SwitchOrTexts, Placeholder, Completion::None, 0, 0, Bare }
#define IROPT_FLAG_ROW(Group, Name, Member, Value, Summary, Details) {FlagGroup::Group, Name, Value, Summary, Details},
