// By raw system calls that only ask: readlink of /proc/self/fd, getsockopt(TCP_INFO) and the two names of a connection.
// What is not TCP answers with an error, and that is all that happens to it.
#include "libmpiprof/host/network_use.h"

#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <iterator>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/format/network.h"

namespace mpiprof {
namespace {

constexpr std::uint64_t millisecond = 1'000'000, second = 1'000 * millisecond;
constexpr std::uint64_t first_look = 2 * second, longest_pause = 600 * second;
constexpr std::uint64_t most_time = 5 * millisecond;  // of each half of a look
constexpr int tcp_level = 6, established = 1;

// ---- addresses ----

struct Address {
    std::uint64_t key;     // of address and port; the same at both ends of a connection
    std::uint32_t four;    // of IPv4, or of that in IPv6, as it is sent; else 0
    bool is_of_this_host;  // loopback
};

Address address_of(const sockaddr_in6& any) {
    Address address{};
    std::uint64_t half[2] = {};
    if (any.sin6_family == AF_INET) {
        memcpy(&address.four, &reinterpret_cast<const sockaddr_in&>(any).sin_addr, sizeof address.four);
    } else {
        memcpy(half, &any.sin6_addr, sizeof half);
        constexpr unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
        if (memcmp(&any.sin6_addr, mapped, sizeof mapped) == 0) {
            memcpy(&address.four, any.sin6_addr.s6_addr + sizeof mapped, sizeof address.four);
            half[0] = half[1] = 0;
        }
    }
    unsigned char first = 0;
    memcpy(&first, &address.four, 1);
    address.is_of_this_host = first == 127 || (address.four == 0 && half[0] == 0);  // ::1
    const std::uint64_t all[] = {half[0], half[1], address.four, any.sin6_port};
    for (const std::uint64_t part : all) address.key = mix(address.key ^ (address.key >> 29) ^ part);
    return address;
}

// The same number at both ends.
std::uint64_t connection_of(std::uint64_t one, std::uint64_t other) {
    const std::uint64_t low = one < other ? one : other, high = one < other ? other : one;
    const std::uint64_t key = mix(low ^ (high >> 31) ^ mix(high));
    return key ^ (key >> 32);
}

// The addresses that interfaces of this host have, asked once a look, through a socket of the program's.
struct Interfaces {
    ifreq all[32];
    unsigned count = 0;
    bool is_asked = false;

    const char* name_of(std::uint32_t four) const {
        for (unsigned i = 0; i < count; ++i)
            if (four != 0 && memcmp(all[i].ifr_addr.sa_data + 2, &four, sizeof four) == 0) return all[i].ifr_name;
        return nullptr;
    }
    void ask(long fd) {
        if (is_asked) return;
        is_asked = true;
        ifconf list{};
        list.ifc_len = sizeof all;
        list.ifc_req = all;
        if (raw(SYS_ioctl, fd, SIOCGIFCONF, raw_address(&list)) == 0)
            count = static_cast<unsigned>(list.ifc_len) / sizeof *all;
    }
};

// ---- what one look finds ----

struct Look {
    format::NetworkUse use;
    Interfaces interfaces;

