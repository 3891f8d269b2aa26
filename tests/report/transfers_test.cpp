// `mpiprof-report transfers`: the time of a message is from when both sides were there, on one clock; what is not known
// so well says so. The lines are those that benchmarks of MPI print.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>
#include <sstream>

#include "report/compare/transfers.h"
#include "tests/report/goldens.h"
#include "tests/report/run_reporter.h"
#include "tests/report/stories.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;
using format::TraceEvent;
using format::TraceKind;

constexpr std::uint16_t send = 1, receive = 2, isend = 3, irecv = 4, waitall = 5;  // calls of rank()
constexpr std::uint64_t MB = 1'000'000, ms = 1'000'000;

TraceEvent message(std::uint16_t call, std::uint64_t begin, std::uint64_t end, std::uint32_t peer, std::uint32_t number,
                   std::uint64_t bytes, TraceKind kind = TraceKind::call) {
    TraceEvent e{};
    e.begin = begin;
    e.ticks = end - begin;
    e.call = call;
    e.kind = kind;
    e.flags = call == send || call == isend ? format::trace_sends : format::trace_receives;
    e.peer = peer;
    e.sequence = number;
    e.communicator = 1;
    e.bytes = bytes;
    return e;
}
TraceEvent completed(std::uint64_t posted, std::uint64_t end) {
    TraceEvent e{};
    e.begin = posted;
    e.ticks = end - posted;
    e.call = waitall;
    e.kind = TraceKind::completed;
    e.peer = format::peer_unknown;
    e.tag = -1;
    return e;
}

ProfileSpec rank(std::uint32_t number, std::vector<TraceEvent> events, const std::string& host = "node1") {
    ProfileSpec spec;
    spec.rank = number;
    spec.size = 2;
    spec.host = host;
    const std::vector<CellSpec> cell{{.bytes = 100 * MB, .time_ns = 25 * ms}};
    spec.calls = {sends("MPI_Send", cell), receives("MPI_Recv", cell), sends("MPI_Isend", cell),
                  receives("MPI_Irecv", cell), completion("MPI_Waitall", cell)};
    const std::uint64_t written = events.size();
    if (!events.empty()) spec.traces = {{.ring = std::move(events), .written = written}};
    return spec;
}

class transfers : public testing::Test {
  protected:
    Ran run(std::vector<std::string> words) {
        words.insert(words.begin(), "transfers");
        return run_reporter(directory_.path(), std::move(words));
    }
    std::string lines(std::vector<std::string> words) {
        words.emplace_back("--messages");
        return shown(std::move(words));
    }
    std::string shown(std::vector<std::string> words) {
        const Ran ran = run(std::move(words));
        EXPECT_EQ(ran.code, 0) << ran.err;
        return ran.out;
    }
    void write(const std::string& name, const std::vector<ProfileSpec>& ranks) {
        fs::create_directories(path() / name);
        for (const ProfileSpec& one : ranks) write_profile(path() / name, one);
    }
    const fs::path& path() { return directory_.path(); }

  private:
    TemporaryDirectory directory_;
};

// 100 MB each, one after the other, to `to`: what took so many nanoseconds.
void write_benchmark(const fs::path& directory, std::uint32_t to, const std::vector<std::uint64_t>& durations) {
    fs::create_directories(directory);
    std::vector<TraceEvent> sent, received;
    std::uint64_t at = 10 * ms;
    for (std::size_t i = 0; i < durations.size(); ++i) {
        const auto number = static_cast<std::uint32_t>(i + 1);
        received.push_back(message(receive, at - 5 * ms, at + durations[i], 1 - to, number, 100 * MB));
        sent.push_back(message(send, at, at + durations[i], to, number, 100 * MB));
        at += durations[i] + 6 * ms;
    }
    write_profile(directory, rank(1 - to, sent));
    write_profile(directory, rank(to, received));
}

TEST_F(transfers, lines_of_a_benchmark_on_three_networks_come_out_as_they_were_published) {
    write_benchmark(path() / "local", 1, {23'127'800, 18'563'200, 21'514'000, 23'188'400});
    write_benchmark(path() / "t2", 0, {854'400'000, 860'000'000, 873'200'000, 859'900'000});
    write_benchmark(path() / "c5", 1, {83'264'000, 83'319'500, 83'298'600, 83'291'700, 83'305'600});
    expect_golden("screens/transfers_of_a_benchmark.txt", lines({"local"}) + lines({"t2"}) + lines({"c5"}));
}

