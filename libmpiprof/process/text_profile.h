// <profile>.txt: this rank's part in the layout that mpitrace users know, written at the end for the ranks in
// MPIPROF_TEXT. `mpiprof-report text` writes the same for any rank, with the part about all ranks.
#pragma once

#include "libmpiprof/record/catalogue.h"
#include "libmpiprof/record/image.h"

namespace mpiprof {

// Writes `path`.txt from the image, or, beside a file of several ranks, `path`.<rank>.txt. False if it cannot be
// created (the profile itself has everything). `again`: it is ours from an earlier end (sessions), and is replaced.
bool write_text_profile(const Image& image, const Catalogue& catalogue, const char* path, bool adds_rank = false,
                        bool again = false);

}  // namespace mpiprof
