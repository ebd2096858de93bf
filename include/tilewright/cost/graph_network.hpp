// A graph network over the loops of a program: MetaTune's model (arXiv 2102.04199, section 3).
//
// Nodes are a root without features and the loops with their 64 numbers (loop_context.hpp); edges
// join the root with every loop and a loop with the loops directly inside it. Two graph
// convolutions, H' = relu(S H W + b) with S = D^-1/2 (A + A^T + I) D^-1/2, are pooled by a gated sum
// and a maximum over the loops, and three dense layers give the score. Every loop also stands in a
// slot of one template that all programs share: {store that computes, store that moves} x {spatial,
// reduce, other} x level from the inside. What a slot means is learned across programs; that is
// what lets tasks of different operators look alike. What the paper leaves open (widths, loss,
// rates) is said at the options. The definitions need Eigen: learning.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/gbt.hpp>
#include <tilewright/cost/loop_context.hpp>
#include <tilewright/cost/model.hpp>
#include <tilewright/cost/network_options.hpp>

namespace tilewright::cost {

/// Levels of a slot; deeper loops share the last one.
inline constexpr std::size_t slot_levels = 6;
/// Slots of the template.
inline constexpr std::size_t template_slots = 2 * 3 * slot_levels;

/// A program as the network sees it.
struct loop_graph {
  std::vector<node_row> nodes;      // [loops]
  std::vector<std::uint8_t> slots;  // [loops], below template_slots
  std::vector<int> parents;         // [loops], -1: none
};
loop_graph graph_of(const ir::function& f, const node_options& options = {});

struct graph_network_options : network_options {
  node_options nodes;
  bool use_template = true;  // false: what a loop is to the program shows in its numbers alone
};

/// Numbers that the convolutions make of a program: what the dense layers look at.
inline constexpr std::size_t embedding_width = 128;

/// Ranks programs by the network. Without pretrained weights the first scores are those of random
/// weights, which are finite and mean nothing.
class graph_model final : public model {
 public:
  explicit graph_model(graph_network_options options = {});
  ~graph_model() override;

  std::vector<double> predict(std::span<const sample> programs) override;
  /// Tunes from the pretrained weights on all that was measured, when enough of it is new. The
  /// convolutions stay as they are while there are few programs.
  void update(std::span<const sample> measured) override;
  /// Trains from random weights on measured programs of many workloads, which become the weights
  /// that tuning starts from. Failed programs are left out.
  /// @returns the mean loss of each epoch
  std::vector<double> pretrain(std::span<const sample> measured);

  std::string save() const override;
  /// @throws argument_error when `text` is no network of this shape, or holds what is not finite
  void load(std::string_view text) override;

  /// Number of weights.
  std::size_t weights() const;
  /// Loss of the present weights on samples of one workload.
  double loss(std::span<const sample> measured);
  /// Its derivative by each weight.
  std::vector<double> gradient(std::span<const sample> measured);
  /// @name The weights themselves, in the order of `gradient`
  /// @{
  std::vector<double> values() const;
  /// @throws argument_error for another number of weights
  void set_values(std::span<const double> values);
  /// @}
  /// @name The dense layers alone, for other ways to train them (meta_learning.hpp)
  /// @{
  /// The numbers that the pretrained convolutions make of each program, embedding_width a program.
  std::vector<double> embeddings(std::span<const sample> programs);
  /// Weights of the dense layers that tuning starts from.
  std::vector<double> head() const;
  /// Tuning starts from these, and the present weights are those.
  /// @throws argument_error for another number of weights, or one that is not finite
  void set_head(std::span<const double> weights);
  /// @}

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::cost
