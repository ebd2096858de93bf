# Three levels of fibres: which axes become one loop is open.
# iterations
# data p = 0 2 2 3
# data q = 0 3 1
# data r = 0 2 3 5
# data s = 1 4 0 2 5
@T.prim_func
def f(p: T.Buffer((4,), "int32"), q: T.Buffer((3,), "int32"), r: T.Buffer((4,), "int32"),
      s: T.Buffer((5,), "int32"), a: T.Buffer((5,), "int32"), b: T.Buffer((3,), "int32"),
      c: T.Buffer((5,), "int32")):
    I = T.dense_fixed(3)
    J = T.sparse_variable(I, (4, 3), (p, q))
    K = T.sparse_variable(J, (6, 5), (r, s))
    a_1 = T.match_sparse_buffer(a, (I, J, K))
    c_1 = T.match_sparse_buffer(c, (I, J, K))
    with T.sp_iter([I, J, K], "SRR", "b") as [i, j, k]:
        with T.init():
            b[i] = 0
        b[i] = b[i] + a_1[i, j, k] * k
    with T.sp_iter([I, J, K], "SSS", "c") as [i, j, k]:
        c_1[i, j, k] = a_1[i, j, k] + i * 100 + j * 10 + k
