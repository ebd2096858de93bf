#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <tilewright/dispatch/pattern_class.hpp>
#include <tilewright/impl/model/converted_arrays.hpp>
#include <tilewright/model/dispatch.hpp>
#include <tilewright/model/format_choice.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright {
namespace detail {

struct known_format {
  const char* name;
  dim form;
  format_maker make;

  bool has_blocks() const {
    return form.storage == dim_storage::bsr || form.storage == dim_storage::parts;
  }
};

template <dim Form>
constexpr known_format known_as(const char* name) {
  return {name, Form, convert<Form>};
}
template <int Block>
inline constexpr dim blocks_and_rows = parts<bsr<"K", Block>, compressed<"K">>;

/// In the order in which they are tried; of several kinds of blocks the first that fits is taken.
inline constexpr known_format known_formats[] = {known_as<sell<"K", 8>>("sell<8>"),
                                                 known_as<sell<"K", 16>>("sell<16>"),
                                                 known_as<bsr<"K", 16>>("bsr<16>"),
                                                 known_as<bsr<"K", 8>>("bsr<8>"),
                                                 known_as<bsr<"K", 4>>("bsr<4>"),
                                                 known_as<blocks_and_rows<16>>("bsr<16> and rows"),
                                                 known_as<blocks_and_rows<8>>("bsr<8> and rows"),
                                                 known_as<blocks_and_rows<4>>("bsr<4> and rows")};

/// The kernel with one parameter in another format.
inline any_kernel with_format(const any_kernel& kernel, std::string_view parameter,
                              const known_format& format) {
  struct owned {
    any_kernel original;
    std::vector<dsl::dim_info> dims;
    dsl::tensor_info tensor;
  };
  const auto own = std::make_shared<owned>(owned{kernel, {}, {}});
  std::vector<const dsl::tensor_info*> params = kernel.params();
  for (const dsl::tensor_info*& t : params) {
    if (t->name != parameter) continue;
    own->dims.assign(t->dims, t->dims + t->rank);
    own->dims.back().storage = format.form.storage;
    own->dims.back().group = format.form.group;
    own->dims.back().parts = format.form.parts;
    own->tensor = *t;
    own->tensor.dims = own->dims.data();
    t = &own->tensor;
  }
  std::vector<dsl::node> nodes = kernel.nodes();
  for (dsl::node& n : nodes)
    if (n.tensor && n.tensor->name == parameter) n.tensor = &own->tensor;
  return {kernel.name(), std::move(params), std::move(nodes), own};
}

/// The one compressed parameter of a kernel; null where there is none or more that is sparse, and where
/// elements of it are looked up.
inline const dsl::tensor_info* only_compressed(const any_kernel& kernel) {
  const dsl::tensor_info* out = nullptr;
  for (const dsl::tensor_info* t : kernel.params()) {
    if (!t->sparse()) continue;
    if (out || t->dims[t->rank - 1].storage != dim_storage::compressed) return nullptr;
    out = t;
  }
  const bool followed = support::any(kernel.nodes(), [&](const dsl::node& n) {
    return n.tensor && n.tensor->sparse() &&
           (n.tensor->name != (out ? out->name : "") || n.stored == dsl::stored_read::looked_up);
  });
  return followed ? nullptr : out;
}

/// Copies of what a call writes, so that timing leaves the caller's results alone.
class written_copies {
 public:
  written_copies(const dispatch::kernel_signature& kernel, const dispatch::call_argument* a) {
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
      arguments_.push_back(a[i]);
      const dispatch::parameter_signature& p = kernel.params[i];
      if (!p.written) continue;
      const search::memory_span span = search::span_of({a[i].extents, a[i].extents + p.rank()},
                                                       {a[i].strides, a[i].strides + p.rank()});
      const std::ptrdiff_t size = bytes(p.type);
      const auto* first = static_cast<const std::byte*>(a[i].data) + span.first * size;
      copies_.emplace_back(first, first + (span.last - span.first + 1) * size);
      arguments_.back().data = copies_.back().data() - span.first * size;
    }
  }
  const std::vector<dispatch::call_argument>& arguments() const { return arguments_; }

