// Reserving, growing and publishing: the slow half of the image. Errors are answers (null, false), never signals.
#include "libmpiprof/record/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_DONTFORK
#define MADV_DONTFORK 10
#endif

namespace mpiprof {
namespace {

using namespace format;

constexpr std::size_t largest_image = std::size_t{64} << 20;
constexpr std::size_t smallest_image = std::size_t{1} << 20;
constexpr std::uint32_t directory_capacity = 96;
constexpr std::uint32_t string_bytes = 4096;

std::size_t aligned(std::size_t bytes) { return (bytes + 63) & ~std::size_t{63}; }

}  // namespace

bool file_may_have(std::uint64_t bytes) {
    rlimit64 limit{};
    return syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit) != 0 || limit.rlim_cur == RLIM64_INFINITY || bytes <= limit.rlim_cur;
}

bool identify(int fd, FileIdentity& identity) {
    struct stat s;  // fstat() is a newer symbol than the oldest glibc that we load on
    if (syscall(SYS_newfstatat, fd, "", &s, AT_EMPTY_PATH) != 0) return false;
    identity = {s.st_dev, s.st_ino};
    return true;
}

bool Image::reserve() {
    for (std::size_t bytes = largest_image; bytes >= smallest_image; bytes /= 4) {  // RLIMIT_AS may be small
        void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) continue;
        base_ = static_cast<char*>(p);
        reserved_ = bytes;
        return true;
    }
    return false;
}

// One more segment. In the mapped store the disk space is taken first; its absence is an answer here and would be
// SIGBUS at the first store later.
bool Image::grow() {
    if (full_ || committed_ + segment_bytes > reserved_) return false;
    void* where = base_ + committed_;
    void* p;
    if (fd_ >= 0) {
        int rc = -1;
        FileIdentity now{};
        if (identify(fd_, now) && now == file_ && file_may_have(committed_ + segment_bytes))
            do rc = static_cast<int>(syscall(SYS_fallocate, fd_, 0, committed_, std::size_t{segment_bytes}));
            while (rc != 0 && errno == EINTR);
        if (rc != 0) {
            full_ = true;
            return false;
        }
        p = mmap(where, segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_, static_cast<off_t>(committed_));
    } else {
        p = mmap(where, segment_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    if (p == MAP_FAILED) {
        full_ = true;
        return false;
    }
    madvise(p, segment_bytes, MADV_DONTFORK);  // a forked child owns nothing of its parent's
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
    return true;
}

bool Image::open_mapped(int fd) {
    if (!identify(fd, file_) || !reserve()) return false;
    fd_ = fd;
    if (grow() && format_header()) return true;
    munmap(base_, reserved_);
    base_ = nullptr;
    reserved_ = committed_ = used_ = 0;
    fd_ = -1;
    full_ = false;
    directory_ = nullptr;
    return false;
}

bool Image::open_private() {
    if (!reserve()) return false;
    if (grow() && format_header()) return true;
    munmap(base_, reserved_);
    base_ = nullptr;
    return false;
}

void* Image::take_locked(std::size_t bytes) {
    bytes = aligned(bytes);
    while (used_ + bytes > committed_)
        if (!grow()) return nullptr;
    void* p = base_ + used_;
    used_ += bytes;
    relaxed(header().image_bytes, used_);
    return p;
}

void* Image::take(std::size_t bytes) {
    const Guard guard(lock_);
    return take_locked(bytes);
}

Table* Image::add_table(TableType type, std::uint32_t record_size, std::uint32_t capacity, std::uint32_t thread) {
    const Guard guard(lock_);
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
    __atomic_store_n(&table->type, type, __ATOMIC_RELEASE);
    __atomic_store_n(&directory_->used, directory_->used + 1, __ATOMIC_RELEASE);
    return table;
}

void* Image::next_record(Table*& table, TableType type, std::uint32_t record_size, std::uint32_t capacity, std::uint32_t thread) {
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

int Image::write_to(int fd) const {
    if (!file_may_have(used_)) return EFBIG;
    std::size_t done = 0;
    while (done < used_) {
        const ssize_t n = pwrite(fd, base_ + done, used_ - done, static_cast<off_t>(done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return EIO;
        done += static_cast<std::size_t>(n);
    }
    return 0;
}

}  // namespace mpiprof