    void keep_interface(const char* name) {
        for (auto& kept : use.interfaces) {
            if (strncmp(kept, name, sizeof kept) == 0) return;
            if (!kept[0]) return copy(kept, name);
        }
    }
    // Of many those whose numbers are the smallest: both ends keep the same ones.
    void keep_connection(std::uint64_t connection) {
        for (auto& kept : use.ends) {
            if (kept != 0 && kept <= connection) continue;
            const std::uint64_t larger = kept;
            kept = connection;
            connection = larger;
            if (connection == 0) return;
        }
    }
    void add_socket(long fd);
    void add_device(const char* path);
};

bool name_at(long call, long fd, sockaddr_in6& name) {
    socklen_t length = sizeof name;
    name = {};
    return raw(call, fd, raw_address(&name), raw_address(&length)) == 0 &&
           (name.sin6_family == AF_INET || name.sin6_family == AF_INET6);
}

void Look::add_socket(long fd) {
    tcp_info info{};
    socklen_t length = sizeof info;
    sockaddr_in6 here, there;
    if (raw(SYS_getsockopt, fd, tcp_level, TCP_INFO, raw_address(&info), raw_address(&length)) != 0 ||
        info.tcpi_state != established || !name_at(SYS_getsockname, fd, here) || !name_at(SYS_getpeername, fd, there))
        return;
    const Address own = address_of(here), other = address_of(there);
    if (other.is_of_this_host || own.is_of_this_host) return;
    interfaces.ask(fd);
    if (interfaces.name_of(other.four)) return;
    use.connections += 1;
    use.bytes += info.tcpi_bytes_acked;
    use.segments += info.tcpi_data_segs_out;
    use.retransmitted += info.tcpi_total_retrans;
    if (const char* name = interfaces.name_of(own.four)) keep_interface(name);
    keep_connection(connection_of(own.key, other.key));
}

// Device files: a bit for each number, or one for all that has no numbers.
struct Device {
    char path[24];
    std::uint32_t format::NetworkUse::*numbers;
};
constexpr Device devices[] = {{"/dev/infiniband/uverbs", &format::NetworkUse::verbs},
                              {"/dev/cxi", &format::NetworkUse::cxi},
                              {"/dev/hfi1_", &format::NetworkUse::hfi1}};
constexpr char helpers[] = "/dev/knem\0/dev/xpmem\0";  // bits of NetworkUse::shared_memory, in this order

void Look::add_device(const char* path) {
    for (const Device& device : devices) {
        const std::size_t length = length_of(device.path);
        unsigned number = 0;
        if (strncmp(path, device.path, length) == 0 && read_number(path + length, number) != path + length)
            use.*device.numbers |= 1u << (number < 31 ? number : 31);
    }
    std::uint32_t bit = 1;
    any_of(helpers, [&](const char* name) {
        if (strcmp(path, name) == 0) use.shared_memory |= bit;
        bit <<= 1;
        return false;
    });
}

void look_at_descriptors(Look& look) {
    const std::uint64_t until = nanoseconds(CLOCK_MONOTONIC) + most_time;
    each_entry("/proc/self/fd", [&](const char* name) {
        unsigned fd = 0;
        char path[48] = "/proc/self/fd/", target[64];
        if (read_number(name, fd) == name || nanoseconds(CLOCK_MONOTONIC) > until) return;
        append(path, name);
        link_text(path, target, sizeof target);
        if (strncmp(target, "socket:", 7) == 0)
            look.add_socket(static_cast<long>(fd));
        else if (strncmp(target, "/dev/", 5) == 0)
            look.add_device(target);
    });
}

std::uint64_t mapped_libraries(const char* root) {
    std::uint64_t found = 0;
    char path[128];
    copy(path, root);
    append(path, "/proc/self/maps");
    const std::uint64_t until = nanoseconds(CLOCK_MONOTONIC) + most_time;
    each_line_of(path, [&](const char* line) {
        const char* const slash = strrchr(line, '/');
        if (!slash || (slash[1] != 'l' && slash[1] != 'm')) return nanoseconds(CLOCK_MONOTONIC) < until;
        std::uint64_t bit = 1;
        for (const auto& library : format::network_libraries) {
            if (strncmp(slash + 1, library, length_of(library)) == 0) found |= bit;
            bit <<= 1;
        }
        return true;
    });
    return found;
}

}  // namespace

void NetworkUse::open(Image& image, const char* root) {
    root_ = root;
    record_ = rows_.next(image);
    if (record_) rows_.publish();
}

void NetworkUse::start(const Measured& of) {
    if (!record_) open(of.image);
    next_ns_ = nanoseconds(CLOCK_MONOTONIC) + first_look;
}

void NetworkUse::refresh(const Measured& of) {
    const std::uint64_t now = nanoseconds(CLOCK_MONOTONIC);
    if (now < next_ns_) return;
    look();
    const std::uint64_t half = (now - of.header().started.monotonic_ns) / 2;
    next_ns_ = now + (half < first_look ? first_look : half > longest_pause ? longest_pause : half);
}

void NetworkUse::look() {
    if (!record_ || !lock_.try_lock()) return;
    Look look{};
    look_at_descriptors(look);
    format::NetworkUse& kept = *record_;
    const format::NetworkUse& now = look.use;
    kept.libraries |= mapped_libraries(root_);
    for (const Device& device : devices) kept.*device.numbers |= now.*device.numbers;
    kept.shared_memory |= now.shared_memory;
    // Connections that were closed take their figures along: the look that saw most counts, as a whole.
    if (now.connections != 0 && now.bytes >= kept.bytes) {
        kept.connections = now.connections;
        kept.bytes = now.bytes;
        kept.segments = now.segments;
        kept.retransmitted = now.retransmitted;
        memcpy(kept.interfaces, now.interfaces, sizeof kept.interfaces);
        memcpy(kept.ends, now.ends, sizeof kept.ends);
    }
    kept.looks += 1;
    lock_.unlock();
}

}  // namespace mpiprof
