// Reserving, growing and publishing: the slow half of the image. Errors are answers (null, false), never signals.
#include "libmpiprof/record/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/raw.h"
#include "libmpiprof/base/text.h"

#ifndef MADV_DONTFORK
#define MADV_DONTFORK 10
#endif

namespace mpiprof {
namespace {

using namespace format;

constexpr std::size_t smallest_image = std::size_t{1} << 20;
constexpr std::uint32_t directory_capacity = 96;
constexpr std::uint32_t string_bytes = 4096;

std::size_t aligned(std::size_t bytes) { return (bytes + 63) & ~std::size_t{63}; }

static_assert(((sizeof(Header) + 63) & ~std::size_t{63}) + sizeof(Directory) + directory_capacity * sizeof(Table) <=
              Image::Written::head_bytes);

}  // namespace

bool file_may_have(std::uint64_t bytes) {
    rlimit64 limit{};
    return raw(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, raw_address(&limit)) != 0 || limit.rlim_cur == RLIM64_INFINITY ||
           bytes <= limit.rlim_cur;
}

// By number, not by name: fstat() and stat() are newer symbols than the oldest glibc that we load on.
static bool look_at(int fd, const char* path, int flags, struct stat& found) {
    return raw(SYS_newfstatat, fd, raw_address(path), raw_address(&found), flags) == 0;
}

bool identify(int fd, FileIdentity& identity) {
    struct stat s;
    if (!look_at(fd, "", AT_EMPTY_PATH, s)) return false;
    identity = {s.st_dev, s.st_ino};
    return true;
}

bool identify(const char* path, FileIdentity& identity) {
    struct stat s;
    if (!look_at(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, s)) return false;
    identity = {s.st_dev, s.st_ino};
    return true;
}

bool identify_through(const char* path, FileIdentity& identity) {
    struct stat s;
    if (!look_at(AT_FDCWD, path, 0, s)) return false;
    identity = {s.st_dev, s.st_ino};
    return true;
}

bool is_linked(int fd, const FileIdentity& identity) {
    struct stat s;
    return look_at(fd, "", AT_EMPTY_PATH, s) && FileIdentity{s.st_dev, s.st_ino} == identity && s.st_nlink != 0;
}

namespace {

// How much address space an image may have: where the user has set a limit to it (ulimit -v, as h_vmem and others do),
// it is the program's. Of what is left of it, the library takes a sixteenth in all.
std::size_t largest_here() {
    constexpr std::size_t taken_besides = std::size_t{10} << 20;  // our code, and the tables beside the image
    rlimit64 limit{};
    if (raw(SYS_prlimit64, 0, RLIMIT_AS, 0, raw_address(&limit)) != 0 || limit.rlim_cur == RLIM64_INFINITY)
        return largest_image;
    char text[128];
    std::uint64_t pages = 0;
    slurp("/proc/self/statm", text, sizeof text);
    const bool is_known = read_number(text, pages) != text;
    const std::uint64_t mapped =
        is_known ? pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : limit.rlim_cur / 2;
    const std::uint64_t share = limit.rlim_cur > mapped ? (limit.rlim_cur - mapped) / 16 : 0;
    if (share < taken_besides + smallest_image) return smallest_image;
    const std::uint64_t bytes = (share - taken_besides) & ~std::uint64_t{segment_bytes - 1};
    return bytes < largest_image ? bytes : largest_image;
}

}  // namespace

bool Image::reserve() {
    for (std::size_t bytes = largest_here(); bytes >= smallest_image;
         bytes = bytes > smallest_image && bytes < 4 * smallest_image ? smallest_image : bytes / 4) {
        void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) continue;
        base_ = static_cast<char*>(p);
        reserved_ = bytes;
        return true;
    }
    return false;
}

// One more segment of the file's own pages. The disk space is taken first: its absence is an answer here and would be
// SIGBUS at the first store later.
bool Image::grow_mapped(void* where) {
    FileIdentity now{};
    const std::uint64_t at = place_.of(committed_);
    if (!identify(fd_, now) || now != file_ || !file_may_have(at + segment_bytes)) return false;
    long rc;
    do rc = raw(SYS_fallocate, fd_, 0, static_cast<long>(at), segment_bytes);
    while (rc == -EINTR);
    if (rc != 0) return false;
    if (mmap(where, segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_, static_cast<off_t>(at)) ==
        MAP_FAILED)
        return false;
    mapped_ += segment_bytes;
    return true;
}