TEST_F(transfers, time_begins_when_the_later_side_is_there_and_ends_at_the_receiver) {
    // The first sender waits for its receiver, the second receiver for its sender.
    write("run",
          {rank(0, {message(send, 10 * ms, 52 * ms, 1, 1, 4 * MB), message(send, 90 * ms, 95 * ms, 1, 2, 4 * MB)}),
           rank(1,
                {message(receive, 50 * ms, 52 * ms, 0, 1, 8 * MB), message(receive, 60 * ms, 95 * ms, 0, 2, 8 * MB)})});
    EXPECT_EQ(lines({"run"}),
              "Process 1 transferred 4 MB in 2.0 ms (2000.0 MB/sec)\n"
              "Process 1 transferred 4 MB in 5.0 ms (800.0 MB/sec)\n");
    EXPECT_NE(shown({"run"}).find("SIZE"), std::string::npos) << "tables, where messages are not asked for";
    for (const char* other : {"--format=csv", "--peak=memory=10GB"})
        EXPECT_EQ(run({"run", "--messages", other}).code, 2) << other;
    EXPECT_EQ(shown({"run", "--by", "sender", "--top", "1"}), "Process 0 transferred 4 MB in 2.0 ms (2000.0 MB/sec)\n");
}

TEST_F(transfers, plot_of_bandwidth_is_that_of_messages_where_there_is_a_trace) {
    write_benchmark(path() / "local", 1, {20 * ms, 40 * ms, 50 * ms});
    const auto marks = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"plot", "bandwidth", "local", "-o", "p.svg"});
        EXPECT_EQ(run_reporter(path(), words).code, 0);
        const std::string svg = read_file(path() / "p.svg");
        const std::regex mark("<title>([^<]*): ([0-9.e+-]+)</title>");
        std::vector<std::string> found;
        for (std::sregex_iterator at(svg.begin(), svg.end(), mark), end; at != end; ++at) found.push_back((*at)[2]);
        return found;
    };
    EXPECT_EQ(marks({}), std::vector<std::string>{"2500"}) << "100 MB in 40 ms, the one in the middle";
    EXPECT_EQ(marks({"--call", "MPI_Recv"}), std::vector<std::string>{"4000"}) << "as its calls were counted";
}

TEST_F(transfers, posted_receives_end_with_the_call_that_completes_them) {
    write("run", {rank(0, {message(isend, 10 * ms, 11 * ms, 1, 1, 4 * MB), completed(10 * ms, 30 * ms)}),
                  rank(1, {message(irecv, 5 * ms, 6 * ms, 0, 1, 4 * MB), completed(5 * ms, 20 * ms)})});
    EXPECT_EQ(lines({"run"}), "Process 1 transferred 4 MB in 10.0 ms (400.0 MB/sec)\n")
        << "a send that was only posted returns early, always: nothing is said";
}

TEST_F(transfers, sends_that_return_before_the_message_is_there_say_so) {
    write("run",
          {rank(0, {message(send, 1 * ms, 1 * ms + 500, 1, 1, 8), message(send, 5 * ms, 5 * ms + 1000, 1, 2, 1024)}),
           rank(1, {message(receive, 2 * ms, 2 * ms + 1200, 0, 1, 8),
                    message(receive, 4 * ms, 5 * ms + 4000, 0, 2, 1024)})});
    EXPECT_EQ(lines({"run"}),
              "Process 1 transferred 0.000008 MB in 0.0012 ms (6.7 MB/sec), the send returned early\n"
              "Process 1 transferred 0.001024 MB in 0.0040 ms (256.0 MB/sec), the send returned early\n");
}

TEST_F(transfers, between_nodes_whose_clocks_are_not_known_the_time_is_the_receivers) {
    const auto sent = rank(0, {message(send, 10 * ms, 90 * ms, 1, 1, 100 * MB)});
    auto received = rank(1, {message(receive, 20 * ms, 100 * ms, 0, 1, 100 * MB)}, "node2");
    write("run", {sent, received});
    const Ran ran = run({"run", "--messages"});
    EXPECT_EQ(ran.out, "Process 1 transferred 100 MB in 80.0 ms (1250.0 MB/sec), waiting included\n");
    EXPECT_NE(ran.err.find("MPIPROF_CLOCK_OFFSETS=on"), std::string::npos) << ran.err;
}

TEST_F(transfers, measured_clocks_are_used_between_nodes_and_how_well_they_are_known_is_said) {
    auto sent = rank(0, {message(send, 60 * ms, 100 * ms, 1, 1, 100 * MB)});
    auto received = rank(1, {message(receive, 25 * ms, 105 * ms, 0, 1, 100 * MB)}, "node2");
    sent.facts = {{format::FactKind::process, "clock_offset_at_start", "1 0 0"}};
    received.facts = {{format::FactKind::process, "clock_offset_at_start", "1 -5000000 1500"}};
    write("run", {sent, received});
    const Ran ran = run({"run", "--messages"});
    EXPECT_EQ(ran.out, "Process 1 transferred 100 MB in 40.0 ms (2500.0 MB/sec)\n");
    EXPECT_NE(ran.err.find("to within 3.0 us"), std::string::npos) << ran.err;
}

