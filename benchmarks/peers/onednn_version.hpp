// What differs between the two versions of oneDNN that the same peers are compiled for: 2.x of Debian and 3.x.
#pragma once

#include <omp.h>

#include <dnnl.hpp>
#include <functional>

namespace bench {

inline const dnnl::engine& onednn_engine() {
  static const dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}
inline dnnl::stream onednn_stream() {
  static const dnnl::stream s(onednn_engine());
  return s;
}

/// The implementation that oneDNN chooses for a primitive with these attributes.
template <class Primitive, class... A>
typename Primitive::primitive_desc onednn_choice(const dnnl::primitive_attr& attributes,
                                                 const A&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(onednn_engine(), arguments..., attributes);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), attributes,
                                            onednn_engine());
#endif
}

inline void append_eltwise(dnnl::post_ops& to, dnnl::algorithm a, float alpha = 0, float beta = 0) {
#if DNNL_VERSION_MAJOR >= 3
  to.append_eltwise(a, alpha, beta);
#else
  to.append_eltwise(1.0f, a, alpha, beta);
#endif
}

/// `user` itself when it has the wanted layout, else new memory.
inline dnnl::memory in_layout(const dnnl::memory& user, const dnnl::memory::desc& wanted) {
  return user.get_desc() == wanted ? user : dnnl::memory(wanted, onednn_engine());
}
/// Copies the contents from one layout into the other when it is called.
inline std::function<void()> conversion(const dnnl::memory& from, const dnnl::memory& to) {
  if (from.get() == to.get()) return [] {};
  return [=, reorder = dnnl::reorder(from, to)] {
    dnnl::stream s = onednn_stream();
    dnnl::memory source = from, target = to;
    reorder.execute(s, source, target);
    s.wait();
  };
}

}  // namespace bench