// One more segment. Where the disk of a mapping is full it goes on in private memory, to be written when there is room.
bool Image::grow() {
    if (full_ || committed_ + segment_bytes > reserved_ || committed_ + segment_bytes > most_) return false;
    void* where = base_ + committed_;
    if (fd_ >= 0 && !grow_mapped(where)) {
        if (mapped_ == 0) return false;
        fd_ = -1;
    }
    if (fd_ < 0 && mmap(where, segment_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                       MAP_FAILED) {
        full_ = true;
        return false;
    }
    if (fd_ >= 0 && used_ != 0) relaxed(header().mapped_bytes, mapped_);
    (void)raw(SYS_madvise, raw_address(where), static_cast<long>(segment_bytes),
              MADV_DONTFORK);  // a forked child owns nothing of its parent's
    committed_ += segment_bytes;
    return true;
}

bool Image::format_header() {
    used_ = aligned(sizeof(Header));
    directory_ = static_cast<Directory*>(take_locked(sizeof(Directory) + directory_capacity * sizeof(Table)));
    if (!directory_) return false;
    directory_->capacity = directory_capacity;
    Header& h = header();
    memcpy(h.first_line, first_line, sizeof first_line);
    h.byte_order = byte_order_mark;
    h.format_major = format_major;
    h.format_minor = format_minor;
    h.header_size = sizeof(Header);
    h.directory_offset = offset_of(directory_);
    h.state = State::running;
    h.mapped_bytes = mapped_;
    return true;
}

void Image::close() {
    munmap(base_, reserved_);
    base_ = nullptr;
    reserved_ = committed_ = used_ = mapped_ = 0;
    fd_ = -1;
    full_ = false;
    directory_ = nullptr;
}

bool Image::open_mapped(int fd, const Place& place) {
    if (!identify(fd, file_) || !reserve()) return false;
    fd_ = fd;
    place_ = place;
    if (grow() && format_header()) return true;
    close();
    return false;
}

bool Image::open_private() {
    if (!reserve()) return false;
    if (grow() && format_header()) return true;
    close();
    return false;
}

void* Image::take_locked(std::size_t bytes) {
    bytes = aligned(bytes);
    while (used_ + bytes > committed_)
        if (!grow()) return nullptr;
    void* p = base_ + used_;
    used_ += bytes;
    __atomic_store_n(&header().image_bytes, used_, __ATOMIC_RELEASE);  // after the mapping that it reaches into
    return p;
}

void* Image::take(std::size_t bytes) {
    const Guard guard(lock_);
    return take_locked(bytes);
}

constexpr int keep_size = 1, punch_hole = 2;  // FALLOC_FL_*

// Of the part of the file behind what is mapped: in one go, where it lies together.
bool Image::change_blocks(int mode, std::size_t end) {
    const std::size_t piece = place_.step == segment_bytes ? end - committed_ : segment_bytes;
    for (std::size_t at = committed_; at < end; at += piece) {
        long rc;
        do rc = raw(SYS_fallocate, fd_, mode, static_cast<long>(place_.of(at)), static_cast<long>(piece));
        while (rc == -EINTR);
        if (rc != 0) return false;
    }
    return true;
}

// Takes the disk's blocks up to there without making the file longer; what is not used is given back.
bool Image::reserve_on_disk(std::size_t end) {
    FileIdentity now{};
    if (!identify(fd_, now) || now != file_ || !file_may_have(place_.end_of(end))) return false;
    if (end <= committed_ || change_blocks(keep_size, end)) return true;
    give_back_on_disk(end);
    return false;
}

// A file that is ours alone ends here; of one that is not, what lies between others is taken out.
void Image::give_back_on_disk(std::size_t end) {
    if (place_.step == segment_bytes)
        raw(SYS_ftruncate, fd_, static_cast<long>(committed_));
    else
        change_blocks(keep_size | punch_hole, end);
}

Table* Image::add_large_table(TableType type, std::uint32_t record_size, std::uint32_t capacity, std::uint32_t thread) {
    constexpr std::size_t rest = std::size_t{1} << 20;  // for the profile itself
    const Guard guard(lock_);
    const std::size_t end = used_ + std::size_t{record_size} * capacity + rest;
    if (full_ || end > reserved_) return nullptr;
    // What a written store's disk holds is known when it is written.
    if (mapped_ == 0) return add_table_locked(type, record_size, capacity, thread);
    if (fd_ < 0 || !reserve_on_disk(end)) return nullptr;
    Table* table = add_table_locked(type, record_size, capacity, thread);
    if (fd_ >= 0) give_back_on_disk(end);
    return table;
}

Table* Image::add_table(TableType type, std::uint32_t record_size, std::uint32_t capacity, std::uint32_t thread) {
    const Guard guard(lock_);
    return add_table_locked(type, record_size, capacity, thread);
}

Table* Image::add_table_locked(TableType type, std::uint32_t record_size, std::uint32_t capacity,
                               std::uint32_t thread) {
    if (directory_->used == directory_->capacity) {
        auto* next = static_cast<Directory*>(take_locked(sizeof(Directory) + directory_capacity * sizeof(Table)));
        if (!next) return nullptr;
        next->capacity = directory_capacity;
        relaxed(directory_->next, offset_of(next));
        directory_ = next;
    }
    void* records = take_locked(std::size_t{record_size} * capacity);
    if (!records) return nullptr;
    auto* table = reinterpret_cast<Table*>(directory_ + 1) + directory_->used;
    table->record_size = record_size;
    table->offset = offset_of(records);
    table->capacity = capacity;
    table->thread = thread;
    __atomic_store(&table->type, &type, __ATOMIC_RELEASE);
    __atomic_store_n(&directory_->used, directory_->used + 1, __ATOMIC_RELEASE);
    return table;
}

void* Image::next_record(Table*& table, TableType type, std::uint32_t record_size, std::uint32_t capacity,
                         std::uint32_t thread) {
    if (!table || table->used == table->capacity) {
        Table* next = add_table(type, record_size, capacity, thread);
        if (!next) return nullptr;
        table = next;
    }
    return at(table->offset) + std::size_t{record_size} * table->used;
}

std::uint64_t Image::add_string(const char* text, std::size_t& length) {
    if (length > string_bytes) {
        length = string_bytes;
        count_drop(header().drops.strings);
    }
    if (!strings_ || strings_->capacity - strings_->used < length) {
        Table* next = add_table(TableType::strings, 1, string_bytes, 0);
        if (!next) {
            length = 0;
            count_drop(header().drops.strings);
            return 0;
        }
        strings_ = next;
    }
    const std::uint64_t offset = strings_->offset + strings_->used;
    memcpy(at(offset), text, length);
    __atomic_store_n(&strings_->used, strings_->used + static_cast<std::uint32_t>(length), __ATOMIC_RELEASE);
    return offset;
}

}  // namespace mpiprof
