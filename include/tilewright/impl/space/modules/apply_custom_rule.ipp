#pragma once

#include <tilewright/space/modules/apply_custom_rule.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void apply_custom_rule::operator()(schedule& s, const std::string& name,
                                                     const context& where, chooser& choices) const {
  constexpr const char* key = "schedule_rule";
  if (!has_block(s, name)) return;
  const ir::annotations& notes = named_block(s, name).block->annotations;
  const auto note = notes.find(key);
  if (note == notes.end() || note->second == ir::attr("None")) return;
  const auto* wanted = std::get_if<std::string>(&note->second.value);
  const auto found = wanted ? rules.find(*wanted) : rules.end();
  if (found == rules.end()) {
    std::string known = "\"None\"";
    for (const auto& [rule_name, unused] : rules) known += ", \"" + rule_name + "\"";
    throw argument_error("block " + name + " asks for schedule_rule " +
                         (wanted ? "\"" + *wanted + "\"" : "that is no name") +
                         "; apply_custom_rule knows " + known);
  }
  s.unannotate(s.get_block(name), key);
  found->second(s, name, where, choices);
}

}  // namespace tilewright::space
