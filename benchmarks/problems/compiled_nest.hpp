// A nest written in C, as clang compiles it for this machine.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// Both functions of a text that defines `void nest(void* const* arguments)`, in shared libraries that clang makes with
/// -O3 -march=native -ffast-math. With -DREFERENCE the text has to compute in double precision.
class compiled_nest {
 public:
  using function = void (*)(void* const*);

  explicit compiled_nest(const std::string& text);
  ~compiled_nest();
  compiled_nest(const compiled_nest&) = delete;
  compiled_nest& operator=(const compiled_nest&) = delete;

  /// Null where clang is missing or does not compile the text.
  function plain = nullptr, in_double = nullptr;

 private:
  std::vector<void*> handles_;
};

}  // namespace bench
