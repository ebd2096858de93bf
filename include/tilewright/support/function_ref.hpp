// A reference to something that can be called: for parameters that are called and not kept.
//
// In the place of `const std::function<...>&`, which makes an object, and code to copy and destroy
// it, of every lambda that is passed.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>

namespace tilewright::support {

template <class Signature>
class function_ref;

/// Holds no copy: what it is made of has to outlive it, as an argument outlives its call.
template <class Result, class... Argument>
class function_ref<Result(Argument...)> {
 public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, function_ref> &&
           std::is_invocable_r_v<Result, F&, Argument...>) function_ref(F&& f)
  noexcept {  // NOLINT: a lambda is written where one is taken
    if constexpr (std::is_function_v<std::remove_reference_t<F>>) {
      target_.function = reinterpret_cast<void (*)()>(&f);
      call_ = [](target at, Argument... arguments) -> Result {
        return reinterpret_cast<std::remove_reference_t<F>*>(at.function)(
            static_cast<Argument&&>(arguments)...);
      };
    } else {
      target_.object = static_cast<const void*>(std::addressof(f));
      call_ = [](target at, Argument... arguments) -> Result {
        return (*static_cast<std::remove_reference_t<F>*>(const_cast<void*>(at.object)))(
            static_cast<Argument&&>(arguments)...);
      };
    }
  }

  Result operator()(Argument... arguments) const {
    return call_(target_, static_cast<Argument&&>(arguments)...);
  }

 private:
  union target {
    const void* object;
    void (*function)();
  };
  target target_{};
  Result (*call_)(target, Argument...);
};

}  // namespace tilewright::support
