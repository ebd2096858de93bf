// A kernel of compressed rows in each format that is known: a dispatcher for each, and the arguments of a
// call in its format.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/dispatch/dispatcher.hpp>
#include <tilewright/impl/model/formats/known_format.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/model/dispatch.hpp>
#include <tilewright/search/argument_forms.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::detail {

class formatted_kernel {
 public:
  /// @param options of the dispatchers, which tune nothing
  /// @param others formats beside compressed rows
  formatted_kernel(const std::vector<any_kernel>& algorithms, const tuned_options& options,
                   bool others) {
    const dsl::tensor_info& matrix = *only_compressed(algorithms.at(0), true);
    element_ = tilewright::bytes(matrix.type);
    absent_ = element_bits(matrix.type, matrix.absent());
    index_ = matrix.dims[matrix.rank - 1].index_bits == 64 ? dtype::i64 : dtype::i32;
    entries_.push_back({nullptr, make_dispatcher(algorithms, options)});
    const auto& params = code(0).signature().params;
    while (!params[first_ + 2].name.empty() && params[first_ + 2].name != matrix.name) ++first_;
    for (std::size_t i = 0; i < params.size(); ++i)
      is_follower_.push_back(support::any(algorithms[0].params(), [&](const dsl::tensor_info* t) {
        return t->name == params[i].name && t->sparse() && t->pattern() != t->name;
      }));
    if (!others) return;
    for (const known_format& f : known_formats) {
      // the order of rows side by side is that of no tensor stored like the matrix
      if (followers() > 0 && f.form.storage == dim_storage::sell) continue;
      std::vector<any_kernel> kernels;
      for (const any_kernel& k : algorithms) kernels.push_back(with_format(k, matrix.name, f));
      entries_.push_back({&f, make_dispatcher(kernels, options)});
    }
  }

  /// Compressed rows are number 0.
  std::size_t size() const noexcept { return entries_.size(); }
  dispatch::dispatcher& code(std::size_t choice) const { return *entries_[choice].code; }
  const known_format& format(std::size_t choice) const { return *entries_[choice].format; }
  std::string name(std::size_t choice) const {
    return choice == 0 ? "compressed rows" : format(choice).name();
  }
  dtype index() const noexcept { return index_; }
  int element() const noexcept { return element_; }  // bytes

  /// Parameters that are stored like the matrix.
  int followers() const {
    return static_cast<int>(std::count(is_follower_.begin(), is_follower_.end(), true));
  }
  bool is_follower(std::size_t array) const { return is_follower_[array]; }
  /// Of one place in a format: what values of these parameters take there in one call.
  std::int64_t follower_bytes() const {
    std::int64_t out = 0;
    for (std::size_t i = 0; i < is_follower_.size(); ++i)
      if (is_follower_[i]) out += tilewright::bytes(code(0).signature().params[i].type);
    return out;
  }

  /// The matrix in a format.
  /// @throws argument_error when it does not suit it, or takes more bytes with `follower_bytes` of each place
  std::shared_ptr<converted_arrays> make(std::size_t choice, const rows_of_call& rows, filling with,
                                         std::int64_t most_bytes) const {
    std::shared_ptr<converted_arrays> out = format(choice).make(rows, with, most_bytes);
    const std::int64_t bytes = out->bytes() + places_of(out->places()) * follower_bytes();
    if (bytes > most_bytes)
      throw argument_error(std::to_string(rows.nonzeros) +
                           " elements, with the values that a call brings to their places, would "
                           "take " +
                           std::to_string(bytes) + " bytes, and most_format_bytes allows " +
                           std::to_string(most_bytes) + "; take another format, or allow more");
    return out;
  }

  rows_of_call rows_of(const dispatch::call_argument* a) const {
    return {a[first_].data,
            a[first_ + 1].data,
            a[first_ + 2].data,
            a[first_].extents[0] - 1,
            a[first_ + 1].extents[1],
            a[first_ + 1].extents[0],
            index_,
            element_,
            absent_};
  }
  const dispatch::call_argument& offsets_of(const dispatch::call_argument* a) const {
    return a[first_];
  }

