#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <ops/picture.hpp>
#include <tilewright/impl/ops/winograd/transform.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/ops/convolution.hpp>
#include <tilewright/ops/winograd.hpp>

using namespace test_kernels;
using namespace test_ops;
using ops::conv_options;

namespace {

constexpr ops::layout channels_first = ops::layout::channels_first;
constexpr int tiles[] = {2, 4, 6};

struct sizes_of_layer {
  extent_t N = 1, H = 8, W = 7, C = 5, K = 6;
};

template <class T>
array<T> normal(std::vector<extent_t> shape, unsigned seed) {
  array<T> out(std::move(shape));
  std::mt19937 random(seed);
  std::normal_distribution<double> draw;
  for (T& v : out.data) v = static_cast<T>(draw(random));
  return out;
}

/// One convolution: its arguments, and the results in double precision.
template <class T, conv_options O>
struct layer {
  static constexpr bool last = O.order == ops::layout::channels_last;
  sizes_of_layer of;
  extent_t P = of.H + 2 * O.padding[0] - 2, Q = of.W + 2 * O.padding[1] - 2;
  picture<T> x{last, of.N, of.C, {of.H, of.W}, 1}, y{last, of.N, of.K, {P, Q}, 3};
  filters<T> f{last, of.C, of.K, {3, 3}, 2};
  array<T> scale = normal<T>({of.K}, 5), shift = normal<T>({of.K}, 6);
  std::vector<double> sums;  // n, k, p, q

  explicit layer(const sizes_of_layer& sizes) : of(sizes) {
    x.a = normal<T>(x.a.shape, 1);
    f.a = normal<T>(f.a.shape, 2);
    // without the checked access of arrays, which takes most of the time here
    const auto at = [](const auto& shape, bool channels_last, extent_t outer, extent_t channel,
                       extent_t h, extent_t w) {
      return static_cast<std::size_t>(
          channels_last ? ((outer * shape[1] + h) * shape[2] + w) * shape[3] + channel
                        : ((outer * shape[1] + channel) * shape[2] + h) * shape[3] + w);
    };
    each([&](extent_t n, extent_t k, extent_t p, extent_t q) {
      double sum = 0;
      for (extent_t r = 0; r < 3; ++r)
        for (extent_t s = 0; s < 3; ++s) {
          const extent_t h = p + r - O.padding[0], w = q + s - O.padding[1];
          if (!inside(h, of.H) || !inside(w, of.W)) continue;
          for (extent_t c = 0; c < of.C; ++c) {
            const std::size_t tap = static_cast<std::size_t>(
                last ? ((r * 3 + s) * of.C + c) * of.K + k : ((k * of.C + c) * 3 + r) * 3 + s);
            sum += static_cast<double>(x.a.data[at(x.a.shape, last, n, c, h, w)]) *
                   static_cast<double>(f.a.data[tap]);
          }
        }
      sums.push_back(sum);
    });
  }
  template <class F>
  void each(F use) {
    for (extent_t n = 0; n < of.N; ++n)
      for (extent_t k = 0; k < of.K; ++k)
        for (extent_t p = 0; p < P; ++p)
          for (extent_t q = 0; q < Q; ++q) use(n, k, p, q);
  }
  dim_values dims() const {
    return {{"N", of.N}, {"H", of.H}, {"W", of.W}, {"C", of.C}, {"R", 3},
            {"S", 3},    {"K", of.K}, {"P", P},    {"Q", Q}};
  }
  /// The largest difference from `expected` of a sum, over the root mean square of all.
  template <class F>
  double error(F expected) {
    double worst = 0, squares = 0;
    std::size_t at = 0;
    each([&](extent_t n, extent_t k, extent_t p, extent_t q) {
      const double want = expected(sums[at++], k);
      worst = std::max(worst, std::abs(want - static_cast<double>(y(n, k, p, q))));
      squares += want * want;
    });
    return worst / std::sqrt(squares / static_cast<double>(at));
  }
  double error() {
    return error([](double sum, extent_t) { return sum; });
  }
};

void interpret(const ir::function& f, const std::vector<void*>& data) {
  ir::verify(f);
  std::vector<ir::tensor_view> views;
  for (void* p : data) views.push_back({p, {}});
  ir::interpret(f, std::move(views));
}

/// All algorithms of a layer against double precision, as programs without a schedule.
template <class T, conv_options O>
void check_programs(const sizes_of_layer& sizes) {
  layer<T, O> l(sizes);
  const ir::function f = reify(ops::winograd(ops::conv2d<T, T, O>, 1), l.dims());
  const std::vector<ir::function> all = ir::alternatives(f);
  REQUIRE(all.size() == 4);
  for (std::size_t k = 0; k < all.size(); ++k) {
    INFO(all[k].name);
    for (T& v : l.y.a.data) v = std::numeric_limits<T>::quiet_NaN();
    interpret(all[k], {l.x.a.data.data(), l.f.a.data.data(), l.y.a.data.data()});
    CHECK(l.error() <=
          (k == 0
               ? ops::winograd_error(2, sizes.C, std::is_same_v<T, float> ? dtype::f32 : dtype::f64)
               : ops::winograd_error(tiles[k - 1], sizes.C,
                                     std::is_same_v<T, float> ? dtype::f32 : dtype::f64)));
  }
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const argument_error& e) {
    return e.what();
  }
  return "nothing was refused";
}