TEST_F(transfers, without_a_trace_receives_are_shown_by_size_and_say_that_waiting_is_in_them) {
    auto one = rank(0, {}), other = rank(1, {});
    one.calls = {sends("MPI_Send", {{.durations_ns = {20 * ms, 25 * ms, 30 * ms}}})};
    one.calls[0].cells[0].bytes = 300 * MB;
    other.calls = {receives("MPI_Recv", {{.durations_ns = {20 * ms, 25 * ms, 30 * ms}}})};
    other.calls[0].cells[0].bytes = 300 * MB;
    write("run", {one, other});
    const Ran ran = run({"run"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find("the receiver's time, waiting included"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("MPIPROF_TRACE=on"), std::string::npos) << ran.out;
    expect_golden("screens/transfers_without_a_trace.txt", ran.out);
    EXPECT_EQ(run({"run", "--follow"}).code, 3);
    const Ran refused = run({"run", "--messages"});
    EXPECT_EQ(refused.code, 3);
    EXPECT_EQ(refused.err, "mpiprof-report: --messages: no rank has a trace; run the job with MPIPROF_TRACE=on\n");
}

TEST_F(transfers, without_a_trace_an_exchange_is_said_to_be_of_both_ways) {
    auto one = rank(0, {}), other = rank(1, {});
    CallSpec exchange = receives("MPI_Sendrecv", {{.durations_ns = {20 * ms, 25 * ms, 30 * ms}}});
    exchange.traffic = format::Traffic::exchange;
    exchange.cells[0].bytes = 600 * MB;
    one.calls = other.calls = {exchange};
    write("run", {one, other});
    const std::string said = shown({"run", "--peak", "memory=10GB"});
    EXPECT_NE(said.find("MPI_Sendrecv: SIZE and MB/S are of bytes sent plus received"), std::string::npos) << said;
    EXPECT_NE(said.find("--peak needs a trace"), std::string::npos) << said;
}

TEST_F(transfers, buffers_of_a_rank_that_has_host_memory_alone_are_known_of_each_message) {
    // Of 4 MB, which no call counts: the size of a Sendrecv is of both ways.
    write("run", {rank(0, {message(send, 10 * ms, 11 * ms, 1, 1, 4 * MB)}),
                  rank(1, {message(receive, 10 * ms, 12 * ms, 0, 1, 4 * MB)})});
    const std::string said = shown({"run", "--peak", "memory=10GB"});
    EXPECT_EQ(said.find("not known"), std::string::npos) << said;
    EXPECT_NE(said.find("20.0%"), std::string::npos) << "2 of 10 GB/s: " << said;
}

TEST_F(transfers, of_a_run_with_a_trace_and_one_without_the_calls_of_both_are_compared) {
    write("traced", {rank(0, {message(send, 10 * ms, 11 * ms, 1, 1, 100 * MB)}),
                     rank(1, {message(receive, 10 * ms, 12 * ms, 0, 1, 100 * MB)})});
    write("bare", {rank(0, {}), rank(1, {})});
    const std::string csv = shown({"traced", "bare", "--format", "csv"});
    EXPECT_NE(csv.find("100000000,host,4000,4000,0"), std::string::npos) << csv;
}

TEST_F(transfers, runs_of_one_name_are_told_apart) {
    write("a/run", {rank(0, {}), rank(1, {})});
    write("b/run", {rank(0, {}), rank(1, {})});
    const std::string said = shown({"a/run", "b/run"});
    EXPECT_NE(said.find("run MB/s"), std::string::npos) << said;
    EXPECT_NE(said.find("run (2) MB/s"), std::string::npos) << said;
}

// What two runs with and without CUDA IPC leave, up to 4 GB from device memory.
ProfileSpec ipc_rank(std::uint32_t number, bool with_ipc) {
    ProfileSpec spec = rank(number, {});
    spec.facts = {{format::FactKind::environment, "OMPI_MCA_btl_smcuda_use_cuda_ipc", with_ipc ? "1" : "0"},
                  {format::FactKind::process, "mpi_is_cuda_aware", "yes"},
                  {format::FactKind::node, "nvidia_peermem", "live"}};
    std::vector<CellSpec> cells;
    std::vector<TraceEvent> events;
    std::uint64_t at = 100 * ms;
    std::uint32_t message_number = 0;
    spec.calls.clear();
    for (const std::uint64_t size : {std::uint64_t{1} << 20, std::uint64_t{1} << 30, std::uint64_t{1} << 32}) {
        const double rate = with_ipc ? 9e9 : 5e9;
        const auto took = static_cast<std::uint64_t>(static_cast<double>(size) / rate * 1e9);
        cells.push_back({.calls = 2, .bytes = 2 * size, .time_ns = 2 * took, .buffer = format::BufferKind::device});
        for (int i = 0; i < 2; ++i) {
            ++message_number;
            events.push_back(number == 0 ? message(1, at, at + took, 1, message_number, size)
                                         : message(2, at, at + took, 0, message_number, size));
            at += took + ms;
        }
    }
    spec.calls = {sends("MPI_Send", number == 0 ? cells : std::vector<CellSpec>{}),
                  receives("MPI_Recv", number == 1 ? cells : std::vector<CellSpec>{})};
    const std::uint64_t written = events.size();
    spec.traces = {{.ring = std::move(events), .written = written}};
    spec.elapsed_ns = at + ms;
    return spec;
}

TEST_F(transfers, two_runs_are_compared_by_size_and_what_was_set_differently_heads_them) {
    write("with", {ipc_rank(0, true), ipc_rank(1, true)});
    write("without", {ipc_rank(0, false), ipc_rank(1, false)});
    const Ran ran = run({"cuda-ipc=with", "no-cuda-ipc=without"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    expect_golden("screens/transfers_with_and_without_cuda_ipc.txt", ran.out);
    expect_golden("screens/transfers_with_and_without_cuda_ipc.csv",
                  run({"cuda-ipc=with", "no-cuda-ipc=without", "--format", "csv"}).out);
    for (const char* text : {"btl_smcuda_use_cuda_ipc", "MPI has CUDA", "GPUDirect RDMA", "cuda-ipc MB/s", "device"})
        EXPECT_NE(ran.out.find(text), std::string::npos) << text;
}

TEST_F(transfers, of_runs_without_gpus_only_what_differs_stands_beside_the_library) {
    write_benchmark(path() / "a", 1, {80 * ms, 100 * ms});
    write_benchmark(path() / "b", 1, {80 * ms, 100 * ms});
    const Ran ran = run({"a", "b", "--format", "csv"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(ran.out.starts_with("# settings\nsetting,run_1,run_2\nMPI,")) << ran.out;
    EXPECT_NE(ran.out.find("\n\n# sizes\n"), std::string::npos) << ran.out;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.begin() + static_cast<std::ptrdiff_t>(ran.out.find("# sizes")), '\n'),
              4)
        << ran.out;
}

TEST_F(transfers, what_was_attained_is_told_against_the_peak_that_the_user_names) {
    write_benchmark(path() / "run", 1, {80 * ms, 100 * ms, 125 * ms});
    const Ran ran = run({"run", "--peak", "memory=2GB/s,net=10Gbit"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find("50.0%"), std::string::npos) << ran.out;
    expect_golden("screens/transfers_against_a_peak.txt", ran.out);
    const Ran net = run({"run", "--peak", "net=10Gbit"});
    EXPECT_NE(net.err.find("there is one node"), std::string::npos) << net.err;
    for (const char* wrong : {"net", "net=fast", "net=-1GB", "lan=1GB", "net=10", ","}) {
        const Ran refused = run({"run", "--peak", wrong});
        EXPECT_EQ(refused.code, 2) << wrong;
        EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
    }
}

TEST(peaks, are_bits_or_bytes_per_second_and_each_is_for_its_own_way) {
    const auto peaks = report::peaks_of("net=10Gbit,h2d=12GB/s,d2h=25Gbps,memory=800MB");
    ASSERT_TRUE(peaks);
    EXPECT_DOUBLE_EQ(*peaks->net, 1.25e9);
    EXPECT_DOUBLE_EQ(*peaks->host_to_device, 12e9);
    EXPECT_DOUBLE_EQ(*peaks->device_to_host, 3.125e9);
    using report::Buffer;
    using report::Nearness;
    EXPECT_DOUBLE_EQ(*peaks->of(Nearness::node, {Buffer::host, Buffer::host}), 8e8);
    EXPECT_DOUBLE_EQ(*peaks->of(Nearness::other_node, {Buffer::device, Buffer::device}), 1.25e9);
    EXPECT_DOUBLE_EQ(*peaks->of(Nearness::node, {Buffer::device, Buffer::host}), 3.125e9);
    EXPECT_FALSE(peaks->of(Nearness::node, {Buffer::device, Buffer::device}));
}

TEST_F(transfers, data_formats_have_every_message) {
    write_benchmark(path() / "run", 1, {80 * ms, 100 * ms});
    const std::string csv = shown({"run", "--format", "csv"});
    EXPECT_NE(csv.find("0,1,0,100000000,"), std::string::npos) << csv;
    EXPECT_NE(csv.find(",80000000,"), std::string::npos) << csv;
    EXPECT_EQ(shown({"run", "--format", "json"}).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace mpiprof::test
