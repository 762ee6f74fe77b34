// The functions of libc++ about threads that its headers declare, where there is one thread.
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <thread>

_LIBCPP_BEGIN_NAMESPACE_STD

mutex::~mutex() noexcept = default;
void mutex::lock() {}
bool mutex::try_lock() noexcept { return true; }
void mutex::unlock() noexcept {}

recursive_mutex::recursive_mutex() = default;
recursive_mutex::~recursive_mutex() = default;
void recursive_mutex::lock() {}
bool recursive_mutex::try_lock() noexcept { return true; }
void recursive_mutex::unlock() noexcept {}

__shared_mutex_base::__shared_mutex_base() : __state_(0) {}
void __shared_mutex_base::lock() {}
bool __shared_mutex_base::try_lock() { return true; }
void __shared_mutex_base::unlock() {}
void __shared_mutex_base::lock_shared() {}
bool __shared_mutex_base::try_lock_shared() { return true; }
void __shared_mutex_base::unlock_shared() {}

condition_variable::~condition_variable() = default;
void condition_variable::notify_one() noexcept {}
void condition_variable::notify_all() noexcept {}
void condition_variable::wait(unique_lock<mutex>&) noexcept {}
void condition_variable::__do_timed_wait(unique_lock<mutex>&,
                                         chrono::time_point<chrono::system_clock, chrono::nanoseconds>) noexcept {}

void __call_once(volatile once_flag::_State_type& flag, void* argument, void (*run)(void*)) {
  if (flag != once_flag::_Unset) return;
  run(argument);
  flag = once_flag::_Complete;
}

thread::~thread() {
  if (joinable()) terminate();
}
void thread::join() { __throw_system_error(EINVAL, "thread::join failed"); }
void thread::detach() { __throw_system_error(EINVAL, "thread::detach failed"); }
unsigned thread::hardware_concurrency() noexcept { return 1; }

__thread_struct::__thread_struct() : __p_(nullptr) {}
__thread_struct::~__thread_struct() = default;
__thread_specific_ptr<__thread_struct>& __thread_local_data() {
  static __thread_specific_ptr<__thread_struct> data;
  return data;
}

_LIBCPP_END_NAMESPACE_STD
