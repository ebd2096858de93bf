#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <tilewright/dispatch/weight_set.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/bound_weights.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_mutex.hpp>

namespace tilewright::dispatch {
namespace detail::weights {

/// Copies a strided tensor into a dense one.
inline void copy_dense(std::byte* to, const std::byte* from, std::int64_t size, std::size_t rank,
                       const std::int64_t* extents, const std::int64_t* strides) {
  if (rank == 0) {
    std::memcpy(to, from, static_cast<std::size_t>(size));
    return;
  }
  std::int64_t block = size;  // bytes of one step of the outermost dimension
  for (std::size_t d = 1; d < rank; ++d) block *= extents[d];
  if (rank == 1 && strides[0] == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(block * extents[0]));
    return;
  }
  for (std::int64_t i = 0; i < extents[0]; ++i)
    copy_dense(to + i * block, from + i * strides[0] * size, size, rank - 1, extents + 1,
               strides + 1);
}

/// Copies that sets hold, by the memory that they were made from: whoever binds the same elements again
/// shares them, as the alternatives of a network do with all of its weights.
class known_copies {
 public:
  static known_copies& all() {
    static auto* const made = new known_copies;  // sets may end after every other static object
    return *made;
  }
  /// The copy of these bytes as they are now; null when there is none.
  std::shared_ptr<std::byte> find(const std::byte* from, std::size_t size) {
    std::shared_ptr<std::byte> there;
    {
      const std::lock_guard lock(mutex_);
      if (const auto at = copies_.find({from, size}); at != copies_.end())
        there = at->second.lock();
    }
    return there && std::memcmp(there.get(), from, size) == 0 ? there : nullptr;
  }
  void add(const std::byte* from, std::size_t size, const std::shared_ptr<std::byte>& copy) {
    const std::lock_guard lock(mutex_);
    copies_[{from, size}] = copy;
    if (copies_.size() < next_look_) return;
    for (auto at = copies_.begin(); at != copies_.end();)
      at = at->second.expired() ? copies_.erase(at) : std::next(at);
    next_look_ = 2 * copies_.size() + 64;
  }

 private:
  support::fork_mutex mutex_;  // of what follows
  std::map<std::pair<const std::byte*, std::size_t>, std::weak_ptr<std::byte>> copies_;
  std::size_t next_look_ = 64;  // for copies that nobody holds any more
};

inline bool is_dense(std::size_t rank, const std::int64_t* extents, const std::int64_t* strides,
                     const std::vector<std::int64_t>& dense) {
  for (std::size_t d = 0; d < rank; ++d)
    if (extents[d] != 1 && strides[d] != dense[d]) return false;
  return true;
}

}  // namespace detail::weights

TILEWRIGHT_INLINE void weight_set::add(const kernel_signature& kernel, std::size_t parameter,
                                       const call_argument& value) {
  const parameter_signature& p = kernel.params.at(parameter);
  const auto refuse = [&](const std::string& what) {
    throw argument_error(kernel.name + ": " + what);
  };
  if (has(parameter)) refuse("\"" + p.name + "\" is bound already; a weight is bound once");
  if (p.written) refuse("\"" + p.name + "\" is written; only what is read can be bound");
  const std::size_t rank = p.dims.size();
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::string place = "dimension " + std::to_string(d) + " of \"" + p.name + "\"";
    const std::int64_t given = value.extents[d];
    if (given < 0) refuse(place + " has extent " + std::to_string(given));
    if (p.dims[d].name.empty() && given != p.dims[d].extent)
      refuse(place + " has extent " + std::to_string(given) + "; the kernel says " +
             std::to_string(p.dims[d].extent));
    if (given > 0 && elements > (std::int64_t{1} << 62) / given / bytes(p.type))
      refuse("\"" + p.name + "\" has more elements than memory can hold");
    elements *= given;
  }
  if (elements > 0 && !value.data) refuse("the data of \"" + p.name + "\" are a null pointer");
  weight w;
  w.parameter = parameter;
  w.extents.assign(value.extents, value.extents + rank);
  w.strides = search::row_major(w.extents);
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(elements * bytes(p.type), 1));
  constexpr std::size_t worth_sharing = 4096;  // bytes
  const auto* from = static_cast<const std::byte*>(value.data);
  const bool shares = elements > 0 && size >= worth_sharing &&
                      detail::weights::is_dense(rank, value.extents, value.strides, w.strides);
  detail::weights::known_copies& known = detail::weights::known_copies::all();
  if (shares) w.data = known.find(from, size);
  if (w.data) {
    weights_.push_back(std::move(w));
    return;
  }
  w.data.reset(static_cast<std::byte*>(std::aligned_alloc(64, (size + 63) / 64 * 64)),
               [](std::byte* q) { std::free(q); });
  if (!w.data) refuse("no memory for a copy of \"" + p.name + "\"");
  if (elements > 0)
    detail::weights::copy_dense(w.data.get(), from, bytes(p.type), rank, value.extents,
                                value.strides);
  if (shares) known.add(from, size, w.data);
  weights_.push_back(std::move(w));
}

TILEWRIGHT_INLINE bool weight_set::has(std::size_t parameter) const noexcept {
  return support::any(weights_, [&](const weight& w) { return w.parameter == parameter; });
}

TILEWRIGHT_INLINE void weight_set::fill(call_argument* arguments) const noexcept {
  for (const weight& w : weights_)
    arguments[w.parameter] = {w.data.get(), w.extents.data(), w.strides.data()};
}

TILEWRIGHT_INLINE std::vector<std::size_t> weight_set::positions() const {
  std::vector<std::size_t> out;
  for (const weight& w : weights_) out.push_back(w.parameter);
  std::sort(out.begin(), out.end());
  return out;
}

TILEWRIGHT_INLINE std::vector<const void*> weight_set::data(std::size_t parameters) const {
  std::vector<const void*> out(parameters, nullptr);
  for (const weight& w : weights_) out[w.parameter] = w.data.get();
  return out;
}

TILEWRIGHT_INLINE std::function<ir::function(const search::extent_map&)> with_bound_weights(
    std::function<ir::function(const search::extent_map&)> make,
    std::vector<std::size_t> positions) {
  if (positions.empty()) return make;
  return
      [make = std::move(make), positions = std::move(positions)](const search::extent_map& dims) {
        ir::attr::list list;
        for (std::size_t p : positions) list.emplace_back(static_cast<std::int64_t>(p));
        return ir::map_alternatives(make(dims), [&](ir::function f) {
          f.attrs[ir::bound_attribute] = list;
          return f;
        });
      };
}

}  // namespace tilewright::dispatch
