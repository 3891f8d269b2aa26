// play_cupti RECORDING: hands CUPTI's buffers to the library's own parser, as CUPTI does, and prints what it booked:
// one line for each kind of work of each GPU, and one for the launches that NCCL told of. All launches count as one
// function's, since what each was is NCCL's to tell (play_nccl.cpp).
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>

#include "libmpiprof/gpu/cupti_records.h"
#include "libmpiprof/nccl/catalogue.h"
#include "tests/gpu/replay/recording.h"
#include "tests/unit/image_tables.h"

namespace mpiprof::test {
namespace {

using namespace gpu;

// In place of CUPTI's own function: it says what that one said.
const Buffer* walked = nullptr;
int next_record(std::uint8_t* buffer, std::size_t, std::uint8_t** record) {
    std::size_t i = 0;
    if (*record)
        while (buffer + walked->records[i++] != *record) {
        }
    if (i == walked->records.size()) return 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED
    *record = buffer + walked->records[i];
    return cupti::success;
}

void play(CuptiRecords& records, const Buffer& buffer) {
    static std::set<std::string> names;
    // Where the buffer ends, a record may end that is shorter than what we know of its kind.
    const auto memory = std::make_unique<std::uint64_t[]>((buffer.bytes.size() + sizeof(cupti::Kernel)) / 8 + 1);
    auto* bytes = reinterpret_cast<std::uint8_t*>(memory.get());
    if (!buffer.bytes.empty()) std::memcpy(bytes, buffer.bytes.data(), buffer.bytes.size());
    for (const auto& [at, name] : buffer.kernels) {
        const char* address = names.insert(name).first->c_str();
        std::memcpy(bytes + at + offsetof(cupti::Kernel, name), &address, sizeof address);
    }
    walked = &buffer;
    records.parse(next_record, bytes, buffer.bytes.size());
}

using Count = unsigned long long;

void print_work(const Image& image) {
    static constexpr struct {
        format::GpuWorkKind kind;
        const char* name;
    } kinds[] = {{format::GpuWorkKind::nccl_kernels, "NCCL's kernels"},
                 {format::GpuWorkKind::other_kernels, "other kernels"},
                 {format::GpuWorkKind::host_to_device, "copies to the device"},
                 {format::GpuWorkKind::device_to_host, "copies to the host"},
                 {format::GpuWorkKind::device_to_device, "copies on the device"},
                 {format::GpuWorkKind::peer_to_peer, "copies between devices"},
                 {format::GpuWorkKind::other_copies, "other copies"},
                 {format::GpuWorkKind::graph_launches, "launches of graphs"},
                 {format::GpuWorkKind::nccl_running, "NCCL running"},
                 {format::GpuWorkKind::recorded, "recorded"}};
    const auto rows = records_of<format::GpuWork>(image, format::TableType::gpu_work);
    for (const auto& [kind, name] : kinds)
        for (const auto& w : rows) {
            if (w.kind != kind) continue;
            std::printf("GPU %u, %s: ", w.device, name);
            if (kind == format::GpuWorkKind::nccl_running)
                std::printf("%llu ns, of it %llu beside others\n", Count{w.ns}, Count{w.overlapped_ns});
            else if (kind == format::GpuWorkKind::recorded)
                std::printf("%llu ns, of it %llu with kernels\n", Count{w.ns}, Count{w.overlapped_ns});
            else
                std::printf("%llu, %llu bytes, %llu ns, of it %llu beside others, %llu in graphs\n", Count{w.count},
                            Count{w.bytes}, Count{w.ns}, Count{w.overlapped_ns}, Count{w.in_graphs});
        }
}

void print_launches(const Image& image) {
    for (const auto& t : records_of<format::GpuTime>(image, format::TableType::gpu_times))
        std::printf("%s: %llu with a time, %llu kernels, %llu ns, %llu to %llu ns each\n",
                    t.flags & format::from_graphs ? "replays of graphs" : "launches", Count{t.operations},
                    Count{t.kernels}, Count{t.ns}, Count{t.min_ns}, Count{t.max_ns});
}

int play_all(const Recording& recording) {
    if (recording.cupti_refused != 0) return std::printf("no CUPTI (%d)\n", recording.cupti_refused), 0;
    if (!runtime.records().image.open_private()) return std::fprintf(stderr, "no memory\n"), 1;
    runtime.records().open(whole_catalogue);
    auto records = std::make_unique<CuptiRecords>();
    if (!records->open()) return std::fprintf(stderr, "no memory\n"), 1;
    records->begin_stretch();
    const std::uint32_t device = 0;
    for (std::uint64_t i = 0; i < recording.launches; ++i)
        records->describe(records->number(&device, 1),
                          {static_cast<std::uint16_t>(nccl::Id::GroupEnd), 0, 1, 0, 0, 0, 0, 1});
    std::size_t dropped = 0;
    for (const Buffer& buffer : recording.buffers) play(*records, buffer), dropped += buffer.dropped;
    records->finish();
    std::printf("CUPTI %u: %zu buffers, %zu records dropped\n", recording.cupti, recording.buffers.size(), dropped);
    print_work(runtime.records().image);
    print_launches(runtime.records().image);
    std::printf("launches without kernels: %llu\n", Count{records->unfinished()});
    return 0;
}

}  // namespace
}  // namespace mpiprof::test

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "%s: RECORDING\n", argv[0]), 1;
    return mpiprof::test::play_all(mpiprof::test::read_recording(argv[1]));
}
