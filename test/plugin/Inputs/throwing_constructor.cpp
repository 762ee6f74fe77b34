// A shared object that throws while it is loaded, so that the exception cannot be caught.
static const int kNever = [] { return throw 1, 1; }();
extern "C" [[gnu::visibility("default")]] int use() { return kNever; }
