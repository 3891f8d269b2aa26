// Records come in any order, from CUPTI's own thread, while launches are described by those of the program: one lock for all of it,
// never held while CUPTI is called but to walk a buffer.
#include "libmpiprof/gpu/cupti_records.h"

#include <string.h>

namespace mpiprof::gpu {

using format::GpuWorkKind;

// ---- launches ----

std::uint64_t CuptiRecords::number(const std::uint32_t* devices, unsigned count) {
    const Guard guard(lock_);
    const std::uint64_t first = numbers_ + 1;
    numbers_ += count;
    for (unsigned i = 0; i < count; ++i) {
        Traced& t = traced_[(first + i) % most_traced];
        if (t.number != 0) {  // so long ago that nothing more is to come
            if (t.kernels != 0 && t.is_described) book(t);
            else if (!t.is_booked) ++unfinished;
        }
        t = {};
        t.number = first + i;
        t.device = devices[i];
        t.companions = static_cast<std::uint16_t>(count - 1 - i);
    }
    return first;
}

CuptiRecords::Traced* CuptiRecords::traced(std::uint64_t number) {
    Traced& t = traced_[number % most_traced];
    return number != 0 && t.number == number ? &t : nullptr;
}

void CuptiRecords::describe(std::uint64_t number, const Booked& what) {
    const Guard guard(lock_);
    Traced* t = traced(number);
    if (!t) return;
    t->what = what;
    t->is_described = true;
    book_if_complete(*t);
}

void CuptiRecords::cancel(std::uint64_t number) {
    const Guard guard(lock_);
    if (Traced* t = traced(number)) *t = {};
}

void CuptiRecords::book(Traced& t) {
    if (t.is_booked) return;
    t.is_booked = true;
    times.book(t.what, GpuSource::cupti, t.last - t.first, t.kernels);
}

// Each call of the driver that launches is told of, and launches one kernel.
void CuptiRecords::book_if_complete(Traced& t) {
    if (t.is_described && !t.is_booked && t.kernels != 0 && t.kernels >= t.launched) book(t);
}

// ---- records ----

void CuptiRecords::parse(decltype(cupti::Functions::next_record) next, std::uint8_t* buffer, std::size_t valid) {
    const Guard guard(lock_);
    touched_count_ = 0;
    std::uint8_t* record = nullptr;
    while (next(buffer, valid, &record) == cupti::success) see(record);
    for (unsigned i = 0; i < touched_count_; ++i)
        if (Traced* t = traced(touched_[i])) book_if_complete(*t);
    turn();
}

void CuptiRecords::turn() {
    overlap_.turn([](std::uint32_t device, std::uint64_t ns) { times.work(GpuWorkKind::nccl_kernels, device, 0, 0, 0, ns, 0); });
}

void CuptiRecords::see(const std::uint8_t* record) {
    switch (*reinterpret_cast<const std::uint32_t*>(record)) {
        case cupti::concurrent_kernel: return see_kernel(*reinterpret_cast<const cupti::Kernel*>(record));
        case cupti::memcpy:
        case cupti::memcpy_between_devices: return see_copy(*reinterpret_cast<const cupti::Memcpy*>(record));
        case cupti::external_correlation: return see_link(*reinterpret_cast<const cupti::ExternalCorrelation*>(record));
        case cupti::driver:
            if (cupti::launches_graph(reinterpret_cast<const cupti::Api*>(record)->function)) times.work(GpuWorkKind::graph_launches, 0, 1, 0, 0, 0, 0);
            return;
        default: return;
    }
}

// "_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LL...": whether it is NCCL's, and of which function. What the name says of
// algorithm and protocol is not true. One kernel for several functions ("SendRecv", "Generic") is a group's.
CuptiRecords::Name& CuptiRecords::name_of(const char* name) {
    Name& known = names_[mix(reinterpret_cast<std::uintptr_t>(name)) >> 56];
    if (known.name == name) return known;
    known = {name, false, 0};
    if (!name) return known;
    const char* text = name;
    if (text[0] == '_' && text[1] == 'Z')
        for (text += 2; *text >= '0' && *text <= '9'; ++text) {}
    known.is_nccl = strncmp(text, "nccl", 4) == 0;
    if (!known.is_nccl) return known;
    const char* function = strchr(text, '_');
    std::size_t length = 0;
    if (function)
        while (function[1 + length] && function[1 + length] != '_') ++length;
    for (std::uint16_t call = 0; call < whole_catalogue.size; ++call) {
        const char* row = whole_catalogue.row_name(call);
        if (whole_catalogue.calls[call].family != Family::nccl) continue;
        if (strcmp(row, "ncclGroupEnd") == 0 && known.call == 0) known.call = call;
        if (function && strncmp(row + 4, function + 1, length) == 0 && row[4 + length] == 0) known.call = call;
    }
    return known;
}

void CuptiRecords::see_kernel(const cupti::Kernel& kernel) {
    const Name name = name_of(kernel.name);
    const std::uint64_t ns = kernel.end > kernel.start ? kernel.end - kernel.start : 0;
    times.work(name.is_nccl ? GpuWorkKind::nccl_kernels : GpuWorkKind::other_kernels, kernel.device, 1, 0, ns, 0, kernel.graph_node != 0);
    overlap_.add(kernel.device, kernel.start, kernel.end, name.is_nccl);
    const Link& link = links_[kernel.correlation % links];
    if (link.number != 0 && link.correlation == kernel.correlation) return add_kernel(link.number, kernel.device, kernel.start, kernel.end);
    if (!name.is_nccl) return;
    if (kernel.graph_node == 0) {
        waiting_[kernel.correlation % waiting] = {kernel.correlation, kernel.device, kernel.start, kernel.end};
        return;
    }
    runtime.records().publish_call(name.call);
    times.book({name.call, 0, 0, format::from_graphs, 0, 0, 0}, GpuSource::cupti, ns, 1);
}

void CuptiRecords::see_copy(const cupti::Memcpy& copy) {
    const std::uint64_t ns = copy.end > copy.start ? copy.end - copy.start : 0;
    const GpuWorkKind kind = copy.kind == cupti::memcpy_between_devices || copy.copy == cupti::Copy::peer_to_peer ? GpuWorkKind::peer_to_peer
                             : copy.copy == cupti::Copy::host_to_device                                         ? GpuWorkKind::host_to_device
                             : copy.copy == cupti::Copy::device_to_host                                         ? GpuWorkKind::device_to_host
                             : copy.copy == cupti::Copy::device_to_device                                       ? GpuWorkKind::device_to_device
                                                                                                                : GpuWorkKind::other_copies;
    times.work(kind, copy.device, 1, copy.bytes, ns, 0, 0);
}

void CuptiRecords::see_link(const cupti::ExternalCorrelation& link) {
    if (link.external_kind != cupti::external_ids) return;
    Traced* t = traced(link.id);
    if (!t) return;
    links_[link.correlation % links] = {link.correlation, link.id};
    t->launched += 1;
    Waiting& kernel = waiting_[link.correlation % waiting];
    if (kernel.end == 0 || kernel.correlation != link.correlation) return;
    add_kernel(link.id, kernel.device, kernel.start, kernel.end);
    kernel = {};
}

// `number` is that of the launch's first device.
void CuptiRecords::add_kernel(std::uint64_t number, std::uint32_t device, std::uint64_t start, std::uint64_t end) {
    Traced* of = traced(number);
    if (!of) return;
    for (unsigned i = 0, n = of->companions; i <= n; ++i) {
        Traced* t = traced(number + i);
        if (!t || t->device != device) continue;
        if (t != of) {  // the calls of the driver are all told of under the first number
            of->launched -= of->launched != 0;
            t->launched += 1;
        }
        of = t;
        break;
    }
    Traced& t = *of;
    if (t.is_booked) {  // later than everything said
        const std::uint64_t before = t.last - t.first;
        if (start < t.first) t.first = start;
        if (end > t.last) t.last = end;
        return times.prolong(t.what, GpuSource::cupti, t.last - t.first - before, 1);
    }
    if (t.kernels++ == 0 || start < t.first) t.first = start;
    if (end > t.last) t.last = end;
    if (touched_count_ == most_touched) book_if_complete(t);
    else touched_[touched_count_++] = t.number;
}

// ---- the end ----

void CuptiRecords::finish() {
    const Guard guard(lock_);
    for (Traced& t : traced_) {
        if (t.number == 0 || t.is_booked) continue;
        if (t.is_described && t.kernels != 0) book(t);
        else if (t.is_described) ++unfinished;
        if (t.kernels == 0) t = {};
    }
    turn();
    turn();
}

}  // namespace mpiprof::gpu
