// The object behind a class whose parts are known to the library alone.
//
// In the place of a std::unique_ptr, of which a compiler that includes the class writes out a tuple, a
// deleter and what these are convertible to.
#pragma once

namespace tilewright::support {

/// Owns one object, which is of a complete type where it is made and where it ends.
template <class T>
class owned {
 public:
  explicit owned(T* object) noexcept : object_(object) {}
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() { delete object_; }

  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }

 private:
  T* object_;
};

}  // namespace tilewright::support
