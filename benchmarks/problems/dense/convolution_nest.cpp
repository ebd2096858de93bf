#include "convolution_nest.hpp"

namespace bench::dense {
namespace {

std::string number(std::size_t d) { return std::to_string(d); }
std::string loop(const std::string& name, int count) {
  return "for (int " + name + " = 0; " + name + " < " + std::to_string(count) + "; ++" + name +
         ") {\n";
}

/// Builds the text; spatial dimensions are those of `v`.
class nest {
 public:
  nest(const convolution& v, bool depthwise, bool scaled)
      : v_(v), rank_(v.input.size()), depthwise_(depthwise), scaled_(scaled) {}

  std::string text() const { return v_.channels_last ? channels_last() : channels_first(); }

 private:
  std::string indices(const char* letter) const {
    std::string out;
    for (std::size_t d = 0; d < rank_; ++d) out += std::string("[") + letter + number(d) + "]";
    return out;
  }
  std::string x(const std::string& c) const {
    return v_.channels_last ? "X[0]" + indices("i") + "[" + c + "]"
                            : "X[0][" + c + "]" + indices("i");
  }
  std::string y(const std::string& k) const {
    return v_.channels_last ? "Y[0]" + indices("o") + "[" + k + "]"
                            : "Y[0][" + k + "]" + indices("o");
  }
  std::string f(const std::string& c, const std::string& k) const {
    const std::string taps = indices("r");
    if (depthwise_) return v_.channels_last ? "F" + taps + "[" + k + "]" : "F[" + k + "]" + taps;
    if (v_.channels_last) return "F" + taps + "[" + c + "][" + k + "]";
    return v_.transposed ? "F[" + c + "][" + k + "]" + taps : "F[" + k + "][" + c + "]" + taps;
  }

  /// The place in the image of dimension d, and `skip` where there is none.
  std::string place(std::size_t d, const char* skip) const {
    const std::string o = "o" + number(d), r = "r" + number(d), i = "i" + number(d);
    const std::string stride = std::to_string(v_.stride[d]), pad = std::to_string(v_.padding[d]),
                      dilation = std::to_string(v_.dilation[d]);
    std::string out;
    if (v_.transposed)
      out = "const int t" + number(d) + " = " + o + " + " + pad + " - " + r + " * " + dilation +
            ";\nif (t" + number(d) + " % " + stride + " != 0) " + skip + "\nconst int " + i +
            " = t" + number(d) + " / " + stride + ";\n";
    else
      out = "const int " + i + " = " + o + " * " + stride + " + " + r + " * " + dilation + " - " +
            pad + ";\n";
    const std::string low = v_.transposed ? "t" + number(d) : i;
    return out + "if (" + low + " < 0 || " + i + " >= " + std::to_string(v_.input[d]) + ") " +
           skip + "\n";
  }

  std::string finish(const std::string& k) const {
    return "Y_at = Y_at * scale[" + k + "] + shift[" + k + "];\nY_at = Y_at > 0 ? Y_at : 0;\n";
  }
  static std::string with_result(std::string text, const std::string& result) {
    for (std::size_t at; (at = text.find("Y_at")) != std::string::npos;)
      text.replace(at, 4, result);
    return text;
  }

  std::string channels_last() const {
    std::string out;
    int open = 0;
    for (std::size_t d = 0; d < rank_; ++d) out += loop("o" + number(d), v_.output[d]);
    out += loop("k", v_.k) + y("k") + " = 0;\n}\n";
    for (std::size_t d = 0; d < rank_; ++d, ++open)
      out += loop("r" + number(d), v_.window[d]) + place(d, "continue;");
    const std::string inputs = std::to_string(v_.c / v_.groups),
                      outputs = std::to_string(v_.k / v_.groups);
    if (depthwise_) {
      out += loop("k", v_.k) + y("k") + " += " + x("k") + " * " + f("", "k") + ";\n}\n";
    } else {
      out += loop("g", v_.groups) + loop("c", v_.c / v_.groups) + loop("k", v_.k / v_.groups);
      const std::string k = "g * " + outputs + " + k";
      out += y(k) + " += " + x("g * " + inputs + " + c") + " * " + f("c", k) + ";\n}\n}\n}\n";
    }
    out += std::string(static_cast<std::size_t>(open), '}') + "\n";
    if (scaled_) out += loop("k", v_.k) + with_result(finish("k"), y("k")) + "}\n";
    return out + std::string(rank_, '}') + "\n";
  }

