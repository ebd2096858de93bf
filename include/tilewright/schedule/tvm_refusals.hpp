// Primitives accept what is right. TVM refuses some of that; who exchanges traces with it can ask
// for its refusals too.
#pragma once

namespace tilewright::primitive {

/// True on this thread while a `tvm_refusals` lives on it. A primitive that accepts more than TVM
/// does asks here before it goes on, and refuses with the requirement that TVM names:
///
///     if (as_tvm() && !is_chain(loops)) fail(f, 3, "...");
bool as_tvm() noexcept;

/// While it lives, primitives called on this thread also make the refusals that TVM makes.
class tvm_refusals {
 public:
  explicit tvm_refusals(bool wanted = true) noexcept;
  ~tvm_refusals();
  tvm_refusals(const tvm_refusals&) = delete;
  tvm_refusals& operator=(const tvm_refusals&) = delete;

 private:
  bool before_;
};

}  // namespace tilewright::primitive
