// Every name that users write, declared.
#pragma once

#include <cstdint>

namespace tilewright {

class error;
class argument_error;
class schedule_error;
class build_error;
class internal_error;

enum class dtype : std::uint32_t;
struct float16;
struct bfloat16;

class any_kernel;
class schedule;
class trace;
struct block_rv;
struct loop_rv;
struct expr_rv;
enum class mode;
enum class effort;
struct tuned_options;
template <class Kernel, class... Bound>
class tuned;

namespace space {
class design_space;
struct context;
}  // namespace space
namespace target {
struct cpu;
}
namespace search {
class database;
class dispatcher;
struct progress;
struct event;
}  // namespace search

}  // namespace tilewright

namespace tw = tilewright;
