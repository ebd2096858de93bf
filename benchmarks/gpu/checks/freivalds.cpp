#include "freivalds.hpp"

#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/support/random.hpp>

#include "all_cores.hpp"
#include "element_values.hpp"

namespace gpu_case {
namespace {

using namespace tilewright;

constexpr std::int64_t nodes_of_a_thread = 1'000'000'000;  // some seconds
constexpr double unlikely = 12;                            // standard deviations

std::size_t product_of(const std::vector<ir::expr>& shape, std::size_t from, std::size_t to) {
  std::size_t out = 1;
  for (std::size_t d = from; d < to; ++d) out *= static_cast<std::size_t>(shape[d]->integer);
  return out;
}

std::int32_t wrapped(double x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(x)));
}

}  // namespace

freivalds::freivalds(const ir::function& f, std::size_t output, const product_form& form,
                     const std::vector<ir::tensor_view>& arguments, std::uint64_t seed)
    : type_(f.params[output].buffer->type), weights_(static_cast<std::size_t>(form.extent)) {
  support::random draw(seed);
  // signs keep sums of floats small; modulo a power of two an odd number makes nothing 0, and small ones keep sums exact
  for (double& w : weights_)
    w = is_float(type_) ? 2 * static_cast<double>(draw.below(2)) - 1
                        : 2 * static_cast<double>(draw.below(128)) + 1;
  const std::vector<ir::expr>& shape = f.params[output].buffer->shape;
  outer_ = product_of(shape, 0, form.dimension);
  inner_ = product_of(shape, form.dimension + 1, shape.size());
  compute(f, output, form, arguments);
}

/// Sums over the dimension between `outer` and `inner` places.
std::vector<double> freivalds::summed(const std::byte* data, dtype type, std::size_t outer,
                                      std::size_t inner) const {
  std::vector<double> out(outer * inner);
  const auto step = static_cast<std::size_t>(bytes(type));
  with_reader(type, [&](const auto& read) {
    on_all_cores(outer, [&](const auto& next) {
      for (std::size_t o = next(); o < outer; o = next()) {
        double* const to = &out[o * inner];
        const std::byte* at = data + o * weights_.size() * inner * step;
        for (const double w : weights_)
          for (std::size_t i = 0; i < inner; ++i, at += step) to[i] += w * read(at);
      }
    });
  });
  return out;
}

void freivalds::compute(const ir::function& f, std::size_t output, const product_form& form,
                        const std::vector<ir::tensor_view>& arguments) {
  std::vector<std::vector<double>> sums(f.params.size());
  std::vector<std::vector<std::int32_t>> integers(f.params.size());
  std::vector<ir::tensor_view> views = arguments;
  for (std::size_t p = 0; p < f.params.size(); ++p) {
    if (form.dimensions[p] < 0) continue;
    const ir::buffer& b = f.params[p].buffer;
    const auto d = static_cast<std::size_t>(form.dimensions[p]);
    const std::size_t rank = b->shape.size();
    sums[p] = summed(static_cast<const std::byte*>(arguments[p].data), b->type,
                     product_of(b->shape, 0, d), product_of(b->shape, d + 1, rank));
    views[p].data = sums[p].data();
    if (!is_float(b->type)) {
      for (const double s : sums[p]) integers[p].push_back(wrapped(s));
      views[p].data = integers[p].data();
    }
    std::vector<std::int64_t> strides(rank, 0);  // all places along the dimension are the sum
    std::int64_t step = 1;
    for (std::size_t k = rank; k-- > 0;) {
      if (k == d) continue;
      strides[k] = step;
      step *= b->shape[k]->integer;
    }
    views[p].strides = std::move(strides);
  }
  const ir::function g = with_sums(f, form);
  const std::vector<ir::expr>& shape = g.params[output].buffer->shape;
  sums_.resize(outer_ * inner_);
  std::atomic<bool> known{true};
  constexpr std::size_t piece = 64;
  on_all_cores((sums_.size() + piece - 1) / piece, [&](const auto& next) {
    ir::point_evaluator points(g, views, nodes_of_a_thread);
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t part = next(); part * piece < sums_.size() && known; part = next())
      for (std::size_t n = part * piece; n < std::min(sums_.size(), (part + 1) * piece); ++n) {
        std::size_t rest = n;
        for (std::size_t d = shape.size(); d-- > 0;) {
          if (d == form.dimension) continue;
          const auto extent = static_cast<std::size_t>(shape[d]->integer);
          index[d] = static_cast<std::int64_t>(rest % extent);
          rest /= extent;
        }
        const std::optional<ir::point_value> sum = points.value(output, index);
        if (!sum) {
          known = false;
          break;
        }
        sums_[n] = sum->value;
      }
  });
  known_ = known;
}

std::size_t freivalds::wrong(const std::byte* output, double spread) const {
  const std::vector<double> got = summed(output, type_, outer_, inner_);
  const double limit = unlikely * spread * std::sqrt(static_cast<double>(weights_.size()));
  std::size_t out = 0;
  for (std::size_t n = 0; n < got.size(); ++n) {
    if (is_float(type_))  // not a number is wrong
      out += std::abs(got[n] - sums_[n]) <= limit + 1e-11 * (1 + std::abs(sums_[n])) ? 0 : 1;
    else
      out += wrapped(got[n]) == wrapped(sums_[n]) ? 0 : 1;
  }
  return out;
}

}  // namespace gpu_case
