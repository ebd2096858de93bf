# The largest element of a row and its place.
@T.prim_func
def main(A: T.Buffer((4, 5), "int32"), I: T.Buffer((4,), "int32"), M: T.Buffer((4,), "int32")):
    for i, k in T.grid(4, 5):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk])
            T.writes(I[vi], M[vi])
            with T.init():
                I[vi] = -1
                M[vi] = -1000000
            at: T.int32 = T.Select(M[vi] >= A[vi, vk] * 8 - vk, I[vi], vk)
            peak: T.int32 = T.Select(M[vi] >= A[vi, vk] * 8 - vk, M[vi], A[vi, vk] * 8 - vk)
            I[vi] = at
            M[vi] = peak