 private:
  std::vector<dispatch::call_argument> arguments_;
  std::list<std::vector<std::byte>> copies_;
};

}  // namespace detail

struct format_choice::state {
  /// One format of the kernel.
  struct contestant {
    const detail::known_format* format = nullptr;  // null: compressed rows
    std::shared_ptr<dispatch::dispatcher> code;
  };
  /// What is known of the matrix at one place.
  struct matrix {
    detail::rows_of_call at;
    enum class stage { fresh, choosing, chosen } is = stage::fresh;
    std::size_t choice = 0;  // of `contestants`
    std::shared_ptr<detail::converted_arrays> converted;
    std::uint64_t pattern = 0, values = 0;  // content_number
    std::string text;                       // what the report says of the formats
  };
  static constexpr std::size_t most_kept = 8;  // matrices
  static constexpr double clearly =
      0.97;  // of the time of compressed rows, so that noise converts nothing

  std::vector<any_kernel> algorithms;
  tuned_options options;
  std::vector<contestant> contestants;
  std::size_t first = 0;  // array of the matrix in a call: offsets, indices, values
  int element = 4;        // bytes
  dtype index = dtype::i32;
  std::mutex mutex;                          // of what follows
  std::list<matrix> matrices;                // the last used one first
  std::map<std::string, std::size_t> known;  // choices, by extents and class of the pattern

  detail::rows_of_call rows_of(const dispatch::call_argument* a) const {
    return {a[first].data,
            a[first + 1].data,
            a[first + 2].data,
            a[first].extents[0] - 1,
            a[first + 1].extents[1],
            a[first + 1].extents[0],
            index,
            element};
  }

  std::uint64_t pattern_number(const detail::rows_of_call& r) const {
    const auto size = static_cast<std::size_t>(tilewright::bytes(index));
    return detail::content_number(
        r.indices, static_cast<std::size_t>(r.nonzeros) * size,
        detail::content_number(r.offsets, static_cast<std::size_t>(r.rows + 1) * size, 1));
  }
  std::uint64_t values_number(const detail::rows_of_call& r) const {
    return detail::content_number(
        r.values, static_cast<std::size_t>(r.nonzeros) * static_cast<std::size_t>(element), 2);
  }

  /// Under the lock.
  matrix& find(const detail::rows_of_call& r) {
    for (auto m = matrices.begin(); m != matrices.end(); ++m)
      if (m->at == r) {
        matrices.splice(matrices.begin(), matrices, m);
        return matrices.front();
      }
    matrices.emplace_front();
    matrices.front().at = r;
    for (auto m = std::prev(matrices.end());
         matrices.size() > most_kept && m != matrices.begin();) {
      const auto before = std::prev(m);
      if (m->is != matrix::stage::choosing) matrices.erase(m);
      m = before;
    }
    return matrices.front();
  }

  /// What runs for a matrix.
  struct chosen {
    std::size_t choice = 0;
    std::shared_ptr<detail::converted_arrays> converted;
    std::string text;
  };
  chosen choose(const dispatch::call_argument* a);
  chosen decide(matrix& m, const dispatch::call_argument* a);
  void look_again(matrix& m) const;
  std::string key_of(const dispatch::call_argument* a) const;

  /// Calls `use` with the arguments of a format.
  template <class Use>
  void with(std::size_t choice, const detail::converted_arrays* converted,
            const dispatch::call_argument* a, const Use& use) const {
    dispatch::dispatcher& code = *contestants[choice].code;
    if (!converted) return use(code, a);
    const std::vector<dsl::argument> arrays = converted->arrays();
    const std::size_t all = contestants[0].code->signature().params.size();
    std::vector<dispatch::call_argument> out(a, a + first);
    for (const dsl::argument& one : arrays)
      out.push_back({one.data, one.extents.data(), one.strides.data()});
    out.insert(out.end(), a + first + 3, a + all);
    use(code, out.data());
  }
};

