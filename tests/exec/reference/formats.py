"""Exact arithmetic on floating-point formats: bit patterns to rational numbers and back, in every rounding mode."""
from fractions import Fraction


class Format:
    """exponent and mantissa bits; `infinity` False: the top exponent holds numbers and (with `nan`) one NaN."""

    def __init__(self, name, exponent, mantissa, nan, infinity=True):
        self.name, self.exponent, self.mantissa, self.nan, self.infinity = name, exponent, mantissa, nan, infinity
        self.width = 1 + exponent + mantissa
        self.bias = (1 << (exponent - 1)) - 1
        self.sign = 1 << (exponent + mantissa)
        self.inf = ((1 << exponent) - 1) << mantissa if infinity else None
        self.largest = self.inf - 1 if infinity else nan - 1
        self.lowest_exponent = 1 - self.bias

    def is_nan(self, bits):
        magnitude = bits & (self.sign - 1)
        return magnitude > self.inf if self.infinity else magnitude == self.nan

    def is_inf(self, bits):
        return self.infinity and bits & (self.sign - 1) == self.inf

    def negative(self, bits):
        return bool(bits & self.sign)

    def is_subnormal(self, bits):
        magnitude = bits & (self.sign - 1)
        return 0 < magnitude < 1 << self.mantissa

    def flush(self, bits):
        return bits & self.sign if self.is_subnormal(bits) else bits

    def value(self, bits):
        """The number (no NaN, no infinity) as a Fraction."""
        magnitude = bits & (self.sign - 1)
        exponent, mantissa = magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1)
        if exponent == 0:
            exponent = 1
        else:
            mantissa |= 1 << self.mantissa
        v = Fraction(mantissa) * Fraction(2) ** (exponent - self.bias - self.mantissa)
        return -v if self.negative(bits) else v

    def encode(self, value, mode='rn', negative_zero=False, satfinite=False):
        """Rounds a Fraction; `negative_zero` is the sign of an exact zero."""
        if value == 0:
            return self.sign if negative_zero else 0
        negative = value < 0
        a = abs(value)
        e = a.numerator.bit_length() - a.denominator.bit_length()
        if a < Fraction(2) ** e:
            e -= 1
        e = max(e, self.lowest_exponent)
        quantum = Fraction(2) ** (e - self.mantissa)
        n = round_integer(-a / quantum if negative else a / quantum, mode)
        n = abs(n)
        bits = n + ((e - self.lowest_exponent) << self.mantissa)  # the hidden bit carries into the exponent field
        if bits > self.largest:
            toward_zero = satfinite or mode == 'rz' or (mode == 'rm' and not negative) or (mode == 'rp' and negative)
            bits = self.largest if toward_zero else (self.inf if self.infinity else self.nan)
        return bits | (self.sign if negative else 0)


def round_integer(value, mode):
    floor = value.numerator // value.denominator
    rest = value - floor
    if rest == 0:
        return floor
    mode = mode.rstrip('i') if mode != 'rni' else 'rn'
    if mode == 'rm':
        return floor
    if mode == 'rp':
        return floor + 1
    if mode == 'rz':
        return floor if value > 0 else floor + 1
    if rest != Fraction(1, 2):
        return floor + (rest > Fraction(1, 2))
    if mode == 'rna':
        return floor + (value > 0)
    return floor + (floor & 1)


F16 = Format('f16', 5, 10, 0x7fff)
BF16 = Format('bf16', 8, 7, 0x7fff)
F32 = Format('f32', 8, 23, 0x7fffffff)
F64 = Format('f64', 11, 52, 0x7ff8000000000000)
TF32 = Format('tf32', 8, 10, 0x3ffff)  # 19 bits, kept in the upper part of a 32-bit register
E4M3 = Format('e4m3', 4, 3, 0x7f, infinity=False)
E5M2 = Format('e5m2', 5, 2, 0x7f)
FORMATS = {f.name: f for f in (F16, BF16, F32, F64, TF32, E4M3, E5M2)}
