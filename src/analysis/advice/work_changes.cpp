#include "advice/work_changes.h"

#include <algorithm>
#include <initializer_list>

namespace warpgrind::advice {

using timing::LaunchWork;

void scale_instructions(LaunchWork& w, double by) {
  for (double LaunchWork::*m :
       {&LaunchWork::instructions, &LaunchWork::register_reads, &LaunchWork::alu, &LaunchWork::fma,
        &LaunchWork::integer_fma, &LaunchWork::fp64, &LaunchWork::special, &LaunchWork::shuffles, &LaunchWork::textures,
        &LaunchWork::tensor_half, &LaunchWork::tensor_double})
    w.*m *= by;
}

void scale_path(LaunchWork& w, double by) {
  for (double LaunchWork::*m : {&LaunchWork::path_0, &LaunchWork::path_40, &LaunchWork::path_290, &LaunchWork::path_700,
                                &LaunchWork::path_1000, &LaunchWork::slowest_290, &LaunchWork::slowest_700})
    w.*m *= by;
}

void divide_waiting(LaunchWork& w, double by) {
  for (double LaunchWork::*m : {&LaunchWork::path_290, &LaunchWork::path_700, &LaunchWork::path_1000})
    w.*m = w.path_40 + std::max(0.0, w.*m - w.path_40) / std::max(1.0, by);
}

namespace {

constexpr double kSectorsOfPiece = 2, kSectorsOfLine = 4, kSectorsOfPair = 8, kSectorsOfFour = 16;

void limit(double& member, double most) {
  member = std::min(member, most);
}

}  // namespace

void read_adjacent(LaunchWork& w, double sectors) {
  limit(w.read_sectors, sectors);
  limit(w.read_pieces, w.read_sectors / kSectorsOfPiece);
  limit(w.read_lines, w.read_sectors / kSectorsOfLine);
  limit(w.read_pairs, w.read_sectors / kSectorsOfPair);
  limit(w.read_fours, w.read_sectors / kSectorsOfFour);
}

void write_adjacent(LaunchWork& w, double sectors) {
  limit(w.write_sectors, sectors);
  limit(w.write_pieces, w.write_sectors / kSectorsOfPiece);
  limit(w.write_lines, w.write_sectors / kSectorsOfLine);
  limit(w.write_pairs, w.write_sectors / kSectorsOfPair);
  limit(w.write_fours, w.write_sectors / kSectorsOfFour);
  w.partly_written_sectors = 0;
}

void add_tile(LaunchWork& w, double wavefronts, double barriers) {
  constexpr double kBarrierCycles = 30;  // of the path, with the access to shared memory behind it
  w.shared_wavefronts += wavefronts;
  w.barriers += barriers;
  for (double LaunchWork::*m : {&LaunchWork::path_0, &LaunchWork::path_40, &LaunchWork::path_290, &LaunchWork::path_700,
                                &LaunchWork::path_1000})
    w.*m += barriers * kBarrierCycles;
}

}  // namespace warpgrind::advice
