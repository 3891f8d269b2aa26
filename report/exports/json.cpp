// json: all of it. The job and its sums first, then rank after rank with everything its profile says.
// {"schema": 1, ..., "rows": [...], "ranks": [{..., "cells": [...], "histograms": [...]}]}; times in ns, sizes in
// bytes; null = not known. Keys are only ever added within a schema.
#include "report/analysis/analysed.h"
#include "report/exports/export.h"
#include "report/exports/json_parts.h"
#include "report/model/json_writer.h"
#include "report/model/sums.h"
#include "report/model/usage_figures.h"

namespace mpiprof::report {
namespace {

std::optional<std::uint64_t> known(std::uint64_t value) { return value ? std::optional(value) : std::nullopt; }

std::string_view name_of_family(Family family) {
    switch (family) {
        case Family::mpi:
            return "mpi";
        case Family::nccl:
            return "nccl";
        case Family::cuda:
            return "cuda";
        case Family::unknown:
            break;
    }
    return "unknown";
}

void write_usage(JsonWriter& json, const Usage& usage) {
    json.object("usage", [&] {
        for (const UsageFigure& figure : usage_figures())
            if (const auto value = figure.of(usage); value && !figure.key.empty()) json.field(figure.key, *value);
    });
}

void write_drops(JsonWriter& json, const Drops& drops) {
    json.object("drops", [&] {
        for (const DropRow& one : drop_rows) json.field(one.key, drops.*one.count);
    });
}

void write_settings(JsonWriter& json, const std::vector<Setting>& settings) {
    json.array("settings", settings, [&](const Setting& setting) {
        json.item([&] {
            json.field("name", setting.name);
            json.field("value", setting.value);
            json.field("is_set", setting.source != SettingSource::fallback);
            json.field("source", name_of(setting.source));
        });
    });
}

void write_sum(JsonWriter& json, const Call& call, const Sum& sum) {
    const bool is_timed = call.treatment == Treatment::timed && !sum.is_untimed();
    json.field("call", call.name);
    json.field("bin_max_bytes", bin_max_bytes(sum.bin));
    json.field("buffer", name_of(sum.buffer));
    json.field("calls", sum.calls);
    json.field("bytes", sum.bytes);
    json.field("time_ns", is_timed ? std::optional(sum.time_ns) : std::nullopt);
    json.field("min_ns", sum.min_ns);
    json.field("max_ns", known(sum.max_ns));
    json.field("errors", sum.errors);
    json.field("other_thread_calls", sum.other_thread_calls);
    json.field("other_thread_ns", sum.other_thread_ns);
}

void write_job(JsonWriter& json, const Job& job) {
    json.field("schema", 1);
    json.field("mpiprof", MPIPROF_VERSION);
    json.field("launch", job.launch);
    json.field("job", job.job);
    json.field("job_ids", job.job_ids);
    json.field("command", job.command);
    json.field("executable", job.executable);
    json.field("directory", job.directory);
    json.field("launcher", job.launcher);
    json.field("mpi_library", job.mpi_library);
    json.field("mpi_family", job.mpi_family);
    json.field("library_version", job.library_version);
    json.field("thread_level", job.thread_level);
    json.field("size", job.size);
    json.field("profiles", job.profiles());
    json.field("is_rounded_to_ms", job.is_text);
    json.field("setup_ns", job.setup_ns);
    write_drops(json, job.drops);
    std::vector<Setting> settings;  // as most ranks have them
    for (const SettingRow& row : job.settings)
        settings.push_back({row.name, row.values.front().value, row.values.front().source});
    write_settings(json, settings);
    json.array("problems", job.problems, [&](const std::string& line) { json.put(line); });
    json.array("notes", job.notes, [&](const JobNote& note) { json.put(text_of(note)); });
    write_left_over(json, job);
    json.array("nodes", job.nodes, [&](const std::string& node) { json.put(node); });
    json.array("calls", job.calls, [&](const Call& call) {
        json.item([&] {
            json.field("name", call.name);
            json.field("family", name_of_family(call.family));
            json.field("treatment", call.is_sampled                      ? "sampled"
                                    : call.treatment == Treatment::timed ? "timed"
                                                                         : "counted");
            json.field("traffic", name_of(call.traffic));
        });
    });
    json.array("rows", job.rows, [&](const Row& row) {
        json.item([&] {
            write_sum(json, job.calls[row.sum.call], row.sum);
            json.field("ranks", row.ranks);
            json.field("largest_ns", row.largest_ns);
            json.field("largest_rank", row.largest_rank);
            json.field("p05_ns", row.p05_ns);
            json.field("p50_ns", row.p50_ns);
            json.field("p99_ns", row.p99_ns);
            json.field("requests", row.requests);
            json.field("in_flight_ns", row.in_flight_ns);
            json.field("blocked_ns", row.blocked_ns);
            json.field("inside_ns", row.inside_ns);
        });
    });
}

void write_rank(JsonWriter& json, const Job& job, const Rank& rank) {
    json.field("rank", rank.rank);
    json.field("state", rank.has_profile ? name_of(rank.state) : std::string_view("missing"));
    json.field("host", job.hosts[rank.host]);
    json.field("node", rank.node);
    json.field("elapsed_ns", rank.elapsed_ns);
    json.field("process_ns", known(rank.process_ns));
    json.field("mpi_ns", rank.mpi_ns);
    json.field("outside_ns", rank.outside_ns());
    const auto of_profile = [&](std::uint64_t figure) {  // a line of mpitrace's table tells less
        return rank.has_profile ? std::optional(figure) : std::nullopt;
    };
    json.field("other_thread_ns", of_profile(rank.mpi_other_thread_ns));
    json.field("message_bytes", of_profile(rank.message_bytes));
    json.field("file_bytes", of_profile(rank.file_bytes));
    json.field("file_ns", of_profile(rank.file_ns));
    json.field("in_call", rank.in_call ? std::optional(job.calls[*rank.in_call].name) : std::nullopt);
    json.field("in_call_ns", known(rank.in_call_ns));
    write_usage(json, rank.usage);
}

void write_process(JsonWriter& json, const Profile& profile) {
    json.field("exit_code", profile.exit_code);
    json.field("pid", profile.pid);
    json.field("local_rank", profile.local_rank);
    json.field("path", profile.path);
    json.field("command", profile.command);
    json.field("is_spawned", profile.is_spawned);
    json.field("started_at_ns", known(profile.started_at_ns));
    json.field("updated_at_ns", known(profile.updated_at_ns));
    json.field("init_ns", profile.init_ns);
    json.field("finalize_ns", known(profile.finalize_ns));
    json.field("paused_ns", profile.paused_ns);
    json.field("setup_ns", profile.setup_ns);
    write_drops(json, profile.drops);
    json.array("threads", profile.threads, [&](const Thread& thread) {
        json.item([&] {
            json.field("kind", thread.kind == ThreadKind::main ? "main" : "other");
            json.field("os_thread", thread.os_thread);
            json.field("owners", thread.owners);
            json.field("nested", thread.nested);
        });
    });
}

void write_places(JsonWriter& json, const Profile& profile) {
    json.array("communicators", profile.communicators, [&](const Communicator& communicator) {
        json.item([&] {
            json.field("id", fmt::format("{:016x}", communicator.id));
            json.field("parent", fmt::format("{:016x}", communicator.parent));
            json.field("name", communicator.name);
            json.field("size", communicator.size);
            json.field("rank", communicator.rank);
            json.field("is_inter", communicator.is_inter);
            json.field("is_id_ambiguous", communicator.is_id_ambiguous);
            json.field("made_by",
                       communicator.made_by ? std::optional(profile.calls[*communicator.made_by].name) : std::nullopt);
        });
    });
    json.array("modules", profile.modules, [&](const Module& module) {
        json.item([&] {
            json.field("path", module.path);
            json.field("build_id", module.is_script ? "" : module.build_id);
            json.field("function", module.is_script ? std::optional(module.build_id)
                                                    : std::nullopt);  // of a script; offsets are lines
        });
    });
    json.array("sites", profile.sites, [&](const Site& site) {
        json.item([&] {
            json.field("common_frames", std::uint64_t{site.common});
            json.array("frames", site.frames, [&](const Frame& frame) {
                json.item([&] {
                    json.field("module", frame.module);
                    json.field("offset", frame.offset);
                });
            });
        });
    });
}

void write_cells(JsonWriter& json, const Profile& profile) {
    json.array("cells", profile.cells, [&](const Cell& cell) {
        json.item([&] {
            write_sum(json, profile.calls[cell.call], sum_of(cell, profile));
            json.field("thread", cell.thread);
            json.field("communicator", cell.communicator);
            json.field("region", cell.region);
            json.field("site", cell.site);
        });
    });
    json.array("histograms", profile.histograms, [&](const Histogram& histogram) {
        json.item([&] {
            json.field("call", profile.calls[histogram.call].name);
            json.field("bin_max_bytes", bin_max_bytes(histogram.bin));
            json.field("thread", histogram.thread);
            json.field("requests", histogram.requests);
            json.field("in_flight_ns", histogram.in_flight_ns);
            json.field("blocked_ns", histogram.blocked_ns);
            json.field("inside_ns", histogram.inside_ns);
            // [smallest ns, largest ns, calls]
            const std::span buckets(profile.buckets.data() + histogram.first_bucket, histogram.buckets);
            json.array("buckets", buckets, [&](const Bucket& bucket) {
                json.raw(fmt::format("[{:.6g}, {:.6g}, {}]", bucket.low_ns, bucket.high_ns, bucket.calls));
            });
        });
    });
}

}  // namespace

std::vector<std::string> export_json(const Analysed& all, const ProfileSource& profile_of, const Sink& sink,
                                     const Complaint& complain) {
    const Job& job = all.job;
    JsonWriter json(sink);
    json.object([&] {
        write_job(json, job);
        write_verdicts(json, all);
        write_comms(json, job);
        write_placement(json, job);
        write_nccl_choices(json, job);
        write_labels(json, job);
        write_regions(json, job);
        json.array("ranks", job.ranks, [&](const Rank& rank) {
            const Result<Profile> profile = rank.has_profile ? profile_of(rank.rank) : problem("", "");
            if (rank.has_profile && !profile) complain(profile.error());
            json.item([&] {
                write_rank(json, job, rank);
                if (!profile) return;
                write_process(json, *profile);
                write_settings(json, profile->settings);
                write_facts(json, *profile);
                write_places(json, *profile);
                write_peers(json, *profile);
                write_cells(json, *profile);
            });
        });
    });
    json.raw("\n");
    return {};
}

}  // namespace mpiprof::report
