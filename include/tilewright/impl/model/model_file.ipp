#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/search/builder.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/packed_weights.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network {

/// Eight lanes, so that no step waits for the one before; each lane is a bijection of its state for a
/// given word, and of the word for a given state.
TILEWRIGHT_INLINE support::hash128 digest_of(const std::byte* bytes, std::size_t size) {
  constexpr std::size_t lanes = 8, step = 8 * lanes;
  std::array<std::uint64_t, lanes> state{};
  for (std::size_t l = 0; l < lanes; ++l) state[l] = 0x9e3779b97f4a7c15u * (l + 1);
  const auto add = [&](const std::byte* at) {
    for (std::size_t l = 0; l < lanes; ++l) {
      std::uint64_t word;
      std::memcpy(&word, at + 8 * l, 8);  // little-endian
      const std::uint64_t x = (state[l] ^ word) * 0x9fb21c651e98df25u;
      state[l] = x ^ (x >> 29);
    }
  };
  std::size_t at = 0;
  for (; size - at >= step; at += step) add(bytes + at);
  std::array<std::byte, step> rest{};
  if (size > at) std::memcpy(rest.data(), bytes + at, size - at);
  add(rest.data());
  support::hasher h;
  h.add(static_cast<std::uint64_t>(size));
  for (const std::uint64_t s : state) h.add(s);
  return h.finish();
}

namespace detail::model_file {

class plan_writer {
 public:
  void word(std::int64_t x) {
    for (int i = 0; i < 8; ++i)
      bytes.push_back(static_cast<std::byte>((static_cast<std::uint64_t>(x) >> (8 * i)) & 0xff));
  }
  void size(std::size_t n) { word(static_cast<std::int64_t>(n)); }
  void text(const std::string& t) {
    size(t.size());
    for (const char c : t) bytes.push_back(static_cast<std::byte>(c));
  }
  template <class T, class F>
  void list(const std::vector<T>& all, F each) {
    size(all.size());
    for (const T& x : all) each(x);
  }
  void type(const tensor_type& t) {
    word(static_cast<std::int64_t>(t.type));
    list(t.extents, [&](std::int64_t e) { word(e); });
  }
  void argument(const saved_argument& a) {
    word(a.where);
    word(a.at);
    word(a.bytes);
  }
  void kernel(const saved_kernel& k) {
    text(k.name);
    size(k.code.size());
    bytes.insert(bytes.end(), k.code.begin(), k.code.end());
    word(k.threads);
    list(k.arguments, [&](const saved_argument& a) { argument(a); });
    list(k.strides, [&](std::int64_t s) { word(s); });
    list(k.checks, [&](const launch::index_check& c) {
      size(c.param);
      type(c.type);
      list(c.bound.extents, [&](std::int64_t e) { word(e); });
    });
  }
  void plan(const saved_plan& p) {
    text(p.name);
    for (const auto* ports : {&p.inputs, &p.outputs})
      list(*ports, [&](const network_port& x) {
        text(x.name);
        type(x.type);
      });
    word(p.arena_bytes);
    list(p.kernels, [&](const saved_kernel& k) { kernel(k); });
    list(p.copies, [&](const saved_copy& c) {
      argument(c.from);
      word(c.output);
    });
  }

  std::vector<std::byte> bytes;
};

[[noreturn]] inline void refuse(const std::string& what) { throw argument_error(what); }

class plan_reader {
 public:
  plan_reader(const std::byte* at, std::size_t size) : at_(at), rest_(size) {}