template <conv_options O>
std::string refused(dim_values dims) {
  return refusal([&] { reify(ops::winograd(ops::conv2d<float, float, O>, 1e-3), dims); });
}

}  // namespace

TEST_CASE("winograd: the matrices compute a convolution of three elements") {
  for (const std::int64_t tile : tiles) {
    const ops::detail::winograd_transform t = ops::detail::transform_of_tile(tile);
    const auto n = static_cast<std::size_t>(t.points()), m = static_cast<std::size_t>(tile);
    const double f[] = {0.3, -1.1, 0.7};
    std::vector<double> x, products;
    for (std::size_t k = 0; k < n; ++k) x.push_back(std::cos(1.7 * static_cast<double>(k)));
    for (std::size_t i = 0; i < n; ++i) {
      double a = 0, b = 0;
      for (std::size_t k = 0; k < 3; ++k) a += t.g[i * 3 + k] * f[k];
      for (std::size_t k = 0; k < n; ++k) b += t.b[i * n + k] * x[k];
      products.push_back(a * b);
    }
    for (std::size_t r = 0; r < m; ++r) {
      double y = 0;
      for (std::size_t i = 0; i < n; ++i) y += t.a[r * n + i] * products[i];
      CHECK(y == doctest::Approx(x[r] * f[0] + x[r + 1] * f[1] + x[r + 2] * f[2]).epsilon(1e-12));
    }
    for (const std::vector<double>* exact : {&t.a, &t.b})
      for (const double e : *exact) CHECK(static_cast<double>(static_cast<float>(e)) == e);
  }
}

TEST_CASE("winograd: programs compute convolutions of odd extents, with borders and without") {
  constexpr conv_options last{.padding = 1}, bare{}, first{.padding = 1, .order = channels_first},
      uneven{.padding = {0, 1}, .order = channels_first};
  for (const sizes_of_layer& s : {sizes_of_layer{1, 8, 7, 5, 6}, sizes_of_layer{2, 5, 13, 3, 17},
                                  sizes_of_layer{1, 12, 6, 16, 1}, sizes_of_layer{1, 3, 3, 1, 4}}) {
    check_programs<float, last>(s);
    check_programs<float, bare>(s);
    check_programs<float, first>(s);
    check_programs<float, uneven>(s);
    check_programs<double, last>(s);
  }
}

/// Drawn members of the default space as machine code, at drawn extents.
template <class T, conv_options O>
void check_compiled(std::uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  layer<T, O> l({draw(1, 2), draw(3, 20), draw(3, 20), draw(1, 40), draw(1, 40)});
  const dtype type = std::is_same_v<T, float> ? dtype::f32 : dtype::f64;
  const std::vector<ir::function> all =
      ir::alternatives(reify(ops::winograd(ops::conv2d<T, T, O>, 1), l.dims()));
  for (std::size_t k = 1; k < all.size(); ++k) {
    space::context where;
    where.cpu = &target::host();
    const schedule s = space::default_cpu().member(all[k], where, seed);
    INFO(all[k].name, " of ", l.of.N, " ", l.of.H, " ", l.of.W, " ", l.of.C, " ", l.of.K, ": ",
         s.trace().print());
    for (T& v : l.y.a.data) v = std::numeric_limits<T>::quiet_NaN();
    run_compiled(s.function(), {l.x.a.data.data(), l.f.a.data.data(), l.y.a.data.data()});
    CHECK(l.error() <= ops::winograd_error(tiles[k - 1], l.of.C, type));
  }
}

