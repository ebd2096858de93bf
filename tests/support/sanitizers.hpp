// The sanitizers that watch a test: g++ names one by a macro, clang by a feature.
#pragma once

#if defined(__has_feature)
#define TESTS_FEATURE(name) __has_feature(name)
#else
#define TESTS_FEATURE(name) 0
#endif

namespace sanitizers {

#if defined(__SANITIZE_ADDRESS__) || TESTS_FEATURE(address_sanitizer)
inline constexpr bool address = true;
#else
inline constexpr bool address = false;
#endif

#if defined(__SANITIZE_THREAD__) || TESTS_FEATURE(thread_sanitizer)
inline constexpr bool thread = true;
#else
inline constexpr bool thread = false;
#endif

}  // namespace sanitizers

#undef TESTS_FEATURE
