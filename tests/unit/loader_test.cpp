// Which object of the process an address lies in, as base/loader.h finds it.
#include "libmpiprof/base/loader.h"

#include <gtest/gtest.h>
#include <link.h>

#include <cstdlib>
#include <string>

namespace mpiprof {
namespace {

int in_the_program = 0;

struct Seen {
    bool is_found = false;
    std::string path;
    Word begin = 0, end = 0;
};

Seen look_at(const void* address) {
    Seen seen;
    seen.is_found = with_object_at(address, [&](const dl_phdr_info& object, Word begin, Word end) {
        seen.path = object.dlpi_name;
        seen.begin = begin;
        seen.end = end;
    });
    return seen;
}

TEST(loader, an_address_of_the_program_lies_in_the_object_without_a_name) {
    const Seen seen = look_at(&in_the_program);
    EXPECT_TRUE(seen.is_found);
    EXPECT_EQ(seen.path, "");
}

TEST(loader, a_function_of_libc_lies_in_libc) {
    const auto* address = reinterpret_cast<const void*>(loader().dlsym(RTLD_DEFAULT, "abs"));
    const Seen seen = look_at(address);
    EXPECT_NE(seen.path.find("libc.so"), std::string::npos) << seen.path;
    EXPECT_LE(seen.begin, reinterpret_cast<Word>(address));
    EXPECT_GT(seen.end, reinterpret_cast<Word>(address));
}

TEST(loader, a_stack_lies_in_no_object) {
    const int here = 0;
    EXPECT_FALSE(look_at(&here).is_found);
}

}  // namespace
}  // namespace mpiprof
