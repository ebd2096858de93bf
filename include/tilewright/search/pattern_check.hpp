// When the patterns of sparse arguments are checked.
#pragma once

namespace tilewright {

/// When the pattern of a sparse argument is checked.
enum class pattern_check {
  once,        // when it was not seen by this thread, or a sample of it has changed
  every_call,  // a pattern that the program changes in place
  never        // it is known to be right
};

}  // namespace tilewright
