// Runs a kernel through the interpreter and, where a compiler is found, as machine code.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include <expr/kernels.hpp>
#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/dispatch/layout.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

namespace test_kernels {

using bytes_of_param = std::vector<std::byte>;

inline std::size_t size_of(const ir::param& p) {
  if (!p.buffer) return static_cast<std::size_t>(bytes(p.scalar.type()));
  std::int64_t n = bytes(p.buffer->type);
  for (const ir::expr& e : p.buffer->shape) n *= ir::as_int(e);
  return static_cast<std::size_t>(n);
}

inline std::vector<bytes_of_param> snapshot(const ir::function& f, const std::vector<void*>& data) {
  std::vector<bytes_of_param> out;
  for (std::size_t k = 0; k < data.size(); ++k) {
    const auto* from = static_cast<const std::byte*>(data[k]);
    out.emplace_back(from, from + size_of(f.params[k]));
  }
  return out;
}

/// Row-major strides of all buffer parameters, flattened as the entry ABI has them.
inline std::vector<std::int64_t> strides_of(const ir::function& f) {
  std::vector<std::int64_t> out;
  for (const ir::param& p : f.params) {
    if (!p.buffer) continue;
    std::vector<std::int64_t> here(p.buffer->shape.size());
    std::int64_t stride = 1;
    for (std::size_t d = here.size(); d-- > 0;) {
      here[d] = stride;
      stride *= ir::as_int(p.buffer->shape[d]);
    }
    out.insert(out.end(), here.begin(), here.end());
  }
  return out;
}

inline void run_compiled(const ir::function& f, const std::vector<void*>& data,
                         const target::cpu& cpu = target::host()) {
  const auto code = backend::load(backend::compile(pass::lower(f, cpu), cpu));
  constexpr std::align_val_t alignment{64};
  const auto release = [](std::byte* p) { ::operator delete(p, alignment); };
  const std::size_t bytes_needed = static_cast<std::size_t>(code->workspace_bytes()) + 64;
  const std::unique_ptr<std::byte, decltype(release)> workspace(
      static_cast<std::byte*>(::operator new(bytes_needed, alignment)), release);
  const std::vector<std::int64_t> strides = strides_of(f);
  const backend::call c{data.data(), strides.data(), workspace.get(), nullptr, nullptr, nullptr};
  CHECK((*code)(c) == backend::call_done);
}

/// Elements of two results that differ by more than rounding.
template <class T>
int differences(const bytes_of_param& a, const bytes_of_param& b) {
  int out = 0;
  for (std::size_t at = 0; at + sizeof(T) <= a.size(); at += sizeof(T)) {
    T x, y;
    std::memcpy(&x, &a[at], sizeof x);
    std::memcpy(&y, &b[at], sizeof y);
    const double p = static_cast<double>(x), q = static_cast<double>(y);
    out += !(p == q || std::abs(p - q) <= 1e-5 * (1 + std::abs(p)));
  }
  return out;
}

inline bool agree(const ir::function& f, const std::vector<bytes_of_param>& a,
                  const std::vector<bytes_of_param>& b) {
  int out = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const dtype t = f.params[k].buffer ? f.params[k].buffer->type : dtype::boolean;
    if (t == dtype::f32)
      out += differences<float>(a[k], b[k]);
    else if (t == dtype::f64)
      out += differences<double>(a[k], b[k]);
    else
      out += a[k] != b[k];
  }
  return out == 0;
}

/// The elements of a parameter in the other storage order: from row-major to column-major, or
/// `back`.
inline bytes_of_param reordered(const ir::param& p, const bytes_of_param& from, bool back) {
  if (!p.buffer) return from;
  bytes_of_param out(from.size());
  const auto size = static_cast<std::size_t>(bytes(p.buffer->type));
  for (std::size_t row = 0; row * size < from.size(); ++row) {
    std::size_t rest = row, column = 0, stride = from.size() / size;
    for (std::size_t d = p.buffer->shape.size(); d-- > 0;) {
      const auto extent = static_cast<std::size_t>(ir::as_int(p.buffer->shape[d]));
      stride /= extent;
      column += rest % extent * stride;
      rest /= extent;
    }
    const std::size_t to = back ? row : column, at = back ? column : row;
    std::memcpy(&out[to * size], &from[at * size], size);
  }
  return out;
}

/// What the default schedule computes when all arguments are column-major, in row-major order.
inline std::vector<bytes_of_param> run_column_major(const ir::function& f,
                                                    const std::vector<bytes_of_param>& before) {
  std::vector<dispatch::layout_class> layouts;
  std::vector<bytes_of_param> memory;
  for (std::size_t k = 0; k < before.size(); ++k) {
    layouts.emplace_back();
    const int rank = f.params[k].buffer ? static_cast<int>(f.params[k].buffer->shape.size()) : 0;
    for (int d = rank; rank > 1 && d-- > 0;) layouts.back().order.push_back(d);
    memory.push_back(reordered(f.params[k], before[k], false));
  }
  const ir::function g = dispatch::with_layouts(f, layouts);
  std::vector<void*> data;
  for (bytes_of_param& m : memory) data.push_back(m.data());
  run_compiled(space::default_cpu().sketches(g, {&target::host(), 2}, 1).front().function(), data);
  for (std::size_t k = 0; k < memory.size(); ++k)
    memory[k] = reordered(f.params[k], memory[k], true);
  return memory;
}

/// Runs the interpreter, then, from the same start, sketches of the default space and the
/// unscheduled function as machine code, and the default schedule on column-major arguments; all
/// agree, and the results left behind are those of the unscheduled function.
inline void run_both(const any_kernel& kernel, const dim_values& dims,
                     std::initializer_list<const void*> list) {
  const ir::function f = reify(kernel, dims);
  std::vector<void*> data;
  for (const void* p : list) data.push_back(const_cast<void*>(p));
  const std::vector<bytes_of_param> before = snapshot(f, data);
  run(kernel, dims, list);
  if (!backend::compiler_available()) return;
  const std::vector<bytes_of_param> interpreted = snapshot(f, data);
  CHECK_MESSAGE(agree(f, interpreted, run_column_major(f, before)), "column-major ", f.name);
  std::vector<ir::function> versions;
  for (const schedule& s : space::default_cpu().sketches(f, {&target::host(), 2}, 1))
    if (versions.size() < 3) versions.push_back(s.function());
  versions.push_back(f);
  for (const ir::function& version : versions) {
    for (std::size_t k = 0; k < data.size(); ++k)
      if (interpreted[k] != before[k]) std::memcpy(data[k], before[k].data(), before[k].size());
    run_compiled(version, data);
    CHECK_MESSAGE(agree(f, interpreted, snapshot(f, data)), ir::print(version));
  }
}

}  // namespace test_kernels
