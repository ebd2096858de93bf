#include "case_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>

#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float16.hpp>
#include <tilewright/support/random.hpp>

#include "checks/all_cores.hpp"
#include "checks/element_values.hpp"
#include "checks/point_check.hpp"
#include "checks/product_form.hpp"

namespace gpu_case {
namespace {

using namespace tilewright;

constexpr std::int64_t nodes_of_a_thread = 1'000'000'000;  // some seconds; a norm is one point

std::size_t bytes_of(const ir::buffer& b) {
  std::size_t out = static_cast<std::size_t>(bytes(b->type));
  for (const ir::expr& e : b->shape) out *= static_cast<std::size_t>(e->integer);
  return out;
}

double value_at(const byte_list& memory, dtype type, std::size_t at) {
  const std::byte* place = &memory[at * static_cast<std::size_t>(bytes(type))];
  return with_reader(type, [&](const auto& read) { return read(place); });
}

double difference_of(dtype type, const byte_list& a, const byte_list& b) {
  if (a == b) return 0;
  if (!is_float(type)) return INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < a.size() / static_cast<std::size_t>(bytes(type)); ++i) {
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
    case dtype::f64: return fill([&] { return 2 * draw.unit() - 1; });
    case dtype::f16: return fill([&] { return float16(unit()); });
    case dtype::bf16: return fill([&] { return bfloat16(unit()); });
    case dtype::i8: return fill([&] { return static_cast<std::int8_t>(draw.next()); });
    case dtype::i32: return fill([&] { return static_cast<std::int32_t>(draw.next()); });
    case dtype::i64: return fill([&] { return static_cast<std::int64_t>(draw.next()); });
    default: return;
  }
}

}  // namespace

void fill_random(byte_list& bytes, dtype type, std::uint64_t seed) {
  constexpr std::size_t piece = 1 << 20;  // bytes; each has a stream of its own
  on_all_cores((bytes.size() + piece - 1) / piece, [&](const auto& next) {
    for (std::size_t i = next(); i * piece < bytes.size(); i = next()) {
      const std::size_t begin = i * piece;
      fill_piece(&bytes[begin], std::min(piece, bytes.size() - begin), type,
                 support::random(seed + (std::uint64_t{i} << 32)));
    }
  });
}

case_memory::case_memory(const cu::device& on, const ir::function& f, std::uint64_t seed,
                         const given_arguments& given)
    : on_(on), f_(f) {
  for (const ir::param& p : f.params) {
    const std::size_t size = bytes_of(p.buffer);
    all_.push_back({p.buffer->type, byte_list(size), cu::device_memory(on, size)});
    fill_random(all_.back().host, p.buffer->type, seed++);
    if (const auto known = given.find(p.buffer->name); known != given.end()) {
      if (known->second.size() != size)
        throw argument_error("what is given for " + p.buffer->name + " has another size");
      all_.back().host = known->second;
    }
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

void case_memory::expect_points(expectation& e, const std::vector<ir::tensor_view>& views) const {
  constexpr std::size_t most = 4096, piece = 16;
  const ir::buffer& b = f_.params[e.parameter].buffer;
  const std::size_t elements = bytes_of(b) / static_cast<std::size_t>(bytes(b->type));
  support::random draw(17);
  e.points.resize(std::min(elements, most));
  for (std::size_t n = 0; n < e.points.size(); ++n)
    e.points[n].at = elements <= most ? n : static_cast<std::size_t>(draw.below(elements));
  std::atomic<bool> complete{true};
  on_all_cores((e.points.size() + piece - 1) / piece, [&](const auto& next) {
    ir::point_evaluator values(f_, views, nodes_of_a_thread);
    std::vector<std::int64_t> index(b->shape.size());
    for (std::size_t part = next(); part * piece < e.points.size(); part = next())
      for (std::size_t n = part * piece; n < std::min(e.points.size(), (part + 1) * piece); ++n) {
        std::size_t rest = e.points[n].at;
        for (std::size_t d = index.size(); d-- > 0;) {
          const auto extent = static_cast<std::size_t>(b->shape[d]->integer);
          index[d] = static_cast<std::int64_t>(rest % extent);
          rest /= extent;
        }
        if (const std::optional<ir::point_value> right = values.value(e.parameter, index))
          e.points[n].right = *right;
        else
          complete = false;
      }
  });
  e.complete = complete;
}

const std::vector<case_memory::expectation>& case_memory::expected() {
  if (expected_) return *expected_;
  const pass::buffer_set written = pass::stored_buffers(f_.body);
  std::vector<ir::tensor_view> views;
  for (argument& a : all_) views.push_back({a.host.data(), {}});
  expected_.emplace();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!written.count(f_.params[i].buffer)) continue;
    expectation& e = expected_->emplace_back();
    e.parameter = i;
    expect_points(e, views);
    if (const std::optional<product_form> form = product_form_of(f_, i)) {
      e.sums.emplace(f_, i, *form, views, 29 + i);
      if (!e.sums->known()) e.sums.reset();
    }
  }
  return *expected_;
}

std::size_t case_memory::outputs_in_sums() {
  std::size_t out = 0;
  for (const expectation& e : expected()) out += e.sums ? 1 : 0;
  return out;
}

double case_memory::difference_in_double() {
  double worst = 0;
  for (const expectation& e : expected()) {
    if (!e.complete) return INFINITY;
    const dtype type = all_[e.parameter].type;
    const byte_list got = result(e.parameter);
    double squares = 0;
    for (const point& p : e.points) {
      const double value = value_at(got, type, p.at), gap = value - p.right.value;
      squares += gap * gap;
      worst = std::max(worst, gpu_results::off_by(value, p.right));
    }
    // A spread that wrong points made would hide others; it then does not matter
    const double spread = std::sqrt(squares / static_cast<double>(e.points.size()));
    if (e.sums && e.sums->wrong(got.data(), spread) > 0) return INFINITY;
  }
  return worst;
}

}  // namespace gpu_case
