// Integers that programs are full of, as bounds, extents and factors.
//
// Each is made once and shared by all programs of the process, without a count: threads that search
// would count the owners of the same zero all the time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <tilewright/ir/expr.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::ir::detail {

inline expr make_integer(dtype type, std::int64_t value) {
  auto* node = new expr_node;
  node->op = op::integer;
  node->type = type;
  node->integer = value;
  return expr(support::ref<const expr_node>(node));
}

class small_integers {
 public:
  static bool hold(dtype type, std::int64_t value) noexcept {
    return value >= 0 &&
           ((type == dtype::i32 && value < numbers) || (type == dtype::boolean && value < 2));
  }
  /// A value that they hold.
  static const expr& at(dtype type, std::int64_t value) {
    const auto i = static_cast<std::size_t>(value);
    return type == dtype::boolean ? shared().truth_[i] : shared().numbers_[i];
  }

 private:
  static constexpr std::int64_t numbers = 257;

  small_integers() {
    const auto fill = [](auto& list, dtype type) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        list[i] = make_integer(type, static_cast<std::int64_t>(i));
        list[i]->keep_forever();
      }
    };
    fill(numbers_, dtype::i32);
    fill(truth_, dtype::boolean);
  }

  static const small_integers& shared() {
    static std::atomic<const small_integers*> known{nullptr};
    if (const small_integers* all = known.load(std::memory_order_acquire)) return *all;
    const support::fork_pass pass;
    static const auto* const made = new small_integers;  // what ends last may still use them
    known.store(made, std::memory_order_release);
    return *made;
  }

  std::array<expr, numbers> numbers_;  // i32
  std::array<expr, 2> truth_;
};

}  // namespace tilewright::ir::detail
