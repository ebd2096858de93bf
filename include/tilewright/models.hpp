// Whole networks: graphs, their passes, and models that are called. interop/onnx.hpp reads them from
// files and includes this header. A file that implements the library (TILEWRIGHT_IMPLEMENT) and whose
// program has models includes this header in the place of tilewright.hpp.
#ifndef TILEWRIGHT_MODELS_HPP
#define TILEWRIGHT_MODELS_HPP

#include <tilewright/config.hpp>
#include <tilewright/model/graph.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/model/passes.hpp>

#endif

#include <tilewright/tilewright.hpp>  // defines what it declares, where this file is told to

#if defined(TILEWRIGHT_IMPLEMENT) || !defined(TILEWRIGHT_DECLARE_ONLY)
#include <tilewright/impl/models.hpp>
#endif
