// In one place: six files of the reporter name things by it.
#include "report/model/base_name.h"

namespace mpiprof::report {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace mpiprof::report
