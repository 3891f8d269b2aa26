// The program's floating point around the library's own: traps, rounding, flags and the x87's registers are as they
// were, whatever was computed in between. Prints no figure of ours.
#include "libmpiprof/base/arithmetic.h"

#include <fenv.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <string>

namespace mpiprof {
namespace {

// Volatile, so that the processor computes it.
double third_of(double value) {
    volatile double divisor = 3;
    return value / divisor;
}

class Arithmetic : public testing::Test {
  protected:
    void SetUp() override { fegetenv(&before_); }
    void TearDown() override { fesetenv(&before_); }

  private:
    fenv_t before_;
};

TEST_F(Arithmetic, sets_no_flag_of_the_programs) {
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_UNDERFLOW);

    with_own_arithmetic([] {
        volatile double zero = 0;
        return third_of(1) + 1 / zero;
    });

    EXPECT_EQ(fetestexcept(FE_ALL_EXCEPT), FE_UNDERFLOW);
}

TEST_F(Arithmetic, sees_no_flag_of_the_programs) {
    feraiseexcept(FE_DIVBYZERO);

    EXPECT_EQ(with_own_arithmetic([] { return fetestexcept(FE_ALL_EXCEPT); }), 0);
}

#if defined(__x86_64__)
TEST_F(Arithmetic, does_not_set_off_the_programs_traps) {
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);

    const double third = with_own_arithmetic([] { return third_of(1); });

    EXPECT_EQ(fegetexcept(), FE_ALL_EXCEPT);
    fedisableexcept(FE_ALL_EXCEPT);
    EXPECT_EQ(fetestexcept(FE_ALL_EXCEPT), 0);
    EXPECT_NEAR(third, 1.0 / 3, 1e-15);
}

TEST_F(Arithmetic, leaves_the_older_unit_as_it_was) {
    const std::uint16_t single_precision = 0x007f;
    std::uint16_t after = 0, status = 0;
    asm volatile("fldcw %0" : : "m"(single_precision));

    with_own_arithmetic([] {
        volatile long double three = 3;
        return static_cast<double>(1 / three);
    });

    asm volatile("fnstcw %0\n\tfnstsw %1" : "=m"(after), "=m"(status));
    EXPECT_EQ(after, single_precision);
    EXPECT_EQ(status & 0x3f, 0);
}
#endif

TEST_F(Arithmetic, rounds_as_always_whatever_the_program_chose) {
    const auto text = [] {
        char digits[32];
        snprintf(digits, sizeof digits, "%.3f %.17g", third_of(2), third_of(1));
        return std::string(digits);
    };
    const std::string usual = text();

    fesetround(FE_UPWARD);

    EXPECT_EQ(with_own_arithmetic(text), usual);
    EXPECT_EQ(fegetround(), FE_UPWARD);
    EXPECT_NE(text(), usual) << "the program's own";
}

}  // namespace
}  // namespace mpiprof
