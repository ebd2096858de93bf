// How fast the clock of this core runs: processors change it by a tenth within seconds, and times of
// candidates that were taken minutes apart can be compared only in cycles.
#pragma once

namespace bench {

/// Clock rate now, by a chain of dependent multiplications, which are taken to need three cycles
/// each; on a processor that needs others, as many times too high or low.
double gigahertz();

}  // namespace bench
