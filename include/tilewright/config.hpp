// Compiler and build-mode macros; no other header of the library reads a predefined compiler macro.
#pragma once

#define TILEWRIGHT_VERSION_MAJOR 0
#define TILEWRIGHT_VERSION_MINOR 1
#define TILEWRIGHT_VERSION_PATCH 0

// tilewright.hpp says which macro makes a file declare, define, or do both. A file that does both is
// whole: it has every definition of impl/, inline. TILEWRIGHT_WHOLE marks it, so that a later demand
// to implement in the same file is refused.
#if defined(TILEWRIGHT_DECLARE_ONLY) || defined(TILEWRIGHT_IMPLEMENT)
#define TILEWRIGHT_INLINE
#else
#define TILEWRIGHT_INLINE inline
#define TILEWRIGHT_WHOLE
#endif

#if defined(__SANITIZE_ADDRESS__)
#define TILEWRIGHT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TILEWRIGHT_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef TILEWRIGHT_ADDRESS_SANITIZER
#define TILEWRIGHT_ADDRESS_SANITIZER 0
#endif

#if defined(__x86_64__) || defined(_M_X64)
#define TILEWRIGHT_X86 1
#else
#define TILEWRIGHT_X86 0
#endif

// Clang repeats a failed static_assert's condition with its template arguments, g++ prints only the
// literal; meta/mistake.hpp uses what names the offender on the first line.
#if defined(__clang__)
#define TILEWRIGHT_ASSERT_ECHOES 1
#else
#define TILEWRIGHT_ASSERT_ECHOES 0
#endif
