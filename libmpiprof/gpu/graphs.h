// Which of NCCL's operations lie in which CUDA graph, and how often they were replayed. An operation that is captured
// is called once; each launch of the graph carries it out again, and nobody calls for it. Told by the functions of
// CUDA's runtime that capture, make, copy and launch graphs (nccl/graph_symbols.cpp), and by nccl/ of what is enqueued
// meanwhile. Asks the driver nothing but whether a stream is being captured; books into times.h.
#pragma once

#include "libmpiprof/gpu/times.h"

namespace mpiprof::gpu {

class Graphs {
  public:
    // Whether any stream is being captured, by the functions that come to us.
    bool is_capturing() const { return open_captures_.load(std::memory_order_relaxed) != 0; }
    void begin_capture() { open_captures_.fetch_add(1, std::memory_order_relaxed); }
    // What is captured comes to what lies in this graph already.
    void begin_capture_to(Word graph, Word stream);
    // The number of the capture that a stream takes part in, from 1 on; 0: it takes part in none.
    Word capture_of(Word stream);
    // What was captured lies in this graph; 0: the capture failed.
    void end_capture(Word capture, Word graph);
    // An operation of NCCL's was enqueued, which is captured or not.
    void enqueued(Word stream, const Booked& what);
    // The same of one that is not recorded: its replays will be missing.
    void enqueued_unrecorded(Word stream);

    void copy(Word graph, Word from);  // cudaGraphClone
    void add_child(Word graph, Word child);
    void forget(Word graph);
    // An executable graph was made of a graph, or updated to it.
    void instantiate(Word executable, Word graph);
    void forget_executable(Word executable);
    // It was launched; on a stream that is captured it becomes a part of that capture.
    void launch(Word executable, Word stream);

  private:
    enum class Kind : std::uint8_t { capture, graph, executable };
    struct Item {
        std::uint16_t call, communicator;
        std::uint8_t bin;
        std::uint64_t operations;
        Bytes bytes;  // of all of these
    };
    static constexpr unsigned most_items = 8, most_entries = 8192, heads = 4096;
    struct Content {
        unsigned count;
        Item items[most_items];
    };
    struct Entry {
        Kind kind;
        std::uint32_t next;  // in its list, or among the free ones; 0: none
        Word handle;
        Content content;
    };
    struct Pages {
        std::uint32_t head[heads];
        Entry entry[most_entries];  // the first is none
    };
    std::uint32_t* find(Kind kind, Word handle);
    Entry* entry_of(Kind kind, Word handle);
    Entry* make(Kind kind, Word handle);
    void erase(Kind kind, Word handle);
    void add(Entry* to, const Item& item);
    void add(Kind kind, Word handle, const Content& content);
    void replace(Kind kind, Word handle, Kind from_kind, Word from);
    void lose();
    // Nothing is done where nothing of NCCL's was captured, nor in a forked child, in which others may hold the lock.
    template <class Work>
    void if_of_use(Work work);
    bool is_of_use() const { return has_any_.load(std::memory_order_relaxed) && runtime.is_recording(); }

    std::atomic<unsigned> open_captures_{0};
    std::atomic<bool> has_any_{false};  // something of NCCL's was captured
    Lock lock_;
    Pages* pages_ = nullptr;
    std::uint32_t used_ = 0, free_ = 0;
    bool has_lost_ = false;  // some, and that was noted
    // cuStreamGetCaptureInfo, whose first three arguments are the same in all of its versions; later ones may be null.
    std::atomic<int (*)(Word stream, int* status, std::uint64_t* id, Word, Word, Word, Word)> capture_info_{nullptr};
};

[[gnu::visibility("hidden")]] extern constinit Graphs graphs;

}  // namespace mpiprof::gpu
