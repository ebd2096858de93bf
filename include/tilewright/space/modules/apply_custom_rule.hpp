// Module: blocks that name the rule that schedules them (TVM: ApplyCustomRule).
#pragma once

#include <functional>
#include <map>
#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Runs the rule that a block's annotation `schedule_rule` names, and removes the annotation. The
/// names are those of this value, so a program brings its own rules without the library knowing:
/// ```
/// apply_custom_rule custom{{{"rows", [](schedule& s, const std::string& block, const context&,
///                                       chooser&) { s.parallel(s.get_loops(s.get_block(block))[0]); }}}};
/// ```
/// "None" stands for no rule at all: the annotation stays, and compositions pass the block over.
struct apply_custom_rule {
  using rule = std::function<void(schedule&, const std::string& block, const context&, chooser&)>;
  std::map<std::string, rule> rules;

  /// @throws argument_error when the block names a rule that is not here; the text lists the names
  void operator()(schedule& s, const std::string& block, const context& where,
                  chooser& choices) const;
};

}  // namespace tilewright::space
