// Decoder of x86-64 opcodes, just enough to find the width of an access.
#include "base/x86_access.h"

namespace warpgrind {

namespace {

struct Prefixes {
  bool half = false, wide = false;  // operands of 2 bytes, of 8 bytes
  std::uint8_t repeat = 0;          // 0xf2, 0xf3
  unsigned plain() const { return wide ? 8 : half ? 2 : 4; }
};

// SSE, AVX and AVX-512 instructions of opcode map 0f. scalar: 4 for float, 8 for double, 0 for whole vectors.
unsigned vector_bytes(std::uint8_t op, unsigned scalar, unsigned vector, bool wide) {
  switch (op) {
    case 0x10:  // moves
    case 0x11:
    case 0x51:  // arithmetic
    case 0x58:
    case 0x59:
    case 0x5a:
    case 0x5c:
    case 0x5d:
    case 0x5e:
    case 0x5f:
      return scalar ? scalar : vector;
    case 0x12:
    case 0x13:
    case 0x16:
    case 0x17:
    case 0xd6:
      return 8;
    case 0x2a:
      return wide ? 8 : 4;
    case 0x2c:
    case 0x2d:
      return scalar ? scalar : 8;
    case 0x2e:
    case 0x2f:
      return 4;
    case 0x6e:
    case 0x7e:
      return wide || scalar == 4 ? 8 : 4;
    case 0x28:
    case 0x29:
    case 0x2b:
    case 0x6f:
    case 0x7f:
    case 0xe7:
      return vector;
    default:
      return 1;
  }
}

unsigned scalar_of(unsigned prefix) {  // in VEX's encoding: none, 66, f3, f2
  return prefix == 2 ? 4 : prefix == 3 ? 8 : 0;
}

unsigned two_byte(std::uint8_t op, const Prefixes& p) {
  switch (op) {
    case 0x90 ... 0x9f:  // setcc
    case 0xb0:
    case 0xb6:
    case 0xbe:
    case 0xc0:
      return 1;
    case 0xb7:
    case 0xbf:
      return 2;
    case 0x40 ... 0x4f:  // cmovcc
    case 0xa3:
    case 0xab:
    case 0xaf:
    case 0xb1:
    case 0xb3:
    case 0xb8:
    case 0xbb:
    case 0xbc:
    case 0xbd:
    case 0xc1:
    case 0xc3:
      return p.plain();
    case 0xc7:  // cmpxchg8b, 16b
      return p.wide ? 16 : 8;
    case 0x6f:
    case 0x7f:
    case 0xe7:
      return p.half || p.repeat ? 16 : 8;
    default:
      return vector_bytes(op, p.repeat == 0xf3 ? 4 : p.repeat == 0xf2 ? 8 : 0, 16, p.wide);
  }
}

unsigned one_byte(std::uint8_t op, const Prefixes& p) {
  if (op < 0x40) return op & 1 ? p.plain() : 1;  // add, or, adc, sbb, and, sub, xor, cmp
  switch (op) {
    case 0x63:
      return 4;
    case 0x80:
    case 0x84:
    case 0x86:
    case 0x88:
    case 0x8a:
    case 0xa4:  // string instructions
    case 0xa6:
    case 0xaa:
    case 0xac:
    case 0xae:
    case 0xc0:
    case 0xc6:
    case 0xd0:
    case 0xd2:
    case 0xf6:
    case 0xfe:
      return 1;
    default:
      return p.plain();
  }
}

}  // namespace

unsigned access_bytes(const std::uint8_t* p) {
  Prefixes prefixes;
  for (unsigned seen = 0; seen < 8; ++seen, ++p) {
    if (*p == 0x66)
      prefixes.half = true;
    else if (*p == 0xf2 || *p == 0xf3)
      prefixes.repeat = *p;
    else if (*p != 0xf0 && *p != 0x2e && *p != 0x36 && *p != 0x3e && *p != 0x26 && *p != 0x64 && *p != 0x65 &&
             *p != 0x67)
      break;
  }
  if (*p == 0xc5) return vector_bytes(p[2], scalar_of(p[1] & 3u), 16u << (p[1] >> 2 & 1), false);
  if (*p == 0xc4) {
    if ((p[1] & 31) != 1) return 1;
    return vector_bytes(p[3], scalar_of(p[2] & 3u), 16u << (p[2] >> 2 & 1), p[2] >> 7 != 0);
  }
  if (*p == 0x62) {
    const bool masked = (p[3] & 7) != 0, broadcast = (p[3] >> 4 & 1) != 0;
    if ((p[1] & 7) != 1 || masked || broadcast || (p[3] >> 5 & 3) == 3) return 1;
    return vector_bytes(p[4], scalar_of(p[2] & 3u), 16u << (p[3] >> 5 & 3), p[2] >> 7 != 0);
  }
  if ((*p & 0xf0) == 0x40) prefixes.wide = (*p++ & 8) != 0;
  if (*p == 0x0f) return two_byte(p[1], prefixes);
  return one_byte(*p, prefixes);
}

}  // namespace warpgrind
