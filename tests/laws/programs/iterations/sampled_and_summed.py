# A sampled product and a sum on one pattern, as iterations whose order and loops are still open.
# iterations
# data p = 0 2 2 5
# data q = 1 3 0 2 3
@T.prim_func
def f(p: T.Buffer((4,), "int32"), q: T.Buffer((5,), "int32"), a: T.Buffer((5,), "int32"),
      x: T.Buffer((3, 2), "int32"), y: T.Buffer((4, 2), "int32"), s: T.Buffer((5,), "int32"),
      c: T.Buffer((3, 2), "int32")):
    I = T.dense_fixed(3)
    J = T.sparse_variable(I, (4, 5), (p, q))
    K = T.dense_fixed(2)
    a_1 = T.match_sparse_buffer(a, (I, J))
    s_1 = T.match_sparse_buffer(s, (I, J))
    with T.sp_iter([I, J, K], "SSR", "s") as [i, j, k]:
        with T.init():
            s_1[i, j] = 0
        s_1[i, j] = s_1[i, j] + x[i, k] * y[j, k]
    with T.sp_iter([I, J, K], "SRS", "c") as [i, j, k]:
        with T.init():
            c[i, k] = 0
        c[i, k] = c[i, k] + a_1[i, j] * y[j, k]
