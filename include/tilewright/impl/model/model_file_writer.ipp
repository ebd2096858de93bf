#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <tilewright/dispatch/packed_weights.hpp>
#include <tilewright/impl/model/device/constant_pool.hpp>
#include <tilewright/impl/model/device/device_code.hpp>
#include <tilewright/impl/model/device/plan_of.hpp>
#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/impl/model/plan_writer.hpp>
#include <tilewright/impl/model/session/chosen_schedule.hpp>
#include <tilewright/model/session.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/files/file_size_signal.hpp>
#include <tilewright/support/mapped_file.hpp>

namespace tilewright::network {
namespace detail::model_file {

/// A kernel as it is chosen now.
struct chosen_kernel {
  search::built code;
  std::vector<bool> is_read;  // [parameters], by calls
};

inline chosen_kernel choose(const search::workload& w, search::database& db, std::uint64_t seed) {
  const schedule s = detail::chosen_schedule(w, db, seed);
  chosen_kernel out{search::build(s.function(), w.machine), {}};
  if (!out.code.code) throw build_error(w.function.name + ": " + out.code.error);
  const ir::function main = pass::lower_prepared(s.function(), *w.machine.cpu).main;
  const pass::buffer_set loaded = pass::loaded_buffers(main.body),
                         stored = pass::stored_buffers(main.body);
  for (std::size_t k = 0; k < w.function.params.size(); ++k) {
    const ir::buffer& b = main.params[k].buffer;
    out.is_read.push_back(!b || loaded.count(b) > 0 || stored.count(b) > 0);
  }
  return out;
}

/// A saved model may take the place of another one, or of nothing.
/// @throws argument_error for a device, a pipe, and somebody's file of another kind
inline void need_replaceable(const std::string& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) return;
  bool ours = S_ISREG(there.st_mode) && there.st_size == 0;
  if (S_ISREG(there.st_mode) && !ours) {
    const support::mapped_file file(path);
    const std::string_view start(reinterpret_cast<const char*>(file.data()), file.size());
    ours = start.substr(0, 7) == model_file_magic.substr(0, 7);  // of any version
  }
  if (!ours)
    throw argument_error(path + " is no saved model and is left as it is; name another file");
}

/// Beside the file until it is whole, under a name that no other thread or process writes; a link
/// leads to the file.
inline void write_file(const std::string& name, const std::vector<std::byte>& bytes) {
  need_replaceable(name);
  std::error_code none;
  const std::filesystem::path target = std::filesystem::canonical(name, none);
  const std::string path = none ? name : target.string();
  static std::atomic<int> last{0};
  const std::string unfinished =
      path + ".unfinished." + std::to_string(::getpid()) + "." + std::to_string(++last);
  const support::file_size_signal_block limit;
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

namespace detail::model_file {

/// A network on its way into a file: plans for several machines, and the constants of all.
class model_writer {
 public:
  model_writer(const graph& source, search::database& db, std::uint64_t seed)
      : source_(source), db_(db), seed_(seed) {}

  void add(const executable& program, const target::cpu& cpu) {
    saved_plan plan = empty_plan(program, source_, cpu.isa_key());
    for (std::size_t k = 0; k < program.launches().size(); ++k)
      plan.kernels.push_back(kernel(program, k, cpu));
    for (const executable::copy_step& c : program.copies())
      plan.copies.push_back(
          {argument_of(c.from, c.bytes, pool_), static_cast<std::int64_t>(c.output)});
    plans_.push_back(std::move(plan));
  }

  /// @param program made for a GPU
  void add(const executable& program) {
    saved_plan plan = device_plan(program, source_, pool_);
    const auto bytes_of = [](const backend::artifact& a) { return backend::serialize(a); };
    const auto code = code_of(program, db_, {seed_, false, program.gpu()->architecture}, bytes_of);
    for (std::size_t k = 0; k < code.size(); ++k) plan.kernels[k].code = code[k];
    plans_.push_back(std::move(plan));
  }

  /// The file but for its header, and room for that.
  std::vector<std::byte> finish() {
    // places of constants count from the first page behind the plans, whose size they do not change
    plan_writer sized;
    sized.plans(plans_);
    const std::size_t first = (model_file_header + sized.bytes.size() + model_file_page - 1) /
                              model_file_page * model_file_page;
    const auto move = [&](saved_argument& a) {
      if (a.where == saved_argument::constant) a.at += static_cast<std::int64_t>(first);
    };
    for (saved_plan& plan : plans_) {
      for (saved_kernel& k : plan.kernels)
        for (saved_argument& a : k.arguments) move(a);
      for (saved_copy& c : plan.copies) move(c.from);
    }
    plan_writer body;
    body.plans(plans_);
    plan_size_ = body.bytes.size();
    std::vector<std::byte> file(first + static_cast<std::size_t>(pool_.size()));
    std::copy(body.bytes.begin(), body.bytes.end(),
              file.begin() + static_cast<std::ptrdiff_t>(model_file_header));
    std::byte* const constants = file.data() + first;
    pool_.each([&](const std::byte* data, std::size_t bytes, std::int64_t at) {
      std::memcpy(constants + at, data, bytes);
    });
    return file;
  }
  std::size_t plan_size() const { return plan_size_; }

 private:
  saved_kernel kernel(const executable& program, std::size_t k, const target::cpu& cpu) {
    const launch& l = program.launches()[k];
    const search::workload& here = program.task(k);
    target::cpu& own = cpus_.emplace_back(cpu);
    own.cores = here.exec->threads;
    const search::workload w = task_for(here, own);
    const chosen_kernel chosen = choose(w, db_, seed_);
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
      const search::memory_span span = search::span_of(l.extents[p], l.strides[p]);
      const std::int64_t touched = (span.last + 1) * bytes(l.types[p]);
      out.arguments.push_back(
          argument_of(l.slots[p], is_constant && !chosen.is_read[p] ? 0 : touched, pool_));
      out.strides.insert(out.strides.end(), l.strides[p].begin(), l.strides[p].end());
    }
    packed_.emplace_back(*chosen.code.code, w.bound, out.strides.size(), *w.exec);
    for (std::size_t b = 0; b < packed_.back().data().size(); ++b) {
      const std::int64_t size = chosen.code.artifact.packed_bytes[b];
      out.arguments.push_back(
          {saved_argument::constant, 0, pool_.add(packed_.back().data()[b], size), size});
    }
    out.checks = l.checks;
    return out;
  }

  const graph& source_;
  search::database& db_;
  std::uint64_t seed_;
  std::deque<target::cpu> cpus_;  // that tasks point to
  std::vector<saved_plan> plans_;
  constant_pool pool_;
  std::vector<dispatch::packed_weights> packed_;  // until the file is written
  std::size_t plan_size_ = 0;
};

/// With its header, to its place.
inline void write_whole(const std::string& path, model_writer& writer) {
  std::vector<std::byte> file = writer.finish();
  const support::hash128 digest =
      digest_of(file.data() + model_file_header, file.size() - model_file_header);
  plan_writer header;
  for (const char c : model_file_magic) header.bytes.push_back(static_cast<std::byte>(c));
  header.size(file.size());
  header.size(writer.plan_size());
  header.word(static_cast<std::int64_t>(digest.hi));
  header.word(static_cast<std::int64_t>(digest.lo));
  std::copy(header.bytes.begin(), header.bytes.end(), file.begin());
  write_file(path, file);
}

}  // namespace detail::model_file

TILEWRIGHT_INLINE void write_model_file(const std::string& path, const executable& program,
                                        const graph& source, search::database& db,
                                        std::uint64_t seed,
                                        const std::vector<target::cpu>& targets) {
  namespace d = detail::model_file;
  if (targets.empty()) throw argument_error("a saved model needs one target at least");
  std::vector<target::cpu> widest_first;
  for (const target::cpu& t : targets)
    if (support::none(widest_first,
                      [&](const target::cpu& known) { return known.isa_key() == t.isa_key(); }))
      widest_first.push_back(t);
  std::sort(widest_first.begin(), widest_first.end(),
            [](const target::cpu& a, const target::cpu& b) {
              const auto rank = [](const target::cpu& c) {
                return std::tuple(-c.vector_bits, -static_cast<std::ptrdiff_t>(c.features.size()),
                                  c.features);
              };
              return rank(a) < rank(b);
            });
  d::model_writer writer(source, db, seed);
  for (const target::cpu& t : widest_first) writer.add(program, t);
  d::write_whole(path, writer);
}

TILEWRIGHT_INLINE void write_model_file(
    const std::string& path, const std::vector<std::shared_ptr<const executable>>& programs,
    const graph& source, search::database& db, std::uint64_t seed) {
  detail::model_file::model_writer writer(source, db, seed);
  for (const auto& p : programs) writer.add(*p);
  detail::model_file::write_whole(path, writer);
}

}  // namespace tilewright::network
