// A vector whose first elements lie inside of it.
//
// For lists that are mostly short and made by the thousand, as the terms of sums are: these need no
// memory of their own. Moving the list moves such elements, so pointers to them do not outlive it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tilewright::support {

/// As std::vector, as far as it goes; the first `Inside` elements need no allocation.
template <class T, std::size_t Inside>
class short_vector {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>,
                "tilewright: short_vector<T, n> needs a T that moves without throwing");

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  short_vector() noexcept : data_(inside()) {}
  short_vector(std::size_t n, const T& value) : short_vector() {
    reserve(n);
    std::uninitialized_fill_n(data_, n, value);
    size_ = n;
  }
  short_vector(const short_vector& other) : short_vector() {
    reserve(other.size_);
    std::uninitialized_copy_n(other.data_, other.size_, data_);
    size_ = other.size_;
  }
  short_vector(short_vector&& other) noexcept : short_vector() { take(other); }
  short_vector& operator=(const short_vector& other) {
    if (this != &other) *this = short_vector(other);
    return *this;
  }
  short_vector& operator=(short_vector&& other) noexcept {
    if (this == &other) return *this;
    drop();
    take(other);
    return *this;
  }
  ~short_vector() { drop(); }

  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T& front() noexcept { return data_[0]; }
  const T& front() const noexcept { return data_[0]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& back() const noexcept { return data_[size_ - 1]; }

  void reserve(std::size_t n) {
    if (n <= capacity_) return;
    T* const more = std::allocator<T>().allocate(n);
    std::uninitialized_move_n(data_, size_, more);
    const std::size_t kept = size_;
    drop();
    data_ = more;
    capacity_ = n;
    size_ = kept;
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ < capacity_) return *::new (data_ + size_++) T(std::forward<Args>(args)...);
    T value(std::forward<Args>(args)...);  // the arguments may be elements of the list
    reserve(2 * capacity_);
    return *::new (data_ + size_++) T(std::move(value));
  }
  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  T* erase(T* first, T* last) noexcept {
    T* const rest = std::move(last, end(), first);
    std::destroy(rest, end());
    size_ = static_cast<std::size_t>(rest - data_);
    return first;
  }
  T* erase(T* at) noexcept { return erase(at, at + 1); }
  void clear() noexcept {
    std::destroy_n(data_, size_);
    size_ = 0;
  }
  template <class Which>
  friend void erase_if(short_vector& list, Which which) {
    list.erase(std::remove_if(list.begin(), list.end(), which), list.end());
  }

 private:
  T* inside() noexcept { return reinterpret_cast<T*>(inside_); }
  bool is_inside() const noexcept { return capacity_ == Inside; }
  /// Gives up the elements and their memory.
  void drop() noexcept {
    clear();
    if (is_inside()) return;
    std::allocator<T>().deallocate(data_, capacity_);
    data_ = inside();
    capacity_ = Inside;
  }
  /// The elements of `other`, which is left empty; this list has none.
  void take(short_vector& other) noexcept {
    if (other.is_inside()) {
      std::uninitialized_move_n(other.data_, other.size_, data_);
      size_ = other.size_;
      return other.clear();
    }
    data_ = std::exchange(other.data_, other.inside());
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, Inside);
  }

  T* data_;
  std::size_t size_ = 0, capacity_ = Inside;
  alignas(T) std::byte inside_[Inside * sizeof(T)];  // NOLINT: uninitialized
};

}  // namespace tilewright::support
