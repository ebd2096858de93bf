"""Products of a sparse matrix by SciPy or PyTorch, for bench_sparse: sparse_engine.py ENGINE FOLDER ROWS COLUMNS N THREADS.

FOLDER has offsets and indices (int32), values and b (float32) as plain files, and takes c. For the sampled product of
bench_sampled ("torch_sampled") x is there, too: rows of N numbers, as those of b. Each line that comes in asks
for one product, and gets the seconds that it took; "check" asks for one whose result is written to c."""
import sys
import time
import warnings

warnings.simplefilter("ignore")


def read(name, kind):
    import numpy
    return numpy.fromfile(f"{sys.argv[2]}/{name}", dtype=kind)


def scipy_product(offsets, indices, values, b, shape):
    import scipy.sparse
    a = scipy.sparse.csr_matrix((values, indices, offsets), shape=shape)
    return lambda: a @ b


def torch_product(offsets, indices, values, b, shape):
    import torch
    torch.set_num_threads(int(sys.argv[6]))
    a = torch.sparse_csr_tensor(torch.from_numpy(offsets), torch.from_numpy(indices), torch.from_numpy(values), shape)
    right = torch.from_numpy(b)
    return lambda: (a @ right).numpy()


def torch_sampled(offsets, indices, values, b, shape):
    import torch
    torch.set_num_threads(int(sys.argv[6]))
    own = torch.from_numpy(values)
    a = torch.sparse_csr_tensor(torch.from_numpy(offsets), torch.from_numpy(indices), own, shape)
    x = torch.from_numpy(read("x", "float32").reshape(shape[0], -1))
    right = torch.from_numpy(b.reshape(shape[1], -1)).t()
    return lambda: (torch.sparse.sampled_addmm(a, x, right, beta=0.0).values() * own).numpy()


def main():
    engine, folder = sys.argv[1:3]
    rows, columns, n = map(int, sys.argv[3:6])
    try:
        import numpy
        b = read("b", "float32")
        b = b.reshape(columns, n) if n > 1 else b
        make = {"scipy": scipy_product, "torch": torch_product, "torch_sampled": torch_sampled}[engine]
        product = make(read("offsets", "int32"), read("indices", "int32"), read("values", "float32"), b, (rows, columns))
        product()
    except ImportError as e:
        print("missing:", e, flush=True)
        return
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        c = product()
        seconds = time.perf_counter() - start
        if line.strip() == "check":
            numpy.ascontiguousarray(c, dtype="float32").tofile(f"{folder}/c")
        print(seconds, flush=True)


main()
