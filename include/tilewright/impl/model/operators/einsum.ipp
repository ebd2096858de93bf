#pragma once

#include <algorithm>
#include <map>
#include <string>

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/model/operators.hpp>

// Sums of products in Einstein's notation.
namespace tilewright::network {
namespace detail {

/// An equation with a label for each dimension. Dimensions of an ellipsis are the labels '0' to
/// '7', the last of them '7'.
struct einsum_spec {
  std::vector<std::string> inputs;       // labels of each input
  std::string output;                    // labels
  std::map<char, std::int64_t> extents;  // of labels

  std::string summed() const {
    std::string out;
    for (const auto& [label, extent] : extents)
      if (output.find(label) == std::string::npos) out += label;
    return out;
  }
};

/// The labels of one term; `rank` dimensions, or -1 where the term itself says how many.
inline std::string labels_of(const node_view& n, const std::string& term, std::int64_t rank,
                             std::size_t most_ellipsis) {
  const std::size_t dots = term.find("...");
  std::string out = term;
  if (dots != std::string::npos) {
    const auto named = static_cast<std::int64_t>(term.size()) - 3;
    const std::int64_t count = rank < 0 ? static_cast<std::int64_t>(most_ellipsis) : rank - named;
    if (count < 0 || count > 8)
      n.fail("term \"" + term + "\" names more dimensions than its input has");
    std::string filling;
    for (std::int64_t k = 8 - count; k < 8; ++k) filling += static_cast<char>('0' + k);
    out = term.substr(0, dots) + filling + term.substr(dots + 3);
  }
  for (const char c : out)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '7')))
      n.fail("term \"" + term + "\" of its equation holds more than letters and one ellipsis");
  return out;
}

inline einsum_spec einsum_of(const node_view& n) {
  std::string equation;
  for (const char c : n.what().text("equation", ""))
    if (c != ' ') equation += c;
  const std::size_t arrow = equation.find("->");
  einsum_spec out;
  std::vector<std::string> terms(1);
  for (const char c : equation.substr(0, arrow))
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  if (terms.size() != n.input_count())
    n.fail("its equation \"" + equation + "\" has " + std::to_string(terms.size()) +
           " terms, and the node " + std::to_string(n.input_count()) + " inputs");
  std::size_t ellipsis = 0;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const shape& s = n.in(k).extents;
    const std::string labels = labels_of(n, terms[k], static_cast<std::int64_t>(s.size()), 0);
    if (labels.size() != s.size())
      n.fail("term \"" + terms[k] + "\" names " + std::to_string(labels.size()) +
             " dimensions, and input " + std::to_string(k) + " has " + std::to_string(s.size()));
    for (std::size_t d = 0; d < s.size(); ++d) {
      std::int64_t& extent = out.extents.emplace(labels[d], 1).first->second;
      if (extent != 1 && s[d] != 1 && extent != s[d])
        n.fail("dimensions of \"" + std::string(1, labels[d]) + "\" have the extents " +
               std::to_string(extent) + " and " + std::to_string(s[d]));
      extent = extent == 1 ? s[d] : extent;
    }
    if (terms[k].find("...") != std::string::npos)
      ellipsis = std::max(ellipsis, s.size() + 3 - terms[k].size());
    out.inputs.push_back(labels);
  }
  if (arrow != std::string::npos) {
    out.output = labels_of(n, equation.substr(arrow + 2), -1, ellipsis);
  } else {  // dimensions of the ellipsis, then labels that occur once, in their order
    std::map<char, int> times;
    for (const std::string& labels : out.inputs)
      for (const char c : labels) ++times[c];
    for (const auto& [label, count] : times)
      if (label <= '7' || count == 1) out.output += label;
  }
  for (const char c : out.output)
    if (!out.extents.count(c) || std::count(out.output.begin(), out.output.end(), c) != 1)
      n.fail("the output of its equation \"" + equation + "\" names \"" + std::string(1, c) +
             "\" twice, or no input does");
  return out;
}

inline void infer_einsum(inference& n) {
  const einsum_spec s = einsum_of(n);
  tensor_type out{n.in(0).type, {}};
  for (std::size_t k = 1; k < n.input_count(); ++k)
    if (n.in(k).type != out.type) n.fail("its inputs need one element type");
  for (const char c : s.output) out.extents.push_back(s.extents.at(c));
  n.out(0, out);
}

inline void emit_einsum(emission& e) {
  const einsum_spec s = einsum_of(e);
  std::vector<dsl::runtime_tensor> x;
  for (std::size_t k = 0; k < s.inputs.size(); ++k) x.push_back(e.tensor(k, k == 0 ? "A" : "B"));
  const dtype t = e.type_of_output().type;
  std::map<char, runtime_expression> summed;
  dsl::index_list axes;
  for (const char c : s.summed()) {
    axes.push_back(e.axis("k" + std::to_string(axes.size()), s.extents.at(c)));
    summed.emplace(c, axes.back());
  }
  e.out(0, [=](const dsl::index_list& at) {
    const cast_to_type to{sum_type(t)};
    std::optional<runtime_expression> product;
    for (std::size_t k = 0; k < x.size(); ++k) {
      dsl::index_list own;
      for (std::size_t d = 0; d < s.inputs[k].size(); ++d) {
        const char c = s.inputs[k][d];
        const std::size_t place = s.output.find(c);
        if (x[k].extent(static_cast<int>(d)) == 1)
          own.push_back(0);
        else
          own.push_back(place == std::string::npos ? summed.at(c) : at[place]);
      }
      const runtime_expression element = to(x[k](own));
      product = product ? *product * element : element;
    }
    return cast(axes.empty() ? *product : reduce(dsl::reduction::sum, axes, *product), t);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_einsum(std::vector<operator_definition>& to) {
  to.push_back({"Einsum", op_kind::anchor, detail::infer_einsum, detail::emit_einsum});
}

}  // namespace tilewright::network
