// Facts about the matrix instructions for other parts of the JIT.
#pragma once

#include "ptx/ast.h"

namespace warpgrind::jit {

// Bytes each lane moves in one request of wmma.load, wmma.store, ldmatrix or stmatrix (events::Site::element_bytes *
// vector). ldmatrix and stmatrix move 16-byte rows. wmma moves 4 contiguous bytes (8 of f64), or a single element if a
// lane's elements of C are not contiguous in memory. 0 for other instructions.
unsigned matrix_request_bytes(const ptx::Instruction& instruction);

}  // namespace warpgrind::jit
