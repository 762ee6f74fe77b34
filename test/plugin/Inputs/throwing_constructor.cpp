// A shared object that throws while it is loaded, where nothing can catch it.
static const int kNever = [] { return throw 1, 1; }();
extern "C" [[gnu::visibility("default")]] int use() { return kNever; }
