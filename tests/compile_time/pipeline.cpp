// A pipeline of 32 stages; compiling it is the test.
#include <tilewright/expr/reify.hpp>

using namespace tilewright;

constexpr auto pipeline = kernel<"pipeline">(
    [](in<"X", float, "M", "N"> X, in<"w", float, "N"> w, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j;
      temp<"t0", float, "M", "N"> t0;
      temp<"t1", float, "M", "N"> t1;
      temp<"t2", float, "M", "N"> t2;
      temp<"t3", float, "M", "N"> t3;
      temp<"t4", float, "M", "N"> t4;
      temp<"t5", float, "M", "N"> t5;
      temp<"t6", float, "M", "N"> t6;
      temp<"t7", float, "M", "N"> t7;
      temp<"t8", float, "M", "N"> t8;
      temp<"t9", float, "M", "N"> t9;
      temp<"t10", float, "M", "N"> t10;
      temp<"t11", float, "M", "N"> t11;
      temp<"t12", float, "M", "N"> t12;
      temp<"t13", float, "M", "N"> t13;
      temp<"t14", float, "M", "N"> t14;
      temp<"t15", float, "M", "N"> t15;
      temp<"t16", float, "M", "N"> t16;
      temp<"t17", float, "M", "N"> t17;
      temp<"t18", float, "M", "N"> t18;
      temp<"t19", float, "M", "N"> t19;
      temp<"t20", float, "M", "N"> t20;
      temp<"t21", float, "M", "N"> t21;
      temp<"t22", float, "M", "N"> t22;
      temp<"t23", float, "M", "N"> t23;
      temp<"t24", float, "M", "N"> t24;
      temp<"t25", float, "M", "N"> t25;
      temp<"t26", float, "M", "N"> t26;
      temp<"t27", float, "M", "N"> t27;
      temp<"t28", float, "M", "N"> t28;
      temp<"t29", float, "M", "N"> t29;
      temp<"t30", float, "M", "N"> t30;
      return blocks(t0(i, j) = max(X(i, j) * w(j) + 0.0f, 0.0f),
                    t1(i, j) = zero_outside(t0)(i, j - 1) + zero_outside(t0)(i, j + 1),
                    t2(i, j) = exp(t1(i, j)) / (1.0f + exp(t1(i, j))),
                    t3(i, j) = select(t2(i, j) > 0.5f, t2(i, j), X(i, j)),
                    t4(i, j) = max(t3(i, j) * w(j) + 4.0f, 0.0f),
                    t5(i, j) = zero_outside(t4)(i, j - 1) + zero_outside(t4)(i, j + 1),
                    t6(i, j) = exp(t5(i, j)) / (1.0f + exp(t5(i, j))),
                    t7(i, j) = select(t6(i, j) > 0.5f, t6(i, j), X(i, j)),
                    t8(i, j) = max(t7(i, j) * w(j) + 8.0f, 0.0f),
                    t9(i, j) = zero_outside(t8)(i, j - 1) + zero_outside(t8)(i, j + 1),
                    t10(i, j) = exp(t9(i, j)) / (1.0f + exp(t9(i, j))),
                    t11(i, j) = select(t10(i, j) > 0.5f, t10(i, j), X(i, j)),
                    t12(i, j) = max(t11(i, j) * w(j) + 12.0f, 0.0f),
                    t13(i, j) = zero_outside(t12)(i, j - 1) + zero_outside(t12)(i, j + 1),
                    t14(i, j) = exp(t13(i, j)) / (1.0f + exp(t13(i, j))),
                    t15(i, j) = select(t14(i, j) > 0.5f, t14(i, j), X(i, j)),
                    t16(i, j) = max(t15(i, j) * w(j) + 16.0f, 0.0f),
                    t17(i, j) = zero_outside(t16)(i, j - 1) + zero_outside(t16)(i, j + 1),
                    t18(i, j) = exp(t17(i, j)) / (1.0f + exp(t17(i, j))),
                    t19(i, j) = select(t18(i, j) > 0.5f, t18(i, j), X(i, j)),
                    t20(i, j) = max(t19(i, j) * w(j) + 20.0f, 0.0f),
                    t21(i, j) = zero_outside(t20)(i, j - 1) + zero_outside(t20)(i, j + 1),
                    t22(i, j) = exp(t21(i, j)) / (1.0f + exp(t21(i, j))),
                    t23(i, j) = select(t22(i, j) > 0.5f, t22(i, j), X(i, j)),
                    t24(i, j) = max(t23(i, j) * w(j) + 24.0f, 0.0f),
                    t25(i, j) = zero_outside(t24)(i, j - 1) + zero_outside(t24)(i, j + 1),
                    t26(i, j) = exp(t25(i, j)) / (1.0f + exp(t25(i, j))),
                    t27(i, j) = select(t26(i, j) > 0.5f, t26(i, j), X(i, j)),
                    t28(i, j) = max(t27(i, j) * w(j) + 28.0f, 0.0f),
                    t29(i, j) = zero_outside(t28)(i, j - 1) + zero_outside(t28)(i, j + 1),
                    t30(i, j) = exp(t29(i, j)) / (1.0f + exp(t29(i, j))),
                    Y(i, j) = select(t30(i, j) > 0.5f, t30(i, j), X(i, j)));
    });

ir::function build() { return reify(pipeline, {{"M", 64}, {"N", 64}}); }
