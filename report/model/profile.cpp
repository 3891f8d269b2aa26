// What a Profile is made, moved and destroyed by.
#include "report/model/profile.h"

namespace mpiprof::report {

Profile::Profile() = default;
Profile::Profile(Profile&&) noexcept = default;
Profile& Profile::operator=(Profile&&) noexcept = default;
Profile::~Profile() = default;

}  // namespace mpiprof::report
