#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/intrin/library.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/support/fork_mutex.hpp>
#include <tilewright/support/numbers/float16.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::intrin {
namespace detail {

struct registry {
  support::fork_mutex mutex;
  std::map<std::string, std::shared_ptr<const intrinsic>, std::less<>> user, library;
};

inline registry& known() {
  const support::fork_pass inside;
  static registry& r = *new registry;  // outlives static destruction
  return r;
}

[[noreturn]] inline void refuse(const intrinsic& i, int requirement, const std::string& what) {
  throw argument_error("intrinsic \"" + i.name + "\": " + what + " (requirement " +
                       std::to_string(requirement) + ")");
}

inline const ir::block_node& root_of(const intrinsic& i, const ir::function& f) {
  try {
    ir::verify(f);
    return *ir::root_block(f);
  } catch (const error& e) {
    refuse(i, 2, "the function \"" + f.name + "\" is not well formed: " + e.what());
  }
}

inline bool same_shape(const ir::buffer& a, const ir::buffer& b) {
  if (a->shape.size() != b->shape.size()) return false;
  for (std::size_t d = 0; d < a->shape.size(); ++d)
    if (!ir::is_int(a->shape[d]) || !ir::equal(a->shape[d], b->shape[d])) return false;
  return true;
}

inline void check_parameters(const intrinsic& i) {
  const auto &desc = i.description.params, &impl = i.implementation.params;
  if (desc.size() != impl.size() || desc.empty())
    refuse(i, 3, "description and implementation differ in number of parameters");
  const ir::block_node& root = *ir::root_block(i.implementation);
  for (std::size_t p = 0; p < desc.size(); ++p) {
    const ir::buffer &a = desc[p].buffer, &b = impl[p].buffer;
    const std::string which = "parameter " + std::to_string(p) + " ";
    if (!a || !b) refuse(i, 3, which + "is no buffer");
    if (a->type != b->type || !same_shape(a, b) || a->scope != b->scope)
      refuse(i, 3, which + "has another type, shape or scope in the implementation");
    bool listed = false;
    for (const auto* list : {&root.reads, &root.writes})
      for (const ir::buffer_region& r : *list) listed = listed || r.buffer == b;
    if (!listed) refuse(i, 4, which + "is in no region of the implementation");
  }
}

/// Contents of the parameters, contiguous.
struct memory {
  std::vector<std::vector<std::byte>> bytes;  // [parameters]

