// Tilewright: describe a tensor computation, call it, and get a kernel that was searched for the
// machine.
#pragma once

#include <tilewright/config.hpp>
#include <tilewright/expr/alternatives.hpp>
#include <tilewright/expr/argument.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/fwd.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/expression.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/space_for.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/tuned.hpp>

#if !defined(TILEWRIGHT_DECLARE_ONLY)
#include <tilewright/impl/src.hpp>
#endif