TILEWRIGHT_INLINE bool format_choice::possible(const std::vector<any_kernel>& algorithms,
                                               const tuned_options& options) {
  const char* said = std::getenv("TILEWRIGHT_TUNE");  // which goes before the options
  const bool tunes = said && *said ? std::string_view(said) == "now" : options.mode == mode::now;
  return options.calls > 0 && tunes &&
         support::all(algorithms, [](const any_kernel& k) { return detail::only_compressed(k); });
}

TILEWRIGHT_INLINE format_choice::format_choice(const std::vector<any_kernel>& algorithms,
                                               const tuned_options& options,
                                               std::shared_ptr<dispatch::dispatcher> plain)
    : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.algorithms = algorithms;
  s.options = options;
  s.options.calls = 0;
  s.options.seconds = options.seconds.value_or(10) / 4;
  const dsl::tensor_info& matrix = *detail::only_compressed(algorithms.at(0));
  s.element = tilewright::bytes(matrix.type);
  s.index = matrix.dims[matrix.rank - 1].index_bits == 64 ? dtype::i64 : dtype::i32;
  const auto& params = plain->signature().params;
  while (!params[s.first + 2].name.empty() && params[s.first + 2].name != matrix.name) ++s.first;
  s.contestants.push_back({nullptr, std::move(plain)});
  for (const detail::known_format& f : detail::known_formats) {
    std::vector<any_kernel> kernels;
    for (const any_kernel& k : algorithms)
      kernels.push_back(detail::with_format(k, matrix.name, f));
    s.contestants.push_back({&f, make_dispatcher(kernels, s.options)});
  }
  s.options = options;
}

TILEWRIGHT_INLINE format_choice::~format_choice() = default;

/// The choice for patterns of one class is made once.
TILEWRIGHT_INLINE std::string format_choice::state::key_of(const dispatch::call_argument* a) const {
  search::operand offsets;
  offsets.type = index;
  std::string out = dispatch::pattern_class(offsets, a[first], a[first + 1]);
  const auto& params = contestants[0].code->signature().params;
  for (std::size_t i = 0; i < params.size(); ++i)
    for (std::size_t d = 0; d < params[i].rank(); ++d)
      out += "," +
             std::to_string(std::lround(
                 2 * std::log2(static_cast<double>(std::max<std::int64_t>(a[i].extents[d], 1)))));
  return out;
}

/// Tunes what suits the matrix, times it in turn, and takes the fastest.
TILEWRIGHT_INLINE format_choice::state::chosen format_choice::state::decide(
    matrix& m, const dispatch::call_argument* a) {
  struct entry {
    std::size_t choice;
    std::shared_ptr<detail::converted_arrays> converted;
    double best = std::numeric_limits<double>::infinity();
  };
  const detail::written_copies copies(contestants[0].code->signature(), a);
  const dispatch::call_argument* mine = copies.arguments().data();
  contestants[0].code->warm(mine);
  std::vector<entry> entries{{0, nullptr}};
  const std::string key = key_of(a);
  std::optional<std::size_t> before;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) before = found->second;
  }
  std::string refused;
  bool blocks = false;
  for (std::size_t c = 1; c < contestants.size(); ++c) {
    const detail::known_format& f = *contestants[c].format;
    if ((before && *before != c) || (blocks && f.has_blocks())) continue;
    try {
      entry e{c, f.make(m.at)};
      with(c, e.converted.get(), mine,
           [](dispatch::dispatcher& code, const dispatch::call_argument* all) { code.warm(all); });
      entries.push_back(std::move(e));
      blocks = blocks || f.has_blocks();
    } catch (const error& e) {
      refused += std::string("  format    ") + f.name + ": " + e.what() + "\n";
    }
  }
  const double start = detail::seconds_now();
  const std::uint64_t pattern = pattern_number(m.at), values = values_number(m.at);
  const double look = options.matrices_change ? detail::seconds_now() - start : 0;
  constexpr int rounds = 9;
  constexpr double enough = 0.5;  // s
  for (int round = 0; round < rounds; ++round) {
    if (round > 1 && detail::seconds_now() - start > enough) break;
    for (entry& e : entries)
      with(e.choice, e.converted.get(), mine,
           [&](dispatch::dispatcher& code, const dispatch::call_argument* all) {
             const double begin = detail::seconds_now();
             code.call(all);
             e.best = std::min(e.best, detail::seconds_now() - begin);
           });
  }
  const double plain = entries[0].best;
  const auto ms = [](double s) { return support::general_text(1e3 * s, 3) + " ms"; };
  std::string text = "  format    compressed rows: " + ms(plain) + " a call\n";
  const entry* won = &entries[0];
  double least = clearly * plain;
  for (const entry& e : entries) {
    if (e.choice == 0) continue;
    const double converts = e.converted->conversion_seconds(), gain = plain - e.best - look;
    text +=
        std::string("  format    ") + contestants[e.choice].format->name + ": " + ms(e.best) +
        " a call, conversion " + ms(converts) + ", " +
        support::fixed_text(100 * e.converted->padding(), 0) + " % padding, " +
        (gain > 0 ? "pays after " + support::fixed_text(std::ceil(converts / gain), 0) + " calls"
                  : std::string("never pays")) +
        "\n";
    const double all = e.best + look + converts / options.calls;
    if (all >= least) continue;
    won = &e;
    least = all;
  }
  text += refused + "  format    chosen: " +
          (won->choice == 0 ? "compressed rows" : contestants[won->choice].format->name) +
          ", for " + support::general_text(options.calls, 6) + " calls" +
          (options.matrices_change ? ", of which each looks for changes in " + ms(look) + "\n"
                                   : std::string("\n"));
  const std::lock_guard lock(mutex);
  if (!before) known[key] = won->choice;
  m.choice = won->choice;
  m.converted = won->converted;
  m.pattern = pattern;
  m.values = values;
  m.text = text;
  m.is = matrix::stage::chosen;
  return {m.choice, m.converted, m.text};
}

