// Numbers as people read them: sizes in KiB/MiB, rates in decimal MB/s, times with 3-4 significant digits.
// Views format cells with it, sections the numbers inside sentences. Plain ASCII; no locale.
#pragma once

#include <cstdint>
#include <string>

namespace mpiprof::report {

std::string human_time(double ns);                      // 84 ns, 767 us, 18.6 ms, 5.696 s, 1234 s, 3.250 h
std::string human_bytes(double bytes);                  // 8 B, 5.5 KiB, 4.5 MiB
std::string human_count(double count);                  // 7,428; 23.4 M from ten million on; 1.5
std::string human_share(double share);                  // 36.6%; <0.1%
std::string human_rate(double bytes_per_second);        // 253 MB/s
std::string human_number(double number);                // 8.5
std::string human_moment(std::uint64_t ns_since_1970);  // 2026-11-20 10:42:40, local time
std::string human_clock(std::uint64_t ns_since_1970);   // 10:42:40

std::string plural(std::uint64_t count, const char* one, const char* many);  // "1 rank", "16 ranks"

}  // namespace mpiprof::report