  std::int64_t word() {
    need(8);
    std::uint64_t out = 0;
    for (int i = 0; i < 8; ++i) out |= static_cast<std::uint64_t>(at_[i]) << (8 * i);
    take(8);
    return static_cast<std::int64_t>(out);
  }
  /// A number in [0, most].
  std::int64_t number(std::int64_t most) {
    const std::int64_t x = word();
    if (x < 0 || x > most) refuse("the plan of the file holds the number " + std::to_string(x));
    return x;
  }
  std::size_t size() { return static_cast<std::size_t>(number(static_cast<std::int64_t>(rest_))); }
  std::string text() {
    const std::size_t n = size();
    need(n);
    std::string out(reinterpret_cast<const char*>(at_), n);
    take(n);
    return out;
  }
  std::vector<std::byte> blob() {
    const std::size_t n = size();
    need(n);
    std::vector<std::byte> out(at_, at_ + n);
    take(n);
    return out;
  }
  /// Every element takes 8 bytes at least, so a length beyond the rest is none.
  template <class F>
  void list(F each) {
    const std::size_t n = size();
    for (std::size_t k = 0; k < n; ++k) each();
  }
  tensor_type type() {
    tensor_type t;
    t.type = static_cast<dtype>(number(255));
    if (!is_float(t.type) && !is_integer(t.type) && t.type != dtype::boolean)
      refuse("the plan of the file holds an element type that does not exist");
    list([&] { t.extents.push_back(number(std::int64_t{1} << 46)); });
    std::int64_t all = bytes(t.type);
    for (const std::int64_t e : t.extents)
      if (__builtin_mul_overflow(all, std::max<std::int64_t>(e, 1), &all) || all > std::int64_t{1}
                                                                                       << 46)
        refuse("the plan of the file holds the shape " + text_of(t.extents));
    return t;
  }
  saved_argument argument() {
    saved_argument a;
    a.where = static_cast<saved_argument::kind>(number(saved_argument::constant));
    a.at = number(std::int64_t{1} << 46);
    a.bytes = number(std::int64_t{1} << 46);
    return a;
  }
  saved_kernel kernel() {
    saved_kernel k;
    k.name = text();
    k.code = blob();
    k.threads = static_cast<int>(number(1 << 16));
    list([&] { k.arguments.push_back(argument()); });
    list([&] { k.strides.push_back(word()); });
    list([&] {
      launch::index_check c;
      c.param = static_cast<std::size_t>(number(static_cast<std::int64_t>(k.arguments.size()) - 1));
      c.type = type();
      if (!is_integer(c.type.type)) refuse("the plan of the file checks indices that are none");
      list([&] { c.bound.extents.push_back(number(std::int64_t{1} << 46)); });
      if (c.bound.extents.empty() || c.type.bytes() > k.arguments[c.param].bytes)
        refuse("the plan of the file checks indices that are none");
      k.checks.push_back(std::move(c));
    });
    return k;
  }
  saved_plan plan() {
    saved_plan p;
    p.name = text();
    for (auto* ports : {&p.inputs, &p.outputs})
      list([&] {
        network_port x;
        x.name = text();
        x.type = type();
        ports->push_back(std::move(x));
      });
    p.arena_bytes = number(std::int64_t{1} << 46);
    list([&] { p.kernels.push_back(kernel()); });
    list([&] {
      saved_copy c;
      c.from = argument();
      c.output = word();
      p.copies.push_back(c);
    });
    if (rest_ != 0) refuse("the plan of the file has bytes behind its end");
    return p;
  }

 private:
  void need(std::size_t n) const {
    if (n > rest_) refuse("the plan of the file is cut short");
  }
  void take(std::size_t n) {
    at_ += n;
    rest_ -= n;
  }
  const std::byte* at_;
  std::size_t rest_;
};

/// Whatever a plan names has to be there.
inline void check_places(const saved_plan& p, std::size_t file_size) {
  const auto port = [](const std::vector<network_port>& all, std::int64_t k) {
    return k < static_cast<std::int64_t>(all.size()) ? all[static_cast<std::size_t>(k)].type.bytes()
                                                     : -1;
  };
  const auto check = [&](const saved_argument& a) {
    const std::int64_t first =
        a.where == saved_argument::arena || a.where == saved_argument::constant ? a.at : 0;
    const std::int64_t size = a.where == saved_argument::input    ? port(p.inputs, a.at)
                              : a.where == saved_argument::output ? port(p.outputs, a.at)
                              : a.where == saved_argument::arena
                                  ? p.arena_bytes
                                  : static_cast<std::int64_t>(file_size);
    if (size < first || a.bytes > size - first)
      refuse("the plan of the file names memory that is not there");
  };
  for (const saved_kernel& k : p.kernels)
    for (const saved_argument& a : k.arguments) check(a);
  for (const saved_copy& c : p.copies) {
    check(c.from);
    const std::int64_t size = c.output < 0 ? -1 : port(p.outputs, c.output);
    if (size < 0 || c.from.bytes != size)
      refuse("the plan of the file names memory that is not there");
  }
}

}  // namespace detail::model_file

