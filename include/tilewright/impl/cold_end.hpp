// The end of what cold_begin.hpp began.
#if defined(__OPTIMIZE__)
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
