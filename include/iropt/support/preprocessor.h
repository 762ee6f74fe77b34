// A loop of the preprocessor, for tables whose rows hold lists.
#pragma once

// IROPT_FOR_EACH(M, (a, b), (c)) expands to M(a, b) M(c). For up to 80 items. The technique is that of
// https://www.scs.stanford.edu/~dm/blog/va-opt.html: each scan of the result expands one item more.
#define IROPT_FOR_EACH(macro, ...) __VA_OPT__(IROPT_SCAN_81(IROPT_FOR_EACH_STEP(macro, __VA_ARGS__)))
#define IROPT_FOR_EACH_STEP(macro, item, ...)                                                                          \
  macro item __VA_OPT__(IROPT_FOR_EACH_NEXT IROPT_NO_ARGUMENTS(macro, __VA_ARGS__))
#define IROPT_FOR_EACH_NEXT() IROPT_FOR_EACH_STEP
#define IROPT_NO_ARGUMENTS ()
#define IROPT_SCAN_81(...) IROPT_SCAN_27(IROPT_SCAN_27(IROPT_SCAN_27(__VA_ARGS__)))
#define IROPT_SCAN_27(...) IROPT_SCAN_9(IROPT_SCAN_9(IROPT_SCAN_9(__VA_ARGS__)))
#define IROPT_SCAN_9(...) IROPT_SCAN_3(IROPT_SCAN_3(IROPT_SCAN_3(__VA_ARGS__)))
#define IROPT_SCAN_3(...) IROPT_SCAN_1(IROPT_SCAN_1(IROPT_SCAN_1(__VA_ARGS__)))
#define IROPT_SCAN_1(...) __VA_ARGS__