TEST_CASE("winograd: drawn schedules of drawn extents, compiled") {
  if (!backend::compiler_available()) return;
  const char* more = std::getenv("TILEWRIGHT_WINOGRAD_DRAWS");
  const int draws = more ? std::atoi(more) : 2;
  for (int seed = 1; seed <= draws; ++seed) {
    check_compiled<float, conv_options{.padding = 1}>(static_cast<std::uint64_t>(seed));
    check_compiled<float, conv_options{}>(static_cast<std::uint64_t>(seed + 1000));
    check_compiled<float, conv_options{.padding = 1, .order = channels_first}>(
        static_cast<std::uint64_t>(seed + 2000));
    check_compiled<double, conv_options{.padding = {1, 0}}>(
        static_cast<std::uint64_t>(seed + 3000));
  }
}

TEST_CASE("winograd: rounding stays within what winograd_error says") {
  for (const extent_t channels : {16, 64, 256}) {
    layer<float, conv_options{.padding = 1}> l({1, 12, 12, channels, 24});
    const ir::function f =
        reify(ops::winograd(ops::conv2d<float, float, conv_options{.padding = 1}>, 1), l.dims());
    const std::vector<ir::function> all = ir::alternatives(f);
    for (std::size_t k = 1; k < all.size(); ++k) {
      interpret(all[k], {l.x.a.data.data(), l.f.a.data.data(), l.y.a.data.data()});
      const double stated = ops::winograd_error(tiles[k - 1], channels);
      MESSAGE("tiles of ", tiles[k - 1], ", ", channels, " channels: ", l.error(), " of ", stated);
      CHECK(l.error() <= stated);
      CHECK(l.error() >= stated / 16);
    }
  }
}

TEST_CASE("winograd: what follows the sums stays") {
  constexpr conv_options O{.padding = 1}, F{.padding = 1, .order = channels_first};
  const auto check = [](auto l, const auto& kernel, bool scaled) {
    const ir::function f = reify(ops::winograd(kernel, 1), l.dims());
    for (const ir::function& each : ir::alternatives(f)) {
      INFO(each.name);
      if (scaled)
        interpret(each, {l.x.a.data.data(), l.f.a.data.data(), l.scale.data.data(),
                         l.shift.data.data(), l.y.a.data.data()});
      else
        interpret(each,
                  {l.x.a.data.data(), l.f.a.data.data(), l.shift.data.data(), l.y.a.data.data()});
      CHECK(l.error([&](double sum, extent_t k) {
        const auto at = static_cast<std::size_t>(k);
        return std::max(0.0, sum * (scaled ? static_cast<double>(l.scale.data[at]) : 1) +
                                 static_cast<double>(l.shift.data[at]));
      }) <= 1e-4);
    }
  };
  const sizes_of_layer s{1, 9, 6, 5, 7};
  check(layer<float, O>(s), ops::conv2d_bias<float, float, O, ops::activation::relu>, false);
  check(layer<float, F>(s), ops::conv2d_bias<float, float, F, ops::activation::relu>, false);
  check(layer<float, O>(s), ops::conv2d_scale_shift<float, float, O, ops::activation::relu>, true);
  check(layer<float, F>(s), ops::conv2d_scale_shift<float, float, F, ops::activation::relu>, true);
}

TEST_CASE("winograd: the stated error decides which tiles there are, and has records of its own") {
  layer<float, conv_options{.padding = 1}> l({1, 8, 8, 64, 4});
  const auto count = [&](double error) {
    return ir::alternatives(
               reify(ops::winograd(ops::conv2d<float, float, conv_options{.padding = 1}>, error),
                     l.dims()))
        .size();
  };
  CHECK(count(ops::winograd_error(2, 64)) == 2);
  CHECK(count(ops::winograd_error(4, 64)) == 3);
  CHECK(count(ops::winograd_error(6, 64)) == 4);
  const auto key = [&](double error) {
    return ir::workload_key(
               reify(ops::winograd(ops::conv2d<float, float, conv_options{.padding = 1}>, error),
                     l.dims()))
        .hex();
  };
  CHECK(key(1e-3) != key(1e-4));
  CHECK(key(1e-3) !=
        ir::workload_key(reify(ops::conv2d<float, float, conv_options{.padding = 1}>, l.dims()))
            .hex());
}

