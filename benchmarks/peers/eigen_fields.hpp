// Kernels of problems/fields as users of Eigen write them, on one thread. Each takes the addresses of
// its problem's arguments.
#pragma once

namespace bench::eigen {

void product(int m, int k, int n, void* const* a);
void small_products(int count, void* const* a);
void turn(int points, void* const* a);
void transform(int vectors, void* const* a);
void mix(int voices, int samples, void* const* a);
void payoff(int paths, void* const* a);
void covariance(int assets, int days, void* const* a);
void rms_norm(int tokens, int width, void* const* a);

}  // namespace bench::eigen
