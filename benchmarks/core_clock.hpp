// How fast the clock of this core runs: processors change it by a tenth within seconds, and times of
// candidates that were taken minutes apart can be compared only in cycles.
#pragma once

namespace bench {

/// Clock rate now, relative to its median when the process began.
double clock_rate();

}  // namespace bench
