// What is measured of a process is a list: each is started, refreshed and ended with the others, in their order.
#include "libmpiprof/host/measurement.h"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace mpiprof;

std::string done;

template <char Name>
struct Made {
    void start(const Measured&) { done += std::string("start ") + Name + ' '; }
    void refresh(const Measured& of) {
        done += std::string("refresh ") + Name + ' ';
        of.header().usage.user_us += 1;
    }
    void end(const Measured&) { done += std::string("end ") + Name + ' '; }
};
struct Forgetful {
    void start(const Measured&) {}
    void end(const Measured&) {}
};
static_assert(Measurement<Made<'a'>>);
static_assert(!Measurement<Forgetful>, "one that is not refreshed is none");

TEST(measurements, all_of_a_list_are_taken_in_their_order) {
    Image image;
    ASSERT_TRUE(image.open_private());
    const Measured of{image, true, 1, 0};
    MeasurementList<Made<'a'>, Made<'b'>> list;
    done.clear();

    list.start(of);
    list.refresh(of);
    list.end(of);

    EXPECT_EQ(done, "start a start b refresh a refresh b end a end b ");
    EXPECT_EQ(image.header().usage.user_us, 2u) << "they write into the profile";
}

}  // namespace