  /// Calls `use` with the dispatcher of a format and the arguments in it.
  /// @param converted null: the arguments as they are
  /// @param runs whether `use` computes what parameters that are stored like the matrix get
  template <class Use>
  void with(std::size_t choice, const converted_arrays* converted, const dispatch::call_argument* a,
            const Use& use, bool runs = false) const {
    with(code(choice), converted, a, use, runs);
  }
  template <class Use>
  void with(dispatch::dispatcher& code_of_format, const converted_arrays* converted,
            const dispatch::call_argument* a, const Use& use, bool runs = false) const {
    if (!converted) return use(code_of_format, a);
    if (!followers_fit(a)) return use(code(0), a);  // which refuses them
    const std::vector<dsl::argument> arrays = converted->arrays();
    const auto& params = code(0).signature().params;
    std::vector<dispatch::call_argument> out;
    std::list<followed_argument> followed;
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (i == first_)
        for (const dsl::argument& one : arrays)
          out.push_back({one.data, one.extents.data(), one.strides.data()});
      if (i >= first_ && i < first_ + 3) continue;
      if (is_follower_[i])
        followed.emplace_back(converted->followed(), converted->places(), a[i], params[i])
            .add_to(out);
      else
        out.push_back(a[i]);
    }
    use(code_of_format, out.data());
    if (!runs) return;
    for (followed_argument& one : followed) one.store();
  }

  /// The arguments of a session in a format, with the function that takes them.
  /// @param plain of compressed rows, at any extents
  /// @param algorithm its number among those of the kernel
  /// @throws argument_error when the matrix has no such format
  search::formed_arguments formed(std::size_t choice, std::size_t algorithm,
                                  const search::runner& plain) const {
    const session_arguments given(code(0).signature(), plain);
    const std::shared_ptr<converted_arrays> converted = made(choice, rows_of(given.list()));
    search::formed_arguments out;
    with(choice, converted.get(), given.list(),
         [&](dispatch::dispatcher& d, const dispatch::call_argument* all) {
           const search::workload w = d.tuning(all).what;
           out.function = ir::alternatives(w.function).at(algorithm);
           out.layouts = w.layouts;
           const std::vector<search::operand> operands = search::operands(out.function);
           for (std::size_t i = 0; i < operands.size(); ++i) {
             search::argument_layout& l = out.layouts.at(i);
             if (l.strides.empty()) l.strides = operands[i].strides;
             out.given.push_back(search::packed_elements(
                 operands[i], static_cast<const std::byte*>(all[i].data),
                 {all[i].strides, all[i].strides + operands[i].extents.size()}));
           }
         });
    return out;
  }

 private:
  /// The matrix in a format. Small ones that were made up for a comparison need not suit it.
  std::shared_ptr<converted_arrays> made(std::size_t choice, const rows_of_call& rows) const {
    try {
      return make(choice, rows, filling::none, no_limit);
    } catch (const argument_error&) {
      return make(choice, rows, filling::zeros, no_limit);
    }
  }

  /// Whether there is a value for each element, so that they may be moved.
  bool followers_fit(const dispatch::call_argument* a) const {
    for (std::size_t i = 0; i < is_follower_.size(); ++i)
      if (is_follower_[i] && (!a[i].data || a[i].extents[0] != rows_of(a).nonzeros)) return false;
    return true;
  }

  struct entry {
    const known_format* format;  // null: compressed rows
    std::shared_ptr<dispatch::dispatcher> code;
  };

  /// The arguments of a runner as those of a call: what they held when they were sealed.
  class session_arguments {
   public:
    session_arguments(const dispatch::kernel_signature& kernel, const search::runner& r) {
      const std::vector<search::operand>& operands = r.operands();
      const std::vector<search::argument_place>& places = r.memory().places();
      std::map<std::string, std::int64_t> known;
      for (std::size_t i = 0; i < operands.size(); ++i)
        for (std::size_t d = 0; d < kernel.params[i].rank(); ++d)
          known[kernel.params[i].dims[d].name] =
              operands[i].extents[d] - kernel.params[i].dims[d].more;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        extents_.push_back(operands[i].extents);
        for (const auto& beside : kernel.params[i].beside)
          extents_.back().push_back(extent_of(beside, operands[i], known));
        strides_.push_back(r.layouts()[i].strides);
        strides_.back().resize(operands[i].extents.size());
      }
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const std::byte* element0 = r.memory().sealed(i) + places[i].element0;
        list_.push_back({const_cast<std::byte*>(element0), extents_[i].data(), strides_[i].data()});
      }
    }
    const dispatch::call_argument* list() const { return list_.data(); }

   private:
    /// Of a dimension that the array lacks: where no other array has it, what its elements may be tells.
    static std::int64_t extent_of(const dispatch::parameter_signature::dimension& beside,
                                  const search::operand& o,
                                  const std::map<std::string, std::int64_t>& known) {
      if (beside.name.empty()) return beside.extent;
      if (const auto found = known.find(beside.name); found != known.end()) return found->second;
      return o.index ? o.index->last + 1 : std::numeric_limits<std::int32_t>::max();
    }

    std::vector<std::vector<std::int64_t>> extents_, strides_;
    std::vector<dispatch::call_argument> list_;
  };

  std::vector<entry> entries_;
  std::vector<bool> is_follower_;  // [arrays of a call]
  std::size_t first_ = 0;          // array of the matrix in a call: offsets, indices, values
  int element_ = 4;
  std::uint64_t absent_ = 0;  // bits
  dtype index_ = dtype::i32;
};

}  // namespace tilewright::detail