TEST_CASE("winograd: what the algorithm does not compute is refused by name, with what to do") {
  const auto dims = [](extent_t P, extent_t Q, extent_t R = 3) {
    return dim_values{{"N", 1}, {"H", 9}, {"W", 9}, {"C", 4}, {"R", R},
                      {"S", R}, {"K", 6}, {"P", P}, {"Q", Q}};
  };
  CHECK(refused<conv_options{.stride = 2}>(dims(4, 4)) ==
        "ops::winograd: kernel conv2d moves its windows in steps of 2; call it without "
        "ops::winograd, or with a stride of 1 (requirement 3)");
  CHECK(refused<conv_options{.dilation = 2}>(dims(5, 5)) ==
        "ops::winograd: kernel conv2d has a dilation of 2; call it without ops::winograd, or with "
        "a dilation of 1 (requirement 4)");
  CHECK(refused<conv_options{}>(dims(5, 5, 5)) ==
        "ops::winograd: kernel conv2d has windows of 5 x 5, and the algorithm is one for 3 x 3; "
        "call it without ops::winograd (requirement 2)");
  dim_values grouped = dims(7, 7);
  grouped["CI"] = 8;
  CHECK(refused<conv_options{.groups = 2}>(grouped) ==
        "ops::winograd: kernel conv2d takes a channel of the image from a group; call it with "
        "groups without ops::winograd, or once for each group (requirement 5)");
  CHECK(refusal([&] { reify(ops::winograd(ops::conv2d<float>, 1e-7), dims(7, 7)); }) ==
        "ops::winograd: kernel conv2d is allowed an error of 1e-07; tiles of 2 x 2 have one of "
        "5e-06: allow that much, or call it without ops::winograd (requirement 6)");
  const auto with_tiles = [&](const std::vector<std::int64_t>& extents) {
    return refusal(
        [&] { ops::with_winograd_tiles(reify(ops::conv2d<float>, dims(7, 7)), extents); });
  };
  for (const std::vector<std::int64_t>& extents :
       {std::vector<std::int64_t>{}, std::vector<std::int64_t>{3}, std::vector<std::int64_t>{4, 4}})
    CHECK(with_tiles(extents) ==
          "ops::winograd: kernel conv2d is to have tiles that are not there, or twice, or none; "
          "name some of 2, 4 and 6, each once (requirement 7)");
  CHECK(with_tiles({4, 2}) == "");
  const auto product = kernel<"product">(
      [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"Y", float, "M", "N"> Y) {
        using axes::i, axes::j, axes::k;
        return Y(i, j) = sum<k>(A(i, k) * B(k, j));
      });
  CHECK(refusal([&] {
          reify(ops::winograd(product, 1e-3), {{"M", 4}, {"K", 4}, {"N", 4}});
        }) ==
        "ops::winograd: kernel product has no sum of products of an image's windows with a "
        "filter; use ops::conv2d, ops::conv2d_bias or ops::conv2d_scale_shift (requirement 1)");
  CHECK(refusal([] { ops::winograd_error(3, 64); }) ==
        "winograd_error: there are no tiles of 3 x 3; use 2, 4 or 6 (requirement 1)");
}

TEST_CASE("winograd: a call takes one of the algorithms, with weights bound and not") {
  if (!backend::compiler_available()) return;
  constexpr conv_options O{.padding = 1};
  layer<float, O> l({1, 14, 14, 24, 40});
  const double error = ops::winograd_error(6, 24);
  tuned_options options;
  options.seconds = 60;
  options.trials = 12;
  options.database = ":memory:";
  options.threads = 1;
  const tuned op{ops::winograd(ops::conv2d_bias<float, float, O, ops::activation::none>, error),
                 options};
  const auto x = view(l.x.a.data.data(), {1, 14, 14, 24}),
             f = view(l.f.a.data.data(), {3, 3, 24, 40}),
             y = view(l.y.a.data.data(), {1, 14, 14, 40});
  const auto b = view(l.shift.data.data(), {40});
  const auto within = [&] {
    return l.error([&](double sum, extent_t k) {
      return sum + static_cast<double>(l.shift.data[static_cast<std::size_t>(k)]);
    }) <= error;
  };
  op(x, f, b, y);
  CHECK(within());
  for (float& v : l.y.a.data) v = -1;
  const auto bound = op.with<"F">(f);
  bound(x, b, y);
  CHECK(within());
}
