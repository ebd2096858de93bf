#include <tilewright/backend/inner_loop.hpp>

#include <doctest/doctest.h>

using namespace tilewright::backend;

namespace {

constexpr const char* product = R"(
	.text
main:
	xorl	%eax, %eax
.LBB0_1:                                # outer
	vpxor	%xmm0, %xmm0, %xmm0
.LBB0_2:
	vmovups	(%rsi,%rax), %zmm2
	vfmadd231ps	(%rdi){1to16}, %zmm2, %zmm0 # zmm0 = (zmm2 * mem) + zmm0
	vfmadd231ps	4(%rdi){1to16}, %zmm2, %zmm1
	vfmadd231ps	8(%rdi){1to16}, %zmm2, %zmm0
	addq	$64, %rax
	leaq	(%rdi,%rax), %rcx
	jne	.LBB0_2
	vmovups	%zmm0, (%rdx)
	jne	.LBB0_1
	retq
)";

}  // namespace

TEST_CASE("the inner loop of a product, its accumulators and what they wait for") {
  const inner_loop l = find_inner_loop(product);
  CHECK(l.instructions == 7);
  CHECK(l.multiply_adds == 3);
  CHECK(l.memory == 4);  // leaq computes an address
  CHECK(l.vector_loads == 4);
  CHECK(l.accumulators == 2);
  CHECK(l.chained_multiply_adds == 2);  // zmm0 takes two
  CHECK(l.chained_additions == 0);
  CHECK(l.operations == 3 * 32);
  CHECK(inner_loop_text(l).find("3 of 7 instructions are multiply-adds (43 %)") == 0);
  CHECK(inner_loop_text(l).find("2 accumulators\n.LBB0_2:\n") != std::string::npos);
}

TEST_CASE("sums are chains, Horner's scheme is none, and stores load nothing") {
  const inner_loop l = find_inner_loop(R"(
.LBB0_1:
	vaddpd	(%rsi,%rax,8), %ymm0, %ymm0
	vaddpd	%ymm1, %ymm0, %ymm1
	vbroadcastsd	(%rdi), %ymm5
	vfmadd213pd	%ymm3, %ymm4, %ymm5
	vmovupd	%ymm5, (%rdx,%rax,8)
	incq	%rax
	jne	.LBB0_1
)");
  CHECK(l.accumulators == 2);
  CHECK(l.chained_additions == 1);
  CHECK(l.chained_multiply_adds == 0);  // ymm5 begins anew each time
  CHECK(l.vector_loads == 2);
  CHECK(l.memory == 3);
  CHECK(l.operations == 4 + 4 + 8);
}

TEST_CASE("a register that is written otherwise hands nothing on, masked sums do") {
  const inner_loop l = find_inner_loop(R"(
.LBB0_1:
	vxorps	%xmm0, %xmm0, %xmm0
	vfmadd231ps	%zmm1, %zmm2, %zmm0
	vpdpbusd	(%rdi){1to16}, %zmm3, %zmm4
	vaddps	%zmm0, %zmm5, %zmm5 {%k1}
	vaddss	%xmm6, %xmm7, %xmm7
	jb	.LBB0_1
)");
  CHECK(l.multiply_adds == 2);
  CHECK(l.accumulators == 3);
  CHECK(l.chained_multiply_adds == 1);
  CHECK(l.operations == 32 + 16 * 8 + 16 + 1);
}

TEST_CASE("no loop, no counts") {
  const inner_loop l = find_inner_loop("main:\n\tvaddps\t%zmm0, %zmm1, %zmm2\n\tretq\n");
  CHECK(l.instructions == 0);
  CHECK(l.text.empty());
  CHECK(inner_loop_text(l) == "no loop: the code is straight\n");
}
