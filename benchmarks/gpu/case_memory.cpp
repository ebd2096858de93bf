#include "case_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <thread>

#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/numbers/float16.hpp>
#include <tilewright/support/random.hpp>
#include <tilewright/target/cpu.hpp>

#include "point_check.hpp"

namespace gpu_case {
namespace {

using namespace tilewright;

std::size_t bytes_of(const ir::buffer& b) {
  std::size_t out = static_cast<std::size_t>(bytes(b->type));
  for (const ir::expr& e : b->shape) out *= static_cast<std::size_t>(e->integer);
  return out;
}

template <class T>
T read(const std::byte* at) {
  T out;
  std::memcpy(&out, at, sizeof out);
  return out;
}

double value_at(const byte_list& memory, dtype type, std::size_t at) {
  const std::byte* place = &memory[at * static_cast<std::size_t>(bytes(type))];
  switch (type) {
    case dtype::f16: return static_cast<double>(static_cast<float>(read<float16>(place)));
    case dtype::bf16: return static_cast<double>(static_cast<float>(read<bfloat16>(place)));
    case dtype::f32: return static_cast<double>(read<float>(place));
    default: return static_cast<double>(read<std::int32_t>(place));
  }
}

double difference_of(dtype type, const byte_list& a, const byte_list& b) {
  if (type != dtype::f32) return a == b ? 0 : INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < a.size() / sizeof(float); ++i) {
    const double x = value_at(a, type, i), y = value_at(b, type, i);
    const double d = std::abs(x - y) / (1 + std::abs(y));
    worst = std::isnan(d) ? INFINITY : std::max(worst, d);
  }
  return worst;
}

void fill_piece(std::byte* to, std::size_t size, dtype type, support::random draw) {
  const auto fill = [&](const auto& make) {
    for (std::size_t i = 0; i < size;) {
      const auto x = make();
      std::memcpy(to + i, &x, sizeof x);
      i += sizeof x;
    }
  };
  const auto unit = [&] { return static_cast<float>(2 * draw.unit() - 1); };
  switch (type) {
    case dtype::f32: return fill(unit);
    case dtype::f16: return fill([&] { return float16(unit()); });
    case dtype::bf16: return fill([&] { return bfloat16(unit()); });
    case dtype::i8: return fill([&] { return static_cast<std::int8_t>(draw.next()); });
    default: return;
  }
}

}  // namespace

void fill_random(byte_list& bytes, dtype type, std::uint64_t seed) {
  constexpr std::size_t piece = 1 << 20;  // bytes; each has a stream of its own
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i * piece < bytes.size(); i = next++) {
      const std::size_t begin = i * piece;
      fill_piece(&bytes[begin], std::min(piece, bytes.size() - begin), type,
                 support::random(seed + (std::uint64_t{i} << 32)));
    }
  };
  std::vector<std::thread> others;
  const auto cores = static_cast<std::size_t>(target::host().cores);
  for (std::size_t n = std::min(cores, bytes.size() / piece); n > 1; --n) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
}

case_memory::case_memory(const cu::device& on, const ir::function& f, std::uint64_t seed)
    : on_(on), f_(f) {
  for (const ir::param& p : f.params) {
    const std::size_t size = bytes_of(p.buffer);
    all_.push_back({p.buffer->type, byte_list(size), cu::device_memory(on, size)});
    fill_random(all_.back().host, p.buffer->type, seed++);
    on.copy_in(all_.back().device.get(), all_.back().host.data(), size);
  }
}

std::vector<void*> case_memory::addresses() const {
  std::vector<void*> out;
  for (const argument& a : all_) out.push_back(reinterpret_cast<void*>(a.device.get()));
  return out;
}

void case_memory::poison() const {
  const pass::buffer_set written = pass::stored_buffers(f_.body);
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (written.count(f_.params[i].buffer))
      on_.fill(all_[i].device.get(), 0xff, all_[i].host.size());
}

byte_list case_memory::result(std::size_t i) const {
  byte_list out(all_[i].host.size());
  on_.copy_out(out.data(), all_[i].device.get(), out.size());
  return out;
}

void case_memory::interpret() {
  std::vector<ir::tensor_view> views;
  for (argument& a : all_) views.push_back({a.host.data(), {}});
  ir::interpret(f_, views);
}

double case_memory::difference() const {
  double worst = 0;
  for (std::size_t i = 0; i < all_.size(); ++i)
    worst = std::max(worst, difference_of(all_[i].type, result(i), all_[i].host));
  return worst;
}

double case_memory::spot_difference() {
  const pass::buffer_set written = pass::stored_buffers(f_.body);
  std::vector<ir::tensor_view> views;
  for (argument& a : all_) views.push_back({a.host.data(), {}});
  ir::point_evaluator points(f_, views, 200'000'000);
  support::random draw(17);
  double worst = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const ir::buffer& b = f_.params[i].buffer;
    if (!written.count(b)) continue;
    const byte_list got = result(i);
    for (int n = 0; n < 64; ++n) {
      std::vector<std::int64_t> index;
      std::int64_t at = 0;
      for (const ir::expr& extent : b->shape) {
        index.push_back(
            static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(extent->integer))));
        at = at * extent->integer + index.back();
      }
      const std::optional<ir::point_value> right = points.value(i, index);
      if (!right) return INFINITY;
      const double value = value_at(got, b->type, static_cast<std::size_t>(at));
      worst = std::max(worst, gpu_results::off_by(value, *right));
    }
  }
  return worst;
}

}  // namespace gpu_case
