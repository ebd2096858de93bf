// The session of a call: how the options of a tuned kernel become those of a session.
#pragma once

#include <memory>

#include <tilewright/config.hpp>
#include <tilewright/search/options.hpp>

namespace tilewright::dispatch {

/// How a kernel is tuned when a call asks for it; without events, and without an end from outside.
/// @param db where an exhaustive session learns from what was measured; `options` and it have to live
/// as long as the result
search::session_options call_session(const tuned_options& options, const search::database& db,
                                     const search::record_key& key);

}  // namespace tilewright::dispatch
