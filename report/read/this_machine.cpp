#include "report/read/this_machine.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace mpiprof::report {

bool is_this_machine(std::string_view node) {
    static const std::string boot = [] {
        std::ifstream file("/proc/sys/kernel/random/boot_id");
        std::string id;
        std::getline(file, id);
        return id;
    }();
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const auto slash = node.find('/');
    if (!boot.empty() && node.substr(0, slash) == boot) return true;
    return slash != std::string_view::npos && *host != '\0' && node.substr(slash + 1) == host;
}

}  // namespace mpiprof::report
