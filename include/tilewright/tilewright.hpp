// Tilewright: describe a tensor computation, call it, and get a kernel that was searched for the
// machine.
//
// Three ways to use this header, cheapest first:
//
// 1. CMake, a second a file: link `tilewright::tilewright` (find_package, add_subdirectory or
//    FetchContent). The library is compiled once.
// 2. Any other build, a second a file, two to three minutes once: define TILEWRIGHT_DECLARE_ONLY for
//    every file (-DTILEWRIGHT_DECLARE_ONLY), and in one of them, before the include:
//        #define TILEWRIGHT_IMPLEMENT
//        #include <tilewright/tilewright.hpp>
// 3. Nothing at all, two to three minutes a file: the include alone is the whole library. CMake calls
//    that `tilewright::header_only`.
//
// No #pragma once: a file may implement after a header of its own has included this one.
#ifndef TILEWRIGHT_TILEWRIGHT_HPP
#define TILEWRIGHT_TILEWRIGHT_HPP

#include <tilewright/config.hpp>
#include <tilewright/expr/alternatives.hpp>
#include <tilewright/expr/argument.hpp>
#include <tilewright/expr/formats/bsr_matrix.hpp>
#include <tilewright/expr/formats/csc_matrix.hpp>
#include <tilewright/expr/formats/dcsr_matrix.hpp>
#include <tilewright/expr/formats/dia_matrix.hpp>
#include <tilewright/expr/formats/ell_matrix.hpp>
#include <tilewright/expr/formats/parted_matrix.hpp>
#include <tilewright/expr/formats/ragged_view.hpp>
#include <tilewright/expr/formats/sell_matrix.hpp>
#include <tilewright/expr/formats/values_like.hpp>
#include <tilewright/expr/functions.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/fwd.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/expression.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/space/steps.hpp>
#include <tilewright/space_for.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/tuned.hpp>

#endif

#if defined(TILEWRIGHT_IMPLEMENT) && defined(TILEWRIGHT_WHOLE)
// or compile every file with -DTILEWRIGHT_DECLARE_ONLY
#error "tilewright: this file included the library whole; define TILEWRIGHT_IMPLEMENT before it"
#elif defined(TILEWRIGHT_IMPLEMENT) || !defined(TILEWRIGHT_DECLARE_ONLY)
#include <tilewright/impl/src.hpp>
#endif
