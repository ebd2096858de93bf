// The definitions of models.hpp; a kernel alone does without them.
#ifndef TILEWRIGHT_IMPL_MODELS_HPP
#define TILEWRIGHT_IMPL_MODELS_HPP

#include <tilewright/impl/model/bind_extents.ipp>
#include <tilewright/impl/model/emission.ipp>
#include <tilewright/impl/model/executable.ipp>
#include <tilewright/impl/model/expansion.ipp>
#include <tilewright/impl/model/graph.ipp>
#include <tilewright/impl/model/index_bound.ipp>
#include <tilewright/impl/model/inference.ipp>
#include <tilewright/impl/model/interpret.ipp>
#include <tilewright/impl/model/memory_plan.ipp>
#include <tilewright/impl/model/model.ipp>
#include <tilewright/impl/model/model_file.ipp>
#include <tilewright/impl/model/node_view.ipp>
#include <tilewright/impl/model/operators/activations.ipp>
#include <tilewright/impl/model/operators/arithmetic.ipp>
#include <tilewright/impl/model/operators/attention.ipp>
#include <tilewright/impl/model/operators/bits.ipp>
#include <tilewright/impl/model/operators/comparisons.ipp>
#include <tilewright/impl/model/operators/constants.ipp>
#include <tilewright/impl/model/operators/control.ipp>
#include <tilewright/impl/model/operators/convolutions.ipp>
#include <tilewright/impl/model/operators/data_movement.ipp>
#include <tilewright/impl/model/operators/einsum.ipp>
#include <tilewright/impl/model/operators/functions.ipp>
#include <tilewright/impl/model/operators/normalizations.ipp>
#include <tilewright/impl/model/operators/pooling.ipp>
#include <tilewright/impl/model/operators/products.ipp>
#include <tilewright/impl/model/operators/reductions.ipp>
#include <tilewright/impl/model/operators/resizing.ipp>
#include <tilewright/impl/model/operators/rotary_embedding.ipp>
#include <tilewright/impl/model/operators/shapes.ipp>
#include <tilewright/impl/model/operators/table.ipp>
#include <tilewright/impl/model/operators/trigonometry.ipp>
#include <tilewright/impl/model/passes/channels_last.ipp>
#include <tilewright/impl/model/passes/fold_constants.ipp>
#include <tilewright/impl/model/passes/fuse.ipp>
#include <tilewright/impl/model/passes/optimize.ipp>
#include <tilewright/impl/model/passes/remove_unused.ipp>
#include <tilewright/impl/model/passes/replace_nan.ipp>
#include <tilewright/impl/model/saved_model.ipp>
#include <tilewright/impl/model/session.ipp>
#include <tilewright/impl/model/window.ipp>

#endif
