// From here on functions are seldom called, until cold_end.hpp: optimizers make them small, and take less time for
// them. Without optimization nothing changes. No #pragma once: src.hpp alone includes it.
#if defined(__OPTIMIZE__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((cold)), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC optimize("Os")
#endif
#endif