TILEWRIGHT_INLINE saved_plan read_model_file(const std::byte* bytes, std::size_t size) {
  namespace d = detail::model_file;
  const std::string_view start(reinterpret_cast<const char*>(bytes), size);
  if (start.substr(0, 7) != model_file_magic.substr(0, 7)) d::refuse("this is no saved model");
  if (size < model_file_header || start.substr(0, 8) != model_file_magic)
    d::refuse("it was saved by another version of this library; save the model again");
  d::plan_reader header(bytes + 8, model_file_header - 8);
  const auto whole = static_cast<std::uint64_t>(header.word());
  const auto plan_size = static_cast<std::uint64_t>(header.word());
  support::hash128 digest;
  digest.hi = static_cast<std::uint64_t>(header.word());
  digest.lo = static_cast<std::uint64_t>(header.word());
  if (whole != size || plan_size > size - model_file_header)
    d::refuse("the file has " + std::to_string(size) + " bytes, and was saved with " +
              std::to_string(whole));
  if (digest_of(bytes + model_file_header, size - model_file_header) != digest)
    d::refuse("the file was altered since it was saved: its digest does not match");
  saved_plan p = d::plan_reader(bytes + model_file_header, plan_size).plan();
  d::check_places(p, size);
  return p;
}

namespace detail::model_file {

/// Constants in the order in which they come to lie in the file; equal addresses once.
class constant_pool {
 public:
  /// Offset from the first page of constants.
  std::int64_t add(const void* data, std::int64_t bytes) {
    const auto [at, is_new] = known_.emplace(std::pair(data, bytes), 0);
    if (!is_new) return at->second;
    const auto page = static_cast<std::int64_t>(model_file_page);
    const std::int64_t align = bytes < page ? 64 : page;
    size_ = (size_ + align - 1) / align * align;
    at->second = size_;
    parts_.push_back({static_cast<const std::byte*>(data), bytes, size_});
    size_ += bytes;
    return at->second;
  }
  std::int64_t size() const { return size_; }
  void copy_to(std::byte* to) const {
    for (const part& p : parts_)
      if (p.bytes > 0) std::memcpy(to + p.at, p.data, static_cast<std::size_t>(p.bytes));
  }

 private:
  struct part {
    const std::byte* data;
    std::int64_t bytes, at;
  };
  std::map<std::pair<const void*, std::int64_t>, std::int64_t> known_;
  std::vector<part> parts_;
  std::int64_t size_ = 0;
};

/// A kernel as it is chosen now.
struct chosen_kernel {
  search::built code;
  std::vector<bool> is_read;  // [parameters], by calls
};

inline chosen_kernel choose(const search::workload& w, search::database& db, std::uint64_t seed) {
  std::string why;
  std::optional<schedule> s;
  if (const auto hit = db.chosen(w.key))
    if (auto c = search::replay(trace::parse(hit->trace), w.function, seed, &why))
      s = std::move(c->scheduled);
  if (!s) s = search::default_schedule(w.function, w.space, {w.machine, w.exec->threads}, seed);
  chosen_kernel out{search::build(s->function(), w.machine), {}};
  if (!out.code.code) throw build_error(w.function.name + ": " + out.code.error);
  const ir::function main = pass::lower_prepared(s->function(), *w.machine.cpu).main;
  const pass::buffer_set loaded = pass::loaded_buffers(main.body),
                         stored = pass::stored_buffers(main.body);
  for (std::size_t k = 0; k < w.function.params.size(); ++k) {
    const ir::buffer& b = main.params[k].buffer;
    out.is_read.push_back(!b || loaded.count(b) > 0 || stored.count(b) > 0);
  }
  return out;
}

inline saved_argument argument_of(const launch::slot& s, std::int64_t bytes, constant_pool& pool) {
  switch (s.where) {
    case launch::slot::input:
      return {saved_argument::input, static_cast<std::int64_t>(s.number), bytes};
    case launch::slot::output:
      return {saved_argument::output, static_cast<std::int64_t>(s.number), bytes};
    case launch::slot::arena: return {saved_argument::arena, s.offset, bytes};
    case launch::slot::fixed: break;
  }
  return {saved_argument::constant, pool.add(s.data, bytes), bytes};
}

inline void write_file(const std::string& path, const std::vector<std::byte>& bytes) {
  const std::string unfinished = path + ".unfinished";
  const auto failed = [&] {
    const std::string why = std::strerror(errno);
    std::remove(unfinished.c_str());
    throw argument_error(path + ": " + why);
  };
  std::FILE* file = std::fopen(unfinished.c_str(), "wb");
  if (!file) failed();
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
                       std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
  if (!written) {
    std::fclose(file);
    failed();
  }
  if (std::fclose(file) != 0 || std::rename(unfinished.c_str(), path.c_str()) != 0) failed();
}

}  // namespace detail::model_file

