// Locks are asked for once: who holds one claims the same range at this moment, and the rank goes on without it.
#include "libmpiprof/process/node_range.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "libmpiprof/base/raw.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/process/settings.h"

#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37
#endif

namespace mpiprof {
namespace {

namespace node = format::node_file;

template <class Record>
bool write_at(int fd, const Record& record, std::uint64_t offset) {
    return raw(SYS_pwrite64, fd, raw_address(&record), sizeof record, static_cast<long>(offset)) == sizeof record;
}

// False: nobody has written there, or it cannot be read. A short read leaves zeros.
template <class Record>
bool read_at(int fd, Record& record, std::uint64_t offset) {
    record = {};
    return raw(SYS_pread64, fd, raw_address(&record), sizeof record, static_cast<long>(offset)) >= 0;
}

int lock(int fd, short type, std::uint32_t range) {
    struct flock bytes {};
    bytes.l_type = type;
    bytes.l_whence = SEEK_SET;
    bytes.l_start = static_cast<off_t>(node::claim_offset(range));
    bytes.l_len = sizeof(node::Claim);
    return -static_cast<int>(raw(SYS_fcntl, fd, F_OFD_SETLK, raw_address(&bytes)));
}

// In a directory of several users somebody else may have made it, or a link.
bool is_own_file(const struct stat& found) {
    return S_ISREG(found.st_mode) && found.st_nlink == 1 && found.st_uid == static_cast<uid_t>(raw(SYS_geteuid));
}

// All ranks of the node write the same bytes, so two may do it at once.
bool has_own_head(int fd, std::uint64_t key, bool is_empty) {
    node::Header head{};
    memcpy(head.first_line, node::first_line, sizeof node::first_line);
    head.byte_order = format::byte_order_mark;
    head.format_major = node::format_major;
    head.format_minor = node::format_minor;
    head.header_size = sizeof head;
    head.key = key;
    if (is_empty) return write_at(fd, head, 0);
    node::Header found;
    return read_at(fd, found, 0) && memcmp(&found, &head, sizeof head) == 0;
}

bool take_claim(int fd, std::uint32_t range, const format::Header& who, std::uint64_t key) {
    node::Claim claim;
    if (!read_at(fd, claim, node::claim_offset(range)) || claim.pid != 0 || claim.launch != 0) return false;
    claim.process_start_ns = who.process_start_ns;
    claim.launch = key;
    claim.pid = who.pid;
    claim.rank = who.rank;
    return write_at(fd, claim, node::claim_offset(range));
}

}  // namespace

std::uint32_t range_for(const format::Header& who) {
    if (strcmp(value_of(Setting::files), "node") != 0 || who.size == 1 || who.local_rank >= node::ranges)
        return no_range;
    return file_may_have(node::place_of(who.local_rank).end_of(format::segment_bytes)) ? who.local_rank : no_range;
}

std::uint64_t node_key(const format::Header& who) { return hash_of(who.node, hash_of(who.launch)); }

bool claim_range(int fd, std::uint32_t range, const format::Header& who, FileIdentity& identity) {
    struct stat found;
    errno = EEXIST;
    if (raw(SYS_newfstatat, fd, raw_address(""), raw_address(&found), AT_EMPTY_PATH) != 0 || !is_own_file(found))
        return false;
    identity = {found.st_dev, found.st_ino};
    if (lock(fd, F_WRLCK, range) != 0) return false;
    const std::uint64_t key = node_key(who);
    const bool is_ours = has_own_head(fd, key, found.st_size == 0) && take_claim(fd, range, who, key);
    lock(fd, F_UNLCK, range);
    return is_ours;
}

void give_back_range(int fd, std::uint32_t range) {
    constexpr int punch_hole = 3;  // FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
    const format::Place place = node::place_of(range);
    const char nothing[4096] = {};  // where no hole can be punched, the image has no head at least
    struct stat found;
    node::Claim claim;
    if (raw(SYS_newfstatat, fd, raw_address(""), raw_address(&found), AT_EMPTY_PATH) != 0) return;
    write_at(fd, nothing, place.begin);
    for (std::uint64_t at = place.begin; at < static_cast<std::uint64_t>(found.st_size); at += place.step)
        if (raw(SYS_fallocate, fd, punch_hole, static_cast<long>(at), format::segment_bytes) != 0) break;
    if (!read_at(fd, claim, node::claim_offset(range))) return;
    claim.flags |= node::is_elsewhere;
    write_at(fd, claim, node::claim_offset(range));
}

}  // namespace mpiprof
