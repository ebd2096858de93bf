// Blur and sharpen an image file: sharpen [in.ppm [out.ppm]]. Four stages are described one by one;
// the schedule computes them row by row, so that only a few rows of the blurred image ever exist.
#include <tilewright/tilewright.hpp>

#include <CImg.h>
#include <iostream>

namespace {

constexpr auto sharpen = tw::kernel<"sharpen">(
    [](tw::in<"image", std::uint8_t, "C", "H", "W"> image, tw::in<"amount", float> amount,
       tw::out<"result", std::uint8_t, "C", "H", "W"> result) {
      using tw::axes::c, tw::axes::y, tw::axes::x;
      tw::temp<"across", float, "C", "H", "W"> across;
      tw::temp<"blurred", float, "C", "H", "W"> blurred;
      const auto pixel = tw::clamp_outside(image);
      const auto row = tw::clamp_outside(across);
      const auto value = [&](auto shifted) { return tw::cast<float>(pixel(c, y, shifted)); };
      return tw::blocks(
          across(c, y, x) = (value(x - 2) + value(x - 1) * 4.0f + value(x) * 6.0f +
                             value(x + 1) * 4.0f + value(x + 2)) *
                            (1.0f / 16),
          blurred(c, y, x) = (row(c, y - 2, x) + row(c, y - 1, x) * 4.0f + row(c, y, x) * 6.0f +
                              row(c, y + 1, x) * 4.0f + row(c, y + 2, x)) *
                             (1.0f / 16),
          result(c, y, x) = tw::cast<std::uint8_t>(
              min(max(round(tw::cast<float>(image(c, y, x)) +
                            amount * (tw::cast<float>(image(c, y, x)) - blurred(c, y, x))),
                      0.0f),
                  255.0f)));
    });

/// Computes the blur under the rows of the result, and runs groups of rows in parallel.
void fuse_rows(tw::schedule& s) {
  const tw::block_rv result = s.get_block("result");
  const auto [c, y, x] = s.loops<3>(result);
  const auto [y0, y1] = s.split(y, {tw::infer, s.sample_categorical({4, 8, 16, 32}, {1, 1, 1, 1})});
  const auto [x0, x1] = s.split(x, {tw::infer, 16});
  s.vectorize(x1);
  // each stage below the rows that need it, its border included
  for (const char* stage : {"blurred", "across_pad", "across", "image_pad"}) {
    s.compute_at(s.get_block(stage), y0, true);
    const auto [outer, inner] = s.split(s.get_loops(s.get_block(stage)).back(), {tw::infer, 16});
    s.vectorize(inner);
  }
  s.parallel(s.fuse(c, y0));
}

}  // namespace

int main(int argc, char** argv) try {
  const char* in = argc > 1 ? argv[1] : SCENE;
  const char* out = argc > 2 ? argv[2] : "sharpened.ppm";
  const cimg_library::CImg<std::uint8_t> image(in);  // planes: [channels, height, width]
  cimg_library::CImg<std::uint8_t> result(image.width(), image.height(), 1, image.spectrum());
  const auto planes = [](auto& i) {
    return tw::view(i.data(),
                    {static_cast<std::int64_t>(i.spectrum()), static_cast<std::int64_t>(i.height()),
                     static_cast<std::int64_t>(i.width())});
  };

  tw::tuned op{sharpen, {.seconds = 3, .space = fuse_rows}};
  op(planes(image), 1.5f, planes(result));
  result.save(out);
  std::cout << in << " -> " << out << ", " << image.width() << " x " << image.height() << "\n"
            << op.report(planes(image), 1.5f, planes(result)) << "\n";
} catch (const std::exception& failure) {
  std::cerr << failure.what() << "\n";
  return 1;
}
