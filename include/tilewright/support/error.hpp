// The four errors that the library throws, under one base.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace tilewright {

/// Base of every exception that Tilewright throws.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Wrong arguments of a call: extents, strides, aliasing, null pointers, options.
class argument_error : public error {
 public:
  using error::error;
};

/// Code generation, loading or a missing run-time library.
class build_error : public error {
 public:
  using error::error;
};

/// A state that a correct Tilewright cannot reach; please report it with the text.
class internal_error : public error {
 public:
  explicit internal_error(const std::string& what)
      : error("internal error (please report): " + what) {}
};

/// An illegal primitive; search expects and counts these.
class schedule_error : public error {
 public:
  /// @param primitive   name of the refused primitive, as in a trace
  /// @param requirement number of the violated requirement in the primitive's documentation; 0 is
  ///                    what all of them need
  /// @param what        one sentence that names block and loop and says what is needed
  schedule_error(std::string primitive, int requirement, const std::string& what)
      : error(primitive + ": " + what + " (requirement " + std::to_string(requirement) + ")"),
        primitive_(std::move(primitive)),
        requirement_(requirement) {}

  const std::string& primitive() const noexcept { return primitive_; }
  int requirement() const noexcept { return requirement_; }

 private:
  std::string primitive_;
  int requirement_;
};

}  // namespace tilewright
