// Writing an image to its file: whole, or what changed since the last time, so that a file that is cut off at any
// moment is a valid profile. By the helper thread (helper.h says what it may call) and at the end; never on the hot
// path.
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "libmpiprof/base/raw.h"
#include "libmpiprof/record/image.h"

namespace mpiprof {
namespace {

using namespace format;

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

int Image::write_to(int fd, const Place& place) const {
    const std::uint64_t size = bytes();
    if (!file_may_have(place.end_of(size))) return EFBIG;
    const std::uint64_t piece = place.step == segment_bytes ? size : segment_bytes;
    for (std::uint64_t at = 0; at < size; at += piece)
        if (const int error = write_all(fd, base_ + at, size - at < piece ? size - at : piece, place.of(at)))
            return error;
    return 0;
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
    const int error = write_all(fd, from, bytes, written.place.of(at));
    if (!written.is_given_up()) return error;
    if (is_still_ours()) write_all(fd, base_ + at, bytes, written.place.of(at));
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
    if (!file_may_have(written.place.end_of(size))) return EFBIG;
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