  std::string channels_first() const {
    const std::size_t last = rank_ - 1;
    const std::string o = "o" + number(last), width = std::to_string(v_.output[last]);
    std::string out = loop("k", v_.k);
    for (std::size_t d = 0; d < last; ++d) out += loop("o" + number(d), v_.output[d]);
    out += loop(o, v_.output[last]) + y("k") + " = 0;\n}\n";
    int open = 0;
    std::string channel = "k";
    if (!depthwise_) {
      out += loop("c", v_.c / v_.groups), ++open;
      channel = "k / " + std::to_string(v_.k / v_.groups) + " * " +
                std::to_string(v_.c / v_.groups) + " + c";
    }
    for (std::size_t d = 0; d < last; ++d, ++open)
      out += loop("r" + number(d), v_.window[d]) + place(d, "continue;");
    out += loop("r" + number(last), v_.window[last]), ++open;
    out += range_of_outputs(last) + "for (int " + o + " = low; " + o + " < high; ++" + o + ") {\n";
    if (v_.transposed)
      out += place(last, "continue;");
    else
      out += "const int i" + number(last) + " = " + o + " * " + std::to_string(v_.stride[last]) +
             " + shift_of_tap;\n";
    out += y("k") + " += " + x(channel) + " * " + f("c", "k") + ";\n}\n";
    out += std::string(static_cast<std::size_t>(open), '}') + "\n";
    if (scaled_) out += loop(o, v_.output[last]) + with_result(finish("k"), y("k")) + "}\n";
    return out + std::string(rank_, '}') + "\n";
  }

  /// low and high: the outputs whose places lie in the image.
  std::string range_of_outputs(std::size_t d) const {
    const std::string width = std::to_string(v_.output[d]);
    if (v_.transposed) return "const int low = 0, high = " + width + ";\n";
    const std::string stride = std::to_string(v_.stride[d]);
    return "const int shift_of_tap = r" + number(d) + " * " + std::to_string(v_.dilation[d]) +
           " - " + std::to_string(v_.padding[d]) + ";\nconst int low = shift_of_tap < 0 ? (" +
           stride + " - 1 - shift_of_tap) / " + stride + " : 0;\nconst int end = shift_of_tap > " +
           std::to_string(v_.input[d] - 1) + " ? 0 : (" + std::to_string(v_.input[d] - 1) +
           " - shift_of_tap) / " + stride + " + 1, high = end < " + width + " ? end : " + width +
           ";\n";
  }

  const convolution& v_;
  std::size_t rank_;
  bool depthwise_, scaled_;
};

/// Whether output `o` reads the image through tap `r`.
bool reads(const convolution& v, std::size_t d, int o, int r) {
  if (!v.transposed) {
    const int at = o * v.stride[d] + r * v.dilation[d] - v.padding[d];
    return at >= 0 && at < v.input[d];
  }
  const int at = o + v.padding[d] - r * v.dilation[d];
  return at >= 0 && at % v.stride[d] == 0 && at / v.stride[d] < v.input[d];
}

}  // namespace

std::string convolution_nest(const convolution& v, bool depthwise, bool scaled) {
  return nest(v, depthwise, scaled).text();
}

double useful_flops(const convolution& v) {
  double out = 2.0 * v.n * v.k * v.c / v.groups;
  for (std::size_t d = 0; d < v.input.size(); ++d) {
    int taps = 0;
    for (int o = 0; o < v.output[d]; ++o)
      for (int r = 0; r < v.window[d]; ++r) taps += reads(v, d, o, r);
    out *= taps;
  }
  return out;
}

}  // namespace bench::dense
