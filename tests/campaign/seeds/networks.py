# Kernels of networks at small extents, as test_campaign --seeds-of writes them: of tests/model/data, MobileNetV2,
# Inception v1 and ResNet-50.

# from tvm.script import tir as T

@T.prim_func
def LayerNormalization(X: T.Buffer((2, 6, 8), "float32"), gamma: T.Buffer((8,), "float32"), beta: T.Buffer((8,), "float32"), Y: T.Buffer((2, 6, 8), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    mean = T.alloc_buffer((2, 6), "float32")
    variance = T.alloc_buffer((2, 6), "float32")
    mean_sum = T.alloc_buffer((2, 6), "float32")
    variance_sum = T.alloc_buffer((2, 6), "float32")
    for i0, i1, j in T.grid(2, 6, 8):
        with T.block("mean"):
            vi0, vi1, vj = T.axis.remap("SSR", [i0, i1, j])
            T.reads(X[vi0, vi1, vj])
            T.writes(mean_sum[vi0, vi1])
            with T.init():
                mean_sum[vi0, vi1] = T.float32(0.0)
            mean_sum[vi0, vi1] = mean_sum[vi0, vi1] + X[vi0, vi1, vj]
    for i0, i1 in T.grid(2, 6):
        with T.block("mean_epilogue"):
            vi0, vi1 = T.axis.remap("SS", [i0, i1])
            T.reads(mean_sum[vi0, vi1])
            T.writes(mean[vi0, vi1])
            mean[vi0, vi1] = mean_sum[vi0, vi1] / T.float32(8.0)
    for i0, i1, j in T.grid(2, 6, 8):
        with T.block("variance"):
            vi0, vi1, vj = T.axis.remap("SSR", [i0, i1, j])
            T.reads(X[vi0, vi1, vj], mean[vi0, vi1])
            T.writes(variance_sum[vi0, vi1])
            with T.init():
                variance_sum[vi0, vi1] = T.float32(0.0)
            variance_sum[vi0, vi1] = variance_sum[vi0, vi1] + (X[vi0, vi1, vj] - mean[vi0, vi1]) * (X[vi0, vi1, vj] - mean[vi0, vi1])
    for i0, i1 in T.grid(2, 6):
        with T.block("variance_epilogue"):
            vi0, vi1 = T.axis.remap("SS", [i0, i1])
            T.reads(variance_sum[vi0, vi1])
            T.writes(variance[vi0, vi1])
            variance[vi0, vi1] = variance_sum[vi0, vi1] / T.float32(8.0)
    for i0, i1, i2 in T.grid(2, 6, 8):
        with T.block("Y"):
            vi0, vi1, vi2 = T.axis.remap("SSS", [i0, i1, i2])
            T.reads(X[vi0, vi1, vi2], mean[vi0, vi1], variance[vi0, vi1], gamma[vi2], beta[vi2])
            T.writes(Y[vi0, vi1, vi2])
            Y[vi0, vi1, vi2] = (X[vi0, vi1, vi2] - mean[vi0, vi1]) * T.rsqrt(variance[vi0, vi1] + T.float32(1e-05)) * gamma[vi2] + beta[vi2]



# from tvm.script import tir as T

@T.prim_func
def MatMul_Add(A: T.Buffer((2, 6, 8), "float32"), B: T.Buffer((8, 24), "float32"), B2: T.Buffer((24,), "float32"), Y: T.Buffer((2, 6, 24), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((2, 6, 24), "float32")
    for i0, i1, i2, k in T.grid(2, 6, 24, 8):
        with T.block("Y"):
            vi0, vi1, vi2, vk = T.axis.remap("SSSR", [i0, i1, i2, k])
            T.reads(A[vi0, vi1, vk], B[vk, vi2])
            T.writes(Y_sum[vi0, vi1, vi2])
            with T.init():
                Y_sum[vi0, vi1, vi2] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2] = Y_sum[vi0, vi1, vi2] + A[vi0, vi1, vk] * B[vk, vi2]
    for i0, i1, i2 in T.grid(2, 6, 24):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2 = T.axis.remap("SSS", [i0, i1, i2])
            T.reads(Y_sum[vi0, vi1, vi2], B2[vi2])
            T.writes(Y[vi0, vi1, vi2])
            Y[vi0, vi1, vi2] = Y_sum[vi0, vi1, vi2] + B2[vi2]



# from tvm.script import tir as T

@T.prim_func
def Split(X: T.Buffer((2, 6, 24), "float32"), Y: T.Buffer((2, 6, 8), "float32"), Y2: T.Buffer((2, 6, 8), "float32"), Y3: T.Buffer((2, 6, 8), "float32")):
    # with T.block("root"):
    for i0, i1, i2 in T.grid(2, 6, 8):
        with T.block("Y"):
            vi0, vi1, vi2 = T.axis.remap("SSS", [i0, i1, i2])
            T.reads(X[vi0, vi1, vi2])
            T.writes(Y[vi0, vi1, vi2])
            Y[vi0, vi1, vi2] = X[vi0, vi1, vi2]
    for o0, o1, o2 in T.grid(2, 6, 8):
        with T.block("Y2"):
            vo0, vo1, vo2 = T.axis.remap("SSS", [o0, o1, o2])
            T.reads(X[vo0, vo1, vo2 + 8])
            T.writes(Y2[vo0, vo1, vo2])
            Y2[vo0, vo1, vo2] = X[vo0, vo1, vo2 + 8]
    for o0, o1, o2 in T.grid(2, 6, 8):
        with T.block("Y3"):
            vo0, vo1, vo2 = T.axis.remap("SSS", [o0, o1, o2])
            T.reads(X[vo0, vo1, vo2 + 16])
            T.writes(Y3[vo0, vo1, vo2])
            Y3[vo0, vo1, vo2] = X[vo0, vo1, vo2 + 16]



# from tvm.script import tir as T

@T.prim_func
def Transpose(X: T.Buffer((2, 6, 2, 4), "float32"), Y: T.Buffer((2, 2, 6, 4), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(2, 2, 6, 4):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi2, vi1, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi2, vi1, vi3]



# from tvm.script import tir as T

@T.prim_func
def Transpose(X: T.Buffer((2, 2, 6, 4), "float32"), Y: T.Buffer((2, 2, 4, 6), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(2, 2, 4, 6):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi3, vi2])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi3, vi2]



# from tvm.script import tir as T

@T.prim_func
def MatMul_Mul_Where(A: T.Buffer((2, 2, 6, 4), "float32"), B: T.Buffer((2, 2, 4, 6), "float32"), condition: T.Buffer((6, 6), "bool"), Y: T.Buffer((2, 2, 6, 6), "float32")):
    T.func_attr({"layout_free_buffers": [2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((2, 2, 6, 6), "float32")
    for i0, i1, i2, i3, k in T.grid(2, 2, 6, 6, 4):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vk = T.axis.remap("SSSSR", [i0, i1, i2, i3, k])
            T.reads(A[vi0, vi1, vi2, vk], B[vi0, vi1, vk, vi3])
            T.writes(Y_sum[vi0, vi1, vi2, vi3])
            with T.init():
                Y_sum[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + A[vi0, vi1, vi2, vk] * B[vi0, vi1, vk, vi3]
    for i0, i1, i2, i3 in T.grid(2, 2, 6, 6):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(condition[vi2, vi3], Y_sum[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = T.Select(condition[vi2, vi3], Y_sum[vi0, vi1, vi2, vi3] * T.float32(0.5), T.float32(-1e+09))



# from tvm.script import tir as T

@T.prim_func
def Softmax(X: T.Buffer((2, 2, 6, 6), "float32"), Y: T.Buffer((2, 2, 6, 6), "float32")):
    # with T.block("root"):
    peak = T.alloc_buffer((2, 2, 6), "float32")
    e = T.alloc_buffer((2, 2, 6, 6), "float32")
    total = T.alloc_buffer((2, 2, 6), "float32")
    for i0, i1, i2, j in T.grid(2, 2, 6, 6):
        with T.block("peak"):
            vi0, vi1, vi2, vj = T.axis.remap("SSSR", [i0, i1, i2, j])
            T.reads(X[vi0, vi1, vi2, vj])
            T.writes(peak[vi0, vi1, vi2])
            with T.init():
                peak[vi0, vi1, vi2] = T.float32("-inf")
            peak[vi0, vi1, vi2] = T.max(peak[vi0, vi1, vi2], X[vi0, vi1, vi2, vj])
    for i0, i1, i2, j in T.grid(2, 2, 6, 6):
        with T.block("e"):
            vi0, vi1, vi2, vj = T.axis.remap("SSSS", [i0, i1, i2, j])
            T.reads(X[vi0, vi1, vi2, vj], peak[vi0, vi1, vi2])
            T.writes(e[vi0, vi1, vi2, vj])
            e[vi0, vi1, vi2, vj] = T.exp(X[vi0, vi1, vi2, vj] - peak[vi0, vi1, vi2])
    for i0, i1, i2, j in T.grid(2, 2, 6, 6):
        with T.block("total"):
            vi0, vi1, vi2, vj = T.axis.remap("SSSR", [i0, i1, i2, j])
            T.reads(e[vi0, vi1, vi2, vj])
            T.writes(total[vi0, vi1, vi2])
            with T.init():
                total[vi0, vi1, vi2] = T.float32(0.0)
            total[vi0, vi1, vi2] = total[vi0, vi1, vi2] + e[vi0, vi1, vi2, vj]
    for i0, i1, i2, i3 in T.grid(2, 2, 6, 6):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(e[vi0, vi1, vi2, vi3], total[vi0, vi1, vi2])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = e[vi0, vi1, vi2, vi3] / total[vi0, vi1, vi2]



# from tvm.script import tir as T

@T.prim_func
def MatMul(A: T.Buffer((2, 2, 6, 6), "float32"), B: T.Buffer((2, 2, 6, 4), "float32"), Y: T.Buffer((2, 2, 6, 4), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3, k in T.grid(2, 2, 6, 4, 6):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vk = T.axis.remap("SSSSR", [i0, i1, i2, i3, k])
            T.reads(A[vi0, vi1, vi2, vk], B[vi0, vi1, vk, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            with T.init():
                Y[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y[vi0, vi1, vi2, vi3] = Y[vi0, vi1, vi2, vi3] + A[vi0, vi1, vi2, vk] * B[vi0, vi1, vk, vi3]



# from tvm.script import tir as T

@T.prim_func
def Transpose(X: T.Buffer((2, 2, 6, 4), "float32"), Y: T.Buffer((2, 6, 2, 4), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(2, 6, 2, 4):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi2, vi1, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi2, vi1, vi3]



# from tvm.script import tir as T

@T.prim_func
def Add(A: T.Buffer((2, 6, 8), "float32"), B: T.Buffer((2, 6, 8), "float32"), Y: T.Buffer((2, 6, 8), "float32")):
    # with T.block("root"):
    for i0, i1, i2 in T.grid(2, 6, 8):
        with T.block("Y"):
            vi0, vi1, vi2 = T.axis.remap("SSS", [i0, i1, i2])
            T.reads(A[vi0, vi1, vi2], B[vi0, vi1, vi2])
            T.writes(Y[vi0, vi1, vi2])
            Y[vi0, vi1, vi2] = A[vi0, vi1, vi2] + B[vi0, vi1, vi2]



# from tvm.script import tir as T

@T.prim_func
def Mul(A: T.Buffer((2, 6, 8), "float32"), Y: T.Buffer((2, 6, 8), "float32")):
    # with T.block("root"):
    for i0, i1, i2 in T.grid(2, 6, 8):
        with T.block("Y"):
            vi0, vi1, vi2 = T.axis.remap("SSS", [i0, i1, i2])
            T.reads(A[vi0, vi1, vi2])
            T.writes(Y[vi0, vi1, vi2])
            Y[vi0, vi1, vi2] = A[vi0, vi1, vi2] * T.float32(0.5)



# from tvm.script import tir as T

@T.prim_func
def Div_Erf_Add_Mul(A: T.Buffer((2, 6, 8), "float32"), A2: T.Buffer((2, 6, 8), "float32"), Y: T.Buffer((2, 6, 8), "float32")):
    # with T.block("root"):
    for i0, i1, i2 in T.grid(2, 6, 8):
        with T.block("Y"):
            vi0, vi1, vi2 = T.axis.remap("SSS", [i0, i1, i2])
            T.reads(A2[vi0, vi1, vi2], A[vi0, vi1, vi2])
            T.writes(Y[vi0, vi1, vi2])
            Y[vi0, vi1, vi2] = A2[vi0, vi1, vi2] * (T.erf(A[vi0, vi1, vi2] / T.float32(1.4142135)) + T.float32(1.0))



# from tvm.script import tir as T

@T.prim_func
def ReduceMean_Tanh(X: T.Buffer((2, 6, 8), "float32"), Y: T.Buffer((2, 8), "float32")):
    # with T.block("root"):
    Y_sum = T.alloc_buffer((2, 8), "float32")
    for i0, i1, r1 in T.grid(2, 8, 6):
        with T.block("Y"):
            vi0, vi1, vr1 = T.axis.remap("SSR", [i0, i1, r1])
            T.reads(X[vi0, vr1, vi1])
            T.writes(Y_sum[vi0, vi1])
            with T.init():
                Y_sum[vi0, vi1] = T.float32(0.0)
            Y_sum[vi0, vi1] = Y_sum[vi0, vi1] + X[vi0, vr1, vi1]
    for i0, i1 in T.grid(2, 8):
        with T.block("Y_epilogue"):
            vi0, vi1 = T.axis.remap("SS", [i0, i1])
            T.reads(Y_sum[vi0, vi1])
            T.writes(Y[vi0, vi1])
            Y[vi0, vi1] = T.tanh(Y_sum[vi0, vi1] / T.float32(6.0))



# from tvm.script import tir as T

@T.prim_func
def Slice(X: T.Buffer((2, 6, 8), "float32"), Y: T.Buffer((2, 3, 8), "float32")):
    # with T.block("root"):
    for i0, i1, i2 in T.grid(2, 3, 8):
        with T.block("Y"):
            vi0, vi1, vi2 = T.axis.remap("SSS", [i0, i1, i2])
            T.reads(X[vi0, vi1 * -2 + 5, vi2])
            T.writes(Y[vi0, vi1, vi2])
            Y[vi0, vi1, vi2] = X[vi0, vi1 * -2 + 5, vi2]



# from tvm.script import tir as T

@T.prim_func
def Pad(X: T.Buffer((2, 3, 8), "float32"), Y: T.Buffer((2, 4, 10), "float32")):
    # with T.block("root"):
    X_pad = T.alloc_buffer((2, 4, 10), "float32")
    for i0, i1, i2 in T.grid(2, 4, 10):
        with T.block("X_pad"):
            vi0, vi1, vi2 = T.axis.remap("SSS", [i0, i1, i2])
            T.reads(X[vi0, vi1 + -1, vi2])
            T.writes(X_pad[vi0, vi1, vi2])
            X_pad[vi0, vi1, vi2] = T.if_then_else(vi1 + -1 >= 0 and vi1 + -1 < 3 and vi2 >= 0 and vi2 < 8, X[vi0, vi1 + -1, vi2], T.float32(0.0))
    for i0, i1, i2 in T.grid(2, 4, 10):
        with T.block("Y"):
            vi0, vi1, vi2 = T.axis.remap("SSS", [i0, i1, i2])
            T.reads(X_pad[vi0, vi1 - 1 - -1, vi2])
            T.writes(Y[vi0, vi1, vi2])
            Y[vi0, vi1, vi2] = T.Select(vi1 - 1 >= 0 and vi1 - 1 < 3 and vi2 >= 0 and vi2 < 8, X_pad[vi0, vi1 - 1 - -1, vi2], T.float32(1.5))



# from tvm.script import tir as T

@T.prim_func
def ArgMax(X: T.Buffer((2, 4, 10), "float32"), Y: T.Buffer((2, 10), "int64")):
    # with T.block("root"):
    Y_argmax = T.alloc_buffer((2, 10), "int32")
    Y_argmax_value = T.alloc_buffer((2, 10), "float32")
    for i0, i1, r in T.grid(2, 10, 4):
        with T.block("Y"):
            vi0, vi1, vr = T.axis.remap("SSR", [i0, i1, r])
            T.reads(X[vi0, vr, vi1])
            T.writes(Y_argmax[vi0, vi1], Y_argmax_value[vi0, vi1])
            with T.init():
                Y_argmax[vi0, vi1] = -1
                Y_argmax_value[vi0, vi1] = T.float32("-inf")
            v_Y_argmax: T.int32 = T.Select(Y_argmax_value[vi0, vi1] > X[vi0, vr, vi1] or Y_argmax_value[vi0, vi1] == X[vi0, vr, vi1] and Y_argmax[vi0, vi1] < vr, Y_argmax[vi0, vi1], vr)
            v_Y_argmax_value: T.float32 = T.Select(Y_argmax_value[vi0, vi1] > X[vi0, vr, vi1], Y_argmax_value[vi0, vi1], X[vi0, vr, vi1])
            Y_argmax[vi0, vi1] = v_Y_argmax
            Y_argmax_value[vi0, vi1] = v_Y_argmax_value
    for i0, i1 in T.grid(2, 10):
        with T.block("Y_epilogue"):
            vi0, vi1 = T.axis.remap("SS", [i0, i1])
            T.reads(Y_argmax[vi0, vi1])
            T.writes(Y[vi0, vi1])
            Y[vi0, vi1] = T.Cast("int64", T.max(Y_argmax[vi0, vi1], 0))



# from tvm.script import tir as T

@T.prim_func
def Transpose(X: T.Buffer((1, 3, 13, 11), "float32"), Y: T.Buffer((1, 13, 11, 3), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 13, 11, 3):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi3, vi1, vi2])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi3, vi1, vi2]



# from tvm.script import tir as T

@T.prim_func
def Conv_Clip(X: T.Buffer((1, 7, 6, 8), "float32"), F: T.Buffer((3, 3, 1, 8), "float32"), bias: T.Buffer((8,), "float32"), Y: T.Buffer((1, 7, 6, 8), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 7, 6, 8), "float32")
    X_pad = T.alloc_buffer((1, 9, 8, 8), "float32")
    for i0, i1, i2, i3 in T.grid(1, 9, 8, 8):
        with T.block("X_pad"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1 + -1, vi2 + -1, vi3])
            T.writes(X_pad[vi0, vi1, vi2, vi3])
            X_pad[vi0, vi1, vi2, vi3] = T.if_then_else(vi1 + -1 >= 0 and vi1 + -1 < 7 and vi2 + -1 >= 0 and vi2 + -1 < 6, X[vi0, vi1 + -1, vi2 + -1, vi3], T.float32(0.0))
    for i0, i1, i2, i3, r, s in T.grid(1, 7, 6, 8, 3, 3):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr, vs = T.axis.remap("SSSSRR", [i0, i1, i2, i3, r, s])
            T.reads(X_pad[vi0, vi1 + vr - 1 - -1, vi2 + vs - 1 - -1, vi3], F[vr, vs, 0, vi3])
            T.writes(Y_sum[vi0, vi1, vi2, vi3])
            with T.init():
                Y_sum[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + X_pad[vi0, vi1 + vr - 1 - -1, vi2 + vs - 1 - -1, vi3] * F[vr, vs, 0, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 6, 8):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(Y_sum[vi0, vi1, vi2, vi3], bias[vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = T.min(T.max(Y_sum[vi0, vi1, vi2, vi3] + bias[vi3], T.float32(0.0)), T.float32(0.5))



# from tvm.script import tir as T

@T.prim_func
def MaxPool(X: T.Buffer((1, 7, 6, 8), "float32"), Y: T.Buffer((1, 7, 6, 8), "float32")):
    # with T.block("root"):
    X_pad = T.alloc_buffer((1, 9, 8, 8), "float32")
    for i0, i1, i2, i3 in T.grid(1, 9, 8, 8):
        with T.block("X_pad"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, T.min(T.max(vi1 + -1, 0), 6), T.min(T.max(vi2 + -1, 0), 5), vi3])
            T.writes(X_pad[vi0, vi1, vi2, vi3])
            X_pad[vi0, vi1, vi2, vi3] = X[vi0, T.min(T.max(vi1 + -1, 0), 6), T.min(T.max(vi2 + -1, 0), 5), vi3]
    for i0, i1, i2, i3, r0, r1 in T.grid(1, 7, 6, 8, 3, 3):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr0, vr1 = T.axis.remap("SSSSRR", [i0, i1, i2, i3, r0, r1])
            T.reads(X_pad[vi0, vi1 + vr0 - 1 - -1, vi2 + vr1 - 1 - -1, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            with T.init():
                Y[vi0, vi1, vi2, vi3] = T.float32("-inf")
            Y[vi0, vi1, vi2, vi3] = T.max(Y[vi0, vi1, vi2, vi3], X_pad[vi0, vi1 + vr0 - 1 - -1, vi2 + vr1 - 1 - -1, vi3])



# from tvm.script import tir as T

@T.prim_func
def AveragePool(X: T.Buffer((1, 7, 6, 8), "float32"), Y: T.Buffer((1, 7, 6, 8), "float32")):
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 7, 6, 8), "float32")
    X_pad = T.alloc_buffer((1, 9, 8, 8), "float32")
    for i0, i1, i2, i3 in T.grid(1, 9, 8, 8):
        with T.block("X_pad"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1 + -1, vi2 + -1, vi3])
            T.writes(X_pad[vi0, vi1, vi2, vi3])
            X_pad[vi0, vi1, vi2, vi3] = T.if_then_else(vi1 + -1 >= 0 and vi1 + -1 < 7 and vi2 + -1 >= 0 and vi2 + -1 < 6, X[vi0, vi1 + -1, vi2 + -1, vi3], T.float32(0.0))
    for i0, i1, i2, i3, r0, r1 in T.grid(1, 7, 6, 8, 3, 3):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr0, vr1 = T.axis.remap("SSSSRR", [i0, i1, i2, i3, r0, r1])
            T.reads(X_pad[vi0, vi1 + vr0 - 1 - -1, vi2 + vr1 - 1 - -1, vi3])
            T.writes(Y_sum[vi0, vi1, vi2, vi3])
            with T.init():
                Y_sum[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + X_pad[vi0, vi1 + vr0 - 1 - -1, vi2 + vr1 - 1 - -1, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 6, 8):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(Y_sum[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] / T.Cast("float32", (T.min(vi1 - 1 + 3, 7) - T.max(vi1 - 1, 0)) * (T.min(vi2 - 1 + 3, 6) - T.max(vi2 - 1, 0)))



# from tvm.script import tir as T

@T.prim_func
def Conv(X: T.Buffer((1, 7, 6, 8), "float32"), F: T.Buffer((1, 1, 8, 4), "float32"), bias: T.Buffer((4,), "float32"), Y: T.Buffer((1, 7, 6, 4), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 7, 6, 4), "float32")
    for i0, i1, i2, i3, r, s, c in T.grid(1, 7, 6, 4, 1, 1, 8):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr, vs, vc = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, r, s, c])
            T.reads(X[vi0, vi1 + vr, vi2 + vs, vc], F[vr, vs, vc, vi3])
            T.writes(Y_sum[vi0, vi1, vi2, vi3])
            with T.init():
                Y_sum[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + X[vi0, vi1 + vr, vi2 + vs, vc] * F[vr, vs, vc, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 6, 4):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(Y_sum[vi0, vi1, vi2, vi3], bias[vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + bias[vi3]



# from tvm.script import tir as T

@T.prim_func
def Concat(X: T.Buffer((1, 7, 6, 8), "float32"), X2: T.Buffer((1, 7, 6, 8), "float32"), X3: T.Buffer((1, 7, 6, 4), "float32"), Y: T.Buffer((1, 7, 6, 20), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 7, 6, 8):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 6, 8):
        with T.block("Y_1"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X2[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 8])
            Y[vi0, vi1, vi2, vi3 + 8] = X2[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 6, 4):
        with T.block("Y_2"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X3[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 16])
            Y[vi0, vi1, vi2, vi3 + 16] = X3[vi0, vi1, vi2, vi3]



# from tvm.script import tir as T

@T.prim_func
def MaxPool(X: T.Buffer((1, 7, 6, 20), "float32"), Y: T.Buffer((1, 3, 3, 20), "float32")):
    # with T.block("root"):
    X_pad = T.alloc_buffer((1, 7, 7, 20), "float32")
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 20):
        with T.block("X_pad"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, T.min(T.max(vi2, 0), 5), vi3])
            T.writes(X_pad[vi0, vi1, vi2, vi3])
            X_pad[vi0, vi1, vi2, vi3] = X[vi0, vi1, T.min(T.max(vi2, 0), 5), vi3]
    for i0, i1, i2, i3, r0, r1 in T.grid(1, 3, 3, 20, 3, 3):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr0, vr1 = T.axis.remap("SSSSRR", [i0, i1, i2, i3, r0, r1])
            T.reads(X_pad[vi0, vi1 * 2 + vr0, vi2 * 2 + vr1, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            with T.init():
                Y[vi0, vi1, vi2, vi3] = T.float32("-inf")
            Y[vi0, vi1, vi2, vi3] = T.max(Y[vi0, vi1, vi2, vi3], X_pad[vi0, vi1 * 2 + vr0, vi2 * 2 + vr1, vi3])



# from tvm.script import tir as T

@T.prim_func
def LRN(X: T.Buffer((1, 3, 3, 20), "float32"), Y: T.Buffer((1, 3, 3, 20), "float32")):
    # with T.block("root"):
    square = T.alloc_buffer((1, 3, 3, 20), "float32")
    X_pad = T.alloc_buffer((1, 3, 3, 22), "float32")
    for i0, i1, i2, i3 in T.grid(1, 3, 3, 22):
        with T.block("X_pad"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3 + -1])
            T.writes(X_pad[vi0, vi1, vi2, vi3])
            X_pad[vi0, vi1, vi2, vi3] = T.if_then_else(vi3 + -1 >= 0 and vi3 + -1 < 20, X[vi0, vi1, vi2, vi3 + -1], T.float32(0.0))
    for i0, i1, i2, i3, r in T.grid(1, 3, 3, 20, 3):
        with T.block("square"):
            vi0, vi1, vi2, vi3, vr = T.axis.remap("SSSSR", [i0, i1, i2, i3, r])
            T.reads(X_pad[vi0, vi1, vi2, vi3 + vr - 1 - -1])
            T.writes(square[vi0, vi1, vi2, vi3])
            with T.init():
                square[vi0, vi1, vi2, vi3] = T.float32(0.0)
            square[vi0, vi1, vi2, vi3] = square[vi0, vi1, vi2, vi3] + X_pad[vi0, vi1, vi2, vi3 + vr - 1 - -1] * X_pad[vi0, vi1, vi2, vi3 + vr - 1 - -1]
    for i0, i1, i2, i3 in T.grid(1, 3, 3, 20):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3], square[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi2, vi3] / T.pow(T.float32(1.0) + T.float32(3.3333334e-05) * square[vi0, vi1, vi2, vi3], T.float32(0.75))



# from tvm.script import tir as T

@T.prim_func
def GlobalAveragePool(X: T.Buffer((1, 3, 3, 20), "float32"), Y: T.Buffer((1, 1, 1, 20), "float32")):
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 20), "float32")
    for i0, i3, r0, r1 in T.grid(1, 20, 3, 3):
        with T.block("Y"):
            vi0, vi3, vr0, vr1 = T.axis.remap("SSRR", [i0, i3, r0, r1])
            T.reads(X[vi0, vr0, vr1, vi3])
            T.writes(Y_sum[vi0, vi3])
            with T.init():
                Y_sum[vi0, vi3] = T.float32(0.0)
            Y_sum[vi0, vi3] = Y_sum[vi0, vi3] + X[vi0, vr0, vr1, vi3]
    for i0, i1, i2, i3 in T.grid(1, 1, 1, 20):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(Y_sum[vi0, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi3] / T.float32(9.0)



# from tvm.script import tir as T

@T.prim_func
def Gemm(A: T.Buffer((1, 20), "float32"), B: T.Buffer((5, 20), "float32"), C: T.Buffer((5,), "float32"), Y: T.Buffer((1, 5), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 5), "float32")
    for i0, i1, k in T.grid(1, 5, 20):
        with T.block("Y"):
            vi0, vi1, vk = T.axis.remap("SSR", [i0, i1, k])
            T.reads(A[vi0, vk], B[vi1, vk])
            T.writes(Y_sum[vi0, vi1])
            with T.init():
                Y_sum[vi0, vi1] = T.float32(0.0)
            Y_sum[vi0, vi1] = Y_sum[vi0, vi1] + A[vi0, vk] * B[vi1, vk]
    for i0, i1 in T.grid(1, 5):
        with T.block("Y_epilogue"):
            vi0, vi1 = T.axis.remap("SS", [i0, i1])
            T.reads(Y_sum[vi0, vi1], C[vi1])
            T.writes(Y[vi0, vi1])
            Y[vi0, vi1] = Y_sum[vi0, vi1] + C[vi1]



# from tvm.script import tir as T

@T.prim_func
def Softmax(X: T.Buffer((1, 5), "float32"), Y: T.Buffer((1, 5), "float32")):
    # with T.block("root"):
    peak = T.alloc_buffer((1,), "float32")
    e = T.alloc_buffer((1, 5), "float32")
    total = T.alloc_buffer((1,), "float32")
    for i0, j in T.grid(1, 5):
        with T.block("peak"):
            vi0, vj = T.axis.remap("SR", [i0, j])
            T.reads(X[vi0, vj])
            T.writes(peak[vi0])
            with T.init():
                peak[vi0] = T.float32("-inf")
            peak[vi0] = T.max(peak[vi0], X[vi0, vj])
    for i0, j in T.grid(1, 5):
        with T.block("e"):
            vi0, vj = T.axis.remap("SS", [i0, j])
            T.reads(X[vi0, vj], peak[vi0])
            T.writes(e[vi0, vj])
            e[vi0, vj] = T.exp(X[vi0, vj] - peak[vi0])
    for i0, j in T.grid(1, 5):
        with T.block("total"):
            vi0, vj = T.axis.remap("SR", [i0, j])
            T.reads(e[vi0, vj])
            T.writes(total[vi0])
            with T.init():
                total[vi0] = T.float32(0.0)
            total[vi0] = total[vi0] + e[vi0, vj]
    for i0, i1 in T.grid(1, 5):
        with T.block("Y"):
            vi0, vi1 = T.axis.remap("SS", [i0, i1])
            T.reads(e[vi0, vi1], total[vi0])
            T.writes(Y[vi0, vi1])
            Y[vi0, vi1] = e[vi0, vi1] / total[vi0]



# from tvm.script import tir as T

@T.prim_func
def Transpose(X: T.Buffer((1, 3, 19, 19), "float32"), Y: T.Buffer((1, 19, 19, 3), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 19, 19, 3):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi3, vi1, vi2])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi3, vi1, vi2]



# from tvm.script import tir as T

@T.prim_func
def Conv(X: T.Buffer((1, 7, 7, 7), "float32"), F: T.Buffer((1, 1, 7, 7), "float32"), bias: T.Buffer((7,), "float32"), Y: T.Buffer((1, 7, 7, 7), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 7, 7, 7), "float32")
    for i0, i1, i2, i3, r, s, c in T.grid(1, 7, 7, 7, 1, 1, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr, vs, vc = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, r, s, c])
            T.reads(X[vi0, vi1 + vr, vi2 + vs, vc], F[vr, vs, vc, vi3])
            T.writes(Y_sum[vi0, vi1, vi2, vi3])
            with T.init():
                Y_sum[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + X[vi0, vi1 + vr, vi2 + vs, vc] * F[vr, vs, vc, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(Y_sum[vi0, vi1, vi2, vi3], bias[vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + bias[vi3]



# from tvm.script import tir as T

@T.prim_func
def Conv_Clip(X: T.Buffer((1, 7, 7, 7), "float32"), F: T.Buffer((1, 1, 7, 7), "float32"), bias: T.Buffer((7,), "float32"), Y: T.Buffer((1, 7, 7, 7), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 7, 7, 7), "float32")
    for i0, i1, i2, i3, r, s, c in T.grid(1, 7, 7, 7, 1, 1, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr, vs, vc = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, r, s, c])
            T.reads(X[vi0, vi1 + vr, vi2 + vs, vc], F[vr, vs, vc, vi3])
            T.writes(Y_sum[vi0, vi1, vi2, vi3])
            with T.init():
                Y_sum[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + X[vi0, vi1 + vr, vi2 + vs, vc] * F[vr, vs, vc, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(Y_sum[vi0, vi1, vi2, vi3], bias[vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = T.min(T.max(Y_sum[vi0, vi1, vi2, vi3] + bias[vi3], T.float32(0.0)), T.float32(6.0))



# from tvm.script import tir as T

@T.prim_func
def Conv_Add(X: T.Buffer((1, 7, 7, 7), "float32"), F: T.Buffer((1, 1, 7, 7), "float32"), bias: T.Buffer((7,), "float32"), A: T.Buffer((1, 7, 7, 7), "float32"), Y: T.Buffer((1, 7, 7, 7), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 7, 7, 7), "float32")
    for i0, i1, i2, i3, r, s, c in T.grid(1, 7, 7, 7, 1, 1, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr, vs, vc = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, r, s, c])
            T.reads(X[vi0, vi1 + vr, vi2 + vs, vc], F[vr, vs, vc, vi3])
            T.writes(Y_sum[vi0, vi1, vi2, vi3])
            with T.init():
                Y_sum[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + X[vi0, vi1 + vr, vi2 + vs, vc] * F[vr, vs, vc, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(A[vi0, vi1, vi2, vi3], Y_sum[vi0, vi1, vi2, vi3], bias[vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = A[vi0, vi1, vi2, vi3] + (Y_sum[vi0, vi1, vi2, vi3] + bias[vi3])



# from tvm.script import tir as T

@T.prim_func
def GlobalAveragePool(X: T.Buffer((1, 7, 7, 19), "float32"), Y: T.Buffer((1, 1, 1, 19), "float32")):
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 19), "float32")
    for i0, i3, r0, r1 in T.grid(1, 19, 7, 7):
        with T.block("Y"):
            vi0, vi3, vr0, vr1 = T.axis.remap("SSRR", [i0, i3, r0, r1])
            T.reads(X[vi0, vr0, vr1, vi3])
            T.writes(Y_sum[vi0, vi3])
            with T.init():
                Y_sum[vi0, vi3] = T.float32(0.0)
            Y_sum[vi0, vi3] = Y_sum[vi0, vi3] + X[vi0, vr0, vr1, vi3]
    for i0, i1, i2, i3 in T.grid(1, 1, 1, 19):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(Y_sum[vi0, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi3] / T.float32(49.0)



# from tvm.script import tir as T

@T.prim_func
def Gemm(A: T.Buffer((1, 19), "float32"), B: T.Buffer((19, 19), "float32"), C: T.Buffer((19,), "float32"), Y: T.Buffer((1, 19), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 19), "float32")
    for i0, i1, k in T.grid(1, 19, 19):
        with T.block("Y"):
            vi0, vi1, vk = T.axis.remap("SSR", [i0, i1, k])
            T.reads(A[vi0, vk], B[vi1, vk])
            T.writes(Y_sum[vi0, vi1])
            with T.init():
                Y_sum[vi0, vi1] = T.float32(0.0)
            Y_sum[vi0, vi1] = Y_sum[vi0, vi1] + A[vi0, vk] * B[vi1, vk]
    for i0, i1 in T.grid(1, 19):
        with T.block("Y_epilogue"):
            vi0, vi1 = T.axis.remap("SS", [i0, i1])
            T.reads(Y_sum[vi0, vi1], C[vi1])
            T.writes(Y[vi0, vi1])
            Y[vi0, vi1] = Y_sum[vi0, vi1] + C[vi1]



# from tvm.script import tir as T

@T.prim_func
def Conv_Relu(X: T.Buffer((1, 7, 7, 7), "float32"), F: T.Buffer((1, 1, 7, 7), "float32"), bias: T.Buffer((7,), "float32"), Y: T.Buffer((1, 7, 7, 7), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 7, 7, 7), "float32")
    for i0, i1, i2, i3, r, s, c in T.grid(1, 7, 7, 7, 1, 1, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr, vs, vc = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, r, s, c])
            T.reads(X[vi0, vi1 + vr, vi2 + vs, vc], F[vr, vs, vc, vi3])
            T.writes(Y_sum[vi0, vi1, vi2, vi3])
            with T.init():
                Y_sum[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + X[vi0, vi1 + vr, vi2 + vs, vc] * F[vr, vs, vc, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(Y_sum[vi0, vi1, vi2, vi3], bias[vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = T.max(Y_sum[vi0, vi1, vi2, vi3] + bias[vi3], T.float32(0.0))



# from tvm.script import tir as T

@T.prim_func
def Concat(X: T.Buffer((1, 7, 7, 7), "float32"), X2: T.Buffer((1, 7, 7, 7), "float32"), X3: T.Buffer((1, 7, 7, 7), "float32"), X4: T.Buffer((1, 7, 7, 7), "float32"), Y: T.Buffer((1, 7, 7, 231), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_1"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X2[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 64])
            Y[vi0, vi1, vi2, vi3 + 64] = X2[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_2"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X3[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 192])
            Y[vi0, vi1, vi2, vi3 + 192] = X3[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_3"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X4[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 224])
            Y[vi0, vi1, vi2, vi3 + 224] = X4[vi0, vi1, vi2, vi3]



# from tvm.script import tir as T

@T.prim_func
def Concat(X: T.Buffer((1, 7, 7, 7), "float32"), X2: T.Buffer((1, 7, 7, 7), "float32"), X3: T.Buffer((1, 7, 7, 7), "float32"), X4: T.Buffer((1, 7, 7, 7), "float32"), Y: T.Buffer((1, 7, 7, 423), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_1"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X2[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 128])
            Y[vi0, vi1, vi2, vi3 + 128] = X2[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_2"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X3[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 320])
            Y[vi0, vi1, vi2, vi3 + 320] = X3[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_3"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X4[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 416])
            Y[vi0, vi1, vi2, vi3 + 416] = X4[vi0, vi1, vi2, vi3]



# from tvm.script import tir as T

@T.prim_func
def Concat(X: T.Buffer((1, 7, 7, 7), "float32"), X2: T.Buffer((1, 7, 7, 7), "float32"), X3: T.Buffer((1, 7, 7, 7), "float32"), X4: T.Buffer((1, 7, 7, 7), "float32"), Y: T.Buffer((1, 7, 7, 455), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_1"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X2[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 192])
            Y[vi0, vi1, vi2, vi3 + 192] = X2[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_2"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X3[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 400])
            Y[vi0, vi1, vi2, vi3 + 400] = X3[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_3"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X4[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 448])
            Y[vi0, vi1, vi2, vi3 + 448] = X4[vi0, vi1, vi2, vi3]



# from tvm.script import tir as T

@T.prim_func
def Concat(X: T.Buffer((1, 7, 7, 7), "float32"), X2: T.Buffer((1, 7, 7, 7), "float32"), X3: T.Buffer((1, 7, 7, 7), "float32"), X4: T.Buffer((1, 7, 7, 7), "float32"), Y: T.Buffer((1, 7, 7, 455), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_1"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X2[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 160])
            Y[vi0, vi1, vi2, vi3 + 160] = X2[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_2"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X3[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 384])
            Y[vi0, vi1, vi2, vi3 + 384] = X3[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_3"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X4[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 448])
            Y[vi0, vi1, vi2, vi3 + 448] = X4[vi0, vi1, vi2, vi3]



# from tvm.script import tir as T

@T.prim_func
def Concat(X: T.Buffer((1, 7, 7, 7), "float32"), X2: T.Buffer((1, 7, 7, 7), "float32"), X3: T.Buffer((1, 7, 7, 7), "float32"), X4: T.Buffer((1, 7, 7, 7), "float32"), Y: T.Buffer((1, 7, 7, 455), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_1"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X2[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 128])
            Y[vi0, vi1, vi2, vi3 + 128] = X2[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_2"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X3[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 384])
            Y[vi0, vi1, vi2, vi3 + 384] = X3[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_3"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X4[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 448])
            Y[vi0, vi1, vi2, vi3 + 448] = X4[vi0, vi1, vi2, vi3]



# from tvm.script import tir as T

@T.prim_func
def Concat(X: T.Buffer((1, 7, 7, 7), "float32"), X2: T.Buffer((1, 7, 7, 7), "float32"), X3: T.Buffer((1, 7, 7, 7), "float32"), X4: T.Buffer((1, 7, 7, 7), "float32"), Y: T.Buffer((1, 7, 7, 471), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_1"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X2[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 112])
            Y[vi0, vi1, vi2, vi3 + 112] = X2[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_2"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X3[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 400])
            Y[vi0, vi1, vi2, vi3 + 400] = X3[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_3"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X4[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 464])
            Y[vi0, vi1, vi2, vi3 + 464] = X4[vi0, vi1, vi2, vi3]



# from tvm.script import tir as T

@T.prim_func
def Concat(X: T.Buffer((1, 7, 7, 7), "float32"), X2: T.Buffer((1, 7, 7, 7), "float32"), X3: T.Buffer((1, 7, 7, 7), "float32"), X4: T.Buffer((1, 7, 7, 7), "float32"), Y: T.Buffer((1, 7, 7, 711), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_1"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X2[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 256])
            Y[vi0, vi1, vi2, vi3 + 256] = X2[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_2"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X3[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 576])
            Y[vi0, vi1, vi2, vi3 + 576] = X3[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_3"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X4[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 704])
            Y[vi0, vi1, vi2, vi3 + 704] = X4[vi0, vi1, vi2, vi3]



# from tvm.script import tir as T

@T.prim_func
def MaxPool(X: T.Buffer((1, 14, 14, 19), "float32"), Y: T.Buffer((1, 7, 7, 19), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3, r0, r1 in T.grid(1, 7, 7, 19, 2, 2):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr0, vr1 = T.axis.remap("SSSSRR", [i0, i1, i2, i3, r0, r1])
            T.reads(X[vi0, vi1 * 2 + vr0, vi2 * 2 + vr1, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            with T.init():
                Y[vi0, vi1, vi2, vi3] = T.float32("-inf")
            Y[vi0, vi1, vi2, vi3] = T.max(Y[vi0, vi1, vi2, vi3], X[vi0, vi1 * 2 + vr0, vi2 * 2 + vr1, vi3])



# from tvm.script import tir as T

@T.prim_func
def Concat(X: T.Buffer((1, 7, 7, 19), "float32"), X2: T.Buffer((1, 7, 7, 19), "float32"), X3: T.Buffer((1, 7, 7, 19), "float32"), X4: T.Buffer((1, 7, 7, 19), "float32"), Y: T.Buffer((1, 7, 7, 723), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 19):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 19):
        with T.block("Y_1"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X2[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 256])
            Y[vi0, vi1, vi2, vi3 + 256] = X2[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 19):
        with T.block("Y_2"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X3[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 576])
            Y[vi0, vi1, vi2, vi3 + 576] = X3[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 19):
        with T.block("Y_3"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X4[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 704])
            Y[vi0, vi1, vi2, vi3 + 704] = X4[vi0, vi1, vi2, vi3]



# from tvm.script import tir as T

@T.prim_func
def Concat(X: T.Buffer((1, 7, 7, 19), "float32"), X2: T.Buffer((1, 7, 7, 19), "float32"), X3: T.Buffer((1, 7, 7, 19), "float32"), X4: T.Buffer((1, 7, 7, 19), "float32"), Y: T.Buffer((1, 7, 7, 915), "float32")):
    # with T.block("root"):
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 19):
        with T.block("Y"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = X[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 19):
        with T.block("Y_1"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X2[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 384])
            Y[vi0, vi1, vi2, vi3 + 384] = X2[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 19):
        with T.block("Y_2"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X3[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 768])
            Y[vi0, vi1, vi2, vi3 + 768] = X3[vi0, vi1, vi2, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 19):
        with T.block("Y_3"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(X4[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3 + 896])
            Y[vi0, vi1, vi2, vi3 + 896] = X4[vi0, vi1, vi2, vi3]



# from tvm.script import tir as T

@T.prim_func
def Conv_Add_Relu(X: T.Buffer((1, 7, 7, 7), "float32"), F: T.Buffer((1, 1, 7, 7), "float32"), bias: T.Buffer((7,), "float32"), A: T.Buffer((1, 7, 7, 7), "float32"), Y: T.Buffer((1, 7, 7, 7), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 7, 7, 7), "float32")
    for i0, i1, i2, i3, r, s, c in T.grid(1, 7, 7, 7, 1, 1, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr, vs, vc = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, r, s, c])
            T.reads(X[vi0, vi1 + vr, vi2 + vs, vc], F[vr, vs, vc, vi3])
            T.writes(Y_sum[vi0, vi1, vi2, vi3])
            with T.init():
                Y_sum[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + X[vi0, vi1 + vr, vi2 + vs, vc] * F[vr, vs, vc, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(A[vi0, vi1, vi2, vi3], Y_sum[vi0, vi1, vi2, vi3], bias[vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = T.max(A[vi0, vi1, vi2, vi3] + (Y_sum[vi0, vi1, vi2, vi3] + bias[vi3]), T.float32(0.0))



# from tvm.script import tir as T

@T.prim_func
def Conv_Add_Relu(X: T.Buffer((1, 7, 7, 7), "float32"), F: T.Buffer((1, 1, 7, 7), "float32"), bias: T.Buffer((7,), "float32"), B: T.Buffer((1, 7, 7, 7), "float32"), Y: T.Buffer((1, 7, 7, 7), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 7, 7, 7), "float32")
    for i0, i1, i2, i3, r, s, c in T.grid(1, 7, 7, 7, 1, 1, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr, vs, vc = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, r, s, c])
            T.reads(X[vi0, vi1 + vr, vi2 + vs, vc], F[vr, vs, vc, vi3])
            T.writes(Y_sum[vi0, vi1, vi2, vi3])
            with T.init():
                Y_sum[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + X[vi0, vi1 + vr, vi2 + vs, vc] * F[vr, vs, vc, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(Y_sum[vi0, vi1, vi2, vi3], bias[vi3], B[vi0, vi1, vi2, vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = T.max(Y_sum[vi0, vi1, vi2, vi3] + bias[vi3] + B[vi0, vi1, vi2, vi3], T.float32(0.0))



# from tvm.script import tir as T

@T.prim_func
def Conv_Add_Relu(X: T.Buffer((1, 13, 13, 7), "float32"), F: T.Buffer((1, 1, 7, 7), "float32"), bias: T.Buffer((7,), "float32"), A: T.Buffer((1, 7, 7, 7), "float32"), Y: T.Buffer((1, 7, 7, 7), "float32")):
    T.func_attr({"layout_free_buffers": [1, 2]})
    # with T.block("root"):
    Y_sum = T.alloc_buffer((1, 7, 7, 7), "float32")
    for i0, i1, i2, i3, r, s, c in T.grid(1, 7, 7, 7, 1, 1, 7):
        with T.block("Y"):
            vi0, vi1, vi2, vi3, vr, vs, vc = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, r, s, c])
            T.reads(X[vi0, vi1 * 2 + vr, vi2 * 2 + vs, vc], F[vr, vs, vc, vi3])
            T.writes(Y_sum[vi0, vi1, vi2, vi3])
            with T.init():
                Y_sum[vi0, vi1, vi2, vi3] = T.float32(0.0)
            Y_sum[vi0, vi1, vi2, vi3] = Y_sum[vi0, vi1, vi2, vi3] + X[vi0, vi1 * 2 + vr, vi2 * 2 + vs, vc] * F[vr, vs, vc, vi3]
    for i0, i1, i2, i3 in T.grid(1, 7, 7, 7):
        with T.block("Y_epilogue"):
            vi0, vi1, vi2, vi3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            T.reads(A[vi0, vi1, vi2, vi3], Y_sum[vi0, vi1, vi2, vi3], bias[vi3])
            T.writes(Y[vi0, vi1, vi2, vi3])
            Y[vi0, vi1, vi2, vi3] = T.max(A[vi0, vi1, vi2, vi3] + (Y_sum[vi0, vi1, vi2, vi3] + bias[vi3]), T.float32(0.0))
