// Facts about the matrix instructions for other parts of the JIT.
#pragma once

#include "ptx/ast.h"

namespace warpgrind::jit {

// Bytes that each lane moves in one request of wmma.load, wmma.store, ldmatrix or stmatrix (events::Site::element_bytes
// * vector). ldmatrix and stmatrix move 16-byte rows, wmma what ptx/wmma.h says. 0 for other instructions.
unsigned matrix_request_bytes(const ptx::Instruction& instruction);

}  // namespace warpgrind::jit
