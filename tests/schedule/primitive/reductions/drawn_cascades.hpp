// Programs at random whose reductions along one axis need each other's results, as those of attention.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/support/random.hpp>

/// Scores (of products, or an argument), their maximum, exponentials relative to it with or without a mask, their sum,
/// and a sum of values that they weigh; the quotient of both at the end, or shares that are normalized before.
class drawn_cascade {
 public:
  explicit drawn_cascade(std::uint64_t seed) : random_(seed) {
    heads_ = pick({1, 2, 3});
    rows_ = pick({1, 5, 8, 16, 24});
    keys_ = pick({6, 16, 64, 128, 192});
    depth_ = pick({3, 8, 16});
    width_ = pick({1, 7, 16, 24, 64});
    by_head_ = random_.below(3) > 0;
    products_ = random_.below(3) > 0;
    masked_ = random_.below(3) == 0;
    scaled_ = random_.below(2) == 0;
    halved_ = random_.below(3) == 0;
    normalized_ = random_.below(3) == 0;
  }

  /// In the type named, so that one program can be had in two precisions.
  tilewright::ir::function function(const std::string& type = "float32") const {
    const auto zero = "T." + type + "(0)";
    const auto number = [&](const char* value) { return "T." + type + "(" + value + ")"; };
    std::string text =
        "@T.prim_func\ndef main(" +
        (products_ ? "Q" + tensor(type, {rows_, depth_}) + ", K" + tensor(type, {keys_, depth_})
                   : "X" + tensor(type, {rows_, keys_})) +
        ", V" + tensor(type, {keys_, width_}) + ", Y" + tensor(type, {rows_, width_}) + "):\n";
    const auto allocate = [&](const char* name, const std::vector<int>& shape) {
      text += "    " + std::string(name) + " = T.alloc_buffer(" + extents(shape) + ", \"" + type +
              "\")\n";
    };
    if (products_) allocate("score", {rows_, keys_});
    allocate("peak", {rows_});
    allocate("share", {rows_, keys_});
    allocate("total", {rows_});
    if (normalized_)
      allocate("weight", {rows_, keys_});
    else
      allocate("mixed", {rows_, width_});
    const std::string h = by_head_ ? "vh, " : "";
    if (products_)
      text += block("score", "ijk", {rows_, keys_, depth_}, h + "vi, vj", zero,
                    "score[" + h + "vi, vj] + Q[" + h + "vi, vk] * K[" + h + "vj, vk]");
    std::string x = (products_ ? "score[" : "X[") + h + "vi, vj]";
    if (scaled_) x += " * " + number("0.375");
    if (masked_) x = "T.Select(vj <= vi + 2, " + x + ", T.min_value(\"" + type + "\"))";
    text += block("peak", "ij", {rows_, keys_}, h + "vi", "T.min_value(\"" + type + "\")",
                  "T.max(peak[" + h + "vi], " + x + ")");
    text += block("share", "ij", {rows_, keys_}, h + "vi, vj", "",
                  "T.exp(" + x + " - peak[" + h + "vi])" + (halved_ ? " * " + number("0.5") : ""));
    text += block("total", "ij", {rows_, keys_}, h + "vi", zero,
                  "total[" + h + "vi] + share[" + h + "vi, vj]");
    if (normalized_)
      return tilewright::ir::parse(
          text +
          block("weight", "ij", {rows_, keys_}, h + "vi, vj", "",
                "share[" + h + "vi, vj] / total[" + h + "vi]") +
          block("Y", "iej", {rows_, width_, keys_}, h + "vi, ve", zero,
                "Y[" + h + "vi, ve] + weight[" + h + "vi, vj] * V[" + h + "vj, ve]"));
    text += block("mixed", "iej", {rows_, width_, keys_}, h + "vi, ve", zero,
                  "mixed[" + h + "vi, ve] + share[" + h + "vi, vj] * V[" + h + "vj, ve]");
    text += block("Y", "ie", {rows_, width_}, h + "vi, ve", "",
                  "mixed[" + h + "vi, ve] / total[" + h + "vi]");
    return tilewright::ir::parse(text);
  }

  int keys() const { return keys_; }
  int rows() const { return rows_; }
  /// A length of parts that divides the keys.
  int some_length() {
    std::vector<int> all;
    for (int n = 1; n < keys_; ++n)
      if (keys_ % n == 0) all.push_back(n);
    return pick(all);
  }

 private:
  int pick(const std::vector<int>& from) { return from[random_.below(from.size())]; }

  std::string extents(const std::vector<int>& shape) const {
    std::string out = "(" + (by_head_ ? std::to_string(heads_) + ", " : std::string());
    for (const int n : shape) out += std::to_string(n) + ", ";
    return out + ")";
  }
  std::string tensor(const std::string& type, const std::vector<int>& shape) const {
    return ": T.Buffer(" + extents(shape) + ", \"" + type + "\")";
  }

  /// A nest; `axes` are letters of loops, those that are not in `at` reduce.
  std::string block(const std::string& to, const std::string& axes, const std::vector<int>& shape,
                    const std::string& at, const std::string& init,
                    const std::string& value) const {
    std::string loops = by_head_ ? "h, " : "", vars = by_head_ ? "vh, " : "",
                kinds = by_head_ ? "S" : "", grid = by_head_ ? std::to_string(heads_) + ", " : "";
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::string var = std::string("v") + axes[i];
      loops += std::string(1, axes[i]) + ", ";
      vars += var + ", ";
      kinds += at.find(var) == std::string::npos ? "R" : "S";
      grid += std::to_string(shape[i]) + ", ";
    }
    const auto cut = [](const std::string& list) { return list.substr(0, list.size() - 2); };
    std::string out = "    for " + cut(loops) + " in T.grid(" + cut(grid) +
                      "):\n        with T.block(\"" + to + "\"):\n            " + cut(vars) +
                      " = T.axis.remap(\"" + kinds + "\", [" + cut(loops) + "])\n";
    const std::string element = to + "[" + at + "]";
    if (!init.empty())
      out += "            with T.init():\n                " + element + " = " + init + "\n";
    return out + "            " + element + " = " + value + "\n";
  }

  tilewright::support::random random_;
  int heads_, rows_, keys_, depth_, width_;
  bool by_head_, products_, masked_, scaled_, halved_, normalized_;
};
