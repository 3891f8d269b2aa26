// Records come in any order, from CUPTI's own thread, while launches are described by those of the program: one lock
// for all of it, never held while CUPTI is called but to walk a buffer.
#include "libmpiprof/gpu/cupti_records.h"

#include <string.h>

#include "libmpiprof/base/text.h"

namespace mpiprof::gpu {

using format::GpuWorkKind;

namespace {

// CUPTI says 0 of what it could not take the time of.
bool is_timed(std::uint64_t start, std::uint64_t end) { return start != 0 && end >= start; }
std::uint64_t length_of(std::uint64_t start, std::uint64_t end) { return is_timed(start, end) ? end - start : 0; }

}  // namespace

// ---- launches ----

bool CuptiRecords::open() {
    if (!pages_) pages_ = static_cast<Pages*>(private_pages(sizeof(Pages)));
    return pages_ && overlap_.open();
}

std::uint64_t CuptiRecords::number(const std::uint32_t* devices, unsigned count) {
    const Guard guard(lock_);
    if (!pages_) return 0;
    const std::uint64_t first = numbers_ + 1;
    numbers_ += count;
    for (unsigned i = 0; i < count; ++i) {
        Traced& t = pages_->traced[(first + i) % most_traced];
        if (t.number != 0) {  // so long ago that nothing more is to come
            if (t.kernels != 0 && t.is_described)
                book(t);
            else if (!t.is_booked)
                ++forgotten_;
        }
        t = {};
        t.number = first + i;
        t.device = devices[i];
        t.companions = static_cast<std::uint16_t>(count - 1 - i);
    }
    return first;
}

CuptiRecords::Traced* CuptiRecords::traced(std::uint64_t number) {
    if (number == 0 || !pages_) return nullptr;
    Traced& t = pages_->traced[number % most_traced];
    return t.number == number ? &t : nullptr;
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

void CuptiRecords::touch(Traced& t) {
    if (touched_count_ == most_touched)
        book_if_complete(t);
    else
        touched_[touched_count_++] = t.number;
}

// Each call of the driver that launches is told of, and launches one kernel.
void CuptiRecords::book_if_complete(Traced& t) {
    if (t.is_described && !t.is_booked && t.kernels != 0 && t.kernels >= t.launched) book(t);
}

void CuptiRecords::begin_stretch() {
    const Guard guard(lock_);
    if (!pages_) return;
    turn();
    turn();
    overlap_.begin_stretch();
}

// ---- records ----

void CuptiRecords::parse(decltype(cupti::Functions::next_record) next, std::uint8_t* buffer, std::size_t valid) {
    const Guard guard(lock_);
    if (!pages_) return;
    touched_count_ = 0;
    std::uint8_t* record = nullptr;
    while (next(buffer, valid, &record) == cupti::success) see(record);
    for (unsigned i = 0; i < touched_count_; ++i)
        if (Traced* t = traced(touched_[i])) book_if_complete(*t);
    turn();
}

void CuptiRecords::turn() {
    Overlap::Known known[Overlap::most_devices];
    const unsigned devices = overlap_.turn(known);
    for (const Overlap::Known* k = known; k < known + devices; ++k) {
        if (k->hidden != 0)
            times.work({.kind = GpuWorkKind::nccl_kernels, .device = k->device, .overlapped_ns = k->hidden});
        if (k->nccl != 0)
            times.work({.kind = GpuWorkKind::nccl_running,
                        .device = k->device,
                        .count = 1,
                        .ns = k->nccl,
                        .overlapped_ns = k->nccl_hidden});
        if (k->recorded != 0 || k->any != 0)
            times.work({.kind = GpuWorkKind::recorded,
                        .device = k->device,
                        .count = 1,
                        .ns = k->recorded,
                        .overlapped_ns = k->any});
    }
}

void CuptiRecords::see(const std::uint8_t* record) {
    switch (*reinterpret_cast<const std::uint32_t*>(record)) {
        case cupti::concurrent_kernel:
            return see_kernel(*reinterpret_cast<const cupti::Kernel*>(record));
        case cupti::memcpy:
        case cupti::memcpy_between_devices:
            return see_copy(*reinterpret_cast<const cupti::Memcpy*>(record));
        case cupti::external_correlation:
            return see_link(*reinterpret_cast<const cupti::ExternalCorrelation*>(record));
        case cupti::driver:
            if (cupti::launches_graph(reinterpret_cast<const cupti::Api*>(record)->function))
                times.work({.kind = GpuWorkKind::graph_launches, .count = 1});
            return;
        default:
            return;
    }
}

// "_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LL...": whether it is NCCL's, and of which function. What the name says of
// algorithm and protocol is not true. One kernel for several functions ("SendRecv", "Generic") is a group's. Where a
// name lies there may be another one once modules were unloaded.
CuptiRecords::Name CuptiRecords::name_of(const char* text) {
    if (!text) return {};
    const char* function = text;
    if (text[0] == '_' && text[1] == 'Z')
        for (function += 2; *function >= '0' && *function <= '9'; ++function) {
        }
    if (function[0] != 'n' || function[1] != 'c' || function[2] != 'c' || function[3] != 'l') return {};
    KnownName& known = names_[mix(reinterpret_cast<std::uintptr_t>(text)) >> 60];
    if (known.name.is_nccl && strncmp(known.text, text, KnownName::length - 1) == 0) return known.name;
    copy(known.text, text);
    return known.name = look_at(function);
}

CuptiRecords::Name CuptiRecords::look_at(const char* text) {
    Name name{true, 0};
    const char* function = strchr(text, '_');
    std::size_t length = 0;
    if (function)
        while (function[1 + length] && function[1 + length] != '_') ++length;
    for (std::uint16_t call = 0; call < whole_catalogue.size; ++call) {
        if (whole_catalogue.calls[call].family != Family::nccl) continue;
        const char* row = whole_catalogue.row_name(call);
        if (strcmp(row, "ncclGroupEnd") == 0 && name.call == 0) name.call = call;
        if (function && strncmp(row + 4, function + 1, length) == 0 && row[4 + length] == 0) name.call = call;
    }
    return name;
}

void CuptiRecords::see_kernel(const cupti::Kernel& kernel) {
    const Name name = name_of(kernel.name);
    const std::uint64_t ns = length_of(kernel.start, kernel.end);
    times.work({.kind = name.is_nccl ? GpuWorkKind::nccl_kernels : GpuWorkKind::other_kernels,
                .device = kernel.device,
                .count = 1,
                .ns = ns,
                .in_graphs = kernel.graph_node != 0});
    if (ns != 0) overlap_.add(kernel.device, kernel.start, kernel.end, name.is_nccl);
    const Link& link = pages_->link[kernel.correlation % links];
    if (link.number != 0 && link.correlation == kernel.correlation)
        return add_kernel(link.number, kernel.device, kernel.start, kernel.end);
    if (!name.is_nccl) return;
    if (kernel.graph_node == 0) {
        pages_->kernel[kernel.correlation % waiting] = {kernel.correlation, kernel.device, kernel.start, kernel.end,
                                                        true};
        return;
    }
    if (!is_timed(kernel.start, kernel.end)) return;
    runtime.records().publish_call(name.call);
    times.book({name.call, 0, 0, format::from_graphs, 0, 0, 0, 0}, GpuSource::cupti, ns, 1);
}

void CuptiRecords::see_copy(const cupti::Memcpy& copy) {
    const GpuWorkKind kind = copy.kind == cupti::memcpy_between_devices || copy.copy == cupti::Copy::peer_to_peer
                                 ? GpuWorkKind::peer_to_peer
                             : copy.copy == cupti::Copy::host_to_device   ? GpuWorkKind::host_to_device
                             : copy.copy == cupti::Copy::device_to_host   ? GpuWorkKind::device_to_host
                             : copy.copy == cupti::Copy::device_to_device ? GpuWorkKind::device_to_device
                                                                          : GpuWorkKind::other_copies;
    times.work(
        {.kind = kind, .device = copy.device, .count = 1, .bytes = copy.bytes, .ns = length_of(copy.start, copy.end)});
}

void CuptiRecords::see_link(const cupti::ExternalCorrelation& link) {
    if (link.external_kind != cupti::external_ids) return;
    Traced* t = traced(link.id);
    if (!t) return;
    pages_->link[link.correlation % links] = {link.correlation, link.id};
    t->launched += 1;
    Waiting& kernel = pages_->kernel[link.correlation % waiting];
    if (!kernel.is_there || kernel.correlation != link.correlation) return;
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
    if (!is_timed(start, end)) {
        t.launched -= t.launched != 0;
        return touch(t);
    }
    const std::uint64_t before = t.last - t.first;
    if (t.kernels++ == 0 || start < t.first) t.first = start;
    if (end > t.last) t.last = end;
    if (t.is_booked)
        times.prolong(t.what, GpuSource::cupti, before, t.last - t.first, 1);  // later than everything said
    else
        touch(t);
}

// ---- the end ----

void CuptiRecords::finish() {
    const Guard guard(lock_);
    if (!pages_) return;
    without_kernels_ = 0;
    for (std::uint64_t i = 0; i < most_traced && i <= numbers_; ++i) {
        Traced& t = pages_->traced[i];
        if (t.number == 0 || t.is_booked || !t.is_described) continue;
        if (t.kernels != 0)
            book(t);
        else
            ++without_kernels_;
    }
    turn();
    turn();
}

}  // namespace mpiprof::gpu