/// Under the lock: a matrix that has changed in place gets its new values, or is chosen for anew.
TILEWRIGHT_INLINE void format_choice::state::look_again(matrix& m) const {
  if (pattern_number(m.at) != m.pattern) {
    m.is = matrix::stage::fresh;
    m.converted = nullptr;
    return;
  }
  const std::uint64_t now = values_number(m.at);
  if (now == m.values) return;
  if (m.converted.use_count() > 1)
    m.converted = m.converted->copy();  // others still compute with it
  m.converted->refresh(m.at);
  m.values = now;
}

TILEWRIGHT_INLINE format_choice::state::chosen format_choice::state::choose(
    const dispatch::call_argument* a) {
  const detail::rows_of_call r = rows_of(a);
  if (r.nonzeros == 0 || r.rows == 0 || r.columns == 0) return {};
  matrix* m = nullptr;
  {
    const std::lock_guard lock(mutex);
    m = &find(r);
    if (m->is == matrix::stage::chosen && m->converted && options.matrices_change) look_again(*m);
    if (m->is == matrix::stage::chosen) return {m->choice, m->converted, m->text};
    if (m->is == matrix::stage::choosing) return {};
    m->is = matrix::stage::choosing;
  }
  try {
    return decide(*m, a);
  } catch (...) {
    const std::lock_guard lock(mutex);
    m->is = matrix::stage::fresh;
    throw;
  }
}

TILEWRIGHT_INLINE void format_choice::call(const dispatch::call_argument* a) {
  const state::chosen c = state_->choose(a);
  state_->with(
      c.choice, c.converted.get(), a,
      [](dispatch::dispatcher& code, const dispatch::call_argument* all) { code.call(all); });
}

TILEWRIGHT_INLINE std::string format_choice::report(const dispatch::call_argument* a) {
  const state::chosen c = state_->choose(a);
  std::string out;
  state_->with(c.choice, c.converted.get(), a,
               [&](dispatch::dispatcher& code, const dispatch::call_argument* all) {
                 out = code.report(all);
               });
  return out + c.text;
}

TILEWRIGHT_INLINE std::shared_ptr<format_choice> make_format_choice(
    const std::vector<any_kernel>& algorithms, const tuned_options& options,
    std::shared_ptr<dispatch::dispatcher> plain) {
  if (!format_choice::possible(algorithms, options)) return nullptr;
  return std::make_shared<format_choice>(algorithms, options, std::move(plain));
}

}  // namespace tilewright
