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

int write_all(int fd, const char* from, std::size_t bytes, std::size_t offset) {
    while (bytes != 0) {
        const long n = raw(SYS_pwrite64, fd, raw_address(from), static_cast<long>(bytes), static_cast<long>(offset));
        if (n == -EINTR) continue;
        if (n < 0) return static_cast<int>(-n);
        if (n == 0) return EIO;
        from += n;
        offset += static_cast<std::size_t>(n);
        bytes -= static_cast<std::size_t>(n);
    }
    return 0;
}

// What a page looks like, in 64 bits: four lanes, so that the multiplications overlap. Never 0, which means "not
// written".
std::uint64_t look_of(const char* page, std::size_t bytes) {
    std::uint64_t lane[4] = {1, 2, 3, 4};
    for (std::size_t i = 0; i + 32 <= bytes; i += 32)
        for (std::size_t l = 0; l < 4; ++l) {
            const auto& word = *reinterpret_cast<const std::uint64_t*>(page + i + 8 * l);
            lane[l] = mix((lane[l] ^ relaxed(word)) + (lane[l] >> 29));
        }
    const std::uint64_t look = mix(lane[0] ^ mix(lane[1] ^ mix(lane[2] ^ mix(lane[3] ^ bytes))));
    return look != 0 ? look : 1;
}

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
    if (!identify(fd_, now) || now != file_ || !file_may_have(committed_ + segment_bytes)) return false;
    long rc;
    do rc = raw(SYS_fallocate, fd_, 0, static_cast<long>(committed_), segment_bytes);
    while (rc == -EINTR);
    if (rc != 0) return false;
    if (mmap(where, segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_,
             static_cast<off_t>(committed_)) == MAP_FAILED)
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

bool Image::open_mapped(int fd) {
    if (!identify(fd, file_) || !reserve()) return false;
    fd_ = fd;
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

// Takes the disk's blocks up to there without making the file longer; what is not used is given back by a truncation.
bool Image::reserve_on_disk(std::size_t end) {
    FileIdentity now{};
    if (!identify(fd_, now) || now != file_ || !file_may_have(end)) return false;
    if (end <= committed_) return true;
    constexpr int keep_size = 1;  // FALLOC_FL_KEEP_SIZE
    long rc;
    do rc = raw(SYS_fallocate, fd_, keep_size, static_cast<long>(committed_), static_cast<long>(end - committed_));
    while (rc == -EINTR);
    if (rc != 0) raw(SYS_ftruncate, fd_, static_cast<long>(committed_));
    return rc == 0;
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
    if (fd_ >= 0) raw(SYS_ftruncate, fd_, static_cast<long>(committed_));
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

int Image::write_to(int fd) const {
    const std::uint64_t size = bytes();
    return file_may_have(size) ? write_all(fd, base_, size, 0) : EFBIG;
}

// Before what it speaks of is: a table entry that is copied here counts records that are complete in the pages read
// later.
void Image::copy_directory(Written& written) const {
    constexpr std::uint64_t page_bytes = Written::page_bytes;
    if (mapped_ == 0) memcpy(written.head, base_, Written::head_bytes);
    written.block_count = 0;
    std::uint64_t at = relaxed(reinterpret_cast<const Directory*>(base_ + header().directory_offset)->next);
    while (at != 0 && written.block_count < Written::most_blocks) {
        const auto* directory = reinterpret_cast<const Directory*>(base_ + at);
        const std::uint64_t begin = at & ~(page_bytes - 1);
        const std::uint64_t last = at + sizeof(Directory) + directory->capacity * sizeof(Table) - 1;
        const std::uint64_t end = (last & ~(page_bytes - 1)) + page_bytes;
        if (begin >= mapped_) {
            Written::Block& block = written.blocks[written.block_count++];
            block.begin = begin;
            block.end = end;
            memcpy(block.pages, base_ + begin, end - begin);
        }
        at = relaxed(directory->next);
    }
}

// The head and the directory blocks are written from copies. One that was in hand while the writing was given up may
// have come after all of the image, and older than it: there it is written once more, as it is now.
int Image::write_part(int fd, const char* from, std::size_t at, std::size_t bytes, const Written& written) const {
    // The program may close our descriptor at any moment, and open a file of its own under the number.
    const auto is_still_ours = [&] {
        FileIdentity now{};
        return identify(fd, now) && now == written.file;
    };
    if (written.is_given_up() || !is_still_ours()) return ECANCELED;
    const int error = write_all(fd, from, bytes, at);
    if (!written.is_given_up()) return error;
    if (is_still_ours()) write_all(fd, base_ + at, bytes, at);
    return ECANCELED;
}

int Image::write_page(int fd, const char* page, std::size_t at, std::size_t bytes, Written& written) const {
    const std::uint64_t look = look_of(page, bytes);
    if (written.pages[at / Written::page_bytes] == look) return 0;
    const int error = write_part(fd, page, at, bytes, written);
    if (error == 0) written.pages[at / Written::page_bytes] = look;
    return error;
}

int Image::write_changes(int fd, Written& written) const {
    constexpr std::size_t page_bytes = Written::page_bytes;
    copy_directory(written);
    const std::uint64_t size = __atomic_load_n(&header().image_bytes, __ATOMIC_ACQUIRE);
    if (!file_may_have(size)) return EFBIG;
    const bool has_head = mapped_ == 0;
    const auto length_at = [&](std::size_t at) { return size - at < page_bytes ? size - at : page_bytes; };
    for (std::size_t at = has_head ? Written::head_bytes : mapped_; at < size; at += page_bytes)
        if (!written.holds(at))
            if (const int error = write_page(fd, base_ + at, at, length_at(at), written)) return error;
    // The last block first, and of each the last page, which may hold records of its tables: nothing points to what is
    // not there.
    for (unsigned i = written.block_count; i-- != 0;) {
        const Written::Block& block = written.blocks[i];
        for (std::uint64_t at = block.end; at > block.begin;) {
            at -= page_bytes;
            if (at >= size) continue;
            if (const int error = write_page(fd, block.pages + (at - block.begin), at, length_at(at), written))
                return error;
        }
    }
    const std::size_t head = size < Written::head_bytes ? size : Written::head_bytes;
    return has_head ? write_part(fd, written.head, 0, head, written) : 0;
}

}  // namespace mpiprof