TILEWRIGHT_INLINE void write_model_file(const std::string& path, const executable& program,
                                        const graph& source, search::database& db,
                                        std::uint64_t seed) {
  namespace d = detail::model_file;
  saved_plan plan;
  plan.name = source.name;
  for (const value_id v : source.inputs)
    plan.inputs.push_back({source.at(v).name, source.type_of(v)});
  for (const value_id v : source.outputs)
    plan.outputs.push_back({source.at(v).name, source.type_of(v)});
  plan.arena_bytes = program.arena_bytes();
  d::constant_pool pool;
  std::vector<search::packed_weights> packed;  // until the file is written
  std::map<const search::workload*, bool> met;
  for (std::size_t k = 0; k < program.launches().size(); ++k) {
    const launch& l = program.launches()[k];
    const search::workload& w = program.task(k);
    const d::chosen_kernel chosen = d::choose(w, db, seed);
    saved_kernel out;
    out.name = text_of(l.what);
    out.code = backend::serialize([&] {
      backend::artifact a = chosen.code.artifact;
      a.preparation.clear();  // it has run
      return a;
    }());
    out.threads = w.exec->threads;
    for (std::size_t p = 0; p < l.slots.size(); ++p) {
      const bool is_constant = l.slots[p].where == launch::slot::fixed;
      const tensor_type t{l.types[p], l.extents[p]};
      out.arguments.push_back(
          d::argument_of(l.slots[p], is_constant && !chosen.is_read[p] ? 0 : t.bytes(), pool));
      out.strides.insert(out.strides.end(), l.strides[p].begin(), l.strides[p].end());
    }
    packed.emplace_back(*chosen.code.code, w.bound, out.strides.size(), *w.exec);
    for (std::size_t b = 0; b < packed.back().data().size(); ++b) {
      const std::int64_t bytes = chosen.code.artifact.packed_bytes[b];
      out.arguments.push_back(
          {saved_argument::constant, pool.add(packed.back().data()[b], bytes), bytes});
    }
    out.checks = l.checks;
    plan.kernels.push_back(std::move(out));
  }
  for (const executable::copy_step& c : program.copies())
    plan.copies.push_back(
        {d::argument_of(c.from, c.bytes, pool), static_cast<std::int64_t>(c.output)});

  // places of constants count from the first page behind the plan, whose size they do not change
  d::plan_writer sized;
  sized.plan(plan);
  const std::size_t first = (model_file_header + sized.bytes.size() + model_file_page - 1) /
                            model_file_page * model_file_page;
  const auto move = [&](saved_argument& a) {
    if (a.where == saved_argument::constant) a.at += static_cast<std::int64_t>(first);
  };
  for (saved_kernel& k : plan.kernels)
    for (saved_argument& a : k.arguments) move(a);
  for (saved_copy& c : plan.copies) move(c.from);
  d::plan_writer body;
  body.plan(plan);
  std::vector<std::byte> file(first + static_cast<std::size_t>(pool.size()));
  std::copy(body.bytes.begin(), body.bytes.end(),
            file.begin() + static_cast<std::ptrdiff_t>(model_file_header));
  pool.copy_to(file.data() + first);
  const support::hash128 digest =
      digest_of(file.data() + model_file_header, file.size() - model_file_header);
  d::plan_writer header;
  for (const char c : model_file_magic) header.bytes.push_back(static_cast<std::byte>(c));
  header.size(file.size());
  header.size(body.bytes.size());
  header.word(static_cast<std::int64_t>(digest.hi));
  header.word(static_cast<std::int64_t>(digest.lo));
  std::copy(header.bytes.begin(), header.bytes.end(), file.begin());
  d::write_file(path, file);
}

}  // namespace tilewright::network