  std::vector<ir::tensor_view> views() {
    std::vector<ir::tensor_view> out;
    for (auto& b : bytes) out.push_back({b.data(), {}});
    return out;
  }
};

template <class T>
void put(std::vector<std::byte>& to, std::size_t i, T value) {
  std::memcpy(to.data() + i * sizeof(T), &value, sizeof(T));
}

/// Half of the bits are those of an end of the type's range; sums of products overflow what they can.
inline std::uint64_t extreme_bits(dtype type, std::uint64_t draw) {
  const int width = bits(type) - (is_unsigned(type) ? 0 : 1);
  const std::uint64_t last = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  return (draw & 3) == 0 ? last : (draw & 3) == 1 && !is_unsigned(type) ? ~last : draw >> 2;
}

/// Small integers are exact in every float type, and so are their sums of products.
inline memory random_memory(const intrinsic& i, support::random& random, bool extreme) {
  memory out;
  for (const ir::param& p : i.description.params) {
    const dtype type = p.buffer->type;
    const auto n = static_cast<std::size_t>(ir::elements_of(p.buffer)),
               size = static_cast<std::size_t>(bytes(type));
    out.bytes.emplace_back(n * size);
    std::vector<std::byte>& to = out.bytes.back();
    for (std::size_t e = 0; e < n; ++e) {
      const auto small = static_cast<float>(static_cast<int>(random.next() % 17) - 8);
      std::uint64_t bits = random.next();
      if (extreme && is_integer(type)) bits = extreme_bits(type, bits);
      switch (type) {
        case dtype::f16: put(to, e, float16(small)); break;
        case dtype::bf16: put(to, e, bfloat16(small)); break;
        case dtype::f32: put(to, e, small); break;
        case dtype::f64: put(to, e, static_cast<double>(small)); break;
        case dtype::boolean: put(to, e, static_cast<std::uint8_t>(bits & 1)); break;
        default: std::memcpy(to.data() + e * size, &bits, size);
      }
    }
  }
  return out;
}

inline void compare(const intrinsic& i, const memory& expected, const memory& found) {
  for (std::size_t p = 0; p < expected.bytes.size(); ++p) {
    if (expected.bytes[p] == found.bytes[p]) continue;
    const ir::buffer& b = i.description.params[p].buffer;
    const auto size = static_cast<std::size_t>(bytes(b->type));
    std::size_t at = 0;
    while (expected.bytes[p][at] == found.bytes[p][at]) ++at;
    std::size_t element = at / size;
    std::string indices;
    for (std::size_t d = b->shape.size(); d-- > 0;) {
      const auto extent = static_cast<std::size_t>(ir::as_int(b->shape[d]));
      indices = std::to_string(element % extent) + (indices.empty() ? "" : ", ") + indices;
      element /= extent;
    }
    refuse(i, 5,
           "the implementation computes another " + b->name + "[" + indices +
               "] than the description");
  }
}

/// What keeps the interpreter from running the functions; empty when it has compared them.
inline std::string check_meaning(const intrinsic& i) {
  support::random random(0x7469'6c65);
  for (int round = 0; round < 6; ++round) {
    memory expected = random_memory(i, random, round % 2 == 1), found = expected;
    try {
      ir::interpret(i.description, expected.views());
      ir::interpret(i.implementation, found.views());
    } catch (const error& e) {
      return e.what();
    }
    compare(i, expected, found);
  }
  return {};
}

inline void check_form(const intrinsic& i) {
  if (i.name.empty()) refuse(i, 1, "it has no name");
  root_of(i, i.description);
  root_of(i, i.implementation);
  check_parameters(i);
}

inline void keep(intrinsic&& i) {
  registry& r = known();
  const std::lock_guard lock(r.mutex);
  const std::string name = i.name;
  r.user[name] = std::make_shared<const intrinsic>(std::move(i));
}

}  // namespace detail

TILEWRIGHT_INLINE void add(intrinsic i) {
  detail::check_form(i);
  const std::string problem = detail::check_meaning(i);
  if (!problem.empty()) detail::refuse(i, 5, "it cannot be checked: " + problem);
  detail::keep(std::move(i));
}

TILEWRIGHT_INLINE bool add_where_checkable(intrinsic i) {
  detail::check_form(i);
  const bool checked = detail::check_meaning(i).empty();
  detail::keep(std::move(i));
  return checked;
}

TILEWRIGHT_INLINE void add_unchecked(intrinsic i) {
  detail::check_form(i);
  detail::keep(std::move(i));
}

TILEWRIGHT_INLINE void remove(std::string_view name) {
  detail::registry& r = detail::known();
  const std::lock_guard lock(r.mutex);
  const auto found = r.user.find(name);
  if (found != r.user.end()) r.user.erase(found);
}

TILEWRIGHT_INLINE std::shared_ptr<const intrinsic> find(std::string_view name) {
  detail::registry& r = detail::known();
  const std::lock_guard lock(r.mutex);
  if (const auto found = r.user.find(name); found != r.user.end()) return found->second;
  if (const auto found = r.library.find(name); found != r.library.end()) return found->second;
  for (const library_entry& e : library())
    if (e.name == name)
      return r.library[std::string(name)] = std::make_shared<const intrinsic>(e.make());
  return nullptr;
}

TILEWRIGHT_INLINE std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const library_entry& e : library()) out.emplace_back(e.name);
  detail::registry& r = detail::known();
  const std::lock_guard lock(r.mutex);
  for (const auto& entry : r.user) out.push_back(entry.first);
  return out;
}

}  // namespace tilewright::intrin
